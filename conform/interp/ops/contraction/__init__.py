"""Sums of products over shared indices."""
