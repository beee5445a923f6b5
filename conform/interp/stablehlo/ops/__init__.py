"""The meanings, by what they do: each op's constraints (C1, C2, ...) have the names of its section of the specification."""
