"""Reductions as rows: the reduced dimensions of a tensor as the last axis of a matrix.

What is computed on the way to a golden takes many times the memory of its rows: many rows are worked on in blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from conform.interp.golden import Golden, concatenated

BLOCK = 1 << 16  # elements of the rows that are worked on at a time


def rows_over(tensor: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """[results, terms] as float64: a row for every result of a reduction of `tensor` over `axes`."""
    kept = [axis for axis in range(tensor.ndim) if axis not in axes]
    results, terms = (prod(tensor.shape[axis] for axis in some) for some in (kept, axes))
    return tensor.transpose(*kept, *axes).reshape(results, terms).astype(np.float64)


def by_rows(function: Callable[[slice], Golden], shape: tuple[int, int]) -> Golden:
    """The golden of rows of `shape` [rows, n], of which `function` gives that of some."""
    return by_rows_each(lambda some: (function(some),), shape)[0]


def by_rows_each(function: Callable[[slice], tuple[Golden, ...]], shape: tuple[int, int]) -> tuple[Golden, ...]:
    """The goldens of every output of `function`, which has their rows, of `shape` [rows, n], as first axis."""
    rows, step = shape[0], max(BLOCK // max(shape[1], 1), 1)
    if rows <= step:
        return function(slice(None))
    blocks = [function(slice(start, start + step)) for start in range(0, rows, step)]
    return tuple(concatenated(outputs) for outputs in zip(*blocks, strict=True))


def reduced_shape(shape: tuple[int, ...], axes: tuple[int, ...], keepdim: bool) -> tuple[int, ...]:
    """The shape of the reduction's results."""
    return tuple(1 if axis in axes else size for axis, size in enumerate(shape) if keepdim or axis not in axes)
