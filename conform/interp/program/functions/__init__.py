"""Rules of real functions."""
