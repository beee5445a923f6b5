"""Ops that move data: the domains of their arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence

from conform.domains.engine.arguments import dim, dims, index, length, optional, result, tensor, tensors
from conform.domains.engine.constraints import Dtype, Length, Rank, Size, Value
from conform.domains.engine.dtypes import common_dtype
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Interval, Intervals, Space
from conform.domains.engine.vocabulary import dim_of, distinct_dims_of, dtype_of, not_complex_here, shaped
from conform.domains.specs import spec
from conform.numerics.draws import Stream

Tensors = Sequence[MetaArgument]

# --- cat --------------------------------------------------------------------------------------------------------------

SKIPPED = (0,)  # the shape of tensors that cat passes over, whatever the others are


def _any_dim(stream: Stream) -> int:
    """A dim of tensors as large as are generated."""
    return int(stream.integers(-3, 2, 1)[0])


def _joined(tensors: Tensors) -> MetaArgument | None:
    """The first tensor that is not passed over."""
    return next((one for one in tensors if one.shape != SKIPPED), None)


def _ranks(previous: Tensors, dim: int) -> Space | tuple[int, ...]:
    """that of those before it, or one that has dim, or 1 for the shape [0], or 0"""
    before = _joined(previous)
    if before is not None:
        return (0, 1, before.rank)
    enough = Interval(_least_rank(dim), math.inf, high_open=True)
    return Intervals((Interval(0, 1), enough) if enough.low > 1 else (Interval(0, math.inf, high_open=True),), True)


def _least_rank(dim: int) -> int:
    return dim + 1 if dim >= 0 else -dim


def _sizes(previous: Tensors, dim: int, rank: int, d: int) -> Space | tuple[int, ...]:
    """those of the tensors before it where d != dim, 0 where the rank is not theirs"""
    before = _joined(previous)
    if rank == 1 and (_least_rank(dim) > 1 if before is None else before.rank != 1):
        return SKIPPED
    return ANYTHING if before is None or d == dim % rank else (before.size(d),)


def _shape_of_cat(tensors: Tensors, dim: int) -> tuple[int, ...]:
    first = _joined(tensors)
    if first is None:
        return SKIPPED
    axis = dim % first.rank
    total = sum(one.size(axis) for one in tensors if one.shape != SKIPPED)
    return (*first.shape[:axis], total, *first.shape[axis + 1 :])


spec(
    "aten::cat",
    tensors("tensors", Length.Ge(1), not_complex_here(), Rank.Ge(1), Rank.In(_ranks), Size.In(_sizes)),
    dim("dim", Value.Gen(_any_dim)),  # the tensors are made to have it
    result(Dtype.Eq(lambda tensors: common_dtype(*tensors), text="common dtype of tensors"), shaped(_shape_of_cat)),
)

# --- Views ------------------------------------------------------------------------------------------------------------

spec(
    "aten::permute",
    tensor("self", not_complex_here()),
    dims("dims", Length.Eq(lambda self: self.rank), distinct_dims_of("self")),
    result(dtype_of("self"), shaped(lambda self, dims: tuple(self.size(dim) for dim in dims))),
)


def _shape_of_slice(self: MetaArgument, dim: int, start: int | None, end: int | None, step: int) -> tuple[int, ...]:
    sizes = list(self.shape)
    sizes[dim] = len(range(*slice(start, end, step).indices(self.size(dim))))
    return tuple(sizes)


spec(
    "aten::slice.Tensor",
    tensor("self", not_complex_here(), Rank.Ge(1)),
    dim("dim", dim_of("self")),
    optional(index("start")),
    optional(index("end")),
    length("step", Value.Ge(1)),
    result(dtype_of("self"), shaped(_shape_of_slice)),
)
