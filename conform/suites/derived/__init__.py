"""Tests derived from the argument specs by targets: the part of the suite `core` that nobody needs to write."""
