"""Several tensors in one: the domains of their arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from conform.domains.engine.arguments import Argument, dim, length, result, results, string, tensors
from conform.domains.engine.constraints import Dtype, Length, Rank, Size, Value
from conform.domains.engine.dtypes import DEFAULT_FLOAT, common_dtype
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Interval, Intervals, Space, integers_between
from conform.domains.engine.vocabulary import NOT_MANY, not_complex_here, shaped
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


for name in ("aten::cat", "aten::concat", "aten::concatenate"):
    spec(
        name,
        tensors("tensors", Length.Ge(1), not_complex_here(), Rank.Ge(1), Rank.In(_ranks), Size.In(_sizes)),
        dim("dim", Value.Gen(_any_dim)),  # the tensors are made to have it
        result(Dtype.Eq(lambda tensors: common_dtype(*tensors), text="common dtype of tensors"), shaped(_shape_of_cat)),
    )

# --- stack ------------------------------------------------------------------------------------------------------------


def _rank_of_first(previous: Tensors) -> Space | tuple[int, ...]:
    """that of those before it"""
    return (previous[0].rank,) if previous else ANYTHING


def _size_of_first(previous: Tensors, d: int) -> Space | tuple[int, ...]:
    """that of those before it"""
    return (previous[0].shape[d],) if previous and d < previous[0].rank else ANYTHING


def _shape_of_stack(tensors: Tensors, dim: int) -> tuple[int, ...]:
    shape = tensors[0].shape
    axis = dim % (len(shape) + 1)
    return (*shape[:axis], len(tensors), *shape[axis:])


spec(
    "aten::stack",
    tensors("tensors", Length.Ge(1), not_complex_here(), Rank.In(_rank_of_first), Size.In(_size_of_first)),
    dim(
        "dim",
        Value.Ge(lambda tensors: -tensors[0].rank - 1, text="-rank(tensors[0]) - 1"),
        Value.Le(lambda tensors: tensors[0].rank, text="rank(tensors[0])"),
    ),
    result(Dtype.Eq(lambda tensors: common_dtype(*tensors), text="common dtype of tensors"), shaped(_shape_of_stack)),
)

# --- block_diag and _chunk_cat ---------------------------------------------------------------------------------------


def _shape_of_blocks(tensors: Tensors) -> tuple[int, ...]:
    if not tensors:
        return (1, 0)
    return tuple(sum((1, 1, *one.shape)[d] for one in tensors) for d in (-2, -1))


spec(
    "aten::block_diag",
    tensors("tensors", not_complex_here(), Rank.Le(2)),
    result(
        Dtype.Eq(
            lambda tensors: common_dtype(*tensors) if tensors else DEFAULT_FLOAT,
            text=f"common dtype of tensors, {DEFAULT_FLOAT} of none",
        ),
        shaped(_shape_of_blocks),
    ),
)


def _rank_beside(previous: Tensors, dim: int) -> Space | tuple[int, ...]:
    """enough for dim; that of the first tensor where dim counts from the end"""
    return (previous[0].rank,) if previous and dim < 0 else integers_between(_least_rank(dim), math.inf)


def _size_before(previous: Tensors, dim: int, d: int) -> Space | tuple[int, ...]:
    """that of the first tensor where d is before dim"""
    if not previous or d >= dim % max(previous[0].rank, 1):
        return ANYTHING
    return (previous[0].size(d),)


def _shape_of_chunks(tensors: Tensors, dim: int, num_chunks: int) -> tuple[int, ...]:
    axis = dim % tensors[0].rank
    parts = (-(-one.size(axis) // num_chunks) * math.prod(one.shape[axis + 1 :]) for one in tensors)
    return (*tensors[0].shape[:axis], num_chunks, sum(parts))


spec(
    "aten::_chunk_cat",
    tensors(
        "tensors",
        Length.Ge(1),
        Dtype.In(lambda previous: (previous[0].dtype,) if previous else ANYTHING, text="that of those before it"),
        Rank.In(_rank_beside),
        Size.Ge(1),
        Size.In(_size_before),
    ),
    dim("dim", Value.Gen(_any_dim)),  # the tensors are made to have it
    length("num_chunks", Value.Ge(1), Value.Le(9).lenient(NOT_MANY)),
    result(Dtype.Eq(lambda tensors: tensors[0].dtype, text="dtype(tensors[0])"), shaped(_shape_of_chunks)),
)

# --- meshgrid ---------------------------------------------------------------------------------------------------------


def _dtype_of_first(previous: Tensors) -> Space | tuple[str, ...]:
    """that of those before it"""
    return (previous[0].dtype,) if previous else ANYTHING


def _shape_of_grid(tensors: Tensors) -> tuple[int, ...]:
    return tuple(one.numel for one in tensors)


def _shape_by_indexing(tensors: Tensors, indexing: str) -> tuple[int, ...]:
    ij = _shape_of_grid(tensors)
    return (*ij[1::-1], *ij[2:]) if indexing == "xy" else ij


LINES = tensors(
    "tensors",
    Length.Ge(1),
    Length.Le(4).lenient(NOT_MANY),
    Dtype.In(_dtype_of_first),
    Rank.Le(1),
    Size.Le(9).lenient(NOT_MANY),
)


def _grids(shape: Callable[..., Sequence[int]]) -> Argument:
    return results(
        Length.Eq(lambda tensors: len(tensors), text="length(tensors)"),
        Dtype.Eq(lambda tensors: tensors[0].dtype, text="dtype(tensors[0])"),
        shaped(shape),
    )


spec("aten::meshgrid", LINES, _grids(_shape_of_grid))
spec("aten::meshgrid.indexing", LINES, string("indexing", Value.In(("ij", "xy"))), _grids(_shape_by_indexing))
