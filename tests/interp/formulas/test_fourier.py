"""Fourier transforms of reals: Bluestein's algorithm beside the sums, and roots of unity."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from conform.interp.formulas import fourier
from conform.interp.formulas.fourier import Pair, transformed
from conform.numerics.cyclotomic import roots_of_unity


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("length", [3, 7, 22, 131])
def test_chirps_give_what_sums_give(length: int, sign: int, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = np.random.default_rng(length).standard_normal((2, 3, length))
    numbers = Pair.of(parts[0] + 1j * parts[1])
    monkeypatch.setattr(fourier, "MOST_TERMS", length)
    by_sums = transformed(numbers, 1, sign)
    monkeypatch.setattr(fourier, "MOST_TERMS", 2)
    by_chirps = transformed(numbers, 1, sign)
    for one, other in ((by_sums.re, by_chirps.re), (by_sums.im, by_chirps.im)):
        difference = one - other
        assert (np.abs(difference.hi) <= difference.radius).all()
        assert other.radius.max() < 2.0**-80


@pytest.mark.parametrize("n", [4, 4096, 4100, 10007, 20001])
def test_roots_of_unity(n: int) -> None:
    """At the ends of the ranges, the quarters, and where the root of a product is taken."""
    cosines, sines = roots_of_unity(n)
    base = int(n**0.5) + 1
    for j in {0, 1, n // 4, n // 2, n - 1, base - 1, min(base, n - 1), min(base + 1, n - 1)}:
        with mpmath.workprec(200):
            angle = mpmath.mpf(2 * j) / n
            for part, exact in ((cosines, mpmath.cospi(angle)), (sines, mpmath.sinpi(angle))):
                error = abs(mpmath.mpf(float(part.hi[j])) + mpmath.mpf(float(part.lo[j])) - exact)
                assert error <= part.radius[j] <= 2.0**-100
    at_quarters = [(float(part.hi[n // 4]), float(part.radius[n // 4])) for part in (cosines, sines)]
    assert n % 4 or at_quarters == [(0.0, 0.0), (1.0, 0.0)]
