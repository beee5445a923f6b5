"""Gradients of parts of a tensor: what was taken goes back to its place, among zeros."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from conform.interp.golden import Golden
from conform.interp.ops.indexing.adjoints import placed_back, summed_back
from conform.interp.ops.shape.parts import select, slice_
from conform.interp.ops.shape.views import diagonal, unfold
from conform.interp.semantics import semantics

Sizes = Sequence[int]


def _of_sizes(arguments: Mapping[str, Any]) -> int:
    return prod(arguments["input_sizes"])


@semantics("aten::select_backward", selects=True, elements=_of_sizes)
def select_backward(grad_output: np.ndarray, input_sizes: Sizes, dim: int, index: int) -> Golden:
    """Zeros of input_sizes, with grad_output at index along dim (P3, P241)"""
    return placed_back(grad_output, input_sizes, lambda numbers: select(numbers, dim, index))


@semantics("aten::slice_backward", selects=True, elements=_of_sizes)
def slice_backward(
    grad_output: np.ndarray, input_sizes: Sizes, dim: int, start: int, end: int, step: int
) -> Golden:
    """Zeros of input_sizes, with grad_output in place of [start:end:step] along dim (P3, P241)"""
    return placed_back(grad_output, input_sizes, lambda numbers: slice_(numbers, dim, start, end, step))


@semantics("aten::diagonal_backward", selects=True, elements=_of_sizes)
def diagonal_backward(grad_output: np.ndarray, input_sizes: Sizes, offset: int, dim1: int, dim2: int) -> Golden:
    """Zeros of input_sizes, with the last dim of grad_output along the diagonal of dim1 and dim2 (P3, P241)"""
    return placed_back(grad_output, input_sizes, lambda numbers: diagonal(numbers, offset, dim1, dim2))


@semantics("aten::unfold_backward", accumulates="grad_in", elements=_of_sizes)
def unfold_backward(grad_in: np.ndarray, input_sizes: Sizes, dim: int, size: int, step: int) -> Golden:
    """The adjoint of unfold: each element of a tensor of input_sizes is the sum of the elements of grad_in that unfold
    of that tensor has it at (P3, P241)"""
    return summed_back(grad_in, input_sizes, lambda numbers: unfold(numbers, dim, size, step))
