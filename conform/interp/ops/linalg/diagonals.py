"""Diagonals of stacks of matrices."""

from __future__ import annotations

import numpy as np

from conform.interp.golden import Golden
from conform.interp.ops.shape.views import diagonal
from conform.interp.semantics import semantics


@semantics("aten::linalg_diagonal", selects=True, moves=("A",))
def linalg_diagonal(A: np.ndarray, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Golden:
    """diagonal of A, of the last two dims if no others are given"""
    return diagonal(A, offset, dim1, dim2)
