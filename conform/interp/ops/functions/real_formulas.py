"""What an honest implementation of a real function may lose: a formula on balls, for ops that no table bounds by ulps.

Those that torch documents, and for gamma functions those of the literature. They need not be how the golden is found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from conform.numerics.ball import ULPS, Ball, chosen
from conform.numerics.formats import compute_format
from conform.numerics.functions.error import erfc_float64
from conform.numerics.functions.first_bessel import first_bessel_float64
from conform.numerics.functions.gamma import lgamma_float64
from conform.numerics.functions.scaled_error import scaled_erfc_float64
from conform.numerics.rounding_errors import CORRECTLY_ROUNDED

# Activations


def _one(x: Ball) -> Ball:
    return Ball.exact(np.float64(1), x.compute)


def exp_may_overflow(x: Ball) -> np.ndarray:
    """Where e^-x may overflow the compute type, and 1 / (1 + e^-x) be 0 (P87): nowhere near 0."""
    is_far = x.mid < 1.0 - np.log(x.compute.max_finite)
    return _overflows(x, (-x).exp()) if is_far.any() else is_far


def _overflows(x: Ball, falling: Ball) -> np.ndarray:
    return np.isinf(falling.rad) & np.isfinite(x.mid) & (x.mid < 0)


def sigmoid(x: Ball) -> Ball:
    """1 / (1 + e^-x); where e^-x may overflow, e^x / (1 + e^x)."""
    return _sigmoid(x, (-x).exp())


def _sigmoid(x: Ball, falling: Ball) -> Ball:
    quotient, overflows = _one(x) / (_one(x) + falling), _overflows(x, falling)
    if not overflows.any():
        return quotient
    growing = x.exp()
    return chosen(overflows, growing / (_one(x) + growing), quotient)


def silu(x: Ball) -> Ball:
    """x / (1 + e^-x) or x times the sigmoid, whichever errs more; where e^-x may overflow, the product."""
    falling = (-x).exp()
    product, quotient = x * _sigmoid(x, falling), x / (_one(x) + falling)
    larger = chosen((quotient.rad > product.rad) & ~_overflows(x, falling), quotient, product)
    vanishing = np.isfinite(x.mid) & (x.mid < np.log(x.compute.min_subnormal) - 20)  # where e^x is 0
    return chosen(vanishing, Ball.exact(np.zeros_like(x.mid), x.compute).rounded(0.0, 0.0), larger)


def log2_of_one_more(x: Ball) -> Ball:
    """log2(1 + 2^x) of x <= 0: the logarithm to the base 2, or log1p over log 2."""
    power = x.exp2()
    to_base_2, scaled = (_one(x) + power).log(2.0), power.log1p() * x.irrational(1 / np.log(2.0))
    return replace(scaled, rad=np.maximum(to_base_2.rad, scaled.rad))


def logit(x: Ball) -> Ball:
    """log(x / (1 - x))."""
    return (x / (_one(x) - x)).log()


SATURATION = 40.0  # of tanh(log(1 + e^x)): 1 - 2^-114; the same from there on, even where e^x overflows


def mish(x: Ball) -> Ball:
    """x * tanh(log(1 + e^x))."""
    return x * Ball.exact(np.minimum(x.mid, SATURATION), x.compute).exp().log1p().tanh()


def sinc(x: Ball) -> Ball:
    """sin(pi x) / (pi x) with one rounded product, which keeps a quotient near 1 from magnifying its error."""
    angle = x * x.irrational(np.pi)
    return (angle.sin() / angle).but_exact(x.mid == 0)


def ndtr(x: Ball) -> Ball:
    """erfc(-x / sqrt 2) / 2."""
    return (-x * x.irrational(np.sqrt(0.5))).erfc(erfc_float64) * Ball.exact(np.float64(0.5), x.compute)


ERFCX_ULPS = 4.0  # CUDA C++ Programming Guide, erfcxf and erfcx, from what is rounded


def log_ndtr(x: Ball) -> Ball:
    """log(erfcx(-x / sqrt 2) / 2) - x^2 / 2 below -1, and from there on log1p(-erfc(x / sqrt 2) / 2)."""
    half, scaled = Ball.exact(np.float64(0.5), x.compute), x * x.irrational(np.sqrt(0.5))
    below = x.mid < -1.0
    tail = Ball(np.where(below, -scaled.mid, 1.0), np.where(below, scaled.rad, 0.0), x.compute)
    slope = 2 / np.sqrt(np.pi)  # of erfcx, at most
    erfcx = tail.rounded(scaled_erfc_float64(tail.mid), slope * tail.rad, ERFCX_ULPS + CORRECTLY_ROUNDED)
    lower = (erfcx * half).log() - x * x * half
    upper = (-(scaled.erfc(erfc_float64) * half)).log1p()
    return chosen(below, lower, upper).but_exact(np.isinf(x.mid))


# Bessel functions: what the Cephes library, whose approximations many use, has for the peak of the relative error
# (S. Moshier, Cephes Math Library 2.8: i0.c, i0f.c, ...), each in the compute type, double or single.

CEPHES = {
    "i0e": {"float64": 5.4e-16, "float32": 3.7e-7},
    "i1e": {"float64": 2.0e-15, "float32": 1.5e-6},
    "k0": {"float64": 1.2e-15, "float32": 7.8e-7},
    "k0e": {"float64": 1.4e-15, "float32": 8.1e-7},
    "k1": {"float64": 1.2e-15, "float32": 4.6e-7},
    "k1e": {"float64": 7.8e-16, "float32": 4.9e-7},
}
# CUDA C++ Programming Guide, j0f, j1f, j0 and j1: ulps from what is rounded for |x| < 8, an absolute error elsewhere.
FIRST_ULPS, FIRST_ABSOLUTE = {"float32": 9.0, "float64": 7.0}, {"float32": 2.2e-6, "float64": 5e-12}


def first_bessel(order: int, x: Ball) -> Ball:
    """J0 or J1 with the error that CUDA publishes."""
    name, value = compute_format(x.compute).name, first_bessel_float64(order, x.mid)
    near = x.rounded(value, 0.0, FIRST_ULPS[name] + CORRECTLY_ROUNDED)
    far = x.rounded(value, FIRST_ABSOLUTE[name]).at_scale(np.sqrt(2 / np.pi / np.maximum(np.abs(x.mid), 1.0)))
    return chosen(np.abs(x.mid) < 8.0, near, far).but_exact(~np.isfinite(x.mid))


def spherical_bessel(x: Ball) -> Ball:
    """sin x / x."""
    return (x.sin() / x).but_exact((x.mid == 0) | np.isinf(x.mid))


def relative(peak: dict[str, float], function: Callable[[np.ndarray], np.ndarray]) -> Callable[[Ball], Ball]:
    """A function within `peak` of itself, which it has by the compute type, and a rounding."""

    def formula(x: Ball) -> Ball:
        value = function(x.mid)
        ball = x.rounded(value, np.abs(value) * peak[compute_format(x.compute).name])
        return ball.but_exact(~(np.isfinite(x.mid) & np.isfinite(value)))

    return formula


# Gamma functions
# Gamma functions

FAR = 10.0  # from here on the asymptotic series is used (Cephes, psi.c); further down it costs fewer steps and digits
TRUNCATED = 2.0**-54  # |B_16| / 16 FAR^-16
VANISHING = 2.0**-30  # here digamma x is -1/x, but for less than 2^-29 of it, and so is all that may be lost


def digamma(x: Ball) -> Ball:
    """log y - 1/(2y) - 1/(12 y^2) + ... with y >= FAR, less 1/x + 1/(x + 1) + ... on the way from x to y; below 0,
    digamma(1 - x) - pi / tan(pi x) (DLMF 5.11.2, 5.5.2, 5.5.4). Of the series the first term stands for all: the
    others are less than 1/1000 of it, for which its error is doubled, and what is left out after the seventh is
    below TRUNCATED. Beside 0 an error is to that at VANISHING as the results are."""
    vanishes = (np.abs(x.mid) < VANISHING) & (x.mid != 0)
    if not vanishes.any():
        return _digamma(x)
    beside = _digamma(Ball.exact(np.array([-VANISHING, VANISHING]), x.compute))
    with np.errstate(all="ignore"):
        rad, scale = (part * (VANISHING * (1 + 2.0**-20)) for part in (beside.rad, beside.scale))
        side, size = (x.mid > 0).astype(int), np.abs(x.mid)
        near_zero = Ball(-1.0 / x.mid, rad[side] / size, x.compute, scale[side] / size)
    if vanishes.all():
        return near_zero
    return chosen(vanishes, near_zero, _digamma(Ball.exact(np.where(vanishes, FAR, x.mid), x.compute)))


def _digamma(x: Ball) -> Ball:
    one, is_reflected = _one(x), x.mid < 0
    y, steps = chosen(is_reflected, one - x, x), Ball.exact(np.zeros_like(x.mid), x.compute)
    while (is_near := y.mid < FAR).any():
        further, above = steps + one / y, y + one
        steps, y = (further, above) if is_near.all() else (chosen(is_near, further, steps), chosen(is_near, above, y))
    inverse = one / y
    first = inverse * inverse * x.constant(1 / 12)
    far = y.log() - Ball.exact(np.float64(0.5), x.compute) / y - replace(first, rad=2 * first.rad + TRUNCATED)
    value = far - steps
    value = chosen(is_reflected, value - _pi_cotangent(x), value) if is_reflected.any() else value
    return value.but_exact(~np.isfinite(x.mid))


def _beside_integer(x: Ball) -> Ball:
    """pi times the distance to the nearest integer, which is exact."""
    with np.errstate(all="ignore"):
        return Ball.exact(x.mid - np.rint(x.mid), x.compute) * x.irrational(np.pi)


def _pi_cotangent(x: Ball) -> Ball:
    """pi / tan(pi x), whose slope in the angle is -pi / sin^2; half way between integers pi/2 cancels."""
    angle = _beside_integer(x)
    with np.errstate(all="ignore"):
        cotangent = np.pi / np.tan(angle.mid)
        spread = np.pi * angle.rad / np.sin(angle.mid) ** 2 * (1 + 2.0**-10)
        ulps = ULPS["tan"] + ULPS["div"] + CORRECTLY_ROUNDED
        ball = x.rounded(cotangent, spread, ulps).at_scale(np.maximum(np.pi, np.abs(cotangent)))
    return ball.but_exact(angle.mid == 0)


LGAMMA_ULPS = {"float32": 6.0, "float64": 4.0}  # CUDA C++ Programming Guide, lgammaf and lgamma, from what is rounded


def lgamma(x: Ball) -> Ball:
    """Of positive numbers the published error; of negative ones that of log(pi / |x sin(pi x)|) - lgamma(|x|)
    (DLMF 5.5.3; FDLIBM, e_lgamma_r.c), which cancels near its zeros."""
    size = Ball.exact(np.abs(x.mid), x.compute)
    ulps = LGAMMA_ULPS[compute_format(x.compute).name] + CORRECTLY_ROUNDED
    of_size = size.rounded(lgamma_float64(size.mid), 0.0, ulps)
    if (x.mid > 0).all():
        return of_size.but_exact(np.isinf(x.mid))
    sine = _beside_integer(size).sin()
    sine = replace(sine, mid=np.abs(sine.mid), cancelled=None)  # the turns that cancel are exact
    reflected = (x.irrational(np.pi) / (size * sine)).log() - of_size
    return chosen(x.mid < 0, reflected, of_size).but_exact(~np.isfinite(x.mid) | (sine.mid == 0) & (x.mid <= 0))
