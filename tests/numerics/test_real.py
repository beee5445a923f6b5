"""Real: the guarantees R1 to R4 of real.py, each operator against Fraction over the whole range of float64."""

from __future__ import annotations

import operator
from fractions import Fraction

import numpy as np
import pytest

from conform.numerics.real import Real, as_real, concatenate, maximum, where

INF, NAN = float("inf"), float("nan")
BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
SPECIAL = np.array([0.0, -0.0, 1.0, -2.0, INF, -INF, NAN, 5e-324, -1.7976931348623157e308])


def numbers(rng: np.random.Generator, count: int, exponents: tuple[int, int]) -> Real:
    """Reals with hi of all exponents in the range, lo from none to half an ulp, radii from none to a quarter of hi."""
    with np.errstate(all="ignore"):
        hi = np.ldexp(rng.uniform(-2, 2, count), rng.integers(*exponents, count))
        hi = np.where(rng.random(count) < 0.1, np.ldexp(1.0, rng.integers(*exponents, count)), hi)  # powers of two
        hi = np.where(rng.random(count) < 0.03, 0.0, hi)
        lo = np.spacing(np.abs(hi)) / 2 * rng.choice([0.0, 0.0, 1.0, 0.4, -0.4, 2.0**-30, -(2.0**-300)], count)
        lo = np.where((hi + lo == hi) & np.isfinite(lo), lo, 0.0)
        radius = np.abs(hi) * rng.choice([0.0, 0.0, 2.0**-110, 2.0**-60, 2.0**-20, 0.25], count)
        radius = np.where(rng.random(count) < 0.05, 5e-324, radius)
    return Real(hi, lo, radius)


def truths(rng: np.random.Generator, x: Real) -> list[Fraction]:
    """A number in each enclosure: an end, the midpoint, or any."""
    places = rng.choice([-1.0, 0.0, 1.0, 0.37], x.size)
    parts = zip(x.hi.tolist(), x.lo.tolist(), x.radius.tolist(), places.tolist(), strict=True)
    return [Fraction(hi) + Fraction(lo) + Fraction(place) * Fraction(radius) for hi, lo, radius, place in parts]


def assert_encloses(result: Real, expected: list[Fraction]) -> None:
    """R1 and R2."""
    for i, exact in enumerate(expected):
        hi, lo, radius = (float(part[i]) for part in (result.hi, result.lo, result.radius))
        if radius == INF:
            assert (hi, lo) == (0.0, 0.0)
            continue
        assert hi + lo == hi, f"element {i}: lo {lo} is no rounding error of {hi}"
        assert abs(exact - Fraction(hi) - Fraction(lo)) <= Fraction(radius), f"element {i}: {hi} + {lo} +- {radius}"


RANGES = {
    "moderate": (-30, 30),
    "float32": (-149, 128),
    "all": (-1074, 1024),
    "tiny": (-1074, -900),
    "huge": (900, 1024),
}


@pytest.mark.parametrize("exponents", RANGES.values(), ids=RANGES)
@pytest.mark.parametrize("name", BINARY)
def test_binary_operators_enclose(name, exponents):
    rng = np.random.default_rng(1)
    for other_exponents in (exponents, RANGES["moderate"], RANGES["all"]):
        x, y = numbers(rng, 700, exponents), numbers(rng, 700, other_exponents)
        if name == "/":
            y = where(np.abs(y.hi) <= y.radius, 1.0, y)
        exact = [BINARY[name](a, b) for a, b in zip(truths(rng, x), truths(rng, y), strict=True)]
        assert_encloses(BINARY[name](x, y), exact)


def test_cancellation_encloses():
    rng = np.random.default_rng(2)
    x = numbers(rng, 2000, (-40, 40))
    near = Real(*np.broadcast_arrays(x.hi * (1 + rng.integers(-2, 3, x.size) * 2.0**-52), 0.0, 0.0))
    shifted = Real(near.hi, np.where(near.hi + x.lo * 0.25 == near.hi, x.lo * 0.25, 0.0), near.radius)
    for y in (near, shifted, Real(x.hi, -x.lo, x.radius), x):
        exact = [a - b for a, b in zip(truths(rng, x), truths(rng, y), strict=True)]
        assert_encloses(x - y, exact)


@pytest.mark.parametrize("exponents", RANGES.values(), ids=RANGES)
def test_sqrt_encloses(exponents):
    rng = np.random.default_rng(3)
    x = abs(numbers(rng, 3000, exponents))
    root = x.sqrt()
    for i, exact in enumerate(truths(rng, x)):
        if root.radius[i] == INF:
            assert abs(x.hi[i]) <= x.radius[i] * (1 + 1e-9)
            continue
        middle, radius = Fraction(root.hi[i]) + Fraction(root.lo[i]), Fraction(root.radius[i])
        assert (middle + radius) ** 2 >= exact
        assert middle <= radius or (middle - radius) ** 2 <= exact


