"""Whether backends are interchangeable (I3): their answers to the same calls, side by side, and both against truth."""
