"""Distinct slices: the domains of the arguments.

How many there are depends on the data: as many as are drawn here, and of a tensor that is there they are counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from conform.domains.engine.arguments import Argument, boolean, dim, optional, result, tensor
from conform.domains.engine.constraints import Dtype, Optional, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import NOT_MANY, dim_of, dtype_of, shaped
from conform.domains.sorting.search import numbers_of
from conform.domains.specs import REAL, spec
from conform.numerics.draws import Stream
from conform.numerics.formats import format_named


def _in_turns(shape: tuple[int, ...]) -> np.ndarray:
    """Numbers of elements: along each dim the second half of the slices are the first once more."""
    return _sums(shape, [np.arange(size) % max((size + 1) // 2, 1) for size in shape])


def _in_pairs(shape: tuple[int, ...]) -> np.ndarray:
    """Numbers of elements: along each dim two slices that are equal follow each other."""
    return _sums(shape, [np.arange(size) // 2 for size in shape])


def _sums(shape: tuple[int, ...], steps: list[np.ndarray]) -> np.ndarray:
    return sum(np.meshgrid(*steps, indexing="ij", sparse=True), np.zeros(shape, np.int64))


def _pattern(self: MetaArgument, numbered: Callable[[tuple[int, ...]], np.ndarray]) -> np.ndarray:
    """Which elements are equal: those of the tensor that is there, or of one that is drawn."""
    if self.elements is not None:
        return self.elements.array
    return numbered(self.shape) % numbers_of(format_named(self.dtype)).size


def _drawn(stream: Stream, self: MetaArgument, numbered: Callable[[tuple[int, ...]], np.ndarray]) -> np.ndarray:
    """Numbers in that pattern, zeros of both signs among them."""
    fmt = format_named(self.dtype)
    numbers = numbers_of(fmt)
    values = numbers[stream.permutation(numbers.size)][_pattern(self, numbered)]
    if fmt.is_float and values.size:
        return np.where((values == 0) & stream.bernoulli(0.5, values.shape), -values, values)
    return values


def _slices(array: np.ndarray, dim: int | None) -> np.ndarray:
    """[slices along dim, their elements]; without dim every element is one."""
    along = array.reshape(-1) if dim is None else np.moveaxis(array, dim, 0)
    return along.reshape(len(along), array.size // max(len(along), 1))


def _count(self: MetaArgument, dim: int) -> int:
    return len({tuple(one) for one in _slices(_pattern(self, _in_turns), dim).tolist()})


def _count_of_runs(self: MetaArgument, dim: int | None) -> int:
    slices = _slices(_pattern(self, _in_pairs), dim)
    return min(len(slices), 1) + int(np.count_nonzero((slices[1:] != slices[:-1]).any(axis=1)))


def _has_nan(self: MetaArgument) -> bool:
    return self.elements is not None and bool(np.isnan(self.elements.array).any())


def _with(self: MetaArgument, dim: int | None, count: int) -> tuple[int, ...]:
    """The shape of self with so many slices along dim."""
    return (count,) if dim is None else tuple(count if d == dim % self.rank else n for d, n in enumerate(self.shape))


def _dims_of_nothing(self: MetaArgument) -> tuple[int, ...]:
    """The dims along which slices have no elements."""
    empty = [d for d, size in enumerate(self.shape) if size == 0]
    return tuple(place for d in range(self.rank) if empty not in ([], [d]) for place in (d, d - self.rank))


MOST = 2**20  # elements of a tensor of which it is told beforehand how many slices will differ
FEW = Size.Le(
    lambda sizes: MOST // max(math.prod(size for size in sizes if size), 1), text="2^20 over the sizes before it"
).lenient(NOT_MANY)
NO_SLICES = "what has no dim, or no elements but along one, has no slices"
ONE_EMPTY = Size.Ge(lambda d, sizes: int(0 in sizes), text="1, but of one d")
SLICED = Dtype.In(REAL), Rank.Ge(1).unjudged(NO_SLICES), ONE_EMPTY, FEW
DIM = dim("dim", dim_of("self"), Value.NotIn(_dims_of_nothing, text="dims along which slices have no elements"))
INT64 = Dtype.Eq("int64")


def _inverse(*shape: object) -> Argument:
    return optional(result(INT64, *shape), Optional.Eq(lambda return_inverse: not return_inverse))


def _counts(*shape: object) -> Argument:
    return optional(result(INT64, *shape), Optional.Eq(lambda return_counts: not return_counts))


OF_SLICES = shaped(lambda self, dim: (self.shape[dim % self.rank],), "(size(self, dim),)")
RUNS = shaped(lambda self, dim: (_count_of_runs(self, dim),), "(number of distinct slices,)")
OF_RUNS = shaped(
    lambda self, dim: _with(self, dim, _count_of_runs(self, dim)), "shape(self), as many along dim as are distinct"
)

spec(
    "aten::unique_dim",
    tensor("self", SLICED, Value.Gen(lambda stream, self: _drawn(stream, self, _in_turns))),
    DIM,
    boolean("sorted"),
    boolean("return_inverse"),
    boolean("return_counts"),
    optional(
        result(dtype_of("self"), shaped(lambda self, dim: _with(self, dim, _count(self, dim)), "distinct slices")),
        Optional.Eq(_has_nan),
    ),
    optional(result(INT64, OF_SLICES), Optional.Eq(lambda self, return_inverse: not return_inverse or _has_nan(self))),
    optional(
        result(INT64, shaped(lambda self, dim: (_count(self, dim),), "(number of distinct slices,)")),
        Optional.Eq(lambda self, return_counts: not return_counts or _has_nan(self)),
    ),
)
spec(
    "aten::unique_dim_consecutive",
    tensor("self", SLICED, Value.Gen(lambda stream, self: _drawn(stream, self, _in_pairs))),
    DIM,
    boolean("return_inverse"),
    boolean("return_counts"),
    result(dtype_of("self"), OF_RUNS),
    _inverse(OF_SLICES),
    _counts(RUNS),
)
spec(
    "aten::unique_consecutive",
    tensor("self", Dtype.In(REAL), FEW, Value.Gen(lambda stream, self: _drawn(stream, self, _in_pairs))),
    boolean("return_inverse"),
    boolean("return_counts"),
    optional(
        DIM,
        Optional.In(
            lambda self: (True, False) if len(_dims_of_nothing(self)) < 2 * self.rank else (True,),
            text="{True} without a dim of slices that have elements",
        ).unjudged(NO_SLICES),
    ),
    result(dtype_of("self"), OF_RUNS),
    _inverse(
        shaped(lambda self, dim: self.shape if dim is None else (self.size(dim),), "shape(self), or (size(self, dim),)")
    ),
    _counts(RUNS),
)