def test_maximum_abs_and_negation_enclose():
    rng = np.random.default_rng(4)
    for exponents in RANGES.values():
        x, y = numbers(rng, 500, exponents), numbers(rng, 500, exponents)
        y = where(rng.random(500) < 0.5, Real(x.hi, np.zeros(500), np.abs(x.hi) * 2.0**-53), y)
        a, b = truths(rng, x), truths(rng, y)
        assert_encloses(maximum(x, y), [max(pair) for pair in zip(a, b, strict=True)])
        assert_encloses(abs(x), [abs(t) for t in a])
        assert_encloses(-x, [-t for t in a])


def test_bounds_are_tight():
    """Exact operands in the middle of the range: no radius above 2^-101 of the result."""
    rng = np.random.default_rng(5)
    x, y = (numbers(rng, 2000, (-30, 30)) for _ in range(2))
    x, y = (Real(*np.where(part.hi == 0, 1.0, part.hi)[None], part.lo, np.zeros(2000)) for part in (x, y))
    for result in (x * y, x / y, abs(x).sqrt()):
        assert (result.radius <= 2.0**-101 * np.abs(result.hi)).all()
    same_sign = abs(x) + abs(y)
    assert (same_sign.radius <= 2.0**-103 * same_sign.hi).all()


def test_exact_results_have_no_radius():
    """R3"""
    x = Real.exact(np.array([1.0, 2.0**60, 0.1, -3.0, 1e150]))
    y = Real.exact(np.array([2.0**-80, 1.0, 0.2, 3.0, -1e134]))
    for exact in (x + y, x - y, x * y, (x + y) - y, (x * y) / y, (x * x).sqrt(), (x + y) / 4.0, x / -0.5):
        assert exact.radius.tolist() == [0.0] * 5
    assert_encloses((x * y) / y, [Fraction(v) for v in x.hi.tolist()])
    assert (Real.exact(1.0) / 3.0).radius > 0
    assert Real.exact(2.0).sqrt().radius > 0
    odd = 1 + 2.0**-52  # (odd + 2^-1000) / odd leaves a remainder of 2^-1104, which is lost
    assert (Real(*np.array([odd, 2.0**-1000, 0.0])) / odd).radius > 0
    assert np.signbit(Real.exact(-0.0).times_power_of_two(3).hi)
    tiny = Real.exact(np.array([2.0**-600, 2.0**-1070])) * Real.exact(np.array([2.0**-400, 2.0**1000]))
    assert (tiny.hi.tolist(), tiny.radius.tolist()) == ([2.0**-1000, 2.0**-70], [0.0, 0.0])


@pytest.mark.parametrize("name", BINARY)
def test_special_operands(name):
    """R4: IEEE 754 where an operand is special, nothing known where finite ones overflow; exact zeros keep signs."""
    a, b = (grid.ravel() for grid in np.meshgrid(SPECIAL, SPECIAL))
    result = BINARY[name](Real.exact(a), Real.exact(b))
    with np.errstate(all="ignore"):
        ieee = BINARY[name](a, b)
    finite_operands = np.isfinite(a) & np.isfinite(b) & ~((name == "/") & (b == 0))
    unknown = finite_operands & ~np.isfinite(ieee)
    assert (result.radius[unknown] == INF).all()
    assert (result.hi[unknown] == 0).all()
    determined = ~finite_operands | ((ieee == 0) & (result.radius == 0))
    np.testing.assert_array_equal(result.hi[determined], ieee[determined])
    exact_zero = (ieee == 0) & (result.radius == 0)
    np.testing.assert_array_equal(np.signbit(result.hi[exact_zero]), np.signbit(ieee[exact_zero]))
    assert (result.radius[determined] == 0).all()
    assert (result.lo[determined] == 0).all()


def test_special_radicands():
    root = Real.exact(SPECIAL[:7]).sqrt()
    np.testing.assert_array_equal(root.hi, [0.0, -0.0, 1.0, NAN, INF, NAN, NAN])
    assert np.signbit(root.hi[1])
    assert root.radius.tolist() == [0.0] * 7


def test_open_signs_leave_nothing_known():
    around_zero = Real(*np.array([[1e-20], [0.0], [1e-19]]))
    for result in (around_zero.sqrt(), 1.0 / around_zero, INF * around_zero, INF / around_zero, 0.0 / around_zero):
        assert result.radius.tolist() == [INF]
        assert result.hi.tolist() == [0.0]
    assert (around_zero + INF).hi.tolist() == [INF]
    unknown = Real(*np.array([[0.0], [0.0], [INF]]))
    for result in (unknown + INF, unknown * 0.0, abs(unknown), maximum(unknown, 1.0), unknown / 2.0,
                   maximum(unknown, INF)):
        assert result.radius.tolist() == [INF]
    assert np.isnan(maximum(unknown, NAN).hi).all()
    for special in (NAN, INF):
        assert maximum(around_zero, special).radius.tolist() == [0.0]
        np.testing.assert_array_equal(maximum(special, around_zero).hi, [special])


def test_maximum_of_specials():
    a, b = (grid.ravel() for grid in np.meshgrid(SPECIAL, SPECIAL))
    result = maximum(Real.exact(a), Real.exact(b))
    np.testing.assert_array_equal(result.hi, np.maximum(a, b))
    assert (result.radius == 0).all()
    assert maximum(1.0, Real(*np.array([1.0, 2.0**-60, 0.0]))).lo == 2.0**-60


