"""Losses: the domains of their arguments."""

from __future__ import annotations

from conform.inputs.specs.registry import FLOATS, spec

for _name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy_with_logits", "kl_div"):
    spec(f"aten::{_name}", dtypes=FLOATS)
# Probabilities: what lies outside of 0 .. 1 is refused (P66).
spec("aten::binary_cross_entropy", dtypes=FLOATS, index_arguments=["self", "target"])
for _name in ("nll_loss", "nll_loss_forward", "cross_entropy_loss"):
    spec(f"aten::{_name}", dtypes=FLOATS, index_arguments=["target"])
