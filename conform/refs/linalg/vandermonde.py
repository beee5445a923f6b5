"""Vandermonde matrices: every power by itself, rounded once."""

from __future__ import annotations

from conform.refs.exact.promotion import BOOL, COMPLEX, category
from conform.refs.exact.tensor import RefTensor
from conform.refs.reduction.sums import product_line, sum_dtype
from conform.refs.references import reference


@reference("aten::linalg_vander")
def vander(x: RefTensor, N: int | None = None) -> RefTensor:
    """Row by row the powers of each element of x, 0 to N - 1; the product of no factors is 1."""
    count = x.shape[-1] if x.shape and N is None else N
    if category(x.dtype) in (BOOL, COMPLEX) or not x.shape or count < 2:
        raise ValueError(f"the powers below {count} of {x.dtype}, {x.shape}")
    dtype = sum_dtype(x, None)
    return RefTensor(dtype, (*x.shape, count), [product_line(dtype, [one] * j) for one in x.data for j in range(count)])
