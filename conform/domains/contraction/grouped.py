"""Products of groups of rows, columns or terms: the domain of the arguments."""

from __future__ import annotations

import numpy as np

from conform.domains.engine.arguments import dtype, index_tensor, optional, result, tensor
from conform.domains.engine.constraints import Dtype, Optional, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space, integers_between
from conform.domains.engine.vocabulary import dtype_of, shaped, sized
from conform.domains.specs import FLOATS, spec
from conform.numerics.draws import Stream

KERNELS = "a matter of the backend"
UNCHECKED = "torch's kernels read and write where they say"
UNKNOWN = "nothing is documented of it that a kernel does"
ALIGNED = "nothing is documented but that kernels restrict layouts: torch's take strides of multiples of 16 bytes"
ROWS, SHORT = tuple(range(8, 2**15 + 1, 8)), (8, 16, 24)


_OF_ROWS = Size.In(
    lambda rank, d: ROWS if d == rank - 1 else ANYTHING, text="{8, 16, ..., 32768} where d = rank - 1"
).unjudged(ALIGNED)


def _both_are_stacks(self: MetaArgument, mat2: MetaArgument) -> bool:
    return self.rank == mat2.rank == 3


def _terms_and_matrices(self: MetaArgument, rank: int, d: int) -> Space | tuple[int, ...]:
    """size(self, -1) in the last dim but one, and of two stacks size(self, 0) in the first"""
    if d == rank - 2:
        return (self.size(-1),)
    return (self.size(0),) if d == 0 and rank == self.rank == 3 else ANYTHING


def _in_groups(self: MetaArgument, mat2: MetaArgument) -> int:
    """What is in groups: rows of self, columns of mat2, or the terms."""
    if self.rank == mat2.rank:
        return self.size(-1)
    return self.size(0) if self.rank == 2 else mat2.size(1)


def _count(self: MetaArgument, mat2: MetaArgument) -> tuple[int | None]:
    """As many groups as the stack has matrices."""
    stacks = [one for one in (self, mat2) if one.rank == 3]
    return (stacks[0].size(0) if stacks else None,)


def _ends(stream: Stream, self: MetaArgument, mat2: MetaArgument, offs: MetaArgument) -> np.ndarray:
    """Ends that ascend, some of them together, and half the time up to the last row."""
    length = _in_groups(self, mat2)
    drawn = np.sort(stream.integers(0, length, offs.numel))
    drawn[drawn.size - int(stream.integers(0, 1, 1)[0]) :] = length
    return drawn


def _shape(self: MetaArgument, mat2: MetaArgument, offs: MetaArgument) -> tuple[int, ...]:
    if self.rank != mat2.rank:
        return (self.size(-2), mat2.size(-1))
    return (self.size(0) if self.rank == 3 else offs.numel, self.size(-2), mat2.size(-1))


spec(
    "aten::_grouped_mm",
    tensor(
        "self",
        Dtype.In(FLOATS).unjudged(KERNELS),
        Rank.In((2, 3)),
        _OF_ROWS,
        Size.Be(lambda rank, d: SHORT if d == rank - 1 else ()),
    ),
    tensor(
        "mat2",
        dtype_of("self"),
        Rank.In((2, 3)),
        Rank.Be((3,)),
        Size.In(_terms_and_matrices),
        _OF_ROWS,
        Size.Be(lambda rank, d: SHORT if d == rank - 1 else ()),
    ),
    optional(
        index_tensor(
            "offs",
            Dtype.Eq("int32"),
            Rank.Eq(1),
            sized(_count, "as many as the stack has matrices"),
            Value.In(lambda self, mat2: integers_between(0, _in_groups(self, mat2)), text="{0, ..., what is in groups}")
            .unjudged(UNCHECKED),
            Value.Gen(_ends),
        ),
        Optional.In(lambda self, mat2: (_both_are_stacks(self, mat2),), text="{rank(self) = rank(mat2) = 3}"),
    ),
    optional(tensor("bias"), Optional.Eq(True).unjudged(UNKNOWN)),
    optional(dtype("out_dtype", Value.Eq(lambda self: self.dtype, text="dtype(self)").unjudged(UNKNOWN))),
    result(dtype_of("self"), shaped(_shape)),
)  # fmt: skip
