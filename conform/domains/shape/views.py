"""The same elements under another shape: the domains of the arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from conform.domains.engine.arguments import dim, dims, index, integers, length, optional, result, shape, tensor
from conform.domains.engine.constraints import Length, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space, integers_between
from conform.domains.engine.vocabulary import (
    NOT_LONG,
    NOT_MANY,
    another_dim_than,
    dim_of,
    distinct_dims,
    distinct_dims_of,
    divisors,
    dtype_of,
    new_dim_of,
    no_complex32_with,
    shape_of,
    shaped,
)
from conform.domains.specs import spec

CONVERTED = "torch converts src to the dtype of self"
Shape = tuple[int, ...]
Sizes = Sequence[int]

# --- Dims in another order --------------------------------------------------------------------------------------------

spec(
    "aten::permute",
    tensor("self"),
    dims("dims", Length.Eq(lambda self: self.rank), distinct_dims_of("self")),
    result(dtype_of("self"), shaped(lambda self, dims: tuple(self.size(dim) for dim in dims))),
)


def _swapped(operand: MetaArgument, one: int, other: int) -> Shape:
    sizes = list(operand.shape)
    if sizes:
        sizes[one], sizes[other] = sizes[other], sizes[one]
    return tuple(sizes)


for _name, _one, _other in (
    ("aten::transpose.int", "dim0", "dim1"),
    ("aten::swapdims", "dim0", "dim1"),
    ("aten::swapaxes", "axis0", "axis1"),
):
    spec(
        _name,
        tensor("self"),
        dim(_one, dim_of("self")),
        dim(_other, dim_of("self")),
        result(
            dtype_of("self"),
            Rank.Eq(lambda self: self.rank),
            shaped(
                (lambda self, dim0, dim1: _swapped(self, dim0, dim1))
                if _one == "dim0"
                else (lambda self, axis0, axis1: _swapped(self, axis0, axis1))
            ),
        ),
    )

LAST_SWAPPED = result(dtype_of("self"), shaped(lambda self: (*self.shape[:-2], *self.shape[:-3:-1])))
OF_NO_MATRIX = "torch gives a 0-d tensor itself, and warns"
for _name in ("aten::mT", "aten::adjoint", "aten::mH"):
    spec(_name, tensor("self", Rank.Ge(2).unjudged(OF_NO_MATRIX, lambda self: self.rank == 0)), LAST_SWAPPED)
spec(
    "aten::matrix_H",
    tensor("self", Rank.Eq(2).unjudged(OF_NO_MATRIX, lambda self: self.rank == 0)),
    LAST_SWAPPED,
)
spec("aten::numpy_T", tensor("self"), result(dtype_of("self"), shaped(lambda self: self.shape[::-1])))
spec("aten::t", tensor("self", Rank.Le(2)), result(dtype_of("self"), shaped(lambda self: self.shape[::-1])))


def _moved(self: MetaArgument, source: Sequence[int], destination: Sequence[int]) -> Shape:
    rank = self.rank
    places = {there % rank: here % rank for here, there in zip(source, destination, strict=True)} if rank else {}
    rest = iter([d for d in range(rank) if d not in places.values()])
    return tuple(self.shape[places[d] if d in places else next(rest)] for d in range(rank))


for _name in ("aten::movedim.int", "aten::moveaxis.int"):
    spec(
        _name,
        tensor("self"),
        dim("source", dim_of("self")),
        dim("destination", dim_of("self")),
        result(
            dtype_of("self"),
            shaped(lambda self, source, destination: _moved(self, [source], [destination])),
        ),
    )

for _name in ("aten::movedim.intlist", "aten::moveaxis.intlist"):
    spec(
        _name,
        tensor("self"),
        dims("source", distinct_dims("self")),
        dims("destination", Length.Eq(lambda source: len(source), text="length(source)"), distinct_dims_of("self")),
        result(dtype_of("self"), shaped(lambda self, source, destination: _moved(self, source, destination))),
    )

# --- Other sizes ------------------------------------------------------------------------------------------------------


def _widened(self: MetaArgument, i: int, length: int) -> Space | Shape:
    """0, 1, ... of new dims and, or -1, of those of size 1; of others {-1, size}"""
    d = i - (length - self.rank)
    if d < 0:
        return integers_between(0, math.inf)
    return integers_between(-1, math.inf) if self.shape[d] == 1 else (-1, self.shape[d])


def _expanded(self: MetaArgument, size: Sizes) -> Shape:
    new = len(size) - self.rank
    return tuple(self.shape[i - new] if one == -1 else one for i, one in enumerate(size))


for _name in ("aten::expand", "aten::broadcast_to"):
    spec(
        _name,
        tensor("self"),
        shape(
            "size",
            Length.Ge(lambda self: self.rank),
            NOT_LONG,
            Value.In(_widened).unjudged("beside a 0 torch takes negative sizes, too", lambda size: 0 in size),
            Value.Le(9).lenient(NOT_MANY),
        ),
        result(dtype_of("self"), shaped(_expanded)),
    )


def _to_which(self: MetaArgument, rank: int, d: int) -> Space | Shape:
    """that of self where it is not 1"""
    own = d - (rank - self.rank)
    return ANYTHING if own < 0 or self.shape[own] == 1 else (self.shape[own],)


spec(
    "aten::expand_as",
    tensor("self"),
    tensor(
        "other",
        no_complex32_with("self"),
        Rank.Ge(lambda self: self.rank),
        Size.In(_to_which),
    ),
    result(dtype_of("self"), shape_of("other")),
)


def _left(self: MetaArgument, i: int, length: int, previous: Sizes) -> Space | Shape:
    """what the elements can be divided into: one size may be -1, for what is left, if that is determined"""
    others = [one for one in previous if one != -1]
    known, is_inferred, is_last = math.prod(others), -1 in previous, i == length - 1
    if self.numel == 0:
        if is_inferred:
            return integers_between(1, math.inf)
        if 0 in others:
            return integers_between(0, math.inf)
        return (0, -1) if is_last else integers_between(-1, math.inf)
    if known == 0 or self.numel % known:
        return ()  # an earlier size is at fault
    rest = self.numel // known
    if is_last and not is_inferred:
        return (rest, -1)
    return divisors(rest) if is_inferred else (*divisors(rest), -1)


def _reshaped(self: MetaArgument, sizes: Sizes) -> Shape:
    known = math.prod(one for one in sizes if one != -1)
    return tuple(self.numel // max(known, 1) if one == -1 else one for one in sizes)


FEWEST = Length.Ge(lambda self: 0 if self.numel == 1 else 1, text="1 unless self has one element")
SMALL_EMPTY = Value.Le(4096).lenient(NOT_MANY)  # sizes beside a 0
for _name in ("aten::view", "aten::_unsafe_view"):
    spec(
        _name,
        tensor("self"),
        shape("size", FEWEST, NOT_LONG, Value.In(_left), SMALL_EMPTY),
        result(dtype_of("self"), shaped(lambda self, size: _reshaped(self, size))),
    )


def _of_as_many(self: MetaArgument, rank: int, d: int, sizes: Sizes) -> Space | Shape:
    """what the elements can be divided into"""
    if self.numel == 0:
        return (0,) if d == rank - 1 and 0 not in sizes else ANYTHING
    known = math.prod(sizes)
    if known == 0 or self.numel % known:
        return ()  # an earlier size is at fault
    rest = self.numel // known
    return (rest,) if d == rank - 1 else divisors(rest)


OF_AS_MANY = tensor(
    "other",
    no_complex32_with("self"),
    Rank.Ge(lambda self: 0 if self.numel == 1 else 1, text="1 unless self has one element"),
    Size.In(_of_as_many),
)
for _name in ("aten::view_as", "aten::reshape_as"):
    spec(_name, tensor("self"), OF_AS_MANY, result(dtype_of("self"), shape_of("other")))
spec("aten::ravel", tensor("self"), result(dtype_of("self"), shaped(lambda self: (self.numel,))))


spec(
    "aten::reshape",
    tensor("self"),
    shape("shape", FEWEST, NOT_LONG, Value.In(_left), SMALL_EMPTY),
    result(dtype_of("self"), shaped(lambda self, shape: _reshaped(self, shape))),
)


def _not_before(start_dim: int, self: MetaArgument) -> Shape:
    """the dims from start_dim on"""
    extent = max(self.rank, 1)
    return tuple(place for d in range(start_dim % extent, extent) for place in (d, d - extent))


def _flattened(self: MetaArgument, start_dim: int, end_dim: int) -> Shape:
    if not self.rank:
        return (1,)
    start, end = start_dim % self.rank, end_dim % self.rank
    return (*self.shape[:start], math.prod(self.shape[start : end + 1]), *self.shape[end + 1 :])


spec(
    "aten::flatten.using_ints",
    tensor("self"),
    dim("start_dim", dim_of("self")),
    dim("end_dim", dim_of("self"), Value.In(_not_before)),
    result(dtype_of("self"), shaped(_flattened)),
)


def _unsqueezed(self: MetaArgument, dim: int) -> Shape:
    at = dim % (self.rank + 1)
    return (*self.shape[:at], 1, *self.shape[at:])


spec(
    "aten::unsqueeze",
    tensor("self"),
    dim("dim", new_dim_of("self")),
    result(dtype_of("self"), shaped(_unsqueezed)),
)


def _squeezed(self: MetaArgument, dims: Any) -> Shape:
    named = {dim % max(self.rank, 1) for dim in dims}
    return tuple(size for d, size in enumerate(self.shape) if size != 1 or d not in named)


spec(
    "aten::squeeze",
    tensor("self"),
    result(dtype_of("self"), shaped(lambda self: _squeezed(self, range(self.rank)))),
)
spec(
    "aten::squeeze.dim",
    tensor("self"),
    dim("dim", dim_of("self")),
    result(dtype_of("self"), shaped(lambda self, dim: _squeezed(self, [dim]))),
)
spec(
    "aten::squeeze.dims",
    tensor("self"),
    dims("dim", distinct_dims("self")),
    result(dtype_of("self"), shaped(lambda self, dim: _squeezed(self, dim))),
)

# --- Other strides ----------------------------------------------------------------------------------------------------


def _diagonal_length(rows: int, columns: int, offset: int) -> int:
    return max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)


def diagonal_shape(self: MetaArgument, offset: int, dim1: int, dim2: int) -> Shape:
    rest = [size for d, size in enumerate(self.shape) if d not in (dim1 % self.rank, dim2 % self.rank)]
    return (*rest, _diagonal_length(self.size(dim1), self.size(dim2), offset))


spec(
    "aten::diagonal",
    tensor("self", Rank.Ge(2)),
    length("offset"),
    dim("dim1", dim_of("self")),
    dim("dim2", dim_of("self"), another_dim_than("dim1", "self")),
    result(dtype_of("self"), shaped(diagonal_shape)),
)


def _windows(self: MetaArgument, dimension: int, size: int, step: int) -> Shape:
    sizes = list(self.shape)
    if sizes:
        sizes[dimension] = (sizes[dimension] - size) // step + 1
    return (*sizes, size)


spec(
    "aten::unfold",
    tensor("self"),
    dim("dimension", dim_of("self")),
    length("size", Value.Ge(0), Value.Le(lambda self, dimension: self.size(dimension))),
    length("step", Value.Ge(1)),
    result(dtype_of("self"), shaped(_windows)),
)


def _strided_size(self: MetaArgument, i: int, length: int, previous: Sizes) -> Space | Shape:
    """{0} for some i where self has no elements"""
    return (0,) if self.numel == 0 and i == length - 1 and 0 not in previous else ANYTHING


def _reach(size: Sizes, stride: Sizes) -> int:
    return sum((one - 1) * step for one, step in zip(size, stride, strict=False))


def _longest_stride(self: MetaArgument, size: Sizes, i: int, previous: Sizes) -> float:
    """what leads to no place behind self's elements"""
    if 0 in size or i >= len(size) or size[i] == 1:
        return math.inf
    return (self.numel - 1 - _reach(size, previous)) // (size[i] - 1)


