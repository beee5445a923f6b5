"""Numbers with the exponent held apart: rounded once to every format, and held by float64 as well as it can."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from conform.numerics.formats import FORMATS
from conform.numerics.rounding import round_fraction
from conform.numerics.scaled import Scaled

F64 = FORMATS["float64"]
FLOATS = ("float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32", "float64")
INF = float("inf")


def exact(hi: list[float], lo: list[float], exponent: list[int]) -> Scaled:
    return Scaled.of(np.array(hi), np.array(lo), 0.0, np.array(exponent))


def fractions(numbers: Scaled) -> list[Fraction]:
    parts = zip(numbers.hi.tolist(), numbers.lo.tolist(), numbers.exponent.tolist(), strict=True)
    return [(Fraction(hi) + Fraction(lo)) * Fraction(2) ** k for hi, lo, k in parts]


@pytest.mark.parametrize(
    ("hi", "lo", "exponent", "expected"),
    [
        (1.0, 0.0, -1075, 0.0),  # half of the smallest number: a tie
        (1.0, 2.0**-60, -1075, 5e-324),
        (-1.0, 2.0**-60, -1075, -0.0),
        (1.5, 0.0, -1074, 1e-323),  # a tie to even
        (1.5, -(2.0**-100), -1074, 5e-324),
        (2.0 - 2.0**-52, 0.0, -1023, 2.0**-1022),  # 53 bits, of which the subnormal numbers have 52
        (2.0 - 2.0**-52, -(2.0**-60), -1023, (2.0**52 - 1) * 2.0**-1074),
        (1.0 - 2.0**-53, 2.0**-55, 1024, np.finfo(float).max),
        (1.0, -(2.0**-54), 1024, INF),  # the tie between the largest number and 2^1024
        (1.0, 0.0, -5000, 0.0),
        (-1.0, 0.0, 5000, -INF),
    ],
)
def test_rounded_once_to_float64(hi: float, lo: float, exponent: int, expected: float) -> None:
    value, undecided = exact([hi], [lo], [exponent]).decided(F64)
    assert value.tobytes() == np.array([expected]).tobytes()
    assert not undecided.any()


def draws(fmt_name: str, seed: int, count: int = 400) -> Scaled:
    """Numbers of every binade about the format's range, of few bits, so that ties are many, with and without a rest."""
    fmt, rng = FORMATS[fmt_name], np.random.default_rng([seed, *fmt_name.encode()])
    bits = rng.integers(1, 54, count)
    hi = np.rint(np.ldexp(rng.uniform(0.5, 1, count), bits)) * rng.choice([-1.0, 1.0], count)
    lo = np.ldexp(hi, -54) * rng.choice([0.0, 2.0**-40, -(2.0**-40), 2.0**-300, -(2.0**-300)], count)
    ends = rng.choice([fmt.emin - fmt.mantissa_bits, fmt.emin, fmt.emax], count) + rng.integers(-3, 3, count)
    anywhere = rng.integers(fmt.emin - fmt.mantissa_bits - 4, fmt.emax + 4, count)
    return Scaled.of(hi, lo, 0.0, np.where(rng.random(count) < 0.5, ends, anywhere) - bits)


@pytest.mark.parametrize("fmt_name", FLOATS)
@pytest.mark.parametrize("seed", range(3))
def test_rounded_as_fractions_are(fmt_name: str, seed: int) -> None:
    fmt, numbers = FORMATS[fmt_name], draws(fmt_name, seed)
    value, undecided = numbers.decided(fmt)
    assert not undecided.any()
    for got, number in zip(value, fractions(numbers), strict=True):
        assert got.tobytes() == round_fraction(fmt, number).tobytes(), float(number)


@pytest.mark.parametrize("fmt_name", ["float32", "float64"])
def test_a_radius_that_reaches_a_boundary_decides_nothing(fmt_name: str) -> None:
    """What is decided is the rounding of both ends, and where it is not these differ."""
    fmt, numbers = FORMATS[fmt_name], draws(fmt_name, 7)
    radius = np.abs(numbers.lo) * 0.75 + np.abs(numbers.hi) * np.random.default_rng(1).choice([0, 2.0**-60], 400)
    value, undecided = Scaled(numbers.hi, numbers.lo, radius, numbers.exponent).decided(fmt)
    for i, middle in enumerate(fractions(numbers)):
        reach = Fraction(radius[i]) * Fraction(2) ** int(numbers.exponent[i])
        low, high = (round_fraction(fmt, middle + sign * reach) for sign in (-1, 1))
        assert undecided[i] or value[i].tobytes() == low.tobytes() == high.tobytes()
    assert 0 < undecided.mean() < 0.9


