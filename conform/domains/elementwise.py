"""Elementwise ops: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import Argument, dtype, integer, mask, optional, result, scalar, string, tensor
from conform.domains.engine.constraints import Dtype, Value
from conform.domains.engine.dtypes import common_dtype, component, real_result
from conform.domains.engine.vocabulary import (
    broadcast_of,
    broadcastable_with,
    dtype_common_to,
    dtype_of,
    no_complex32_with,
    no_complex_number_here,
    nonzero_if_integer,
    not_both,
    not_complex_here,
    real_dtype_common_to,
    shape_of,
    typically,
    weight_of,
)
from conform.domains.specs import COMPLEX, FLOATS, INTEGERS, REAL, spec

BITS = ("bool", *INTEGERS)

# The result of two operands, in their common dtype; of a tensor and a number, too.
PAIR = result(dtype_common_to("self", "other"), broadcast_of("self", "other"))
SCALED = result(dtype_common_to("self", "other"), shape_of("self"))
SCALED_OTHER = result(dtype_common_to("self", "other"), shape_of("other"))
SAME = result(dtype_of("self"), shape_of("self"))


# --- Arithmetic -------------------------------------------------------------------------------------------------------

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
spec(
    "aten::remainder.Tensor",
    tensor("self", Dtype.In(REAL)),
    tensor("other", Dtype.In(REAL), not_both(["bool"], "self"), broadcastable_with("self"), nonzero_if_integer("self")),
    PAIR,
)
spec(
    "aten::remainder.Scalar",
    tensor("self", Dtype.In(REAL)),
    scalar("other", Dtype.Ne("complex"), not_both(["bool"], "self"), nonzero_if_integer("self")),
    SCALED,
)
spec(
    "aten::remainder.Scalar_Tensor",
    scalar("self", Dtype.Ne("complex"), not_both(["bool"], "other")),
    tensor("other", Dtype.In(REAL), nonzero_if_integer()),  # whatever self is, which depends on other
    SCALED_OTHER,
)

# --- Choice, comparison and sign --------------------------------------------------------------------------------------

SOME_EQUAL = Value.Be((1, 2, 3))

spec("aten::maximum", tensor("self", Dtype.In(REAL)), tensor("other", Dtype.In(REAL), broadcastable_with("self")), PAIR)
spec("aten::minimum", tensor("self", Dtype.In(REAL)), tensor("other", Dtype.In(REAL), broadcastable_with("self")), PAIR)
spec(
    "aten::eq.Tensor",
    tensor("self", not_complex_here(), SOME_EQUAL),
    tensor("other", not_complex_here(), broadcastable_with("self"), SOME_EQUAL),
    result(Dtype.Eq("bool"), broadcast_of("self", "other")),
)
spec(
    "aten::eq.Scalar",
    tensor("self", not_complex_here(), SOME_EQUAL),
    scalar("other", no_complex_number_here()),
    result(Dtype.Eq("bool"), shape_of("self")),
)

CONDITION = mask("condition", Dtype.In(("bool", "uint8")))

spec(
    "aten::where.self",
    CONDITION,
    tensor("self", not_complex_here(), broadcastable_with("condition")),
    tensor("other", not_complex_here(), broadcastable_with("condition", "self")),
    result(dtype_common_to("self", "other"), broadcast_of("condition", "self", "other")),
)
spec(
    "aten::where.ScalarSelf",
    CONDITION,
    scalar("self", no_complex_number_here()),
    tensor("other", not_complex_here(), broadcastable_with("condition")),
    result(dtype_common_to("self", "other"), broadcast_of("condition", "other")),
)
spec(
    "aten::where.ScalarOther",
    CONDITION,
    tensor("self", not_complex_here(), broadcastable_with("condition")),
    scalar("other", no_complex_number_here()),
    result(dtype_common_to("self", "other"), broadcast_of("condition", "self")),
)
spec(
    "aten::where.Scalar",
    CONDITION,
    scalar("self", no_complex_number_here()),
    scalar("other", no_complex_number_here()),
    result(dtype_common_to("self", "other"), shape_of("condition")),
)
spec(
    "aten::bitwise_and.Tensor",
    tensor("self", Dtype.In(BITS)),
    tensor("other", Dtype.In(BITS), broadcastable_with("self")),
    PAIR,
)
spec("aten::bitwise_and.Scalar", tensor("self", Dtype.In(BITS)), scalar("other", Dtype.In(("bool", "int"))), SCALED)
spec(
    "aten::bitwise_and.Scalar_Tensor",
    scalar("self", Dtype.In(("bool", "int"))),
    tensor("other", Dtype.In(BITS)),
    SCALED_OTHER,
)
spec("aten::neg", tensor("self", Dtype.Ne("bool")), SAME)
spec(
    "aten::abs",
    tensor("self", Dtype.Ne("bool")),
    result(Dtype.Eq(lambda self: component(self.dtype)), shape_of("self")),
)
spec("aten::round", tensor("self", Dtype.In((*INTEGERS, *FLOATS))), SAME)
spec("aten::round.decimals", tensor("self", Dtype.In(FLOATS)), integer("decimals"), SAME)

# --- Real functions and casts -----------------------------------------------------------------------------------------

REAL_RESULT = result(real_dtype_common_to("self"), shape_of("self"))

spec("aten::exp", tensor("self"), REAL_RESULT)
spec("aten::sqrt", tensor("self", typically(0, 40)), REAL_RESULT)
spec("aten::sin", tensor("self"), REAL_RESULT)
spec("aten::gelu", tensor("self", Dtype.In(FLOATS)), string("approximate", Value.In(("none", "tanh"))), SAME)
spec(
    "aten::_to_copy",
    tensor("self", not_complex_here()),
    optional(dtype("dtype", Value.NotIn(COMPLEX).lenient("torch converts to complex numbers; the kit does not"))),
    result(Dtype.Eq(lambda self, dtype: dtype or self.dtype), shape_of("self")),
)
