"""Exact sums in digits: literals, and fractions over the whole range of float64 and of products of three numbers."""

from __future__ import annotations

from fractions import Fraction
from math import prod

import numpy as np
import pytest

from conform.numerics import digits
from conform.numerics.digits import Digits, decide_digits, dots, products, single
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real
from conform.numerics.rounding import round_fraction

INF = float("inf")
F64 = FORMATS["float64"]
FLOATS = ("float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32", "float64")


def numbers_of(sums: Digits) -> list[Fraction]:
    return [sum(Fraction(d) * Fraction(2) ** (26 * (sums.low + j)) for j, d in enumerate(row)) for row in
            sums.digits.tolist()]  # fmt: skip


def column(*terms: float) -> np.ndarray:
    return np.array(terms)[:, None]


@pytest.mark.parametrize(
    ("terms", "others", "rounded"),
    [
        ((), (), 0.0),
        ((0.0, -0.0), (1.0, 5.0), 0.0),
        ((3.0,), (-0.5,), -1.5),
        ((2.0**600, -(2.0**600), 2.0**-480), (1.0, 1.0, 1.0), 2.0**-480),
        ((1.0, 2.0**-53), (1.0, 1.0), 1.0),  # to even
        ((1 + 2.0**-52, 2.0**-53), (1.0, 1.0), 1 + 2.0**-51),
        ((1.0, 2.0**-53, 2.0**-1074), (1.0, 1.0, 2.0**-1074), 1 + 2.0**-52),
        ((1.0, 2.0**-53, 2.0**-1074), (1.0, 1.0, -(2.0**-1074)), 1.0),
        ((1.0, -(2.0**-54)), (1.0, 1.0), 1.0),  # the midpoint below a power of two
        ((1.0, -(2.0**-54), -(2.0**-1074)), (1.0, 1.0, 2.0**-1074), 1 - 2.0**-53),
        ((2.0**-600,), (2.0**-475,), 0.0),  # half the smallest number
        ((2.0**-600, 2.0**-1000), (-(2.0**-475), -(2.0**-1000)), -(2.0**-1074)),
        ((2.0**-1000,), (-(2.0**-1000),), -0.0),
        ((2.0**1000,), (-(2.0**1000),), -INF),
        ((F64.max_finite, 2.0**970), (1.0, 1.0), INF),
        ((F64.max_finite, 2.0**970, 2.0**-1074), (1.0, 1.0, -1.0), F64.max_finite),
    ],
)
def test_literals(terms: tuple[float, ...], others: tuple[float, ...], rounded: float) -> None:
    value = products(column(*terms), column(*others)).rounded(F64)
    assert repr(value.tolist()) == repr([rounded])


def over_the_range(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Numbers of any, or of nearly one exponent; some zeros, some of few bits, the second row that of the first."""
    low, high = [(-1074, 1023), (-1074, -1000), (1000, 1023), (-30, 30)][rng.integers(4)]
    x = np.ldexp(1 - rng.random(shape), rng.integers(low, high, shape)) * rng.integers(-1, 2, shape)
    significand, exponent = np.frexp(x)
    x = np.where(rng.random(shape) < 0.5, x, np.ldexp(np.rint(significand * 2.0**20), exponent - 20))
    x[1:2] = x[:1]
    return x


@pytest.mark.parametrize("terms", [1, 2, 3, 6, 40])
def test_numbers_are_rounded_as_fractions_are(terms: int) -> None:
    for seed in range(10):
        rng = np.random.default_rng([terms, seed])
        lhs, rhs, factor = (over_the_range(rng, count, n) for count, n in ((terms, 9), (terms, 9), (1, 1)))
        rhs[1:2] *= -1  # cancels the first products
        pairs, factor = zip(as_fractions(lhs), as_fractions(rhs), strict=True), factor.item()
        exact = [sum(map(prod, zip(*pair, strict=True))) for pair in pairs]
        for sums, numbers in (
            (products(lhs, rhs), exact),
            (dots([(lhs[:1], rhs[:1]), (lhs[1:], rhs[1:])]), exact),
            (products(lhs, rhs).times(factor), [number * Fraction(factor) for number in exact]),
            (products(lhs, rhs) + single(rhs[0]), [x + y for x, (y, *_) in zip(exact, as_fractions(rhs), strict=True)]),
        ):
            assert numbers_of(sums) == numbers
            for fmt in map(FORMATS.get, FLOATS):
                expected = [round_fraction(fmt, number).astype(np.float64) for number in numbers]
                np.testing.assert_array_equal(sums.rounded(fmt).astype(np.float64), expected)
                np.testing.assert_array_equal(np.signbit(sums.rounded(fmt)), np.signbit(expected))
            assert_real(sums.real(), numbers)


def as_fractions(operand: np.ndarray) -> list[list[Fraction]]:
    return [list(map(Fraction, terms)) for terms in operand.T.tolist()]


def assert_real(real: Real, numbers: list[Fraction]) -> None:
    for number, hi, lo, radius in zip(numbers, real.hi.tolist(), real.lo.tolist(), real.radius.tolist(), strict=True):
        rounded = float(round_fraction(F64, number))
        assert hi == rounded or abs(number) < 2**1024 and (abs(hi), abs(rounded)) == (F64.max_finite, INF)
        if np.isfinite(hi):
            assert 2 * abs(lo) <= np.spacing(abs(hi))
            left = abs(number - Fraction(hi) - Fraction(lo))
            assert left <= Fraction(radius) <= abs(Fraction(lo)) / 2**52 + Fraction(1, 2**1069)
            assert (radius == 0) == (left == 0)
        else:
            assert (lo, radius) == (0.0, INF)


def test_digits_carry_all_the_way() -> None:
    """2^500 - 2^-500 has digits of one bit each, and adding 2^-500 moves one carry through all of them."""
    sums = single(np.array([2.0**500])) + single(np.array([-(2.0**-500)]))
    assert numbers_of(sums) == [2**500 - Fraction(1, 2**500)]
    assert numbers_of(sums + single(np.array([2.0**-500]))) == [2**500]


def test_only_what_is_undecided_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digits, "AT_ONCE", 512)  # two sums at a time
    real = Real(np.array([1.0, 1.0, 3.0, 1.0, 5.0]), np.zeros(5), np.array([0.0, 1.0, 2.0**-300, 1.0, INF]))
    asked = []

    def exact(index: tuple[np.ndarray]) -> Digits:
        asked.append(index[0].tolist())
        return single(np.array([10.0, 20.0, 30.0, 40.0, 50.0])[index])

    value, found = decide_digits(F64, real, 3, exact)
    assert asked == [[1, 3], [4]]
    assert value.tolist() == found.hi.tolist() == [1.0, 20.0, 3.0, 40.0, 50.0]
    assert found.radius.tolist() == [0.0, 0.0, 2.0**-300, 0.0, 0.0]
