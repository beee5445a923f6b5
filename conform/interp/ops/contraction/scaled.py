"""Products of matrices of 8-bit floats, which scales make the numbers that they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from conform.interp.blocks.tiles import by_tiles
from conform.interp.golden import Golden, Outcome
from conform.interp.ops.contraction.sums import float_addmm, float_product
from conform.interp.semantics import semantics
from conform.numerics.formats import FORMATS, Format

_OF_SCALES = 3  # roundings: each factor times its scale, or the product of both scales, and the sum times that
_ALL = slice(None)


def _count(arguments: Mapping[str, Any]) -> int:
    return prod(np.shape(arguments["self"])[:1]) * prod(np.shape(arguments["mat2"])[1:])


@semantics("aten::_scaled_mm", accumulates="self", elements=_count, ignores=("scale_result", "use_fast_accum"))
def scaled_mm(
    self: np.ndarray,
    mat2: np.ndarray,
    scale_a: np.ndarray,
    scale_b: np.ndarray,
    bias: np.ndarray | None = None,
    out_dtype: str = "float32",
) -> Outcome:
    """(scale_a * self) @ (scale_b * mat2) + bias, rounded to out_dtype; one scale for a tensor, or scale_a for each row
    of self and scale_b for each column of mat2 (P158)"""
    scales = scale_a.reshape(-1, 1).astype(np.float64), scale_b.reshape(1, -1).astype(np.float64)
    tile = partial(_tile, FORMATS[out_dtype], self, mat2, *scales, bias)
    return Outcome((by_tiles(tile, (self.shape[0], mat2.shape[1]), self.shape[1]),), refusal="P158")


def _tile(
    fmt: Format,
    self: np.ndarray,
    mat2: np.ndarray,
    scale_a: np.ndarray,
    scale_b: np.ndarray,
    bias: np.ndarray | None,
    rows: slice,
    columns: slice,
) -> Golden:
    lhs = self[rows].astype(np.float64) * (scale_a if scale_a.size == 1 else scale_a[rows])
    rhs = mat2[:, columns].astype(np.float64) * (scale_b if scale_b.size == 1 else scale_b[:, columns])
    if bias is None:
        golden = float_product(fmt, lhs, rhs, _ALL, _ALL)
    else:
        addend = np.broadcast_to(bias[columns], (len(lhs), rhs.shape[1]))
        golden = float_addmm(fmt, addend, lhs, rhs, np.float64(1), np.float64(1), _ALL, _ALL)
    return replace(golden, terms=golden.terms + _OF_SCALES)
