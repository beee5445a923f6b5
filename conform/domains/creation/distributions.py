"""Random numbers of continuous distributions, and of the geometric one: the domains of the arguments."""

from __future__ import annotations

import math

from conform.domains.creation.constants import DTYPE_OR_FLOAT, OF_SIZE, SIZE, dtype_argument
from conform.domains.engine.arguments import Argument, real, result, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Value
from conform.domains.engine.dtypes import FLOATS, NUMBERS
from conform.domains.engine.spaces import REALS, Interval, Intervals
from conform.domains.engine.vocabulary import dtype_of, shape_of
from conform.domains.specs import spec

OTHERS = "torch draws complex numbers, and the kit has no semantics for them; of no elements it takes any dtype"
FAR = "how far off a formula is, and what leaves the range of a half type, is not judged there"
FLOAT_SELF = tensor("self", Dtype.In(FLOATS).unjudged(OTHERS))
LIKE_SELF = result(dtype_of("self"), shape_of("self"))


def _between(low: float, high: float) -> Constraint:
    return Value.In(REALS.within(low, high), text=f"[{low:g}, {high:g}]").unjudged(FAR)


def _not_in(*ends: tuple[float, float]) -> Constraint:
    left_out = Intervals(tuple(Interval(low, high, True, True) for low, high in ends), False)
    return Value.NotIn(left_out, text=str(left_out)).unjudged(FAR)


def _centre(name: str) -> Argument:
    return real(name, _between(-1e4, 1e4), Value.Be((0.0, 1.0, -3.0)))


spec(
    "aten::uniform",
    FLOAT_SELF,
    real("from", _between(-1e4, 1e4), Value.Be((0.0, -1.0, 2.5))),
    real(
        "to",
        Value.Ge(lambda start: start, ("from",), "from"),
        _between(-1e4, 1e4),
        Value.Be(lambda start: (start + 1, start + 8), ("from",)),
    ),
    LIKE_SELF,
)

DEVIATION = real("std", Value.Ge(0.0), _between(-1e4, 1e4), Value.Be((1.0, 0.5, 3.0, 0.0)))
SAME = "torch broadcasts them, or goes by the number of elements, and converts"
spec("aten::normal_functional", FLOAT_SELF, _centre("mean"), DEVIATION, LIKE_SELF)
spec(
    "aten::normal.float_float",
    _centre("mean"),
    DEVIATION,
    SIZE,
    dtype_argument(Value.In(FLOATS).unjudged(OTHERS)),
    result(DTYPE_OR_FLOAT, OF_SIZE),
)
spec(
    "aten::normal.Tensor_float",
    tensor("mean", Dtype.In(FLOATS).unjudged(OTHERS)),
    DEVIATION,
    result(dtype_of("mean"), shape_of("mean")),
)
spec(
    "aten::normal.float_Tensor",
    _centre("mean"),
    tensor("std", Dtype.In(FLOATS).unjudged(OTHERS), Value.Ge(0)),
    result(dtype_of("std"), shape_of("std")),
)
spec(
    "aten::normal.Tensor_Tensor",
    tensor("mean", Dtype.In(FLOATS).unjudged(OTHERS)),
    tensor("std", [one.unjudged(SAME) for one in (dtype_of("mean"), *shape_of("mean"))], Value.Ge(0)),
    result(dtype_of("mean"), shape_of("mean")),
)
spec(
    "aten::exponential",
    FLOAT_SELF,
    real("lambd", Value.Gt(0.0), _not_in((0, 0.01), (100, math.inf)), Value.Be((1.0, 0.5, 4.0))),
    LIKE_SELF,
)
spec(
    "aten::log_normal",
    FLOAT_SELF,
    real("mean", _between(-4.0, 4.0), Value.Be((0.0, 1.0))),
    real("std", Value.Gt(0.0), _not_in((0, 0.01), (4, math.inf)), Value.Be((1.0, 0.25, 2.0))),
    LIKE_SELF,
)
spec(
    "aten::cauchy",
    FLOAT_SELF,
    real("median", _between(-100.0, 100.0), Value.Be((0.0, 1.0))),
    real("sigma", Value.Gt(0.0), _not_in((0, 0.01), (100, math.inf)), Value.Be((1.0, 2.0))),
    LIKE_SELF,
)
spec(
    "aten::geometric",
    tensor("self", Dtype.In(NUMBERS).unjudged(OTHERS)),
    real(
        "p",
        Value.Gt(0.0),
        Value.Lt(1.0),
        _not_in((0, 0.25), (0.9, 1)).unjudged("int8 may not hold the numbers, and no half type 1 - p"),
        Value.Be((0.5, 0.25, 0.75)),
    ),
    LIKE_SELF,
)
