"""Elements chosen by masks, or by being true: the domains of the arguments.

How many elements there are depends on the data: half of those of a mask are drawn to be true, and of what is asked
which elements are true. Of a tensor that is there they are counted.
"""

from __future__ import annotations

import math

import numpy as np

from conform.domains.engine.arguments import integer, length, mask, result, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import (
    NOT_MANY,
    broadcast,
    broadcast_of,
    broadcastable_with,
    dtype_of,
    shaped,
)
from conform.domains.specs import spec
from conform.numerics.draws import Stream
from conform.numerics.formats import format_named

Shape = tuple[int, ...]
ANY = tensor("self")


def _half(tensor: MetaArgument) -> int:
    """How many elements are true: half of them, where they are not there yet."""
    return (tensor.numel + 1) // 2 if tensor.chosen is None else tensor.chosen


def _drawn_mask(stream: Stream, mask: MetaArgument) -> np.ndarray:
    return stream.permutation(mask.numel) < _half(mask)


MASK = mask("mask", Dtype.Eq("bool"), broadcastable_with("self"), Value.Gen(_drawn_mask))


def _count(self: MetaArgument, mask: MetaArgument) -> int:
    """How many elements of both, broadcast, are true."""
    return _half(mask) * (math.prod(broadcast(self, mask)) // max(mask.numel, 1))


def _selected(self: MetaArgument, mask: MetaArgument) -> Shape:
    return (_count(self, mask),)


spec("aten::masked_select", ANY, MASK, result(dtype_of("self"), shaped(_selected, "(number of true elements,)")))


LARGEST = 4096  # size of a dim that is drawn


def _missing(self: MetaArgument, mask: MetaArgument, rank: int, d: int, sizes: Shape) -> int:
    """enough for a source of as many elements as are true"""
    others = math.prod(sizes) * LARGEST ** (rank - 1 - d)
    return -(-_count(self, mask) // max(others, 1))


def _least_rank(self: MetaArgument, mask: MetaArgument) -> int:
    """of a source of as many elements as are true"""
    count = _count(self, mask)
    return 0 if count <= 1 else 1 if count <= LARGEST else 2


spec(
    "aten::masked_scatter",
    ANY,
    MASK,
    tensor(
        "source",
        dtype_of("self"),
        Rank.Ge(_least_rank),
        Size.Ge(_missing),
    ),
    result(dtype_of("self"), broadcast_of("self", "mask")),
)


def _drawn_half(stream: Stream, self: MetaArgument) -> np.ndarray:
    """Half of the elements zeros of both signs, the others any number that is none, NaN and the smallest ones too."""
    fmt, count = format_named(self.dtype), self.numel
    if fmt.is_complex:
        true = np.array([1, 1j, complex(np.nan, 0), complex(0, -np.inf), complex(1e-40, 0)])
        zeros = np.array([0, complex(-0.0, -0.0)])
    elif fmt.is_float:
        true = np.array([1.0, -2.5, np.nan, np.inf, fmt.min_subnormal, -fmt.min_subnormal, -fmt.min_normal])
        zeros = np.array([0.0, -0.0])
    else:
        zeros, true = np.array([0]), np.array([1] if fmt.kind == "bool" else [1, 2, fmt.min_value or 4, fmt.max_value])
    values = [pool[stream.integers(0, pool.size - 1, count)] for pool in (true, zeros)]
    return np.where(stream.permutation(count) < _half(self), *values).astype(fmt.storage)


spec(
    "aten::nonzero",
    tensor("self", Value.Gen(_drawn_half)),
    result(Dtype.Eq("int64"), shaped(lambda self: (_half(self), self.rank), "(number of true elements, rank(self))")),
)
spec(
    "aten::nonzero_static",
    tensor("self", Value.Gen(_drawn_half)),
    length("size", Value.Ge(0), Value.Le(64).lenient(NOT_MANY), Value.Be((2, 5, 40))),
    integer("fill_value"),
    result(Dtype.Eq("int64"), shaped(lambda self, size: (size, self.rank), "(size, rank(self))")),
)
