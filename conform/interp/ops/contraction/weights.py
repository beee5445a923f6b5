"""Products with weights that are held as integers and a scale for each row of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import prod
from typing import Any

import numpy as np

from conform.interp.blocks.tiles import by_tiles
from conform.interp.golden import Golden
from conform.interp.ops.reduction.sums import overflowing, sums_of
from conform.interp.semantics import semantics
from conform.numerics.accumulate import exact_dot
from conform.numerics.escalate import decide_exactly
from conform.numerics.formats import Format, format_of
from conform.numerics.matmul import matmul
from conform.numerics.real import Real


def _count(arguments: Mapping[str, Any]) -> int:
    return prod(np.shape(arguments["self"])[:1]) * prod(np.shape(arguments["mat2"])[:1])


@semantics("aten::_weight_int8pack_mm", accumulates="self", elements=_count)
def weight_int8pack_mm(self: np.ndarray, mat2: np.ndarray, scales: np.ndarray) -> Golden:
    """result[i, j] = scales[j] * the sum over k of self[i, k] * mat2[j, k], int8 (P3, P35)"""
    tile = partial(_tile, format_of(self), self, mat2.T.astype(self.dtype), scales.astype(np.float64))
    return by_tiles(tile, (self.shape[0], mat2.shape[0]), self.shape[1])


def _tile(
    fmt: Format, self: np.ndarray, weights: np.ndarray, scales: np.ndarray, rows: slice, columns: slice
) -> Golden:
    lhs, rhs, scale = self[rows], weights[:, columns], scales[columns]
    product = matmul(lhs, rhs)
    with np.errstate(all="ignore"):
        real, magnitude = product.real * Real.exact(scale), product.magnitude * np.abs(scale)
    total = replace(product, real=real, magnitude=magnitude, terms=product.terms + 2)

    def exactly(index: tuple[int, ...]) -> Fraction:
        row, column = index
        return exact_dot(lhs[row].astype(np.float64), rhs[:, column].astype(np.float64)) * Fraction(scale[column])

    golden = sums_of(fmt, total, *decide_exactly(fmt, real, exactly))
    golden = replace(golden, amplified=np.broadcast_to(np.maximum(np.abs(scale), 1.0), golden.value.shape))
    return golden.opened(overflowing(fmt, product), "P35")
