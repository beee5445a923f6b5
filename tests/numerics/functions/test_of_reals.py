"""Functions of reals: the image of the interval lies within the result's radius, against Arb at its ends and middle."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite, nan

import numpy as np
import pytest

from conform.numerics import functions
from conform.numerics.functions.dd import SAFE_MIN
from conform.numerics.real import Real
from tests.numerics.functions.arb_formulas import FORMULAS

from flint import arb, ctx, fmpq  # isort: skip

NAMES = [name for name in functions.__all__ if name in FORMULAS]
RADII = (0.0, 1e-40, 1e-20, 1e-9, 1e-3, 0.4)


def numbers() -> Real:
    rng = np.random.default_rng(11)
    n = 240
    hi = np.concatenate(
        [rng.uniform(-3, 3, n), rng.uniform(-30, 30, n), rng.choice([-1, 1], n) * 2.0 ** rng.uniform(-60, 9, n)]
    )
    lo = hi * 2.0**-53 * rng.uniform(-0.9, 0.9, hi.size)
    radius = np.tile(RADII, hi.size // len(RADII))
    return Real(hi, lo, radius)


def exact_number(x: Fraction) -> arb:
    return arb(fmpq(x.numerator, x.denominator))


def bounds(x: arb) -> tuple[Fraction, Fraction]:
    ends = [tuple(map(int, end.man_exp())) for end in (x.lower(), x.upper())]
    low, high = (Fraction(mantissa) * Fraction(2) ** exponent for mantissa, exponent in ends)
    return low, high


@pytest.mark.parametrize("name", NAMES)
def test_images_are_enclosed(name: str) -> None:
    ctx.prec = 250
    x = numbers()
    y = getattr(functions, name)(x)
    judged = 0
    parts = [part.tolist() for part in (x.hi, x.lo, x.radius, y.hi, y.lo, y.radius)]
    for hi, lo, radius, *image in zip(*parts, strict=True):
        if not isfinite(image[0]) or not isfinite(image[2]):
            continue
        middle = Fraction(image[0]) + Fraction(image[1])
        for part in (-1, Fraction(-1, 2), 0, 1):
            low, high = bounds(FORMULAS[name](exact_number(Fraction(hi) + Fraction(lo) + part * Fraction(radius))))
            assert low <= middle + Fraction(image[2]), (name, hi, lo, radius, part)
            assert high >= middle - Fraction(image[2]), (name, hi, lo, radius, part)
        judged += 1
    assert judged > 250


@pytest.mark.parametrize("name", NAMES)
def test_exact_operands_give_95_bits(name: str) -> None:
    x = Real.exact(np.linspace(0.1, 6.0, 100))
    y = getattr(functions, name)(x)
    assert (np.abs(y.hi) > SAFE_MIN).all()
    assert (y.radius <= 2.0**-93 * np.abs(y.hi)).all()


@pytest.mark.parametrize(
    ("name", "operand", "expected"),
    [
        ("exp", inf, inf), ("exp", -inf, 0.0), ("exp", nan, nan), ("expm1", -0.0, -0.0), ("expm1", -inf, -1.0),
        ("log", 0.0, -inf), ("log", -1.0, nan), ("log", inf, inf), ("log", 1.0, 0.0), ("log1p", -1.0, -inf),
        ("sin", -0.0, -0.0), ("sin", inf, nan), ("cos", inf, nan), ("tanh", -inf, -1.0), ("tanh", -0.0, -0.0),
        ("sigmoid", -inf, 0.0), ("sigmoid", inf, 1.0), ("erf", -inf, -1.0), ("erf", 0.0, 0.0), ("erfc", inf, 0.0),
        ("erfc", -inf, 2.0), ("erfc", nan, nan),
    ],
)  # fmt: skip
def test_special_operands_give_the_class(name: str, operand: float, expected: float) -> None:
    y = getattr(functions, name)(Real.exact(np.array([operand])))
    np.testing.assert_array_equal(y.hi, [expected])
    assert np.signbit(y.hi[0]) == np.signbit(expected) or np.isnan(expected)
    assert y.lo[0] == y.radius[0] == 0


@pytest.mark.parametrize(
    ("name", "hi", "radius"),
    [("exp", 800.0, 0.0), ("log", 1.0, 2.0), ("log", 0.0, 1e-30), ("exp", 1.0, inf)],
)
def test_what_is_not_known_has_an_infinite_radius(name: str, hi: float, radius: float) -> None:
    y = getattr(functions, name)(Real(np.array([hi]), np.zeros(1), np.array([radius])))
    assert y.radius[0] == inf


def test_exp_far_below_is_known_to_be_small() -> None:
    y = functions.exp(Real.exact(np.array([-701.0, -1e5, -1e300])))
    assert (y.hi == 0).all()
    assert (y.radius <= 2.0**-1000).all()


def test_erf_float64() -> None:
    values = functions.erf_float64(np.array([0.5, -2.0, inf, -0.0, nan]))
    np.testing.assert_allclose(values, [0.5204998778130465, -0.9953222650189527, 1.0, 0.0, nan], rtol=2.0**-49)
    assert np.signbit(values[3])
