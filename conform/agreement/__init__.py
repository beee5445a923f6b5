"""I8, the agreement of the interpreter with the references: bit for bit, on at least 10,000 elements an op and dtype."""
