"""Complex powers of far angles and of the smallest exponents, beside mpmath at thousands of bits."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest

from conform.numerics.formats import FORMATS
from conform.numerics.functions import complex_parts, far_powers
from conform.numerics.scaled import Scaled

FLOAT64 = FORMATS["float64"]
BITS = 3000


def _column(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float64)


def _is_held(found: Scaled, function: Callable, operands: tuple[np.ndarray, ...]) -> np.ndarray:
    """Which of the numbers are known; each of these lies within its radius of the true one."""
    known = np.isfinite(found.radius)
    with mpmath.workprec(BITS):
        for i in np.flatnonzero(known).tolist():
            x, y, c, d = (mpmath.mpf(float(each[i])) for each in operands)
            size, angle = mpmath.log(x * x + y * y) / 2, mpmath.atan2(y, x)
            exponent = c * size - d * angle
            assert abs(exponent) < 1400
            true = mpmath.exp(exponent) * function(d * size + c * angle)
            hi, lo, radius = (mpmath.mpf(float(part[i])) for part in (found.hi, found.lo, found.radius))
            unit = mpmath.ldexp(1, int(found.exponent[i]))
            assert abs((hi + lo) * unit - true) <= radius * unit
            assert radius <= abs(hi) * mpmath.mpf(2) ** -90
    return known


def test_angles_of_a_hundred_digits() -> None:
    """3^(id), d = 10^100 / 3 rounded: its angle is d log 3 less multiples of 2 pi; and whole powers of i."""
    columns = tuple(_column(each) for each in (3.0, 0.0, 0.0, 10.0**100 / 3))
    assert _is_held(far_powers.imag(*columns), mpmath.sin, columns).all()
    assert _is_held(far_powers.real(*columns), mpmath.cos, columns).all()
    exponents = _column(2.0**900, 1, 2, 2.0**53 + 2)
    powers = complex_parts.apply("pow", FLOAT64, np.zeros(4), np.ones(4), exponents, np.zeros(4))
    assert powers.value.tolist() == [[1, 0], [0, 1], [-1, 0], [-1, 0]]


def test_the_smallest_exponents_turn_by_as_little() -> None:
    """(-2)^c = 2^c (cos pi c + i sin pi c) of c = 4 * 2^-1074: 1, and 12.57 units, which is 13."""
    parts = complex_parts.apply("pow", FLOAT64, *(_column(each) for each in (-2.0, 0.0, 4 * 2.0**-1074, 0.0)))
    assert parts.value.tolist() == [[1, 13 * 2.0**-1074]]
    negative = complex_parts.apply("pow", FLOAT64, *(_column(each) for each in (-2.0, 0.0, -1e-318, 0.0)))
    assert negative.value[0, 1] == -round(np.pi * round(1e-318 / 2.0**-1074)) * 2.0**-1074


@pytest.mark.parametrize(("part", "function"), [(far_powers.real, mpmath.cos), (far_powers.imag, mpmath.sin)])
def test_powers_lie_within_their_radius(part: Callable, function: Callable) -> None:
    """Of exponents of every size, and where these are large of real bases, whose imaginary powers have no size."""
    random = np.random.default_rng(1)
    count = 400
    c, d = np.ldexp(random.uniform(1, 2, (2, count)), random.integers(-1074, 1020, (2, count)))
    c, d = c * random.choice([-1.0, 1.0], count), d * random.choice([0.0, 1.0, -1.0], count)
    x, y = random.standard_normal((2, count)) * np.ldexp(1.0, random.integers(-20, 20, count))
    y = np.where(random.integers(3, size=count) == 0, 0.0, np.abs(y))
    far = np.abs(c) + np.abs(d) > 20
    x, y, d = np.where(far, np.abs(x), x), np.where(far, 0.0, y), np.where(far, c + d, d)
    c = np.where(far, random.choice([0.0, -1.5, 2.0**-1000], count), c)
    with np.errstate(all="ignore"):
        found = part(x, y, c, d)
    known = _is_held(found, function, (x, y, c, d))
    of_real_numbers = (y == 0) & (x > 0) & (d == 0)  # have no imaginary part
    assert known.tolist() == (np.full(count, True) if part is far_powers.real else ~of_real_numbers).tolist()


def test_a_part_that_is_0_is_not_known_and_neither_is_that_of_0() -> None:
    """i^2: the sine of pi is what pi lacks at any precision; and of 0 there is no logarithm."""
    columns = _column(0.0, 0.0), _column(1.0, 0.0), _column(2.0, 2.0), _column(0.0, 0.0)
    with np.errstate(all="ignore"):
        assert np.isinf(far_powers.imag(*columns).radius).all()
        assert np.isinf(far_powers.real(*columns).radius).tolist() == [False, True]


def test_exponents_beyond_float64_are_0_or_infinite_unless_the_sine_is_as_small() -> None:
    """3^c of 2000 and -2000; and e^2000 sin t, t so small that the product may be a number."""
    columns = _column(3.0, 3.0, 3.0), _column(1e-5, 1e-5, 1e-320), _column(2000.0, -2000.0, 1700.0), np.zeros(3)
    with np.errstate(all="ignore"):
        found = far_powers.imag(*columns)
        value, undecided = found.decided(FLOAT64)
    assert undecided.tolist() == [False, False, True]
    assert value[:2].tolist() == [np.inf, 0.0]


@pytest.mark.parametrize("signs", [(1.0, -1.0), (-1.0, 1.0)])
def test_both_sides_of_the_cut_are_apart_in_any_order(signs: tuple[float, float]) -> None:
    """What is kept of one call must not be taken for the other: 0.0 and -0.0 are equal keys."""
    far_powers.turned.cache_clear()
    parts = {
        sign: complex_parts.apply("pow", FLOAT64, *map(_column, (-1.0, sign * 0.0, 2.0**41 + 0.25, 0.0))).value[0, 1]
        for sign in signs
    }
    assert parts[1.0] == -parts[-1.0] > 0.7  # sin(pi / 4): 2^41 half turns are whole ones
