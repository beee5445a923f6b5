"""Dimensions as torch counts them: negative from the end, a 0-d tensor having one."""

from __future__ import annotations

from collections.abc import Sequence


def wrap_dim(dim: int, rank: int) -> int:
    """`dim` in 0..rank-1; of a 0-d tensor, which has -1 and 0, in 0..0."""
    return dim % max(rank, 1)


def wrap_dims(dims: Sequence[int], rank: int) -> tuple[int, ...]:
    """Each of `dims` wrapped."""
    return tuple(wrap_dim(dim, rank) for dim in dims)


def reduced_axes(dims: Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """The axes that a reduction runs over: all of them where `dims` is None or empty; () for a 0-d tensor."""
    wrapped = wrap_dims(dims, rank) if dims else tuple(range(rank))
    return wrapped if rank else ()