def test_order():
    one, more = Real.exact(1.0), Real(*np.array([1.0, 2.0**-60, 0.0]))
    blurred = Real(*np.array([1.0, 0.0, 2.0**-59]))
    assert [bool(flag) for flag in one.less(more)] == [True, False]
    assert [bool(flag) for flag in more.less(one)] == [False, False]
    assert [bool(flag) for flag in one.equal(1.0)] == [True, False]
    assert bool(blurred.less(more)[1])
    assert bool(blurred.equal(1.0)[1])
    assert [bool(flag) for flag in Real.exact(NAN).less(one)] == [False, False]
    assert [bool(flag) for flag in Real.exact(INF).equal(INF)] == [True, False]
    assert [bool(flag) for flag in blurred.less(INF)] == [True, False]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 64, 65])
def test_sum_and_cumsum_enclose(count):
    rng = np.random.default_rng(count)
    x = numbers(rng, 3 * count, (-40, 40)).reshape((3, count))
    exact = [truths(rng, x[row]) for row in range(3)]
    assert_encloses(x.sum(axis=1), [sum(row, Fraction(0)) for row in exact])
    assert x.sum(axis=-1, keepdims=True).shape == (3, 1)
    assert_encloses(x.sum().reshape(1), [sum((sum(row, Fraction(0)) for row in exact), Fraction(0))])
    running = x.cumsum(axis=1)
    for row in range(3):
        assert_encloses(running[row], [sum(exact[row][: i + 1]) for i in range(count)])


def test_sum_over_several_axes():
    x = Real.exact(np.arange(24.0).reshape(2, 3, 4))
    assert x.sum(axis=(0, -1)).hi.tolist() == [60.0, 92.0, 124.0]
    assert x.sum(axis=(0, 2), keepdims=True).shape == (1, 3, 1)
    assert x.cumsum(0).hi.tolist() == np.arange(24.0).reshape(2, 3, 4).cumsum(0).tolist()


def test_integers_are_exact():
    limits = np.array([2**63 - 1, -(2**63), 2**53 + 1, 0, -1])
    real = Real.of_integers(limits)
    exact = [int(Fraction(hi) + Fraction(lo)) for hi, lo in zip(real.hi.tolist(), real.lo.tolist(), strict=True)]
    assert exact == limits.tolist()
    unsigned = Real.of_integers(np.array([2**64 - 1], np.uint64))
    assert (unsigned.hi.tolist(), unsigned.lo.tolist()) == ([2.0**64], [-1.0])
    assert Real.of_integers(np.array([True])).hi.tolist() == [1.0]
    assert as_real(2**63 - 1).lo == -1.0


def test_ends():
    x = Real(*np.array([[1.0, -0.0, INF, 1e308], [2.0**-60, 0.0, 0.0, 0.0], [2.0**-59, 0.0, 0.0, 1e308]]))
    lower, upper = x.ends()[0], x.ends()[1]
    assert lower.hi[:3].tolist() == [1.0, 0.0, INF]
    assert -1e295 < lower.hi[3] <= 0.0
    assert np.signbit(lower.hi[1])
    assert upper.hi.tolist() == [1.0, 0.0, INF, INF]
    assert -(2.0**-59) < lower.lo[0] <= -(2.0**-60)
    assert 2.0**-60 + 2.0**-59 <= upper.lo[0] < 2.0**-58


def test_arrays_and_numbers_mix_with_reals():
    x = Real.exact(np.array([1.0, 2.0]))
    array = np.array([3.0, 4.0])
    assert (array - x).hi.tolist() == [2.0, 2.0]
    assert (np.float64(8.0) / x).hi.tolist() == [8.0, 4.0]
    assert (2 * x + 1).hi.tolist() == [3.0, 5.0]
    assert (x[:, None] * x[None, :]).shape == (2, 2)
    assert x.reshape((2, 1)).transpose().broadcast_to((3, 2)).shape == (3, 2)
    assert concatenate([x, x]).hi.tolist() == [1.0, 2.0, 1.0, 2.0]


def test_a_product_with_an_exact_zero_is_exact_beside_the_largest_numbers() -> None:
    product = Real.exact(np.array([1.7e308, -1.7e308, INF])) * Real.exact(np.array([0.0, 0.0, 0.0]))
    assert product.radius.tolist() == [0.0, 0.0, 0.0]
    assert str(product.hi.tolist()) == "[0.0, -0.0, nan]"


def test_an_exact_zero_makes_an_exact_zero_of_a_sign_that_is_known() -> None:
    zero = Real.exact(np.array([0.0, -0.0, 0.0]))
    about = Real(np.array([1.0, 1.0, 0.0]), np.zeros(3), np.array([1e-30, 1e-30, 1e-30]))  # the last of either sign
    for result in (zero * about, about * zero, (zero / about)[:2]):
        assert result.radius[:2].tolist() == [0.0, 0.0]
        assert np.signbit(result.hi[:2]).tolist() == [False, True]
    assert (zero * about).radius[2] > 0
