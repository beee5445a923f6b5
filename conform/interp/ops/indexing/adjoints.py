"""Adjoints of ops that give elements other places: each element gets back the sum of what stands where it went.

Where an element goes is asked of the op itself, which is given the numbers of the elements in their places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from conform.errors import Unjudged
from conform.interp.golden import Golden
from conform.interp.ops.indexing.places import Writes
from conform.interp.ops.indexing.written import filled, sums_of_writes
from conform.numerics.formats import format_of

Move = Callable[[np.ndarray], Golden]


def numbered(shape: Sequence[int]) -> np.ndarray:
    """A tensor of `shape` of the numbers of its elements in C order."""
    return np.arange(prod(shape)).reshape(shape)


def summed_back(grad: np.ndarray, shape: Sequence[int], move: Move) -> Golden:
    """Of a tensor of `shape`: each element's sum of the elements of grad that `move` of the tensor has it at (P3)."""
    return _written_back(sums_of_writes, grad, shape, move)


def placed_back(grad: np.ndarray, shape: Sequence[int], move: Move) -> Golden:
    """`summed_back` where `move` has no element twice: nothing is added up, but to zeros perhaps (P241)."""
    golden, fmt = _written_back(filled, grad, shape, move), format_of(grad)
    return replace(golden, zero_sign_free=fmt.is_float or fmt.is_complex)


def _written_back(write: Callable[..., Golden], grad: np.ndarray, shape: Sequence[int], move: Move) -> Golden:
    fmt, zeros = format_of(grad), np.broadcast_to(grad.dtype.type(0), (prod(shape),))
    sources = move(numbered(shape)).value
    if sources.shape != grad.shape:
        raise Unjudged(f"a gradient of shape {list(grad.shape)} of what has shape {list(sources.shape)}")
    golden = write(zeros, fmt, Writes(zeros.shape, [sources.reshape(-1)], grad.reshape(-1)))
    return golden.rearranged(lambda part: part.reshape(shape))
