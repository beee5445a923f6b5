"""Elements at other places, repeated or replaced by zeros: the domains of the arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from conform.domains.engine.arguments import (
    Argument,
    dim,
    dims,
    index_tensor,
    integer,
    integers,
    length,
    optional,
    result,
    tensor,
)
from conform.domains.engine.constraints import Constraint, Dtype, Length, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import Space, integers_between
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
    shape_of,
    shaped,
)
from conform.domains.shape.views import diagonal_shape
from conform.domains.specs import spec
from conform.numerics.draws import Stream

Shape = tuple[int, ...]
OF_NOTHING = "of no elements the sizes of the result matter alone, and -1 times 0 is one"
COUNTS = (
    Value.Ge(0).unjudged(OF_NOTHING, lambda self: self.numel == 0),
    Value.Le(4).lenient(NOT_MANY),
    Value.Be((1, 2, 3)),
)

# --- Copies -----------------------------------------------------------------------------------------------------------


def _repeated(self: MetaArgument, repeats: Sequence[int]) -> Shape:
    rank = max(self.rank, len(repeats))
    sizes = (1,) * (rank - self.rank) + self.shape
    times = (1,) * (rank - len(repeats)) + tuple(repeats)
    return tuple(size * count for size, count in zip(sizes, times, strict=True))


spec(
    "aten::repeat",
    tensor("self"),
    integers("repeats", Length.Ge(lambda self: self.rank), NOT_LONG, *COUNTS),
    result(dtype_of("self"), shaped(_repeated)),
)
spec(
    "aten::tile",
    tensor("self"),
    integers("dims", NOT_LONG, *COUNTS),
    result(dtype_of("self"), shaped(lambda self, dims: _repeated(self, dims))),
)



def _dims_or_none(self: MetaArgument, dim: int | None) -> Shape:
    """The shape of what is repeated along the dim."""
    return (self.numel,) if dim is None else self.shape or (1,)


def _interleaved(self: MetaArgument, dim: int | None, total: int) -> Shape:
    shape = _dims_or_none(self, dim)
    at = (dim or 0) % len(shape)
    return (*shape[:at], total, *shape[at + 1 :])


def _counts(stream: Stream, repeats: MetaArgument) -> np.ndarray:
    """0, 1 and 2 in any order, together as many as there are, which so many of the first one are, too: 1."""
    count = repeats.numel
    counts = np.where(np.arange(count) < count - count % 3, np.arange(count) % 3, 1)[stream.permutation(count)]
    one = int(np.argmax(counts == 1)) if count else 0
    counts[:1], counts[one : one + 1] = counts[one : one + 1].copy(), counts[:1].copy()
    return counts


def _many_as(self: MetaArgument, dim: int | None) -> Shape:
    """{1, size(self, dim)}, without dim numel(self)"""
    return tuple({1, _repeatable(self, dim)})


def _repeatable(self: MetaArgument, dim: int | None) -> int:
    """How many indices are repeated; 1 where there is no such dim."""
    if dim is None:
        return self.numel
    return self.size(dim) if -self.rank <= dim < self.rank else 1


def _interleaved(self: MetaArgument, dim: int | None, total: int) -> Shape:
    shape = (self.numel,) if dim is None else self.shape or (1,)
    at = (dim or 0) % len(shape)
    return (*shape[:at], total, *shape[at + 1 :])


UNCHECKED = "whether it is the size of the result some devices check, some do not"


def _size_of_result(*right: Constraint) -> Argument:
    return optional(length("output_size", *(one.unjudged(UNCHECKED) for one in right)))


ALONG = optional(dim("dim", dim_of("self")))
DIMENSIONED = tensor("self", Rank.Ge(1).unjudged("torch takes a 0-d tensor, and no dim of it"))
spec(
    "aten::repeat_interleave.self_int",
    DIMENSIONED,
    length("repeats", Value.Ge(0), Value.Le(4).lenient(NOT_MANY)),
    ALONG,
    _size_of_result(Value.Eq(lambda self, repeats, dim: repeats * _repeatable(self, dim), text="that of the result")),
    result(
        dtype_of("self"),
        shaped(lambda self, repeats, dim: _interleaved(self, dim, repeats * _repeatable(self, dim))),
    ),
)
REPEATS = (Value.Ge(0), Value.Gen(_counts))
ONE_FOR_ALL = "torch takes one number for all of them, too"
spec(
    "aten::repeat_interleave.self_Tensor",
    DIMENSIONED,
    index_tensor(
        "repeats", Dtype.In(("int32", "int64")), Rank.Eq(1).unjudged(ONE_FOR_ALL), *REPEATS, Size.In(_many_as)
    ),
    ALONG,
    _size_of_result(Value.Eq(_repeatable, text="that of the result")),
    result(dtype_of("self"), shaped(lambda self, dim: _interleaved(self, dim, _repeatable(self, dim)))),
)
spec(
    "aten::repeat_interleave.Tensor",
    index_tensor("repeats", Dtype.In(("int32", "int64")), Rank.Eq(1), *REPEATS),
    _size_of_result(Value.Eq(lambda repeats: repeats.numel, text="that of the result")),
    result(dtype_of("repeats"), shaped(lambda repeats: (repeats.numel,))),
)

# --- Other orders -----------------------------------------------------------------------------------------------------

spec(
    "aten::flip",
    tensor("self"),
    dims("dims", distinct_dims("self")),
    result(dtype_of("self"), shape_of("self")),
)
spec("aten::fliplr", tensor("self", Rank.Ge(2)), result(dtype_of("self"), shape_of("self")))
spec("aten::flipud", tensor("self", Rank.Ge(1)), result(dtype_of("self"), shape_of("self")))


def _turned(self: MetaArgument, k: int, dims: Sequence[int]) -> Shape:
    sizes = list(self.shape)
    if k % 2:
        sizes[dims[0]], sizes[dims[1]] = sizes[dims[1]], sizes[dims[0]]
    return tuple(sizes)


NO_DIM = "of a 0-d tensor torch refuses every dim of some overloads and none of others"
spec(
    "aten::roll",
    tensor("self"),
    integers("shifts", Length.Eq(lambda dims: len(dims) or 1, text="length(dims), or 1 without dims")),
    dims(
        "dims",
        Length.Le(lambda self: math.inf if self.rank else 0, text="0 of a 0-d tensor").unjudged(NO_DIM),
        NOT_LONG,
        dim_of("self"),
    ),
    result(dtype_of("self"), shape_of("self")),
)
spec(
    "aten::rot90",
    tensor("self", Rank.Ge(2)),
    integer("k"),
    dims("dims", Length.Eq(2), distinct_dims_of("self")),
    result(dtype_of("self"), shaped(_turned)),
)

# --- Diagonals --------------------------------------------------------------------------------------------------------

for _name in ("aten::tril", "aten::triu"):
    spec(
        _name,
        tensor("self", Rank.Ge(2)),
        integer("diagonal"),
        result(dtype_of("self"), shape_of("self")),
    )


def _embedded(self: MetaArgument, offset: int, dim1: int, dim2: int) -> Shape:
    rank, side = self.rank + 1, self.size(-1) + abs(offset)
    rest = iter(self.shape[:-1])  # one too few where dim1 and dim2 are the same, which is refused
    return tuple(side if d in (dim1 % rank, dim2 % rank) else next(rest, 1) for d in range(rank))


spec(
    "aten::diag_embed",
    tensor("self", Rank.Ge(1)),
    integer("offset", Value.Ge(-64).lenient(NOT_MANY), Value.Le(64).lenient(NOT_MANY)),
    dim("dim1", new_dim_of("self")),
    dim("dim2", new_dim_of("self"), another_dim_than("dim1", "self", more=1)),
    result(dtype_of("self"), shaped(_embedded)),
)

OFFSETS = (Value.Ge(-64).lenient(NOT_MANY), Value.Le(64).lenient(NOT_MANY))
FEW = Size.Le(129).lenient(NOT_MANY)


def _of_diagonal(self: MetaArgument, diagonal: int) -> Shape:
    if self.rank == 1:
        return (self.numel + abs(diagonal),) * 2
    return diagonal_shape(self, diagonal, 0, 1)


spec(
    "aten::diag",
    tensor("self", Rank.In((1, 2)), FEW),
    integer("diagonal", *OFFSETS),
    result(dtype_of("self"), shaped(_of_diagonal)),
)
spec(
    "aten::diagflat",
    tensor("self", FEW, Rank.Le(2).lenient(NOT_MANY)),
    integer("offset", *OFFSETS),
    result(dtype_of("self"), shaped(lambda self, offset: (self.numel + abs(offset),) * 2)),
)

# --- Pixels -----------------------------------------------------------------------------------------------------------


def _shuffled(self: MetaArgument, upscale_factor: int) -> Shape:
    *batch, channels, rows, columns = self.shape
    return (*batch, channels // upscale_factor**2, rows * upscale_factor, columns * upscale_factor)


def _unshuffled(self: MetaArgument, downscale_factor: int) -> Shape:
    *batch, channels, rows, columns = self.shape
    return (*batch, channels * downscale_factor**2, rows // downscale_factor, columns // downscale_factor)


def _factors(size: int, power: int) -> Space | Shape:
    """The numbers whose power divides the size; of 0 all."""
    return tuple(one for one in divisors(size) if size % one**power == 0) if size else integers_between(1, math.inf)


spec(
    "aten::pixel_shuffle",
    tensor("self", Rank.Ge(3), Size.Be(lambda rank, d: (4, 8, 9) if d == rank - 3 else ())),
    length(
        "upscale_factor",
        Value.Ge(1),
        Value.In(lambda self: _factors(self.size(-3), 2), text="the numbers whose squares divide size(self, -3)"),
    ),
    result(dtype_of("self"), shaped(_shuffled)),
)
for _name in ("aten::channel_shuffle", "aten::native_channel_shuffle"):
    spec(
        _name,
        tensor("self", Rank.Ge(3), Size.Be(lambda d: (4, 6, 9) if d == 1 else ())),
        length("groups", Value.In(lambda self: _factors(self.size(1), 1), text="the divisors of size(self, 1)")),
        result(dtype_of("self"), shape_of("self")),
    )
spec(
    "aten::pixel_unshuffle",
    tensor("self", Rank.Ge(3), Size.Be(lambda rank, d: (2, 4, 6) if d >= rank - 2 else ())),
    length(
        "downscale_factor",
        Value.Ge(1),
        Value.In(lambda self: _factors(self.size(-2), 1), text="the divisors of size(self, -2)"),
        Value.In(lambda self: _factors(self.size(-1), 1), text="the divisors of size(self, -1)"),
    ),
    result(dtype_of("self"), shaped(_unshuffled)),
)
