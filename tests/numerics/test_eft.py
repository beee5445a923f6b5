"""Error-free transformations: each identity in Fraction, over float64's range and at its edges."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from conform.numerics.eft import (
    SAFE_PRODUCT,
    exponent_of,
    fast_two_sum,
    nudged_to_odd,
    odd_sum,
    two_prod,
    two_sum,
)


def operands(low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(abs(low))
    shape = (2, 2000)
    return tuple(np.ldexp(rng.uniform(-2, 2, shape), rng.integers(low, high, shape)))


def exactly(*parts: np.ndarray) -> list[Fraction]:
    return [sum(map(Fraction, element), Fraction(0)) for element in zip(*(p.tolist() for p in parts), strict=True)]


def test_sums():
    for low, high in ((-1074, 1022), (-5, 5), (-1074, -1000)):
        a, b = operands(low, high)
        s, e = two_sum(a, b)
        assert exactly(s, e) == exactly(a, b)
        np.testing.assert_array_equal(s, a + b)
        larger, smaller = np.where(np.abs(a) >= np.abs(b), [a, b], [b, a])
        assert exactly(*fast_two_sum(larger, smaller)) == exactly(a, b)


def test_products():
    for low, high in ((-480, 500), (-30, 30), (0, 994)):
        a, b = operands(low, high)
        a = a / (np.abs(b) if high > 900 else 1)
        p, e = two_prod(a, b)
        safe = np.abs(p) >= SAFE_PRODUCT
        exact = [Fraction(x) * Fraction(y) for x, y in zip(a[safe].tolist(), b[safe].tolist(), strict=True)]
        assert safe.sum() > 1000
        assert exactly(p[safe], e[safe]) == exact


def test_odd():
    even, odd = 1.0, 1 + 2.0**-52
    x = np.array([even, even, odd, odd, even, -even, -even, even])
    rest = np.array([2.0**-60, -(2.0**-60), 2.0**-60, -(2.0**-60), 0.0, 2.0**-60, -(2.0**-60), 2.0**-53])
    below = 1 - 2.0**-53
    assert nudged_to_odd(x, rest).tolist() == [odd, below, odd, odd, even, -below, -odd, odd]
    assert odd_sum(np.float64(1.0), np.float64(-1e-30)) == below


def test_exponents():
    hi = np.array([1.0, 1.0, -1.0, -1.0, 1.5, 5e-324, 2.0**1023, 0.75])
    lo = np.array([0.0, -1e-20, 1e-20, -1e-20, -1e-20, 0.0, 0.0, 0.0])
    assert exponent_of(hi, lo).tolist() == [0, -1, -1, 0, 0, -1074, 1023, -1]
    assert exponent_of(np.float64(0.0), np.float64(0.0)) < -1074
