"""What users write: YAML whose every node knows its place, within limits, with the scalars of the test language."""
