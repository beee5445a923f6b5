"""Ops that order elements, or search among ordered ones."""
