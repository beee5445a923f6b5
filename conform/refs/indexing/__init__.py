"""Ops that read or write at indices held in tensors."""
