"""The meanings, by what they do. An op's constraints (C1, C2, ...) are those of its section of the specification."""
