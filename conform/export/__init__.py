"""A case as a file of its own for engines without Python: what is called, its inputs, and what may come out."""
