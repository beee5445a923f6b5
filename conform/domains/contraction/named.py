"""Products of matrices and convolutions by other names: the domains of their arguments."""

from __future__ import annotations

from collections import Counter

from conform.domains.contraction.convolution import CONVOLUTION
from conform.domains.engine.arguments import boolean, dim, dims, result, tensor
from conform.domains.engine.constraints import Dtype, Length, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space
from conform.domains.engine.vocabulary import (
    broadcast_sizes,
    broadcastable_with,
    dim_of,
    distinct_dims,
    dtype_of,
    not_complex_here,
    shaped,
)
from conform.domains.specs import INTEGERS, spec

Sizes = Space | tuple[int, ...]
NO_VECTOR = "of numbers torch gives the product"
OF_ONE_DIM = "torch looks at no dim where there is but one"
WITHOUT_REST = "where no dim is left torch adds up products, of bools in int64"
BROADCASTS = "torch's documentation has vectors of one size, and its kernel broadcasts"


def _of_vectors(x: MetaArgument, y: MetaArgument, dim: int) -> tuple[int, ...]:
    shape = broadcast_sizes(x.shape, y.shape)
    return tuple(size for d, size in enumerate(shape) if d != dim % max(len(shape), 1))


spec(
    "aten::linalg_vecdot",
    tensor("x", not_complex_here(), Dtype.NotIn(("bool", *INTEGERS)), Rank.Ge(1).unjudged(NO_VECTOR)),
    tensor(
        "y",
        dtype_of("x"),
        Rank.Eq(lambda x: x.rank, text="rank(x)").unjudged(BROADCASTS),
        broadcastable_with("x"),
        Size.In(lambda x, dim, d, rank: (x.size(d),) if d == dim % rank else ANYTHING, text="size(x, d) where d is dim")
        .unjudged(BROADCASTS),
    ),
    dim("dim", *(one.unjudged(OF_ONE_DIM, lambda x: x.rank < 2) for one in dim_of("x"))),
    result(dtype_of("x"), shaped(_of_vectors)),
)  # fmt: skip


def _size(tensor: MetaArgument, dim: int) -> int:
    """Of the dim, modulo the rank: one that is not there is its own fault."""
    return tensor.size(dim % tensor.rank) if tensor.rank else 1


def _needed(self: MetaArgument, dims_self: tuple[int, ...], rank: int, d: int, sizes: tuple[int, ...]) -> Sizes:
    """one of those of dims_self that no dim before has, where as many are needed as there are dims left"""
    missing = Counter(_size(self, one) for one in dims_self) - Counter(sizes)
    return tuple(missing) if missing.total() >= rank - d else ANYTHING


def _of_one_size(
    i: int, previous: tuple[int, ...], self: MetaArgument, dims_self: tuple[int, ...], other: MetaArgument
) -> Sizes:
    """the dims of other that have the size of that of self, but those before it"""
    taken = {one % max(other.rank, 1) for one in previous}
    left = [d for d in range(other.rank) if d not in taken]
    fitting = [d for d in left if i < len(dims_self) and other.size(d) == _size(self, dims_self[i])]
    return tuple(place for d in fitting or left for place in (d, d - other.rank)) or ANYTHING


def _is_whole(self: MetaArgument, other: MetaArgument, dims_self: tuple[int, ...]) -> bool:
    """Whether no dim is left, or nothing is multiplied."""
    return 0 in (self.numel, other.numel) or self.rank == other.rank == len(dims_self)


def _left(
    self: MetaArgument, other: MetaArgument, dims_self: tuple[int, ...], dims_other: tuple[int, ...]
) -> list[int]:
    pairs = ((self, dims_self), (other, dims_other))
    gone = [{one % max(tensor.rank, 1) for one in dims} for tensor, dims in pairs]
    kept = zip((self, other), gone, strict=True)
    return [size for tensor, out in kept for d, size in enumerate(tensor.shape) if d not in out]


spec(
    "aten::tensordot",
    tensor("self", not_complex_here(), Dtype.Ne("bool").unjudged(WITHOUT_REST, _is_whole)),
    tensor(
        "other",
        dtype_of("self"),
        Rank.Ge(lambda dims_self: len(dims_self), text="length(dims_self)"),
        Size.In(_needed),
    ),
    dims("dims_self", Length.Le(lambda self: self.rank, text="rank(self)"), distinct_dims("self")[1:]),
    dims(
        "dims_other",
        Length.Eq(lambda dims_self: len(dims_self), text="length(dims_self)"),
        Value.In(_of_one_size).unjudged(
            "torch adds up what meets a dim of size 1", lambda self, other: 1 in (*self.shape, *other.shape)
        ),
    ),
    result(dtype_of("self"), shaped(_left)),
)

CHOICES = (boolean("benchmark"), boolean("deterministic"), boolean("cudnn_enabled"))
TF32 = boolean("allow_tf32", Value.Eq(False).unjudged("with True a kernel may round what it multiplies to TF32"))
spec("aten::_convolution", *CONVOLUTION.arguments, *CHOICES, TF32, *CONVOLUTION.results)
spec("aten::_convolution.deprecated", *CONVOLUTION.arguments, *CHOICES, *CONVOLUTION.results)
