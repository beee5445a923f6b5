"""Reductions as rows: the reduced dimensions of a tensor as the last axis of a matrix."""

from __future__ import annotations

from math import prod

import numpy as np


def rows_over(tensor: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """[results, terms] as float64: a row for every result of a reduction of `tensor` over `axes`."""
    kept = [axis for axis in range(tensor.ndim) if axis not in axes]
    results, terms = (prod(tensor.shape[axis] for axis in some) for some in (kept, axes))
    return tensor.transpose(*kept, *axes).reshape(results, terms).astype(np.float64)


def reduced_shape(shape: tuple[int, ...], axes: tuple[int, ...], keepdim: bool) -> tuple[int, ...]:
    """The shape of the reduction's results."""
    return tuple(1 if axis in axes else size for axis, size in enumerate(shape) if keepdim or axis not in axes)
