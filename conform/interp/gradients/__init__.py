"""The gradients of calls: rules by op name, and what they give."""

OF = "gradient of "  # before the op, in the name of the call whose results they are
