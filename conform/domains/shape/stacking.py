"""Tensors that get the dims they lack and are joined, and choices of their elements: the domains of the arguments."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

from conform.domains.engine.arguments import (
    boolean,
    length,
    real,
    result,
    results,
    string,
    tensor,
    tensors,
)
from conform.domains.engine.constraints import Dtype, Length, Rank, Size, Value
from conform.domains.engine.dtypes import is_integral, promote
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space
from conform.domains.engine.vocabulary import NOT_MANY, broadcast_sizes, dtype_of, not_complex_here, shaped
from conform.domains.specs import spec

Tensors = Sequence[MetaArgument]
Shape = tuple[int, ...]

# --- More dims --------------------------------------------------------------------------------------------------------


def at_least_1d(shape: Shape) -> Shape:
    return shape or (1,)


def at_least_2d(shape: Shape) -> Shape:
    return shape if len(shape) > 2 else (1, 1, *shape)[-2:]


def at_least_3d(shape: Shape) -> Shape:
    if len(shape) > 2:
        return shape
    return (*shape, 1) if len(shape) == 2 else (1, *at_least_1d(shape), 1)


def columns(shape: Shape) -> Shape:
    return shape if len(shape) > 1 else (*at_least_1d(shape), 1)


NO_TENSORS = "torch gives an empty list, of which the kit has nothing to judge"


def _widened(name: str, widen: Callable[[Shape], Shape]) -> None:
    """Register NAME, of a tensor, and NAME.Sequence, of several."""
    spec(name, tensor("self"), result(dtype_of("self"), shaped(lambda self: widen(self.shape))))
    spec(
        f"{name}.Sequence",
        tensors("tensors", Length.Ge(1).unjudged(NO_TENSORS)),
        results(
            Length.Eq(lambda tensors: len(tensors), text="length(tensors)"),
            Dtype.Eq(lambda tensors, i: tensors[i].dtype, text="dtype(tensors[i])"),
            shaped(lambda tensors, i: widen(tensors[i].shape)),
        ),
    )


_widened("aten::atleast_1d", at_least_1d)
_widened("aten::atleast_2d", at_least_2d)
_widened("aten::atleast_3d", at_least_3d)


def _beside_all(previous: Tensors, rank: int, d: int) -> Space | Shape:
    """1, or that of those before it, aligned at the last dim"""
    known = broadcast_sizes(*(one.shape for one in previous)) if previous else ()
    size = known[d - rank] if rank - d <= len(known) else 1
    return ANYTHING if size == 1 else (1, size)


def _common_shape(tensors: Tensors) -> Shape:
    return broadcast_sizes(*(one.shape for one in tensors))


spec(
    "aten::broadcast_tensors",
    tensors("tensors", Length.Ge(1).unjudged(NO_TENSORS), Length.Le(4).lenient(NOT_MANY), Size.In(_beside_all)),
    results(
        Length.Eq(lambda tensors: len(tensors), text="length(tensors)"),
        Dtype.Eq(lambda tensors, i: tensors[i].dtype, text="dtype(tensors[i])"),
        shaped(_common_shape, "the shape to which all broadcast"),
    ),
)

# --- Side by side -----------------------------------------------------------------------------------------------------

def _own_dims(widen: Callable[[Shape], Shape], rank: int) -> Shape:
    """Which dim of a tensor of that rank each dim of the widened one is, as -1 - d; 1 of a new one."""
    return widen(tuple(-1 - d for d in range(rank)))


def _stacked(name: str, widen: Callable[[Shape], Shape], axis: Callable[[Shape], int]) -> None:
    """Register an op that joins widened tensors along the dim `axis` of the first one's widened shape."""

    def ranks(previous: Tensors) -> Space | Shape:
        """those from which the first tensor's number of dims is made"""
        if not previous:
            return ANYTHING
        first = widen(previous[0].shape)
        return tuple(rank for rank in range(len(first) + 1) if _goes_beside(first, _own_dims(widen, rank)))

    def _goes_beside(first: Shape, dims: Shape) -> bool:
        """Whether the new dims, of size 1, are as large as those of the first tensor."""
        if len(dims) != len(first):
            return False
        return all(d < 0 or first[place] == 1 or place == axis(first) for place, d in enumerate(dims))

    def sizes(previous: Tensors, rank: int, d: int) -> Space | Shape:
        """that of the first tensor, but for the dim along which they are joined"""
        if not previous:
            return ANYTHING
        first, place = widen(previous[0].shape), _own_dims(widen, rank).index(-1 - d)
        return ANYTHING if place == axis(first) else (first[place],)

    def joined(tensors: Tensors) -> Shape:
        first = widen(tensors[0].shape)
        total = sum(widen(one.shape)[axis(first)] for one in tensors)
        return (*first[: axis(first)], total, *first[axis(first) + 1 :])

    spec(
        name,
        tensors("tensors", Length.Ge(1), not_complex_here(), Rank.In(ranks), Size.In(sizes)),
        result(Dtype.Eq(_of_dtypes, text="common dtype of tensors"), shaped(joined)),
    )


