"""What the failures of an op have in common: a cause that explains them, a condition that divides them from passes."""
