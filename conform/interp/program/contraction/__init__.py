"""Rules of sums of products over shared indices."""
