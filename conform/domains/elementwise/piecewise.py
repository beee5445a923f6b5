"""Activations made of pieces, and angles in other units: the domains of their arguments."""

from __future__ import annotations

from conform.domains.elementwise.outcomes import REAL_RESULT, SAME
from conform.domains.engine.arguments import tensor
from conform.domains.engine.constraints import Dtype, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, REALS
from conform.domains.engine.vocabulary import dtype_of, parameter, typically
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