def _of_dtypes(tensors: Tensors) -> str:
    """That of tensors of one dim or more, as widened ones are."""
    return functools.reduce(promote, [one.dtype for one in tensors])


_stacked("aten::hstack", at_least_1d, lambda first: min(len(first) - 1, 1))
_stacked("aten::vstack", at_least_2d, lambda first: 0)
_stacked("aten::row_stack", at_least_2d, lambda first: 0)
_stacked("aten::dstack", at_least_3d, lambda first: 2)
_stacked("aten::column_stack", columns, lambda first: 1)


def _of_first(previous: Tensors) -> Space | tuple[str, ...]:
    """that of those before it"""
    return (previous[0].dtype,) if previous else ANYTHING


def _rank_of_first(previous: Tensors) -> Space | Shape:
    """that of those before it"""
    return (previous[0].rank,) if previous else ANYTHING


def _step_of_first(previous: Tensors, d: int) -> Space | Shape:
    """that of those before it, but for the first dim"""
    return (previous[0].shape[d],) if previous and 0 < d < previous[0].rank else ANYTHING


def _paddings(sequences: Tensors) -> tuple[float, ...]:
    """numbers that every dtype of their kind holds"""
    dtype = sequences[0].dtype if sequences else "bool"
    if dtype == "bool":
        return (0.0, 1.0)
    return (0.0, 1.0, 5.0, 120.0) if is_integral(dtype) else (0.0, -2.0, 0.5, 5.0, math.inf)


def _padded(sequences: Tensors, batch_first: bool) -> Shape:
    longest, count = max(one.size(0) for one in sequences), len(sequences)
    rest = sequences[0].shape[1:]
    return (count, longest, *rest) if batch_first else (longest, count, *rest)


BROADCAST = "torch broadcasts the steps of later sequences to those of the first"
CONVERTED = "torch converts later sequences to the dtype of the first"
spec(
    "aten::pad_sequence",
    tensors(
        "sequences",
        Length.Ge(1),
        Dtype.In(_of_first).unjudged(CONVERTED),
        Rank.Ge(1),
        Rank.In(_rank_of_first).unjudged(BROADCAST),
        Size.In(_step_of_first).unjudged(BROADCAST),
    ),
    boolean("batch_first"),
    real("padding_value", Value.In(_paddings).unjudged("full is asked for others")),
    string("padding_side", Value.In(("left", "right"))),
    result(Dtype.Eq(lambda sequences: sequences[0].dtype, text="dtype(sequences[0])"), shaped(_padded)),
)

# --- Choices ----------------------------------------------------------------------------------------------------------


def _choices(tensors: Tensors) -> Shape:
    count = math.prod(one.numel for one in tensors)
    return (count,) if len(tensors) == 1 else (count, len(tensors))


spec(
    "aten::cartesian_prod",
    tensors(
        "tensors",
        Length.Ge(1),
        Length.Le(4).lenient(NOT_MANY),
        Dtype.In(_of_first),
        Rank.Eq(1),
        Size.Le(9).lenient(NOT_MANY),
    ),
    result(Dtype.Eq(lambda tensors: tensors[0].dtype, text="dtype(tensors[0])"), shaped(_choices)),
)


def _combined(self: MetaArgument, r: int, with_replacement: bool) -> Shape:
    if r == 0:
        return (0,)
    return math.comb(self.numel + (r - 1 if with_replacement and self.numel else 0), r), r


spec(
    "aten::combinations",
    tensor("self", Rank.Eq(1), Size.Le(33).lenient(NOT_MANY)),
    length("r", Value.Ge(0), Value.Le(3).lenient(NOT_MANY)),
    boolean("with_replacement"),
    result(dtype_of("self"), shaped(_combined)),
)
