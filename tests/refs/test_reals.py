"""Correctly rounded functions: published values, limits, and mpmath at 400 bits."""

import math
import random
from collections.abc import Callable

import mpmath
import pytest
from flint import arb, ctx

from conform.refs.exact.reals import round_balls, round_exp, round_gelu, round_gelu_tanh, round_sin
from conform.refs.exact.rounding import dyadic, round_number, round_ratio
from conform.refs.exact.tensor import UNSPECIFIED

inf, nan = math.inf, math.nan
TINY = 5e-324


@pytest.mark.parametrize(
    ("function", "dtype", "x", "expected"),
    [
        (round_exp, "float64", 1.0, 2.718281828459045),
        (round_exp, "float64", 0.0, 1.0),
        (round_exp, "float64", TINY, 1.0),
        (round_exp, "float64", 709.782712893384, 1.7976931348622732e308),
        (round_exp, "float64", 709.7827128933841, inf),
        (round_exp, "float64", -745.1332191019411, TINY),
        (round_exp, "float64", -745.1332191019412, 0.0),
        (round_exp, "float32", 1e30, inf),
        (round_exp, "float16", 12.0, inf),
        (round_exp, "float16", -inf, 0.0),
        (round_exp, "float64", inf, inf),
        (round_exp, "float64", nan, nan),
        (round_sin, "float64", 1e22, -0.8522008497671888),
        (round_sin, "float64", -0.0, -0.0),
        (round_sin, "float64", TINY, TINY),
        (round_sin, "float64", inf, nan),
        (round_gelu, "float64", 1.0, 0.8413447460685429),  # the normal distribution function at 1
        (round_gelu, "float64", -1.0, -0.15865525393145705),
        (round_gelu, "float64", -0.0, -0.0),
        (round_gelu, "float64", 3 * TINY, 2 * TINY),  # just above the midpoint 1.5 TINY
        (round_gelu, "float64", TINY, TINY),  # just above the midpoint TINY / 2
        (round_gelu, "float64", -TINY, -0.0),  # just below it in magnitude
        (round_gelu, "float32", -100.0, -0.0),
        (round_gelu, "float32", 1e30, 1e30),
        (round_gelu, "float32", inf, inf),
        (round_gelu, "float32", nan, nan),
        (round_gelu, "float32", -inf, UNSPECIFIED),
        (round_gelu_tanh, "float64", 1e300, 1e300),
        (round_gelu_tanh, "float64", -1e300, -0.0),
        (round_gelu_tanh, "float64", -TINY, -0.0),
        (round_gelu_tanh, "float64", -inf, UNSPECIFIED),
    ],
)
def test_literal(function: Callable, dtype: str, x: float, expected: object) -> None:
    assert repr(function(dtype, x)) == repr(expected)


def _mp_gelu_tanh(x: mpmath.mpf) -> mpmath.mpf:
    inner = mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf(44715) / 10**6 * x**3)
    return x / 2 * (1 + mpmath.tanh(inner))


@pytest.mark.parametrize(
    ("function", "formula"),
    [
        (round_exp, mpmath.exp),
        (round_sin, mpmath.sin),
        (round_gelu, lambda x: x / 2 * (1 + mpmath.erf(x / mpmath.sqrt(2)))),
        (round_gelu_tanh, _mp_gelu_tanh),
    ],
)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_agrees_with_mpmath(function: Callable, formula: Callable, dtype: str) -> None:
    draw = random.Random(2)
    with mpmath.workprec(1200):  # 1 + erf cancels up to 240 bits at -18
        for _ in range(100):
            x = round_number(dtype, draw.uniform(-18, 18) * 2.0 ** draw.randint(-12, 0))
            value = formula(mpmath.mpf(x))
            m, e = int(mpmath.sign(value) * value.man), int(value.exp)
            assert function(dtype, x) == round_ratio(dtype, m << max(e, 0), 1 << max(-e, 0))


def test_undecided_balls_shrink_and_an_exact_midpoint_is_refused() -> None:
    calls = []

    def near_midpoint() -> list[arb]:
        calls.append(ctx.prec)
        return [arb(1) + arb(2) ** -53 + (arb(1).exp() - arb(1).exp()) + arb(2) ** -300]

    bits_before = ctx.prec
    assert round_balls("float64", near_midpoint) == [1 + 2.0**-52]
    assert calls == [128, 256, 512]
    with pytest.raises(ArithmeticError, match="undecided"):
        round_balls("float64", lambda: [arb(1) + arb(2) ** -53 + (arb(1).exp() - arb(1).exp())])
    assert ctx.prec == bits_before


def test_dyadic() -> None:
    assert dyadic(-0.75) == (-3, -2)
    assert dyadic(TINY) == (1, -1074)
    assert dyadic(12) == (12, 0)
