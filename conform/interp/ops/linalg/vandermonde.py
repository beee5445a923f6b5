"""Vandermonde matrices."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from conform.interp.blocks.assembly import Assembly, assembled
from conform.interp.blocks.blocks import spans
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
    count, numbers = x.shape[-1] if N is None else N, x.reshape(-1, 1)
    parts = ((some, _of_some(numbers[some], count)) for some in spans(x.size, count))
    return reshaped(assembled(parts, x.size), (*x.shape, count))


def _of_some(numbers: np.ndarray, count: int) -> Golden:
    """[n, count]: the powers of each of [n, 1]."""
    every, fmt = slice(0, len(numbers)), sum_format(numbers, None)
    whole = Assembly(len(numbers), count)
    whole.fill((every, slice(0, 1)), _ones(fmt, numbers.shape))
    whole.fill((every, slice(1, count)), cumprod(np.broadcast_to(numbers, (len(numbers), count - 1)), 1))
    return whole.golden()


def _ones(fmt: Format, shape: tuple[int, int]) -> Golden:
    ones = np.ones(shape, fmt.storage)
    if not fmt.is_float:
        return exact(ones, fmt)
    return Golden(fmt, ones, Real.exact(ones.astype(np.float64)), budget=np.zeros(shape))
