"""Activations made of pieces, and angles in other units: the domains of their arguments."""

from __future__ import annotations

from conform.domains.elementwise.outcomes import REAL_RESULT, SAME
from conform.domains.engine.arguments import dim, result, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, REALS, Space
from conform.domains.engine.vocabulary import dim_of, dtype_of, parameter, shaped, typically
from conform.domains.specs import FLOATS, REAL, spec

FLOAT = Dtype.In(FLOATS)

spec("aten::leaky_relu", tensor("self", FLOAT), parameter("negative_slope"), SAME)


def _weights(self: MetaArgument) -> tuple[int, ...]:
    """{1, size(self, 1)}"""
    return (1, self.shape[1]) if self.rank > 1 else (1,)


spec(
    "aten::prelu",
    tensor("self", FLOAT),
    tensor("weight", dtype_of("self"), Rank.Le(1), Size.In(_weights)),
    SAME,
)
NOT_NEGATIVE = Value.In(
    lambda own: REALS.narrowed("Ge", 0) if own.dtype in ("int", "float") else ANYTHING, ("",), "[0, inf)"
)
spec("aten::softshrink", tensor("self", FLOAT), parameter("lambd", NOT_NEGATIVE), SAME)
spec("aten::hardswish", tensor("self", FLOAT, typically(-4, 4)), SAME)
spec("aten::hardsigmoid", tensor("self", FLOAT, typically(-4, 4)), SAME)
spec("aten::deg2rad", tensor("self", Dtype.In(REAL)), REAL_RESULT)
spec("aten::rad2deg", tensor("self", Dtype.In(REAL)), REAL_RESULT)


def _halved(self: MetaArgument, dim: int) -> tuple[int, ...]:
    return tuple(size // 2 if d == dim % self.rank else size for d, size in enumerate(self.shape))


def _even(self: MetaArgument) -> tuple[int, ...]:
    """the dims of even size, from either end"""
    even = [d for d, size in enumerate(self.shape) if size % 2 == 0]
    return (*even, *(d - self.rank for d in even))


EVEN = tuple(range(0, 66, 2))


def _one_even(rank: int, d: int, sizes: tuple[int, ...]) -> Space | tuple[int, ...]:
    """an even number of the last dim, if no dim before is even"""
    return EVEN if d == rank - 1 and all(size % 2 for size in sizes) else ANYTHING


spec(
    "aten::glu",
    tensor("self", FLOAT, Rank.Ge(1), Size.In(_one_even).lenient("any even dim can be halved"), Size.Be((2, 4, 6, 8))),
    dim("dim", dim_of("self"), Value.In(_even)),
    result(dtype_of("self"), shaped(_halved, "shape(self) with half of dim")),
)
