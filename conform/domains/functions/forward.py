"""Real functions: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import Argument, optional, real, result, scalar, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Value
from conform.domains.engine.dtypes import common_dtype, component, is_integral, real_result
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, REALS, Space, integers_between
from conform.domains.engine.vocabulary import (
    broadcast_of,
    broadcastable_with,
    dtype_common_to,
    dtype_of,
    no_complex32_with,
    not_both,
    not_complex_here,
    parameter,
    real_dtype_common_to,
    shape_of,
    typically,
)
from conform.domains.specs import FLOATS, INTEGERS, REAL, spec
from conform.numerics.formats import format_named

# --- Of one operand ---------------------------------------------------------------------------------------------------

REAL_RESULT = result(real_dtype_common_to("self"), shape_of("self"))
SAME = result(dtype_of("self"), shape_of("self"))


def _of_all_numbers(*names: str, but: tuple[Constraint, ...] = ()) -> None:
    for name in names:
        spec(name, tensor("self", *but), REAL_RESULT)


def _of_real_numbers(*names: str, but: tuple[Constraint, ...] = ()) -> None:
    _of_all_numbers(*names, but=(Dtype.In(REAL), *but))


_of_all_numbers("aten::exp2", "aten::special_exp2")
_of_all_numbers("aten::expm1", "aten::special_expm1")
_of_all_numbers("aten::log", but=(typically(0, 40),))
_of_all_numbers("aten::log2", but=(typically(0, 40),))
_of_all_numbers("aten::log10", but=(typically(0, 40),))
_of_all_numbers("aten::log1p", "aten::special_log1p", but=(typically(-1, 40),))
_of_all_numbers("aten::rsqrt", but=(typically(0, 40),))
_of_all_numbers("aten::reciprocal")
_of_all_numbers("aten::cos")
_of_all_numbers("aten::tan")
_of_all_numbers("aten::asin", but=(typically(-1, 1),))
_of_all_numbers("aten::acos", but=(typically(-1, 1),))
_of_all_numbers("aten::atan")
_of_all_numbers("aten::sinh")
_of_all_numbers("aten::cosh")
_of_all_numbers("aten::tanh")
_of_all_numbers("aten::asinh")
_of_all_numbers("aten::acosh", but=(typically(1, 40),))
_of_all_numbers("aten::atanh", but=(typically(-1, 1),))
_of_all_numbers("aten::sigmoid")

_of_real_numbers("aten::cbrt")
_of_real_numbers("aten::erf", "aten::special_erf")
_of_real_numbers("aten::erfc", "aten::special_erfc")
_of_real_numbers("aten::erfinv", "aten::special_erfinv", but=(typically(-1, 1),))
_of_real_numbers("aten::special_ndtr")
_of_real_numbers("aten::lgamma")
_of_real_numbers("aten::digamma", "aten::special_digamma")
_of_real_numbers("aten::i0", "aten::special_i0")
_of_real_numbers("aten::special_i1")

spec(
    "aten::logit",
    tensor("self", Dtype.In(REAL), typically(0, 1)),
    optional(
        real(
            "eps",
            Value.In(lambda: REALS.within(0, 0.5), text="[0, 1/2]").unjudged(
                "P209: torch clamps to bounds in no order, or not at all"
            ),
        )
    ),
    REAL_RESULT,
)

_of_real_numbers("aten::special_entr", but=(typically(0, 8),))
_of_real_numbers("aten::special_i0e")
_of_real_numbers("aten::special_i1e")
# Of these torch has no kernel for half types.
OF_WIDE = Dtype.NotIn(("float16", "bfloat16")).lenient("torch has no kernel for half types")
_of_real_numbers("aten::special_log_ndtr", but=(OF_WIDE,))
_of_real_numbers("aten::special_erfcx", but=(OF_WIDE,))
_of_real_numbers("aten::special_modified_bessel_i0", "aten::special_modified_bessel_i1", but=(OF_WIDE,))
_of_real_numbers("aten::special_bessel_j0", "aten::special_bessel_j1", but=(OF_WIDE,))
_of_real_numbers(
    "aten::special_modified_bessel_k0", "aten::special_modified_bessel_k1", but=(OF_WIDE, typically(0, 40))
)
for _op in ("scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "spherical_bessel_j0"):
    _bounds = () if _op.startswith("spherical") else (typically(0, 40),)
    spec(
        f"aten::special_{_op}",
        tensor("x", Dtype.In(REAL), OF_WIDE, *_bounds),
        result(real_dtype_common_to("x"), shape_of("x")),
    )

_of_all_numbers("aten::sinc", "aten::special_sinc", but=(not_complex_here(),))
spec(
    "aten::special_ndtri",
    tensor(
        "self",
        Dtype.In(REAL),
        Dtype.NotIn(("float16", "bfloat16")).lenient("torch has no kernel for half types"),
        typically(0, 1),
    ),
    REAL_RESULT,
)
spec(
    "aten::angle",
    tensor("self"),
    result(Dtype.Eq(lambda self: component(real_result(self.dtype))), shape_of("self")),
)
spec("aten::silu", tensor("self", Dtype.NotIn(("bool", *INTEGERS)), not_complex_here()), SAME)
spec("aten::mish", tensor("self", Dtype.In(FLOATS)), SAME)
spec(
    "aten::softplus",
    tensor("self", Dtype.In(FLOATS)),
    scalar("beta", Dtype.Ne("complex")),
    scalar("threshold", Dtype.Ne("complex")),
    SAME,
)
FLOAT = Dtype.In(FLOATS)
spec("aten::elu", tensor("self", FLOAT), parameter("alpha"), parameter("scale"), parameter("input_scale"), SAME)
spec("aten::selu", tensor("self", FLOAT), SAME)
TINY = REALS.within(-1e-4, 1e-4).narrowed("Ne", 0)
OF_ORDINARY_INVERSE = Value.NotIn(
    lambda own: TINY if own.dtype == "float" else (), ("",), "(-10^-4, 10^-4) but 0"
).unjudged("1 / alpha may overflow")
spec("aten::celu", tensor("self", FLOAT), parameter("alpha", Value.Ne(0), OF_ORDINARY_INVERSE), SAME)
spec("aten::log_sigmoid", tensor("self", FLOAT), SAME)
spec("aten::log_sigmoid_forward", tensor("self", FLOAT), SAME)  # of the buffer nothing is documented (P206)


# --- Powers -----------------------------------------------------------------------------------------------------------


def _exponents(exponent: MetaArgument, self: MetaArgument) -> Space:
    """{0, ..., max} of an integral common dtype (P45), anything else"""
    common = common_dtype(self, exponent)
    if exponent.dtype != "int" or not is_integral(common):
        return ANYTHING
    return integers_between(0, format_named(common).max_value)


spec(
    "aten::pow.Tensor_Tensor",
    tensor("self", typically(0, 8)),
    tensor("exponent", not_both(["bool"], "self"), no_complex32_with("self"), broadcastable_with("self")),
    result(dtype_common_to("self", "exponent"), broadcast_of("self", "exponent")),
)
spec(
    "aten::pow.Tensor_Scalar",
    tensor("self", typically(0, 8)),
    # For the exponents False and True torch needs no kernel.
    scalar(
        "exponent",
        not_both(["bool"], "self").unjudged("torch fills with True, or copies"),
        no_complex32_with("self"),
        Value.In(_exponents),
    ),
    result(dtype_common_to("self", "exponent"), shape_of("self")),
)
spec(
    "aten::pow.Scalar",
    scalar("self", not_both(["bool"], "exponent"), no_complex32_with("exponent")),
    tensor("exponent"),
    result(dtype_common_to("self", "exponent"), shape_of("exponent")),
)

# --- Of two operands --------------------------------------------------------------------------------------------------


def _of_pairs(name: str, outcome: Constraint, *on_both: Constraint, on_other: tuple[Constraint, ...] = ()) -> None:
    spec(
        name,
        tensor("self", on_both),
        tensor("other", on_both, on_other, broadcastable_with("self")),
        result(outcome, broadcast_of("self", "other")),
    )


COMMON, COMMON_REAL = dtype_common_to("self", "other"), real_dtype_common_to("self", "other")
NOT_BOTH_INTEGRAL = not_both(("bool", *INTEGERS), "self")

_of_pairs("aten::hypot", COMMON, Dtype.In(REAL), on_other=(NOT_BOTH_INTEGRAL,))
_of_pairs("aten::logaddexp", COMMON, not_complex_here(), on_other=(NOT_BOTH_INTEGRAL,))
_of_pairs("aten::logaddexp2", COMMON, not_complex_here(), on_other=(NOT_BOTH_INTEGRAL,))
_of_pairs("aten::atan2", COMMON_REAL, Dtype.In(REAL))


def _number(name: str) -> Argument:
    return scalar(name, Dtype.Ne("complex"))


def _xlogy(of_tensors: str, of_number_first: str, of_number_last: str, logarithm: Constraint) -> None:
    _of_pairs(of_tensors, COMMON_REAL, Dtype.In(REAL), on_other=(logarithm,))
    spec(
        of_number_first,
        _number("self"),
        tensor("other", Dtype.In(REAL), logarithm),
        result(COMMON_REAL, shape_of("other")),
    )
    spec(of_number_last, tensor("self", Dtype.In(REAL)), _number("other"), result(COMMON_REAL, shape_of("self")))


_xlogy("aten::xlogy.Tensor", "aten::xlogy.Scalar_Self", "aten::xlogy.Scalar_Other", typically(0, 8))
_xlogy(
    "aten::special_xlogy",
    "aten::special_xlogy.self_scalar",
    "aten::special_xlogy.other_scalar",
    typically(0, 8),
)
_xlogy(
    "aten::special_xlog1py",
    "aten::special_xlog1py.self_scalar",
    "aten::special_xlog1py.other_scalar",
    typically(-1, 8),
)
