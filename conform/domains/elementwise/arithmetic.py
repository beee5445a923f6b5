"""Elementwise arithmetic: the domains of its arguments."""

from __future__ import annotations

from conform.domains.elementwise.outcomes import BITS, PAIR, SAME, SCALED, SCALED_OTHER
from conform.domains.engine.arguments import Argument, optional, result, scalar, string, tensor
from conform.domains.engine.constraints import Dtype, Value
from conform.domains.engine.dtypes import common_dtype, component, real_result
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space, integers_between
from conform.domains.engine.vocabulary import (
    broadcast_of,
    broadcastable_with,
    no_complex32_with,
    nonzero_if_integer,
    not_both,
    real_dtype_common_to,
    shape_of,
    weight_of,
)
from conform.domains.specs import COMPLEX, REAL, spec
from conform.numerics.formats import format_named

spec(
    "aten::add.Tensor",
    tensor("self"),
    tensor("other", no_complex32_with("self"), broadcastable_with("self")),
    scalar("alpha", weight_of("self", "other")),
    PAIR,
)
spec(
    "aten::add.Scalar",
    tensor("self"),
    scalar("other", no_complex32_with("self")),
    scalar("alpha", weight_of("self", "other")),
    SCALED,
)
NO_BOOL = Dtype.Ne("bool")


def _negated(own: MetaArgument, self: MetaArgument, other: MetaArgument) -> Space:
    """numbers of which an integer common dtype holds both signs"""
    common = common_dtype(self, other)
    fmt = format_named(component(common))
    of_integers = own.dtype == "int" and fmt.is_integer
    return integers_between(-fmt.max_value, fmt.max_value) if of_integers else ANYTHING


KIND, _, FINITE = weight_of("self", "other")
BOTH_SIGNS = Value.In(_negated, ("", "self", "other"), "the numbers of which an integer common dtype holds both signs")
SUBTRACTED = (KIND, BOTH_SIGNS.unjudged("P19: an implementation may look at the range of -alpha"), FINITE)
spec(
    "aten::sub.Tensor",
    tensor("self", NO_BOOL),
    tensor("other", NO_BOOL, no_complex32_with("self"), broadcastable_with("self")),
    scalar("alpha", SUBTRACTED),
    PAIR,
)
spec(
    "aten::sub.Scalar",
    tensor("self", NO_BOOL),
    scalar("other", NO_BOOL, no_complex32_with("self")),
    scalar("alpha", SUBTRACTED),
    SCALED,
)
spec(
    "aten::rsub.Tensor",
    tensor("self", NO_BOOL),
    tensor("other", NO_BOOL, no_complex32_with("self"), broadcastable_with("self")),
    scalar("alpha", SUBTRACTED),
    PAIR,
)
spec(
    "aten::rsub.Scalar",
    tensor("self", NO_BOOL),
    scalar("other", NO_BOOL, no_complex32_with("self")),
    scalar("alpha", SUBTRACTED),
    SCALED,
)
spec("aten::mul.Tensor", tensor("self"), tensor("other", no_complex32_with("self"), broadcastable_with("self")), PAIR)
spec("aten::mul.Scalar", tensor("self"), scalar("other", no_complex32_with("self")), SCALED)
spec(
    "aten::div.Tensor",
    tensor("self"),
    tensor("other", no_complex32_with("self"), broadcastable_with("self")),
    result(real_dtype_common_to("self", "other"), broadcast_of("self", "other")),
)
spec(
    "aten::div.Scalar",
    tensor("self"),
    scalar("other", no_complex32_with("self")),
    result(real_dtype_common_to("self", "other"), shape_of("self")),
)


def _rounded_result(*shape: object) -> Argument:
    """The result of a quotient: of a real dtype where it is not rounded."""
    return result(
        Dtype.Eq(
            lambda self, other, rounding_mode: (
                common_dtype(self, other) if rounding_mode else real_result(common_dtype(self, other))
            )
        ),
        *shape,
    )


spec(
    "aten::div.Tensor_mode",
    tensor("self", Dtype.NotIn(lambda rounding_mode: COMPLEX if rounding_mode else ())),
    tensor(
        "other",
        Dtype.NotIn(lambda rounding_mode: COMPLEX if rounding_mode else ()),
        Dtype.NotIn(lambda self, rounding_mode: ("bool",) if rounding_mode and self.dtype == "bool" else ()),
        no_complex32_with("self"),
        broadcastable_with("self"),
        nonzero_if_integer("self"),
    ),
    optional(string("rounding_mode", Value.In(("trunc", "floor")))),
    _rounded_result(broadcast_of("self", "other")),
)
spec(
    "aten::div.Scalar_mode",
    tensor("self", Dtype.NotIn(lambda rounding_mode: COMPLEX if rounding_mode else ())),
    scalar(
        "other",
        Dtype.NotIn(lambda rounding_mode: ("complex",) if rounding_mode else ()),
        Dtype.NotIn(lambda self, rounding_mode: ("bool",) if rounding_mode and self.dtype == "bool" else ()),
        no_complex32_with("self"),
        nonzero_if_integer("self"),
    ),
    optional(string("rounding_mode", Value.In(("trunc", "floor")))),
    _rounded_result(shape_of("self")),
)


def _divided(of_tensors: str, of_number: str) -> None:
    """Real numbers by an integer other than zero, or by a float, not both bools."""
    divisor = (not_both(["bool"], "self"), nonzero_if_integer("self"))
    other = tensor("other", Dtype.In(REAL), broadcastable_with("self"), divisor)
    spec(of_tensors, tensor("self", Dtype.In(REAL)), other, PAIR)
    spec(of_number, tensor("self", Dtype.In(REAL)), scalar("other", Dtype.Ne("complex"), divisor), SCALED)


_divided("aten::remainder.Tensor", "aten::remainder.Scalar")
_divided("aten::fmod.Tensor", "aten::fmod.Scalar")
_divided("aten::floor_divide", "aten::floor_divide.Scalar")
spec(
    "aten::remainder.Scalar_Tensor",
    scalar("self", Dtype.Ne("complex"), not_both(["bool"], "other")),
    tensor("other", Dtype.In(REAL), nonzero_if_integer()),  # whatever self is, which depends on other
    SCALED_OTHER,
)

spec("aten::neg", tensor("self", Dtype.Ne("bool")), SAME)
spec(
    "aten::abs",
    tensor("self", Dtype.Ne("bool").unjudged("torch takes bools on CUDA")),
    result(Dtype.Eq(lambda self: component(self.dtype)), shape_of("self")),
)
spec("aten::sign", tensor("self", Dtype.In(REAL)), SAME)
spec("aten::sgn", tensor("self"), SAME)
spec(
    "aten::square",
    tensor("self"),
    result(Dtype.Eq(lambda self: "int64" if self.dtype == "bool" else self.dtype), shape_of("self")),
)

# --- Of integers ------------------------------------------------------------------------------------------------------

for _op in ("aten::gcd", "aten::lcm"):
    spec(
        _op,
        tensor("self", Dtype.In(BITS)),
        tensor("other", Dtype.In(BITS), not_both(["bool"], "self"), broadcastable_with("self")),
        PAIR,
    )
