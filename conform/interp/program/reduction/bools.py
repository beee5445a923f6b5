"""Rules of whether any element is true, or all are."""

from __future__ import annotations

from typing import Any

import numpy as np

from conform.interp.blocks.rows import reduced_shape
from conform.interp.program.apply import apply
from conform.interp.program.choice import either, is_unknown, possible
from conform.interp.program.number import Number
from conform.interp.program.reduction.over import Dims, axes_of
from conform.interp.program.rules import rule


@rule("aten::any", "aten::any.dim", "aten::any.dims")
def any_(self: Number, dim: Dims = None, keepdim: bool = False) -> Any:
    """Decided where an element is true for certain, or none may be."""
    return _over("aten::any", np.logical_or, self, dim, keepdim)


@rule("aten::all", "aten::all.dim", "aten::all.dims")
def all_(self: Number, dim: Dims = None, keepdim: bool = False) -> Any:
    """Decided where an element is false for certain, or all must be true."""
    return _over("aten::all", np.logical_and, self, dim, keepdim)


def _over(op: str, join: np.ufunc, self: Number, dim: Dims, keepdim: bool) -> Any:
    if self.array is not None:
        return NotImplemented
    bools = self if self.format.kind == "bool" else apply("aten::ne.Scalar", self, 0)
    axes = axes_of(bools, dim)
    shape = reduced_shape(bools.shape, axes, keepdim)
    known = [one.array for one in possible(op, bools)]
    unknown = is_unknown(bools)
    least = np.logical_and.reduce([*known, ~unknown])
    most = np.logical_or.reduce([*known, unknown])
    low, middle, high = (join.reduce(part, axes).reshape(shape) for part in (least, known[0], most))
    return either(middle, low != high)
