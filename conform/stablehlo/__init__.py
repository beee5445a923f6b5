"""`conform interpret`: StableHLO files, run by the interpreter."""
