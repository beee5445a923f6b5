def constraint_of(e): return None
