"""Diagonals of stacks of matrices."""

from __future__ import annotations

from conform.refs.exact.tensor import RefTensor, Shape, rearranged, wrap_dim
from conform.refs.references import reference


@reference("aten::linalg_diagonal")
def linalg_diagonal(A: RefTensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> RefTensor:
    """The elements [i, i + offset] of dims dim1 and dim2, along a new last dim in place of both."""
    rank = len(A.shape)
    if rank < 2 or wrap_dim(dim1, rank) == wrap_dim(dim2, rank):
        raise ValueError(f"a diagonal is one of two dims, found {dim1} and {dim2} of shape {A.shape}")
    first, second = wrap_dim(dim1, rank), wrap_dim(dim2, rank)
    places = [(i, i + offset) for i in range(A.shape[first]) if 0 <= i + offset < A.shape[second]]
    rest = [d for d in range(rank) if d not in (first, second)]

    def source(index: Shape) -> Shape:
        own = dict(zip(rest, index, strict=False))
        own[first], own[second] = places[index[-1]]
        return tuple(own[d] for d in range(rank))

    return rearranged(A, (*(A.shape[d] for d in rest), len(places)), source)
