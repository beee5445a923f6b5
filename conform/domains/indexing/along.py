"""Ops that read or write where an index says, along one dim or in the whole tensor: the domains of their arguments."""

from __future__ import annotations

import math

import numpy as np

from conform.domains.engine.arguments import (
    Argument,
    boolean,
    dim,
    index_tensor,
    optional,
    result,
    scalar,
    string,
    tensor,
)
from conform.domains.engine.constraints import Constraint, Dtype, Optional, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space, integers_between
from conform.domains.engine.vocabulary import (
    dim_of,
    dtype_of,
    not_complex_here,
    shape_of,
    shaped,
    weight_of,
)
from conform.domains.specs import spec
from conform.numerics.draws import Stream

Shape = tuple[int, ...]

# --- An index of self's rank ------------------------------------------------------------------------------------------


def _ranks(self: MetaArgument, dim: int) -> Shape:
    """{rank(self)}; 0-d tensors count as ones of one dimension, where they need not be empty"""
    if self.rank > 1:
        return (self.rank,)
    return (0, 1) if self.size(dim) else (1,)


def _extent(self: MetaArgument, dim: int, d: int) -> float:
    """size(self, d) where d != dim"""
    return self.size(d) if d < self.rank and d != dim % self.rank else math.inf


def _emptied(self: MetaArgument, dim: int, rank: int, d: int, sizes: Shape) -> Space | Shape:
    """{0} for some d where size(self, dim) = 0"""
    return (0,) if d == rank - 1 and 0 not in sizes and self.size(dim) == 0 else ANYTHING


def _no_elements(index: MetaArgument) -> bool:
    return index.numel == 0


UNREAD = "torch takes any index that has no elements"
DIM = dim("dim", dim_of("self"))
INT64_OR_INT32 = Dtype.In(("int64", "int32"))


def _index(*more: Constraint) -> Argument:
    return index_tensor(
        "index",
        INT64_OR_INT32.lenient(UNREAD, _no_elements),
        Rank.In(_ranks).unjudged(UNREAD, _no_elements),
        Size.Le(_extent).unjudged(UNREAD, _no_elements),
        Size.In(_emptied),
        Value.Ge(0),
        Value.Lt(lambda self, dim: self.size(dim)),
        *more,
    )


spec("aten::gather", tensor("self", not_complex_here()), DIM, _index(), result(dtype_of("self"), shape_of("index")))


def _distinct(stream: Stream, self: MetaArgument, dim: int, index: MetaArgument) -> np.ndarray:
    """Indices that are distinct along dim, where there are so many, since of repeated ones nothing is known."""
    size = self.shape[dim % self.rank] if self.rank else 1
    count = index.shape[dim % index.rank] if index.rank else 1
    lines = index.numel // max(count, 1)
    rows = np.stack([np.resize(stream.permutation(size), count) for _ in range(lines)] or [np.empty(0, np.int64)])
    others = [n for d, n in enumerate(index.shape) if d != dim % index.rank] if index.rank else []
    return np.ascontiguousarray(np.moveaxis(rows.reshape(*others, count), -1, dim % index.rank)) if others else rows


DISTINCT = Value.Gen(_distinct)
RANK_OF_INDEX = Rank.In(
    lambda self, index: (self.rank,) if self.rank > 1 else (0, 1) if index.numel == 1 else (1,),
    text="{rank(self)}, 0 and 1 alike for one element",
)
SRC = (
    dtype_of("self"),
    RANK_OF_INDEX.unjudged(UNREAD, _no_elements),
    Size.Ge(lambda index, d: index.size(d) if d < max(index.rank, 1) else 0, text="size(index, d)").unjudged(
        UNREAD, _no_elements
    ),
)
LIKE_SELF = result(dtype_of("self"), shape_of("self"))
ANY = tensor("self")
SUMMED = tensor("self", not_complex_here())



spec("aten::scatter.src", ANY, DIM, _index(DISTINCT), tensor("src", SRC), LIKE_SELF)
spec("aten::scatter_add", SUMMED, DIM, _index(), tensor("src", SRC), LIKE_SELF)


