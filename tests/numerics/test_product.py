"""Products of many numbers, whose exponents are held apart."""

from __future__ import annotations

from fractions import Fraction
from math import inf, prod

import numpy as np
import pytest

import conform
from conform.numerics.formats import FORMATS
from conform.numerics.product import exact_product, product
from conform.numerics.rounding import round_fraction


def exactly(numbers: np.ndarray) -> Fraction:
    return prod(map(Fraction, numbers.tolist()), start=Fraction(1))


def test_the_exponent_is_apart() -> None:
    significand, exponent = product([np.array([[4.0, -3.0], [1e-300, 1e-300]])], 2)
    assert (significand.hi[0], exponent[0]) == (-0.75, 4)
    assert exponent[1] == -1993
    assert Fraction(significand.hi[1]) + Fraction(significand.lo[1]) == Fraction(1e-300) ** 2 * 2**1993
    empty, exponent = product([np.ones((1, 0))], 1)
    assert np.ldexp(empty.hi, exponent).tolist() == [1.0]


@pytest.mark.rotating(130)
@pytest.mark.parametrize("terms", [1, 2, 3, 511, 512, 513, 1500])
@pytest.mark.parametrize("scale", [-600, 0, 600])
def test_products_are_enclosed(terms: int, scale: int) -> None:
    numbers = np.ldexp(np.random.default_rng(terms).normal(size=(2, terms)), scale)
    pieces = [numbers[:, : terms // 3], numbers[:, terms // 3 :]]
    significand, exponent = product(pieces, 2)
    for row, part in enumerate(zip(significand.hi, significand.lo, significand.radius, exponent.tolist(), strict=True)):
        hi, lo, radius = map(Fraction, part[:3])
        exact = exactly(numbers[row])
        assert exact_product([piece[row] for piece in pieces]) == exact
        assert abs(exact / Fraction(2) ** part[3] - (hi + lo)) <= radius
        assert radius <= Fraction(2) ** -85
        assert Fraction(1, 2) <= abs(hi) <= 1


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_products_beyond_float64_are_rounded_all_the_same(dtype: str) -> None:
    """In one factor too many, and by far; at the edges of the range, where the exact number decides."""
    fmt = FORMATS[dtype]
    half, two = fmt.storage.type(0.5), fmt.storage.type(2)
    for terms in (10, 149, 150, 1021, 1022, 1074, 1075, 1076, 1099, 1101, 5000):
        for factor in (half, -half, two, -two, two * 1.5, half * 1.5):
            row = np.full(terms, factor, fmt.storage)
            row[0] = fmt.storage.type(1.5)
            value = conform.golden("aten::prod", row).value
            expected = round_fraction(fmt, exactly(row.astype(np.float64)))
            assert (value, np.signbit(value)) == (expected, np.signbit(expected)), (terms, factor)


def test_a_long_product_takes_no_long_time() -> None:
    """Half a million factors: their exact product has 12 million digits."""
    numbers = np.random.default_rng(0).normal(size=1 << 19).astype(np.float32)
    assert conform.golden("aten::prod", numbers).value == 0
    assert abs(conform.golden("aten::prod", 3 * numbers).value) == inf
