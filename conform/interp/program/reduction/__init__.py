"""Rules of ops that make one number of many."""