def _last_start(self: MetaArgument, size: Sizes, stride: Sizes) -> float:
    """numel(self) - 1 - the sum of (size[i] - 1) * stride[i]"""
    return math.inf if 0 in size else self.numel - 1 - _reach(size, stride)


NO_ELEMENT = "a limit of what is generated: where nothing is read, no stride matters"
STORED = tensor("self", Size.Ge(1).lenient(NO_ELEMENT))
SIZE = (
    Length.Ge(lambda self: 0 if self.numel else 1),
    NOT_LONG,
    Value.Ge(0),
    Value.Ne(0).lenient(NO_ELEMENT),  # beside a 0 torch takes negative sizes, too
    Value.Le(9).lenient(NOT_MANY),
    Value.In(_strided_size),
)
STRIDE = (
    Length.Eq(lambda size: len(size), text="length(size)"),
    Value.Ge(0),
    Value.Le(64).lenient(NOT_MANY),
)
OFFSET = optional(index("storage_offset", Value.Ge(0), Value.Le(_last_start), Value.Le(4096).lenient(NOT_MANY)))
spec(
    "aten::as_strided",
    STORED,
    shape("size", *SIZE),
    integers("stride", *STRIDE, Value.Le(_longest_stride)),
    OFFSET,
    result(dtype_of("self"), shaped(lambda size: size)),
)


def _fitting(self: MetaArgument, previous: Sizes) -> float:
    """the most that elements side by side are enough for"""
    return math.inf if 0 in previous else max(self.numel - sum(one - 1 for one in previous), 0)


def _longest_beside(self: MetaArgument, size: Sizes, i: int, previous: Sizes) -> float:
    """what leaves strides of 1 to those behind it"""
    if 0 in size or i >= len(size) or size[i] <= 1:
        return math.inf
    behind = sum(one - 1 for one in size[i + 1 :])
    return (self.numel - 1 - behind - _reach(size, previous)) // (size[i] - 1)


AGAIN = "P25: several elements of src have one place, which torch sees of some and refuses"
spec(
    "aten::as_strided_scatter",
    STORED,
    tensor("src", dtype_of("self").unjudged(CONVERTED), shaped(lambda size: size, "size")),
    shape("size", *SIZE, Value.Le(_fitting)),
    integers(
        "stride",
        *STRIDE,
        Value.Le(_longest_beside),
        Value.NotIn(
            lambda size, i: (0,) if i < len(size) and size[i] > 1 else (), text="{0} where size[i] > 1"
        ).unjudged(AGAIN),
    ),
    OFFSET,
    result(dtype_of("self"), shape_of("self")),
)
