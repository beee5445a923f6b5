"""Cross products and traces: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import dim, optional, result, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size, Value
from conform.domains.engine.dtypes import is_integral
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space
from conform.domains.engine.vocabulary import broadcast_of, broadcastable_with, dtype_of, not_complex_here
from conform.domains.reduction.sums import NUMBER
from conform.domains.specs import spec

NO_KERNEL = "no elements need no kernel"


def _a_three(rank: int, d: int, sizes: tuple[int, ...]) -> Space | tuple[int, ...]:
    """{3} for one d at least"""
    return (3,) if d == rank - 1 and 3 not in sizes else ANYTHING


def _of_size_3(self: MetaArgument) -> tuple[int, ...]:
    """the dims of self of size 3"""
    found = [d for d, size in enumerate(self.shape) if size == 3] or range(max(self.rank, 1))  # or self is at fault
    return tuple(place for d in found for place in (d, d - max(self.rank, 1)))


def _three_at(self: MetaArgument, dim: int | None, d: int) -> Space | tuple[int, ...]:
    """{3} where d is dim, by default the first of size 3"""
    if 3 not in self.shape:
        return ANYTHING
    axis = self.shape.index(3) if dim is None else dim % self.rank
    return (3,) if d == axis else ANYTHING


def _is_empty(self: MetaArgument) -> bool:
    return self.numel == 0


VECTORS = tensor(
    "self", not_complex_here(), Dtype.Ne("bool").unjudged(NO_KERNEL, _is_empty), Rank.Ge(1), Size.In(_a_three)
)
OTHERS = tensor(
    "other",
    dtype_of("self").unjudged(NO_KERNEL, _is_empty),
    Rank.Eq(lambda self: self.rank, text="rank(self)"),
    broadcastable_with("self"),
    Size.In(_three_at),
)
AXIS = dim("dim", Value.In(_of_size_3))
PRODUCT = result(dtype_of("self"), broadcast_of("self", "other"))
spec("aten::cross", VECTORS, OTHERS, optional(AXIS), PRODUCT)
spec("aten::linalg_cross", VECTORS, OTHERS, AXIS, PRODUCT)

SOME_KERNELS = "torch adds bools up in int64 on CUDA, as sum does, and has no kernel of them on the CPU"
spec(
    "aten::trace",
    tensor("self", not_complex_here(), Dtype.Ne("bool").unjudged(SOME_KERNELS), Rank.Eq(2)),
    result(Dtype.Eq(lambda self: "int64" if is_integral(self.dtype) else self.dtype), NUMBER),
)