def test_reals_hold_the_numbers() -> None:
    numbers = draws("float64", 3, 3000)
    numbers = Scaled(numbers.hi, numbers.lo, np.abs(numbers.hi) * 2.0**-110, numbers.exponent)
    real = numbers.real()
    rest = np.zeros(3000) if real.rest is None else real.rest
    for i, number in enumerate(fractions(numbers)):
        hi, lo, radius = float(real.hi[i]), float(real.lo[i]), float(real.radius[i])
        if np.isinf(hi):
            assert (abs(number) >= 2**1024, lo, radius) == (True, 0.0, INF)
            continue
        rounded = float(round_fraction(F64, number))
        assert hi == rounded or abs(number) < 2**1024 and (abs(hi), abs(rounded)) == (F64.max_finite, INF)
        error = abs(number - Fraction(hi) - Fraction(lo))
        assert error <= Fraction(radius) <= error + abs(number) / 2**100 + Fraction(1, 2**1073)
        if hi == rounded and abs(number) < Fraction(1, 2**1022):
            missing = (number - Fraction(hi) - Fraction(lo)) * 2**1074
            assert abs(missing - Fraction(float(rest[i]))) <= Fraction(1, 2**20)


def test_what_is_not_known() -> None:
    numbers = Scaled.of(np.array([0.0, INF, np.nan, 1.0]), np.zeros(4), np.array([0.0, 0.0, 0.0, INF]))
    assert numbers.decided(F64)[1].all()
    assert np.isinf(numbers.real().radius).all()
    assert (numbers.real().hi == 0).all()


def test_sums_are_exact_or_within_their_radius() -> None:
    """Of numbers near each other in size, far apart, at the ends of the range, and of those that cancel."""
    random = np.random.default_rng(8)
    count = 2000
    one, other = random.uniform(0.5, 2, (2, count)) * random.choice([-1.0, 1.0], (2, count))
    exponents = random.integers(-2000, 2000, count)
    gaps = random.choice([0, 1, 2, 50, 54, 107, 290, 300, 301, 900, -50, -400], count)
    other = np.where(random.integers(4, size=count) == 0, -one * (1 + random.integers(-2, 3, count) * 2.0**-52), other)
    error = random.choice([0.0, 2.0**-100], count)
    first = Scaled.of(one, one * 2.0**-60, error, exponents)
    second = Scaled.of(other, np.zeros(count), error, exponents + gaps)
    total = first.plus(second)
    for i in range(count):
        terms = [_exact(each, i) for each in (first, second)]
        spread = Fraction(first.radius[i]) * _unit(first, i) + Fraction(second.radius[i]) * _unit(second, i)
        if np.isinf(total.radius[i]):
            assert abs(sum(terms)) <= spread + abs(terms[0]) / 2**250
            continue
        off = abs(_exact(total, i) - sum(terms))
        assert off + spread <= Fraction(total.radius[i]) * _unit(total, i)
        assert total.radius[i] or not off


def _unit(numbers: Scaled, i: int) -> Fraction:
    return Fraction(2) ** int(numbers.exponent[i])


def _exact(numbers: Scaled, i: int) -> Fraction:
    return (Fraction(float(numbers.hi[i])) + Fraction(float(numbers.lo[i]))) * _unit(numbers, i)


@pytest.mark.parametrize("follows", [1.0, -1.0])
def test_what_follows_breaks_a_tie_of_one_double_or_two(follows: float) -> None:
    """1 + 2^-53 lies between two numbers of float64, 1 + 2^-24 between two of float32."""
    ties = [(F64, 1.0, 2.0**-53), (F64, -1.0, -(2.0**-53)), (FORMATS["float32"], 1 + 2.0**-24, 0.0)]
    for fmt, hi, lo in ties:
        numbers = Scaled.beside(np.array([hi]), np.array([lo]), follows, 0)
        value, undecided = numbers.decided(fmt)
        tie = Fraction(hi) + Fraction(lo)
        assert not undecided[0]
        assert value[0] == round_fraction(fmt, tie * (1 + Fraction(follows) / 2**200))
        real = numbers.real()
        distance = abs(Fraction(real.hi[0]) + Fraction(real.lo[0]) - tie)
        assert distance + Fraction(1, 2**200) <= Fraction(real.radius[0])
