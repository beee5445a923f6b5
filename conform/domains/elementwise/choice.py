"""The larger and the smaller of operands and bounds: the domains of their arguments."""

from __future__ import annotations

from collections.abc import Sequence

from conform.domains.elementwise.outcomes import PAIR, SAME
from conform.domains.engine.arguments import Argument, optional, real, result, scalar, tensor
from conform.domains.engine.constraints import Dtype, Optional, Value
from conform.domains.engine.dtypes import common_dtype, component
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, REALS, Space, integers_between
from conform.domains.engine.vocabulary import (
    broadcast,
    broadcast_of,
    broadcastable_with,
    dtype_common_to,
    dtype_of,
    overflowing,
    parameter,
    shape_of,
    shaped,
    written_into,
)
from conform.domains.specs import FLOATS, INTEGERS, NUMBERS, REAL, spec
from conform.numerics.formats import format_named

for _op in ("aten::maximum", "aten::minimum", "aten::fmax", "aten::fmin"):
    spec(_op, tensor("self", Dtype.In(REAL)), tensor("other", Dtype.In(REAL), broadcastable_with("self")), PAIR)

# --- Between bounds ---------------------------------------------------------------------------------------------------

BESIDE_BOOLS = "torch takes bools beside numbers"
CLAMPED = (Dtype.In(REAL), Dtype.Ne("bool").unjudged(BESIDE_BOOLS))


def _common(*operands: MetaArgument) -> str:
    return common_dtype(*(one for one in operands if not one.is_none))


def _held(own: MetaArgument, self: MetaArgument) -> Space:
    """The range of an integer common dtype with self (P93)"""
    fmt = format_named(common_dtype(own, self)) if own.dtype == "int" else None
    return integers_between(fmt.min_value, fmt.max_value) if fmt and fmt.is_integer else ANYTHING


def _overflowing(own: MetaArgument, self: MetaArgument) -> Space | tuple[()]:
    """The finite numbers beyond a float common dtype with self"""
    return () if own.dtype == "complex" else overflowing(own.dtype, common_dtype(own, self))


IN_RANGE = (
    Value.In(_held, ("", "self"), "the range of an integer common dtype with self (P94)").unjudged(
        "an implementation may saturate, or refuse"
    ),
    Value.NotIn(_overflowing, ("", "self"), "what overflows a float common dtype with self (P94)").unjudged(
        "an implementation may saturate, or refuse"
    ),
)
NO_BOOL = Dtype.Ne("bool").unjudged("torch takes bools for numbers")


def _bound(name: str) -> Argument:
    """A number that the common dtype holds."""
    return scalar(name, Dtype.Ne("complex"), *IN_RANGE)


def _bounds(name: str, *beside: str) -> Argument:
    return tensor(name, CLAMPED, broadcastable_with("self", *beside))


NOT_BOTH_LEFT_OUT = Optional.In(lambda min: (False,) if min is None or getattr(min, "is_none", False) else ANYTHING)
CLAMPED_RESULT = Dtype.Eq(lambda self, min, max: _common(self, min, max), text="common dtype of self, min, max")

spec(
    "aten::clamp",
    tensor("self", CLAMPED),
    optional(_bound("min")),
    optional(_bound("max"), NOT_BOTH_LEFT_OUT),
    result(CLAMPED_RESULT, shape_of("self")),
)
spec(
    "aten::clamp.Tensor",
    tensor("self", CLAMPED),
    optional(_bounds("min")),
    optional(_bounds("max", "min"), NOT_BOTH_LEFT_OUT),
    result(CLAMPED_RESULT, shaped(lambda self, min, max: _broadcast_of_given(self, min, max), "the broadcast")),
)


def _broadcast_of_given(*operands: MetaArgument) -> Sequence[int]:
    return broadcast(*(one for one in operands if not one.is_none))


for _op, _name in (("aten::clamp_min", "min"), ("aten::clamp_max", "max")):
    spec(_op, tensor("self", CLAMPED), _bound(_name), result(dtype_common_to("self", _name), shape_of("self")))
    spec(
        f"{_op}.Tensor",
        tensor("self", CLAMPED),
        _bounds(_name),
        result(dtype_common_to("self", _name), broadcast_of("self", _name)),
    )

spec("aten::relu", tensor("self", Dtype.In(NUMBERS)), SAME)


def _not_below(own: MetaArgument, least: MetaArgument) -> Space:
    are_real = own.dtype in ("int", "float") and least.dtype in ("int", "float")
    return REALS.narrowed("Ge", least.value) if are_real else ANYTHING


spec(
    "aten::hardtanh",
    tensor("self", Dtype.In(NUMBERS), Dtype.NotIn(INTEGERS).unjudged("torch truncates the bounds of integers")),
    parameter("min_val", NO_BOOL),
    parameter(
        "max_val",
        NO_BOOL,
        Value.In(_not_below, ("", "min_val"), "[min_val, inf)").unjudged("the operator takes it"),
    ),
    SAME,
)
spec("aten::relu6", tensor("self", Dtype.In(NUMBERS)), SAME)

# --- By a threshold ---------------------------------------------------------------------------------------------------

OF_FLOATS = (Dtype.In(NUMBERS), Dtype.NotIn(INTEGERS).unjudged("torch truncates the numbers beside integers"))
*_, FITS = written_into("self")
spec(
    "aten::threshold",
    tensor("self", OF_FLOATS),
    scalar("threshold", Dtype.Ne("complex")),
    scalar("value", Dtype.Ne("complex"), FITS),
    SAME,
)
spec("aten::hardshrink", tensor("self", Dtype.In(FLOATS)), parameter("lambd"), SAME)
spec(
    "aten::heaviside",
    tensor("self", Dtype.In(REAL), Value.Be((-1, 0, 1, 2))),
    tensor("values", dtype_of("self"), broadcastable_with("self")),
    result(dtype_of("self"), broadcast_of("self", "values")),
)
FITTING = Value.In(
    lambda self: _finite(self.dtype), text="the finite range of a float dtype(self)"
).unjudged("an infinity, or refused")


def _finite(dtype: str) -> Space:
    fmt = format_named(component(dtype))
    return REALS.within(-fmt.max_finite, fmt.max_finite) if fmt.is_float else REALS


spec(
    "aten::nan_to_num",
    tensor("self"),
    optional(real("nan", FITTING)),
    optional(real("posinf", FITTING)),
    optional(real("neginf", FITTING)),
    SAME,
)