def _stored(name: str) -> Argument:
    """A number that self's dtype can hold, which is not read where the index has no elements."""
    kinds, *ranges = weight_of("self")
    ranges = [one if one.lenience else one.lenient(UNREAD, _no_elements) for one in ranges]
    return scalar(name, kinds.unjudged("numbers of other kinds are converted, or refused"), ranges)


spec("aten::scatter.value", ANY, DIM, _index(), _stored("value"), LIKE_SELF)

WITH = string("reduce", Value.In(("add", "multiply")))
spec("aten::scatter.reduce", SUMMED, DIM, _index(), tensor("src", SRC), WITH, LIKE_SELF)
spec("aten::scatter.value_reduce", SUMMED, DIM, _index(), _stored("value"), WITH, LIKE_SELF)
spec(
    "aten::scatter_reduce.two",
    SUMMED,
    DIM,
    _index(),
    tensor("src", SRC),
    string(
        "reduce",
        Value.In(("sum", "prod", "mean", "amax", "amin")),
        Value.NotIn(lambda self: ("mean",) if self.dtype == "bool" else (), text="{mean} where dtype(self) = bool"),
    ),
    boolean("include_self"),
    LIKE_SELF,
)

# --- A vector of indices ----------------------------------------------------------------------------------------------


def _size(self: MetaArgument, dim: int) -> int:
    """size(self, dim), of whatever dim"""
    return self.shape[dim % self.rank] if self.rank else 1


VECTOR = (
    Rank.Le(1),
    Rank.Ge(lambda self, dim: int(_size(self, dim) == 0), text="1 where size(self, dim) = 0"),
    Size.In(lambda self, dim: (0,) if _size(self, dim) == 0 else ANYTHING, text="{0} where size(self, dim) = 0"),
    Value.Lt(lambda self, dim: _size(self, dim), text="size(self, dim)"),
)
NOT_NEGATIVE = Value.Ge(0)
ONE = Size.In(lambda self: (1,) if self.rank == 0 else ANYTHING, text="{1} where self is 0-d")
INT64 = Dtype.Eq("int64")


def _selected(self: MetaArgument, dim: int, index: MetaArgument) -> Shape:
    if not self.rank:
        return ()
    axis = dim % self.rank
    return tuple(index.numel if d == axis else size for d, size in enumerate(self.shape))


spec(
    "aten::index_select",
    ANY,
    DIM,
    index_tensor("index", INT64_OR_INT32, VECTOR, ONE, NOT_NEGATIVE),
    result(dtype_of("self"), shaped(_selected, "shape(self) with numel(index) at dim")),
)


def _distinct_of_vector(stream: Stream, self: MetaArgument, dim: int, index: MetaArgument) -> np.ndarray:
    return np.resize(stream.permutation(_size(self, dim)), index.numel)


def _is_number(source: MetaArgument) -> bool:
    return source.rank == 0


SOURCE = (
    dtype_of("self"),
    [
        one.unjudged("torch takes one number for one index", _is_number)
        for one in shaped(_selected, "shape(self) with numel(index) at dim")
    ],
)
spec(
    "aten::index_add",
    SUMMED,
    DIM,
    index_tensor("index", INT64_OR_INT32, VECTOR, ONE, NOT_NEGATIVE),
    tensor("source", SOURCE),
    scalar("alpha", weight_of("self")),
    LIKE_SELF,
)
spec(
    "aten::index_reduce",
    tensor("self", not_complex_here(), Dtype.Ne("bool").unjudged("torch's CPU takes bools of some shapes alone")),
    DIM,
    index_tensor("index", INT64_OR_INT32, VECTOR, ONE, NOT_NEGATIVE),
    tensor("source", dtype_of("self"), shaped(_selected, "shape(self) with numel(index) at dim")),
    string("reduce", Value.In(("prod", "mean", "amax", "amin"))),
    boolean("include_self"),
    LIKE_SELF,
)
spec(
    "aten::index_copy",
    ANY,
    DIM,
    index_tensor("index", VECTOR, ONE, INT64, NOT_NEGATIVE, Value.Gen(_distinct_of_vector)),
    tensor("source", SOURCE),
    LIKE_SELF,
)
spec(
    "aten::index_fill.int_Scalar",
    ANY,
    DIM,
    index_tensor("index", VECTOR, INT64, NOT_NEGATIVE.unjudged("the documentation says nothing of negative ones")),
    _stored("value"),
    LIKE_SELF,
)

