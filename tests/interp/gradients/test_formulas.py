"""Gradients of real functions beside the derivatives of mpmath's functions, to 60 digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import pytest
from mpmath import mp, mpf

from conform.call.bound import bound_call
from conform.interp import semantics
from conform.interp.evaluate import evaluate_call
from conform.interp.gradients import rules
from conform.interp.gradients.evaluation import gradient_call
from conform.numerics.draws import Stream

DIGITS = 60
KNOWN = 2.0**-60  # how well a golden knows its number, at least
Function = Callable[..., Any]

LINE, POSITIVE, UNIT, ABOVE_1 = (-4.0, 4.0), (0.01, 9.0), (-0.99, 0.99), (1.01, 9.0)


def _sigmoid(x: mpf) -> mpf:
    return 1 / (1 + mp.exp(-x))


def _elu(x: mpf, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> mpf:
    return scale * (x if x > 0 else mpf(alpha) * mp.expm1(mpf(input_scale) * x))


def _softplus(x: mpf, beta: float = 1.0) -> mpf:
    return mp.log1p(mp.exp(mpf(beta) * x)) / mpf(beta)


def _gelu_tanh(x: mpf) -> mpf:
    return x / 2 * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + mpf("0.044715") * x**3)))


# op: the function, and from where to where each operand is drawn.
TABLE: dict[str, tuple[Function, tuple[tuple[float, float], ...]]] = {
    "aten::acos": (mp.acos, (UNIT,)),
    "aten::acosh": (mp.acosh, (ABOVE_1,)),
    "aten::asin": (mp.asin, (UNIT,)),
    "aten::asinh": (mp.asinh, (LINE,)),
    "aten::atan": (mp.atan, (LINE,)),
    "aten::atan2": (mp.atan2, (LINE, LINE)),
    "aten::atanh": (mp.atanh, (UNIT,)),
    "aten::angle": (lambda x: mp.arg(x) if x < 0 else mpf(0), (LINE,)),
    "aten::cbrt": (mp.cbrt, (POSITIVE,)),
    "aten::celu": (_elu, (LINE,)),
    "aten::cos": (mp.cos, (LINE,)),
    "aten::cosh": (mp.cosh, (LINE,)),
    "aten::elu": (_elu, (LINE,)),
    "aten::erf": (mp.erf, (LINE,)),
    "aten::erfc": (mp.erfc, (LINE,)),
    "aten::erfinv": (mp.erfinv, (UNIT,)),
    "aten::exp2": (lambda x: mpf(2) ** x, (LINE,)),
    "aten::expm1": (mp.expm1, (LINE,)),
    "aten::hypot": (mp.hypot, (LINE, LINE)),
    "aten::i0": (lambda x: mp.besseli(0, x), (LINE,)),
    "aten::lgamma": (lambda x: mp.log(abs(mp.gamma(x))), (POSITIVE,)),
    "aten::log": (mp.log, (POSITIVE,)),
    "aten::log10": (mp.log10, (POSITIVE,)),
    "aten::log1p": (mp.log1p, ((-0.9, 4.0),)),
    "aten::log2": (lambda x: mp.log(x, 2), (POSITIVE,)),
    "aten::log_sigmoid": (lambda x: -mp.log1p(mp.exp(-x)), (LINE,)),
    "aten::logaddexp": (lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), (LINE, LINE)),
    "aten::mish": (lambda x: x * mp.tanh(mp.log1p(mp.exp(x))), (LINE,)),
    "aten::pow.Tensor_Tensor": (mp.power, (POSITIVE, LINE)),
    "aten::reciprocal": (lambda x: 1 / x, (POSITIVE,)),
    "aten::rsqrt": (lambda x: 1 / mp.sqrt(x), (POSITIVE,)),
    "aten::selu": (
        lambda x: _elu(x, mpf("1.6732632423543772848170429916717"), mpf("1.0507009873554804934193349852946")), (LINE,),
    ),
    "aten::sigmoid": (_sigmoid, (LINE,)),
    "aten::silu": (lambda x: x * _sigmoid(x), (LINE,)),
    "aten::sinc": (lambda x: mp.sin(mp.pi * x) / (mp.pi * x), (LINE,)),
    "aten::sinh": (mp.sinh, (LINE,)),
    "aten::softplus": (_softplus, (LINE,)),
    "aten::special_ndtr": (mp.ncdf, (LINE,)),
    "aten::tan": (mp.tan, ((-1.5, 1.5),)),
    "aten::tanh": (mp.tanh, (LINE,)),
    "aten::xlogy.Tensor": (lambda x, y: x * mp.log(y), (LINE, POSITIVE)),
    # Of the family elementwise those that are no sums and products of their operands.
    "aten::exp": (mp.exp, (LINE,)),
    "aten::gelu": (lambda x: x * mp.ncdf(x), (LINE,)),
    "aten::sin": (mp.sin, (LINE,)),
    "aten::sqrt": (mp.sqrt, (POSITIVE,)),
    "aten::deg2rad": (lambda x: x * mp.pi / 180, (LINE,)),
    "aten::rad2deg": (lambda x: x * 180 / mp.pi, (LINE,)),
}  # fmt: skip
SPECIAL = {
    name: name.replace("special_", "").replace("xlogy", "xlogy.Tensor")
    for name in ("aten::special_erf", "aten::special_erfc", "aten::special_erfinv", "aten::special_exp2",
                 "aten::special_expm1", "aten::special_i0", "aten::special_log1p", "aten::special_sinc",
                 "aten::special_xlogy")
}  # fmt: skip
# With other arguments: of a call by name, and of the function.
WITH = [
    ("aten::gelu", {"approximate": "tanh"}, _gelu_tanh, LINE),
    ("aten::elu", {"alpha": 0.75, "scale": 1.5, "input_scale": 0.5}, lambda x: _elu(x, 0.75, 1.5, 0.5), LINE),
    ("aten::celu", {"alpha": 0.5}, lambda x: x if x > 0 else mp.expm1(2 * x) / 2, LINE),
    ("aten::softplus", {"beta": 2.0}, lambda x: _softplus(x, 2.0), LINE),
    ("aten::softplus", {"beta": 2.0, "threshold": 1.0}, lambda x: x if 2 * x > 1 else _softplus(x, 2.0), LINE),
    ("aten::pow.Tensor_Scalar", {"exponent": 2.5}, lambda x: x ** mpf(2.5), POSITIVE),
    ("aten::pow.Tensor_Scalar", {"exponent": 3}, lambda x: x**3, LINE),
    ("aten::pow.Tensor_Scalar", {"exponent": -2}, lambda x: x**-2, LINE),
    ("aten::pow.Tensor_Scalar", {"exponent": 1}, lambda x: x, LINE),
    ("aten::pow.Tensor_Scalar", {"exponent": 0}, lambda x: mpf(1), LINE),
    ("aten::xlogy.Scalar_Other", {"other": 2.5}, lambda x: x * mp.log(2.5), LINE),
]
OTHERS = {  # whose one operand is a number, so that quotients of the reference have to do
    "aten::pow.Scalar", "aten::pow.Tensor_Scalar", "aten::xlogy.Scalar_Other", "aten::xlogy.Scalar_Self",
    "aten::special_xlogy.other_scalar", "aten::special_xlogy.self_scalar",
}  # fmt: skip


def test_every_function_with_a_gradient_is_here() -> None:
    functions = {name for name in rules.names() if semantics.find(name).family == "functions"}
    assert functions <= {*TABLE, *SPECIAL, *OTHERS}, functions - {*TABLE, *SPECIAL, *OTHERS}


@pytest.mark.parametrize("op", [*TABLE, *SPECIAL])
def test_gradients_of_functions(op: str) -> None:
    function, ranges = TABLE[SPECIAL.get(op, op)]
    _check(op, {}, function, ranges)


@pytest.mark.parametrize(("op", "arguments", "function", "range_"), WITH)
def test_gradients_with_other_arguments(
    op: str, arguments: dict[str, Any], function: Function, range_: tuple[float, float]
) -> None:
    _check(op, arguments, function, (range_,))


def _check(op: str, arguments: dict[str, Any], function: Function, ranges: tuple[tuple[float, float], ...]) -> None:
    stream = Stream(0, f"formulas {op}", 0, "operands")
    operands = [low + (high - low) * stream.uniform(24) for low, high in ranges]
    g = stream.normal(24)
    call = bound_call(op, operands, arguments)
    goldens = evaluate_call(gradient_call(call, [g])).goldens
    assert len(goldens) == len(operands)
    with mpmath.workdps(DIGITS):
        for number, golden in enumerate(goldens):
            assert golden.open is None
            order = tuple(int(at == number) for at in range(len(operands)))
            for at, (weight, *place) in enumerate(zip(g, *operands, strict=True)):
                slope = mpmath.diff(function, tuple(map(mpf, place)), order)
                _compare(golden, at, mpf(weight) * slope)


def _compare(golden: Any, at: int, expected: mpf) -> None:
    if golden.real is None:
        assert mpf(float(golden.value[at])) == expected or abs(mpf(float(golden.value[at])) - expected) < 1e-30
        return
    mine = mpf(float(golden.real.hi[at])) + mpf(float(golden.real.lo[at]))
    radius = float(golden.real.radius[at])
    assert abs(mine - expected) <= radius + abs(expected) * mpf(10) ** -30, (at, mine, expected, radius)
    assert radius <= KNOWN * abs(expected)
