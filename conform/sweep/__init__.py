"""Every input: one op on all codes of a format, or on all pairs of codes of two, judged in blocks."""
