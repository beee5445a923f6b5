"""Witness calls, one module a family."""
