"""Tests made from the argument specs: the suites `generated` and `negative`, and their text in the test language."""