# --- Places in the whole tensor, and broadcast indices ----------------------------------------------------------------

WHOLE = (
    Dtype.Eq("int64"),
    Rank.Ge(lambda self: int(self.numel == 0), text="1 where self has no elements"),
    Size.In(
        lambda self, rank, d, sizes: (0,) if self.numel == 0 and d == rank - 1 and 0 not in sizes else ANYTHING,
        text="{0} for some d where self has no elements",
    ),
    Value.In(
        lambda self: integers_between(-self.numel, self.numel - 1), text="{-numel(self), ..., numel(self) - 1}"
    ),
)
spec("aten::take", ANY, index_tensor("index", WHOLE), result(dtype_of("self"), shape_of("index")))


def _distinct_unless_added(stream: Stream, self: MetaArgument, index: MetaArgument, accumulate: bool) -> np.ndarray:
    """Places from either end, which are distinct, where there are so many, if nothing is added."""
    size = self.numel
    if not size:
        return np.empty(0, np.int64)
    count = index.numel
    places = stream.integers(0, size - 1, count) if accumulate else np.resize(stream.permutation(size), count)
    return places - size * (places % 2)


spec(
    "aten::put",
    SUMMED,
    index_tensor("index", WHOLE, Value.Gen(_distinct_unless_added)),
    tensor(
        "source",
        dtype_of("self"),
        [one.unjudged("torch takes as many elements in any shape") for one in shape_of("index")],
    ),
    boolean("accumulate"),
    LIKE_SELF,
)

# --- An index that broadcasts -----------------------------------------------------------------------------------------


def _extent_at(self: MetaArgument, dim: int | None) -> int:
    """size(self, dim), numel(self) where dim is None"""
    return self.numel if dim is None or not self.rank else self.shape[dim % self.rank]


def _beside(self: MetaArgument, dim: int | None, rank: int, d: int, sizes: Shape) -> Space | Shape:
    """{1, size(self, d)} for d other than dim"""
    if dim is not None and self.rank:
        is_free = d == dim % self.rank or self.shape[d] == 1
        return ANYTHING if is_free else (1, self.shape[d])
    return ANYTHING


def _nothing_of_nothing(self: MetaArgument, dim: int | None, rank: int, d: int, sizes: Shape) -> Space | Shape:
    """{0} at dim, or for some d, where there is nothing to choose from"""
    if _extent_at(self, dim):
        return ANYTHING
    here = d == rank - 1 and 0 not in sizes if dim is None or not self.rank else d == dim % self.rank
    return (0,) if here else ANYTHING


def _taken(self: MetaArgument, indices: MetaArgument, dim: int | None) -> Shape:
    if dim is None or not self.rank:
        return (indices.numel,)
    axis = dim % self.rank
    return tuple(
        b if d == axis or a == 1 else a for d, (a, b) in enumerate(zip(self.shape, indices.shape, strict=True))
    )


spec(
    "aten::take_along_dim",
    ANY,
    index_tensor(
        "indices",
        Dtype.Eq("int64").unjudged("torch takes int32, as gather does, where dim is None", lambda dim: dim is None),
        Rank.In(lambda self, dim: ANYTHING if dim is None else (self.rank,), text="{rank(self)} where dim is given"),
        Rank.Ge(lambda self: int(self.numel == 0), text="1 where self has no elements"),
        Size.In(_beside),
        Size.In(_nothing_of_nothing).unjudged(UNREAD, lambda indices: indices.numel == 0),
        Value.Ge(0).unjudged("the documentation says nothing of negative ones"),
        Value.Lt(_extent_at).unjudged(UNREAD, lambda self, indices, dim: 0 in _taken(self, indices, dim)),
    ),
    optional(
        dim("dim", dim_of("self")),
        Optional.In(lambda self: ANYTHING if self.rank else (True,), text="{True} where self is 0-d").unjudged(
            "other ops take a 0-d tensor for one of one dimension"
        ),
    ),
    result(dtype_of("self"), shaped(_taken, "shape(self) with size(indices, dim) at dim, both broadcast")),
)
