"""Rules of ops that pick elements by tensors of indices, and of those that write to them."""
