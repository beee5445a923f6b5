"""Arithmetic: literals, IEEE 754's special cases against numpy's float64, exact fractions over each format's range."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from conform.numerics import arithmetic
from conform.numerics.formats import FORMATS, Format
from conform.numerics.real import Real
from conform.numerics.rounding import round_fraction, round_to

F16, BF16, F32, F64 = (FORMATS[name] for name in ("float16", "bfloat16", "float32", "float64"))
FLOATS = [F16, BF16, F32, F64]
INF, NAN = float("inf"), float("nan")
SPECIAL = np.array([0.0, -0.0, 1.0, -1.5, 3.0, INF, -INF, NAN, 2.0**-149])


def assert_same(actual: np.ndarray, expected: np.ndarray) -> None:
    """Equal values, signs of zeros included; NaN equals NaN."""
    actual, expected = np.asarray(actual).astype(np.float64), np.asarray(expected).astype(np.float64)
    np.testing.assert_array_equal(actual, expected)
    zero = expected == 0
    np.testing.assert_array_equal(np.signbit(actual[zero]), np.signbit(expected[zero]))


def assert_encloses(real: Real, exact: list[Fraction]) -> None:
    for i, number in enumerate(exact):
        hi, lo, radius = float(real.hi[i]), float(real.lo[i]), float(real.radius[i])
        if math.isinf(hi):
            assert radius == INF
            assert abs(number) > Fraction(F64.max_finite)
        else:
            assert hi + lo == hi
            assert abs(number - Fraction(hi) - Fraction(lo)) <= Fraction(radius)


def operands(fmt: Format, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the format: of like exponents, of all, at both ends of the range, and multiples of each other."""
    rng = np.random.default_rng(seed)
    exponents = rng.integers(fmt.emin - fmt.mantissa_bits, fmt.emax + 1, (2, count))
    exponents[:, : count // 3] = rng.integers(-6, 6, (2, count // 3))
    edge = slice(5 * count // 6, None)
    exponents[:, edge] = rng.choice([fmt.emin - 2, fmt.emin, fmt.emax], exponents[:, edge].shape)
    with np.errstate(all="ignore"):
        a, b = np.ldexp(rng.uniform(1, 2, (2, count)) * rng.choice([-1.0, 1.0], (2, count)), exponents)
        a, b = (round_to(fmt, np.clip(x, -fmt.max_finite, fmt.max_finite)).astype(np.float64) for x in (a, b))
        b = np.where(b == 0, fmt.min_subnormal, b)
        multiple = round_to(fmt, b * rng.integers(1, 50, count)).astype(np.float64)
        return np.where((rng.random(count) < 0.2) & np.isfinite(multiple), multiple, a), b


EXACT: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "fmod": lambda a, b: a - b * math.trunc(a / b),
    "remainder": lambda a, b: a - b * math.floor(a / b),
    "floor_div": lambda a, b: Fraction(math.floor(a / b)),
    "trunc_div": lambda a, b: Fraction(math.trunc(a / b)),
}


@pytest.mark.parametrize("fmt", FLOATS, ids=lambda fmt: fmt.name)
@pytest.mark.parametrize("name", EXACT)
def test_binary_operations_against_fractions(name, fmt):
    a, b = operands(fmt, 600, seed=len(name))
    value, real = getattr(arithmetic, name)(fmt, a, b)
    assert value.dtype == fmt.storage
    exact = [EXACT[name](Fraction(x), Fraction(y)) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert_encloses(real, exact)
    expected = np.array([float(round_fraction(fmt, number)) for number in exact])
    np.testing.assert_array_equal(value.astype(np.float64), expected)
    below_zero = np.array([number < 0 for number in exact])
    assert np.signbit(value[below_zero].astype(np.float64)).all()


@pytest.mark.parametrize("fmt", [F16, F32], ids=lambda fmt: fmt.name)
@pytest.mark.parametrize("name", ["add", "mul", "div", "axpy"])
def test_a_double_operand_is_rounded_in_the_result_alone(name, fmt):
    """Narrow results of operands as wide as float64, as Python scalars are."""
    rng = np.random.default_rng(3)
    a = np.concatenate([rng.standard_normal(200), [1e-300, 1.7e308, 5e-324, 1e-200]])
    b = np.concatenate([rng.standard_normal(200), [1e-280, 1e307, 3.0, 1e-250]])
    if name == "axpy":
        value, _ = arithmetic.axpy(fmt, np.float64(0.1), a, b)
        exact = [Fraction(x) + Fraction(0.1) * Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    else:
        value, _ = getattr(arithmetic, name)(fmt, a, b)
        exact = [EXACT[name](Fraction(x), Fraction(y)) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert_same(value, [float(round_fraction(fmt, number)) for number in exact])


@pytest.mark.parametrize("fmt", FLOATS, ids=lambda fmt: fmt.name)
def test_axpy_against_fractions(fmt):
    x, y = operands(fmt, 900, seed=4)
    alpha = operands(fmt, 900, seed=5)[0]
    with np.errstate(all="ignore"):
        opposite = round_to(fmt, -alpha * y).astype(np.float64)  # x + alpha y cancels to the product's rounding error
    x = np.where((np.arange(900) % 3 == 0) & np.isfinite(opposite), opposite, x)
    value, real = arithmetic.axpy(fmt, alpha, x, y)
    triples = zip(alpha.tolist(), x.tolist(), y.tolist(), strict=True)
    exact = [Fraction(x) + Fraction(a) * Fraction(y) for a, x, y in triples]
    assert_encloses(real, exact)
    np.testing.assert_array_equal(value.astype(float), [float(round_fraction(fmt, number)) for number in exact])


@pytest.mark.parametrize("fmt", FLOATS, ids=lambda fmt: fmt.name)
def test_sqrt_against_integers(fmt):
    """The squares of the midpoints beside the result lie on either side of a."""
    a = np.abs(operands(fmt, 900, seed=6)[0])
    a = np.concatenate([a, [0.25, 2.25, fmt.max_finite, fmt.min_subnormal]])
    value, real = arithmetic.sqrt(fmt, a)
    for x, root, hi, lo, radius in zip(a.tolist(), value.tolist(), real.hi, real.lo, real.radius, strict=True):
        exact, root = Fraction(x), Fraction(float(root))
        unit = Fraction(2) ** (math.frexp(root)[1] - fmt.precision)
        assert (root - unit / 2) ** 2 <= exact <= (root + unit / 2) ** 2
        middle, radius = Fraction(float(hi)) + Fraction(float(lo)), Fraction(float(radius))
        assert (middle - radius) ** 2 <= exact <= (middle + radius) ** 2


def test_special_operands_are_as_in_ieee_754():
    a, b = (grid.ravel() for grid in np.meshgrid(SPECIAL, SPECIAL))
    with np.errstate(all="ignore"):
        assert_same(arithmetic.add(F64, a, b)[0], a + b)
        assert_same(arithmetic.sub(F64, a, b)[0], a - b)
        assert_same(arithmetic.mul(F64, a, b)[0], a * b)
        assert_same(arithmetic.div(F64, a, b)[0], a / b)
        assert_same(arithmetic.fmod(F64, a, b)[0], np.fmod(a, b))
        assert_same(arithmetic.sqrt(F64, a)[0], np.sqrt(a))
        assert_same(arithmetic.axpy(F64, np.float64(1.0), a, b)[0], a + b)
        assert_same(arithmetic.axpy(F64, np.float64(0.0), a, b)[0], a + 0.0 * b)
        assert_same(arithmetic.axpy(F64, np.float64(-1.0), a, b)[0], a - b)
        for real in (arithmetic.add(F16, a, b)[1], arithmetic.div(F16, a, b)[1], arithmetic.sqrt(F16, a)[1]):
            special = ~np.isfinite(real.hi)
            assert (real.lo[special] == 0).all()
            assert (real.radius[special] == 0).all()


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (5.0, 3.0, 2.0),
        (-5.0, 3.0, 1.0),
        (5.0, -3.0, -1.0),
        (-6.0, 3.0, 0.0),
        (6.0, -3.0, -0.0),
        (1.0, INF, 1.0),
        (-1.0, INF, INF),
        (1.0, -INF, -INF),
        (-0.0, INF, 0.0),
        (INF, 1.0, NAN),
        (1.0, 0.0, NAN),
        (NAN, 1.0, NAN),
        (-(2.0**-149), 1.0, 1.0),  # 1 - 2^-149 rounds to 1
    ],
)
def test_remainder_has_the_sign_of_the_divisor(a, b, expected):
    assert_same(arithmetic.remainder(F32, np.float64(a), np.float64(b))[0], expected)


@pytest.mark.parametrize(
    ("fmt", "a", "b", "floor", "trunc"),
    [
        (F32, 7.0, 2.0, 3.0, 3.0),
        (F32, -7.0, 2.0, -4.0, -3.0),
        (F32, -1.0, 3.0, -1.0, -0.0),
        (F64, 1.0, 0.1, 9.0, 9.0),  # the quotient rounds to 10, but 10 * 0.1 > 1
        (F64, -1.0, 0.1, -10.0, -9.0),
        (F64, -5e-324, 2.0, -1.0, -0.0),
        (F64, 5e-324, 2.0, 0.0, 0.0),
        (F64, 0.1, -0.1 * (1 + 2.0**-52), -1.0, -0.0),
        (F64, 2.0**53 + 2, 1 - 2.0**-53, 2.0**53 + 4, 2.0**53 + 4),  # 2^53 + 3 and a bit: its floor is a tie
        (F64, 1e308, 1e-10, INF, INF),
        (F16, 60000.0, -0.5, -INF, -INF),
        (F32, 1.0, 0.0, INF, INF),
        (F32, -0.0, 5.0, -0.0, -0.0),
        (F32, 0.0, 0.0, NAN, NAN),
        (F32, -1.0, INF, -0.0, -0.0),
    ],
)
def test_integer_quotients(fmt, a, b, floor, trunc):
    assert_same(arithmetic.floor_div(fmt, np.float64(a), np.float64(b))[0], floor)
    assert_same(arithmetic.trunc_div(fmt, np.float64(a), np.float64(b))[0], trunc)


@pytest.mark.parametrize(
    ("fmt", "x", "decimals", "expected"),
    [
        (F64, 2.675, 2, 2.67),  # the double lies below the tie
        (F64, 0.125, 2, 0.12),
        (F64, 0.375, 2, 0.38),
        (F64, -0.004, 2, -0.0),
        (F64, 1250.0, -2, 1200.0),
        (F64, 1350.0, -2, 1400.0),
        (F64, -49.9, -2, -0.0),
        (F64, 1e300, 2, 1e300),
        (F64, 1e300, -299, 1e300),
        (F64, 0.1, 30, 0.1),
        (F64, -1.5e-40, 40, -2e-40),
        (F64, 2.5, 0, 2.0),
        (F64, -INF, 3, -INF),
        (F64, NAN, -3, NAN),
        (F16, 0.3, 1, 0.3),
        (F64, -0.0, 25, -0.0),
        (F64, 7e18, -19, 1e19),
    ],
)
def test_round_decimals(fmt, x, decimals, expected):
    expected = round_to(fmt, np.float64(expected))
    assert_same(arithmetic.round_decimals(fmt, round_to(fmt, np.float64(x)).astype(np.float64), decimals)[0], expected)


@pytest.mark.parametrize("fmt", FLOATS, ids=lambda fmt: fmt.name)
@pytest.mark.parametrize("decimals", [-25, -3, 1, 4, 22, 23])
def test_round_decimals_against_fractions(fmt, decimals):
    x = operands(fmt, 240, seed=8)[0]
    ties = round_to(fmt, (np.arange(60) - 30.5) * 10.0**-decimals).astype(np.float64)
    x = np.concatenate([x, ties[np.isfinite(ties)]])
    value, real = arithmetic.round_decimals(fmt, x, decimals)
    scale = Fraction(10) ** decimals
    exact = [round(Fraction(number) * scale) / scale for number in x.tolist()]
    assert_encloses(real, exact)
    assert_same(value, [float(round_fraction(fmt, n, zero_sign=s)) for n, s in zip(exact, x.tolist(), strict=True)])


def test_subnormal_and_overflowing_reals_of_float64():
    """The third product is just below a tie that rounding to 53 bits first would fall on."""
    a = np.array([5e-324, 1e308, 3 * (1 + 2.0**-30) * 2.0**-1000])
    b = np.array([0.75, 1e308, (1 - 2.0**-30) * 2.0**-75])
    value, real = arithmetic.mul(F64, a, b)
    assert value.tolist() == [5e-324, INF, 5e-324]
    assert real.hi.tolist() == [5e-324, INF, 5e-324]
    assert real.lo.tolist() == [0.0, 0.0, 0.0]
    assert real.radius.tolist() == [5e-324, INF, 5e-324]


def test_add_beside_the_largest_number():
    """Where an inner step of two_sum overflows although the sum does not."""
    for a, b in ((-3 * 2.0**970, F64.max_finite), (3 * 2.0**970, -F64.max_finite)):
        _, real = arithmetic.add(F64, np.array([a]), np.array([b]))
        assert_encloses(real, [Fraction(a) + Fraction(b)])
        assert real.radius.tolist() == [0.0]


def test_axpy_just_below_a_tie():
    """2^53 + 2 + (1 - 2^-60): rounding the low parts to nearest first would make it a tie."""
    value, _ = arithmetic.axpy(F64, np.float64(1 + 2.0**-30), np.float64(2.0**53 + 2), np.float64(1 - 2.0**-30))
    assert value == 2.0**53 + 2


def test_scalars_and_broadcasting():
    value, real = arithmetic.add(F32, np.float64(1.0), np.float64(2.0))
    assert (value.shape, real.shape, float(value)) == ((), (), 3.0)
    assert float(arithmetic.mul(F64, np.float64(-5e-167), np.float64(-5e-167))[0]) == 0.0  # decided on Fractions
    assert arithmetic.mul(F32, np.ones((3, 1)), np.ones(4))[1].radius.shape == (3, 4)
    assert arithmetic.floor_div(F64, np.full((2, 1), 1e300), np.full(3, 0.7))[0].shape == (2, 3)
    assert arithmetic.div(F16, np.empty((0, 2)), np.ones(2))[0].shape == (0, 2)
