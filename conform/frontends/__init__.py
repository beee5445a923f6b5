"""Programs from what users write: torch modules, by torch.export. The only torch on the side of truth."""
