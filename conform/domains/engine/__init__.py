"""The input-generation engine: from an op's domain, written as constraints, to tuples of arguments that it takes."""
