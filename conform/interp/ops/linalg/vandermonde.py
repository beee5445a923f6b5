"""Vandermonde matrices."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from conform.interp.blocks.assembly import Assembly
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.reduction.prefixes import cumprod
from conform.interp.ops.reduction.sums import reshaped, sum_format
from conform.interp.semantics import semantics
from conform.numerics.formats import Format
from conform.numerics.real import Real


def _count(arguments: Mapping[str, Any]) -> int:
    shape = np.shape(arguments["x"])
    return prod(shape) * ((shape or (1,))[-1] if arguments["N"] is None else arguments["N"])


@semantics("aten::linalg_vander", elements=_count)
def vander(x: np.ndarray, N: int | None = None) -> Golden:
    """result[..., i, j] = x[..., i]^j for j < N, by default as many as there are i: products of j factors (P10, P61)"""
    count, fmt = x.shape[-1] if N is None else N, sum_format(x, None)
    powers = cumprod(np.broadcast_to(x.reshape(-1, 1), (x.size, count - 1)), 1)
    whole = Assembly(x.size, count)
    whole.fill((slice(0, x.size), slice(0, 1)), _ones(fmt, (x.size, 1)))
    whole.fill((slice(0, x.size), slice(1, count)), powers)
    return reshaped(whole.golden(), (*x.shape, count))


def _ones(fmt: Format, shape: tuple[int, int]) -> Golden:
    ones = np.ones(shape, fmt.storage)
    if not fmt.is_float:
        return exact(ones, fmt)
    return Golden(fmt, ones, Real.exact(ones.astype(np.float64)), budget=np.zeros(shape))
