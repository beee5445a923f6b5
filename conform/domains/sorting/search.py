"""Places in sorted sequences, and distinct numbers: the domains of the arguments.

Sequences are drawn in order, or in one that the sorter undoes; how many distinct numbers there are depends on the data:
as many as are drawn here, and of a tensor that is there they are counted.
"""

from __future__ import annotations

import math

import numpy as np

from conform.domains.engine.arguments import boolean, index_tensor, optional, result, scalar, string, tensor
from conform.domains.engine.constraints import Dtype, Optional, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space
from conform.domains.engine.vocabulary import dtype_of, shape_of, shaped
from conform.domains.specs import COMPLEX, NUMBERS, REAL, spec
from conform.numerics.draws import Stream
from conform.numerics.formats import Format, format_named

NO_KERNEL = "no elements need no kernel"
STEPS = 33  # different numbers that are drawn beside the ends of a format


def numbers_of(fmt: Format) -> np.ndarray:
    """Numbers of a format in order, -0 and 0 among them, its ends, and ordinary ones."""
    if fmt.kind == "bool":
        return np.array([False, True])
    if fmt.is_integer:
        low = 0 if fmt.kind == "uint" else -STEPS // 2
        ends = [fmt.min_value, fmt.max_value - 1, fmt.max_value]
        return np.unique(np.array([*range(low, low + STEPS), *ends], np.int64)).astype(fmt.storage)
    ordinary = np.arange(-STEPS // 2, STEPS // 2) / 4
    ends = np.array([fmt.max_finite, fmt.min_normal, fmt.min_subnormal, np.inf])
    return np.unique([*ordinary, *ends, *-ends]).astype(fmt.storage)


def _in_order(stream: Stream, fmt: Format, shape: tuple[int, ...]) -> np.ndarray:
    numbers = numbers_of(fmt)
    places = stream.integers(0, numbers.size - 1, shape) if math.prod(shape) else np.zeros(shape, int)
    return numbers[np.sort(places, axis=-1) if shape else places]


# --- Places in a sequence ---------------------------------------------------------------------------------------------


def _turn(size: int) -> int:
    """By how many places a sequence is turned that has a sorter."""
    return size // 3 + 1


def _sequence(stream: Stream, sorted_sequence: MetaArgument, sorter: MetaArgument) -> np.ndarray:
    ordered = _in_order(stream, format_named(sorted_sequence.dtype), sorted_sequence.shape)
    return ordered if sorter.is_none or not ordered.ndim else np.roll(ordered, _turn(sorted_sequence.size(-1)), -1)


def _order(stream: Stream, sorter: MetaArgument) -> np.ndarray:
    size = sorter.size(-1)
    return np.tile((np.arange(size) + _turn(size)) % max(size, 1), sorter.numel // max(size, 1)).reshape(sorter.shape)


def _ranks(self: MetaArgument) -> tuple[int, ...]:
    """{1, rank(self)}"""
    return (1, self.rank) if self.rank else (1,)


def _leading(self: MetaArgument, rank: int, d: int) -> Space | tuple[int, ...]:
    """size(self, d) of the leading dims of many sequences"""
    return ANYTHING if rank == 1 or d == rank - 1 or d >= self.rank else (self.size(d),)


def _ranks_beside(self: MetaArgument, sorter: MetaArgument) -> tuple[int, ...]:
    """{rank(sorter)}, without it {1, rank(self)}"""
    return _ranks(self) if sorter.is_none else (sorter.rank,)


def _sizes_beside(self: MetaArgument, sorter: MetaArgument, rank: int, d: int) -> Space | tuple[int, ...]:
    """{size(sorter, d)}, without it size(self, d) of the leading dims of many sequences"""
    return _leading(self, rank, d) if sorter.is_none else (sorter.size(d),)


def _is_empty(self: MetaArgument) -> bool:
    return self.numel == 0


PROMOTES = "torch promotes"
OF_BOOLS = (Dtype.NotIn(COMPLEX).unjudged("they have no order"), Dtype.Ne("bool").unjudged(PROMOTES))
PLACES = result(Dtype.Eq(lambda out_int32: "int32" if out_int32 else "int64"), shape_of("self"))
OUT_INT32, RIGHT = boolean("out_int32"), boolean("right")

spec(
    "aten::searchsorted.Tensor",
    index_tensor("sorted_sequence", dtype_of("self").unjudged(PROMOTES), Rank.In(_ranks_beside),
                 Size.In(_sizes_beside), Value.Gen(_sequence)),
    tensor("self", OF_BOOLS),
    OUT_INT32,
    RIGHT,
    optional(string("side", Value.In(lambda right: ("right",) if right else ("left", "right")))),
    optional(
        index_tensor("sorter", Dtype.Eq("int64"), Rank.In(_ranks), Size.In(_leading),
                     Value.Ge(0), Value.Lt(lambda sorter: sorter.size(-1)), Value.Gen(_order))
    ),
    PLACES,
)  # fmt: skip
spec(
    "aten::bucketize.Tensor",
    tensor("self", OF_BOOLS),
    index_tensor(
        "boundaries",
        dtype_of("self").unjudged(PROMOTES),
        Rank.Eq(1),
        Value.Gen(lambda stream, boundaries: _in_order(stream, format_named(boundaries.dtype), boundaries.shape)),
    ),
    OUT_INT32,
    RIGHT,
    PLACES,
)

# --- Distinct numbers -------------------------------------------------------------------------------------------------

NANS = 3


def _counts(self: MetaArgument) -> tuple[int, int]:
    """(how many different numbers are drawn, how many NaN)."""
    fmt = format_named(self.dtype)
    nans = min(self.numel // 8, NANS) if fmt.is_float else 0
    return min((self.numel - nans + 1) // 2, numbers_of(fmt).size), nans


def _drawn(stream: Stream, self: MetaArgument) -> np.ndarray:
    """So many different numbers, each at least once, zeros of both signs, and NaN."""
    fmt, (count, nans) = format_named(self.dtype), _counts(self)
    numbers = numbers_of(fmt)
    chosen = numbers[stream.permutation(numbers.size)[:count]]
    drawn = [chosen] if not count else [chosen, chosen[stream.integers(0, count - 1, self.numel - nans - count)]]
    values = np.concatenate([*drawn, *([np.full(nans, np.nan).astype(fmt.storage)] if nans else [])])
    values = values[stream.permutation(self.numel)]
    if fmt.is_float:
        return np.where((values == 0) & stream.bernoulli(0.5, self.numel), -values, values)
    return values


def _distinct(self: MetaArgument) -> tuple[int]:
    return (sum(_counts(self)) if self.elements is None else self.elements.distinct(),)


DISTINCT, INDEX = shaped(_distinct, "(number of distinct elements,)"), Dtype.Eq("int64")
spec(
    "aten::_unique2",
    tensor("self", Dtype.In(REAL).unjudged(NO_KERNEL, _is_empty), Value.Gen(_drawn)),
    boolean("sorted"),
    boolean("return_inverse"),
    boolean("return_counts"),
    result(dtype_of("self"), DISTINCT),
    optional(result(INDEX, shape_of("self")), Optional.Eq(lambda return_inverse: not return_inverse)),
    optional(result(INDEX, DISTINCT), Optional.Eq(lambda return_counts: not return_counts)),
)

# --- Whether one of many is equal -------------------------------------------------------------------------------------

NOT_NAMED = "the documentation names no dtypes; torch's CPU refuses bools and complex numbers"
COMPARED = Dtype.In(NUMBERS).unjudged(NOT_NAMED)


def _beside(stream: Stream, elements: MetaArgument) -> np.ndarray:
    """Small integers, so that some of two tensors are equal."""
    return _in_order(stream, format_named(elements.dtype), elements.shape)


UNIQUE = boolean("assume_unique", Value.Eq(False).unjudged("nothing is said of elements that are not unique"))
spec(
    "aten::isin.Tensor_Tensor",
    tensor("elements", COMPARED, Value.Gen(_beside)),
    tensor("test_elements", COMPARED, Value.Gen(lambda stream, test_elements: _beside(stream, test_elements))),
    UNIQUE,
    boolean("invert"),
    result(Dtype.Eq("bool"), shape_of("elements")),
)
NUMBER = Dtype.In(("int", "float")).unjudged(NOT_NAMED)
spec(
    "aten::isin.Tensor_Scalar",
    tensor("elements", COMPARED, Value.Gen(_beside)),
    scalar("test_element", NUMBER, Value.Be((1, 2))),
    UNIQUE,
    boolean("invert"),
    result(Dtype.Eq("bool"), shape_of("elements")),
)
spec(
    "aten::isin.Scalar_Tensor",
    scalar("element", NUMBER, Value.Be((1, 2))),
    tensor("test_elements", COMPARED, Value.Gen(lambda stream, test_elements: _beside(stream, test_elements))),
    UNIQUE,
    boolean("invert"),
    result(Dtype.Eq("bool"), shaped(lambda element: (), "()")),
)
