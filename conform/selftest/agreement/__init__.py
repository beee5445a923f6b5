"""I8, the agreement of the interpreter with the references: bit for bit, op by op and dtype by dtype."""
