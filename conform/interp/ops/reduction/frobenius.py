"""Frobenius's norm of vectors and matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conform.interp.golden import Golden
from conform.interp.ops.reduction.norms import linalg_vector_norm
from conform.interp.semantics import semantics


@semantics("aten::frobenius_norm.dim", along="dim", accumulates="self")
def frobenius_norm(self: np.ndarray, dim: Sequence[int], keepdim: bool = False) -> Golden:
    """The root of the sum of squares over one dim or two, over all where dim is empty (P57, P58)"""
    return linalg_vector_norm(self, 2, dim, keepdim)
