"""Functions of reals with a radius, against mpmath: numbers within the operand's radius, images within the image's."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from conform.numerics.functions import inverses_of_reals
from conform.numerics.real import Real

MP = {"acos": mpmath.acos, "acosh": mpmath.acosh, "asin": mpmath.asin, "asinh": mpmath.asinh, "atan": mpmath.atan,
      "atanh": mpmath.atanh, "cosh": mpmath.cosh, "sinh": mpmath.sinh,
      "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x))}  # fmt: skip
DOMAINS = {"acos": (-1, 1), "asin": (-1, 1), "atanh": (-1, 1), "acosh": (1, np.inf)}


def numbers(name: str, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """hi, lo and radius, up to the ends of the domain and around 0."""
    rng = np.random.default_rng(11)
    low, high = np.clip(DOMAINS.get(name, (-np.inf, np.inf)), -50, 50)
    hi = rng.uniform(low, high, count)
    hi[: count // 4] = high * (1 - 10.0 ** rng.uniform(-12, -1, count // 4))
    hi[count // 4 : count // 2] = max(low, 0) + 10.0 ** rng.uniform(-12, 0, count // 4) * (high - max(low, 0)) / 2
    lo = hi * rng.uniform(-1, 1, count) * 2.0**-54
    radius = np.abs(hi) * 10.0 ** rng.uniform(-18, -1, count) * (rng.random(count) < 0.8)
    return hi, lo, radius


def within(image: Real, at: int, value: mpmath.mpf) -> bool:
    return abs(value - mpmath.mpf(image.hi[at]) - mpmath.mpf(image.lo[at])) <= mpmath.mpf(image.radius[at])


@pytest.mark.parametrize("name", MP)
def test_the_image_holds_every_number(name: str) -> None:
    hi, lo, radius = numbers(name, 400)
    image = inverses_of_reals.function(name)(Real(hi, lo, radius))
    low, high = DOMAINS.get(name, (-np.inf, np.inf))
    told = 0
    with mpmath.workprec(300):
        for at in range(len(hi)):
            for share in (-1, -0.3, 0, 0.5, 1):
                x = mpmath.mpf(hi[at]) + mpmath.mpf(lo[at]) + mpmath.mpf(radius[at]) * mpmath.mpf(share)
                if low <= x <= high:
                    assert within(image, at, MP[name](x)), (hi[at], lo[at], radius[at], share)
                else:
                    assert np.isinf(image.radius[at]) or np.isnan(image.hi[at])
            told += bool(np.isfinite(image.radius[at]))
    assert told > 150
    exact = (radius == 0) & np.isfinite(image.radius)
    assert (image.radius[exact] <= np.maximum(np.abs(image.hi[exact]), 2.0**-300) * 2.0**-90).all()


@pytest.mark.parametrize("name", MP)
def test_a_spread_is_no_larger_than_it_must_be(name: str) -> None:
    """Of what moves least within 1e-3 of a number far from the ends, twice that at most."""
    low, high = np.clip(DOMAINS.get(name, (-np.inf, np.inf)), -3, 3)
    x = np.linspace(low, high, 12)[1:-1]
    moved = np.abs(inverses_of_reals.FLOAT64[name](x + 1e-3) - inverses_of_reals.FLOAT64[name](x - 1e-3)) / 2
    assert (inverses_of_reals.spread(name, x, np.full(len(x), 1e-3)) <= 2.2 * moved + 1e-3 * (name == "cosh")).all()


@pytest.mark.parametrize(("name", "x", "told"), [
    ("asin", 1.5, "nan"), ("acos", -1.01, "nan"), ("atanh", 2.0, "nan"), ("acosh", 0.5, "nan"), ("acosh", -7.0, "nan"),
    ("asin", 1.0005, "unknown"), ("acosh", 0.9995, "unknown"), ("atanh", -1.0, "unknown"),
])  # fmt: skip
def test_outside_the_domain(name: str, x: float, told: str) -> None:
    image = inverses_of_reals.function(name)(Real(np.array([x]), np.zeros(1), np.array([1e-3])))
    assert np.isinf(image.radius) if told == "unknown" else np.isnan(image.hi) & (image.radius == 0)


def test_angles_hold_every_point() -> None:
    rng = np.random.default_rng(5)
    y, x = rng.standard_normal((2, 300)) * 10.0 ** rng.uniform(-6, 6, (2, 300))
    lo = np.stack([y, x]) * 2.0**-54 * rng.uniform(-1, 1, (2, 300))
    radii = np.abs([y, x]) * 10.0 ** rng.uniform(-18, 0.2, (2, 300)) * (rng.random((2, 300)) < 0.8)
    image = inverses_of_reals.atan2(Real(y, lo[0], radii[0]), Real(x, lo[1], radii[1]))
    assert np.isfinite(image.radius).sum() > 150
    with mpmath.workprec(300):
        for at in np.flatnonzero(np.isfinite(image.radius)):
            for shares in ((-1, -1), (-1, 1), (1, -1), (1, 1), (0, 0), (0.3, -0.7)):
                point = [mpmath.mpf(one[at]) + mpmath.mpf(low[at]) + mpmath.mpf(radius[at]) * share
                         for one, low, radius, share in zip((y, x), lo, radii, shares, strict=True)]  # fmt: skip
                assert within(image, at, mpmath.atan2(*point))


@pytest.mark.parametrize(
    ("y", "x", "told"),
    [(0.0, 1.0, 0.0), (0.0, -1.0, None), (0.0, 0.0, None), (np.inf, 1.0, np.pi / 2), (np.nan, 1.0, np.nan),
     (1.0, np.inf, 0.0)],
)  # fmt: skip
def test_angles_at_the_axes(y: float, x: float, told: float | None) -> None:
    image = inverses_of_reals.atan2(Real.exact(np.array([y])), Real(np.array([x]), np.zeros(1), np.array([1e-9])))
    if told is None:
        assert np.isinf(image.radius).all()
    else:
        np.testing.assert_array_equal(image.hi, [told])
