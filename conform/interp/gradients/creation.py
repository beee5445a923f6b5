"""Ops whose results depend on no number of a float operand smoothly: those of its dtype and shape, and of facts."""

from __future__ import annotations

from conform.interp.gradients.rules import independent

independent(
    "aten::zeros_like", "aten::ones_like", "aten::full_like", "aten::empty_like", "aten::heaviside",
    "aten::new_full", "aten::new_ones", "aten::new_zeros", "aten::new_empty", "aten::new_empty_strided", "aten::zero",
    "aten::detach",
    "aten::nextafter", "aten::all", "aten::all.dim", "aten::all.dims", "aten::any", "aten::any.dim", "aten::any.dims",
    "aten::bucketize.Tensor", "aten::searchsorted.Tensor", "aten::histc", "aten::_local_scalar_dense",
)  # fmt: skip
