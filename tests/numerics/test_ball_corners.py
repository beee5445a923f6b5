"""Balls against the extreme points of their operands: the image is enclosed, and the radius is not much larger."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import mpmath
import numpy as np
import pytest

from conform.numerics.ball import Ball
from conform.numerics.formats import FORMATS

F32 = FORMATS["float32"]
U = 2.0**-24
INF, NAN = np.inf, np.nan


@pytest.fixture(autouse=True)
def _exact_ends() -> Iterator[None]:
    with mpmath.workprec(200):
        yield


def ball(mid: float, rad: float) -> Ball:
    return Ball(np.float64(mid), np.float64(rad), F32)


def real(function: Callable) -> Callable[[np.ndarray], np.ndarray]:
    return np.vectorize(lambda x: float(function(mpmath.mpf(float(x)))), otypes=[np.float64])


ONE: dict[str, tuple[Callable[[Ball], Ball], Callable]] = {
    "sqrt": (Ball.sqrt, mpmath.sqrt),
    "exp": (Ball.exp, mpmath.exp),
    "log": (Ball.log, mpmath.log),
    "log1p": (Ball.log1p, lambda x: mpmath.log(1 + x)),
    "sin": (Ball.sin, mpmath.sin),
    "erf": (lambda x: x.erf(real(mpmath.erf)), mpmath.erf),
    "erfc": (lambda x: x.erfc(real(mpmath.erfc)), mpmath.erfc),
    "tanh": (Ball.tanh, mpmath.tanh),
    "square": (Ball.square, lambda x: x * x),
    "neg": (Ball.__neg__, lambda x: -x),
}
TWO: dict[str, Callable] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
}
MIDS = [0.0, 1e-3, -1e-3, 0.1, -0.1, 0.5, -0.5, 1.0, -1.0, 2.5, -2.5, 6.0, -6.0, 40.0, -40.0]
RADS = [0.0, 1e-6, 1e-3, 0.25, 2.0, 50.0]
OF_ERF = 2 / np.sqrt(np.pi)  # the slope of erf at 0
POSITIVE = ("sqrt", "log", "log1p")  # functions that are not defined everywhere


def drawn(count: int) -> Iterator[tuple[float, float]]:
    """Mids and radii of every size beside each other."""
    generator = np.random.default_rng(7)
    for _ in range(count):
        yield float(generator.normal() * 10 ** generator.uniform(-3, 1.5)), float(10 ** generator.uniform(-6, 1.5))


def points(mid: float, rad: float) -> list[mpmath.mpf]:
    """Both ends, the middle, and zero where it lies within: there a slope may be largest."""
    inside = [mpmath.mpf(0)] if abs(mid) <= rad else []
    return [mpmath.mpf(mid) - rad, mpmath.mpf(mid), mpmath.mpf(mid) + rad, *inside]


def assert_encloses(found: Ball, exact: list[mpmath.mpf], what: str) -> None:
    if not np.isfinite(found.rad):
        return
    for number in exact:
        assert abs(number - mpmath.mpf(float(found.mid))) <= mpmath.mpf(float(found.rad)) * (1 + 1e-12) + 1e-18, what


@pytest.mark.parametrize("name", ONE)
def test_the_image_of_a_ball_is_enclosed(name: str) -> None:
    of_ball, function = ONE[name]
    for mid, rad in [*itertools.product(MIDS, RADS), *drawn(150)]:
        if name in POSITIVE and mid - rad <= (-1 if name == "log1p" else 0):
            continue
        if name == "exp" and mid + rad > 60:
            continue
        assert_encloses(of_ball(ball(mid, rad)), list(map(function, points(mid, rad))), f"{name} of {mid} +- {rad}")


@pytest.mark.parametrize("name", TWO)
def test_the_image_of_two_balls_is_enclosed_at_their_corners(name: str) -> None:
    some = [*itertools.product(MIDS[::2], RADS[::2]), *drawn(40)]
    for (x, dx), (y, dy) in itertools.product(some, some[::3]):
        if name == "div" and abs(y) <= dy:
            assert np.isinf((ball(x, dx) / ball(y, dy)).rad) or dy == 0
            continue
        corners = [TWO[name](*each) for each in itertools.product(points(x, dx), points(y, dy))]
        assert_encloses(TWO[name](ball(x, dx), ball(y, dy)), corners, f"{name} of {x} +- {dx}, {y} +- {dy}")


@pytest.mark.parametrize("rad", [1e-4, 1e-3])
@pytest.mark.parametrize(
    ("name", "mid", "slope"),
    [
        ("erf", 0.0, OF_ERF), ("erf", 1.0, OF_ERF / np.e), ("erf", -1.0, OF_ERF / np.e),
        ("erfc", 0.0, OF_ERF), ("erfc", -2.0, OF_ERF * np.exp(-4)),
        ("tanh", 0.0, 1.0), ("tanh", 1.0, 1 / np.cosh(1) ** 2), ("tanh", -1.0, 1 / np.cosh(1) ** 2),
        ("sin", 0.0, 1.0), ("exp", 0.0, 1.0), ("exp", -3.0, np.exp(-3)), ("exp", 3.0, np.exp(3)),
        ("log", 2.0, 0.5), ("log1p", 1.0, 0.5), ("sqrt", 4.0, 0.25), ("square", 3.0, 6.0), ("neg", 3.0, 1.0),
    ],
)  # fmt: skip
def test_a_small_radius_grows_by_the_slope(name: str, mid: float, slope: float, rad: float) -> None:
    """And by the function's own roundings, at most 16 ulps of 1 or of the result."""
    grown = float(ONE[name][0](ball(mid, rad)).rad)
    own = 40 * U * max(1.0, abs(float(ONE[name][1](mpmath.mpf(mid)))))
    assert slope * rad * 0.99 <= grown <= slope * rad * 1.01 + own


@pytest.mark.parametrize("sign", [1, -1])
def test_division_by_zero(sign: int) -> None:
    """IEEE 754 determines it of numbers; of what may have either sign, or be zero, nothing is known."""
    by_zero = ball(sign * 1.0, 0.0) / ball(0.0, 0.0)
    assert (by_zero.mid, by_zero.rad) == (sign * INF, 0.0)
    by_minus_zero = ball(sign * 1.0, 0.0) / ball(-0.0, 0.0)
    assert (by_minus_zero.mid, by_minus_zero.rad) == (-sign * INF, 0.0)
    of_zero = ball(0.0, 0.0) / ball(0.0, 0.0)
    assert (np.isnan(of_zero.mid), of_zero.rad) == (True, 0.0)
    for dividend, divisor in [((0.0, 1.0), (0.0, 0.0)), ((1.0, 0.0), (0.0, 1e-9)), ((1.0, 0.5), (0.0, 0.0)),
                              ((0.0, 1e-9), (0.0, 0.0)), ((1.0, 0.0), (sign * 1.0, 1.0))]:  # fmt: skip
        assert (ball(*dividend) / ball(*divisor)).rad == INF, (dividend, divisor)
    assert np.isfinite((ball(1.0, 0.0) / ball(sign * 1.0, 0.5)).rad)
