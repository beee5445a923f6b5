"""Dimensions as torch counts them: negative from the end, a 0-d tensor having one."""

from __future__ import annotations

from collections.abc import Sequence

from conform.errors import InvalidArguments


def wrap_dim(dim: int, rank: int) -> int:
    """`dim` in 0..rank-1; a 0-d tensor accepts -1 and 0."""
    extent = max(rank, 1)
    if not -extent <= dim < extent:
        raise InvalidArguments(
            f"dim {dim} is out of range for a tensor of {rank} dimensions; expected {-extent}..{extent - 1}"
        )
    return dim % extent


def wrap_dims(dims: Sequence[int], rank: int) -> tuple[int, ...]:
    """Each of `dims` wrapped; a repeated one is an error."""
    wrapped = tuple(wrap_dim(dim, rank) for dim in dims)
    if len(set(wrapped)) < len(wrapped):
        raise InvalidArguments(f"dims {list(dims)} name a dimension twice")
    return wrapped


def reduced_axes(dims: Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """The axes that a reduction runs over: all of them where `dims` is None or empty; () for a 0-d tensor."""
    wrapped = wrap_dims(dims, rank) if dims else tuple(range(rank))
    return wrapped if rank else ()
