"""Rules of ops element by element: arithmetic, and steps."""
