"""digamma at and beside numbers half way between integers, where its reflection's cotangent is 0 or nearly so."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from conform.numerics.formats import FORMATS
from conform.numerics.functions import apply, ladder
from conform.numerics.functions.table import FUNCTIONS

FLOAT64 = FORMATS["float64"]
HALVES = np.arange(-60, 0) + 0.5


def test_minus_one_half() -> None:
    """psi(-1/2) = 2 - gamma - 2 log 2 (DLMF 5.4.13 and 5.5.2)."""
    value, _ = apply("digamma", FLOAT64, np.array([-0.5]))
    with mpmath.workprec(200):
        assert value[0] == float(2 - mpmath.euler - 2 * mpmath.log(2))


def test_halves_are_decided_without_numbers_of_any_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*operands: object) -> None:
        raise AssertionError(f"asked one by one: {operands}")

    monkeypatch.setattr(ladder, "_one", refuse)
    apply("digamma", FLOAT64, np.append(HALVES, [-(2.0**51) - 0.5, -(2.0**40) - 0.5]))


def test_beside_halves_and_over_the_range() -> None:
    random = np.random.default_rng(6)
    wide = -np.ldexp(random.uniform(1, 2, 200), random.integers(-1074, 50, 200))
    beside = np.concatenate([np.nextafter(HALVES, 0), np.nextafter(HALVES, -np.inf), HALVES + 2.0**-30, HALVES])
    x = np.concatenate([wide, beside, random.uniform(-40, 0, 200)])
    value, real = apply("digamma", FLOAT64, x)
    with mpmath.workprec(1400):
        for number, found, *parts in zip(x.tolist(), value.tolist(), real.hi, real.lo, real.radius, strict=True):
            true = mpmath.digamma(mpmath.mpf(number))
            assert found == float(true)
            hi, lo, radius = (mpmath.mpf(float(part)) for part in parts)
            assert mpmath.isinf(radius) or abs(hi + lo - true) <= radius + mpmath.mpf(2) ** -1100


@pytest.mark.parametrize("x", [1e-310, -1e-310, 1.4616321449683622, -0.5040830082644554, -4503599627370495.5, 1e300])
def test_mpfr_and_mpmath_agree(x: float) -> None:
    with mpmath.workprec(300):
        found = FUNCTIONS["digamma"].mp(mpmath.mpf(x))
    with mpmath.workprec(1500):
        true = mpmath.digamma(mpmath.mpf(x))
        assert abs(found - true) <= abs(true) * mpmath.mpf(2) ** -299
