"""The error that an honest implementation of a complex function may have: running errors of a formula for each part.

The formulas are those of the definition where it has parts (exp z = e^x cos y + i e^x sin y), and else those of the
literature, on real functions of OpenCL C 3.0, section 7.4, in the compute type. An intermediate that overflows leaves
no bound.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conform.numerics.ball import ULPS, Ball, chosen
from conform.numerics.formats import Format
from conform.numerics.rounding_errors import joined

# OpenCL C 3.0, full profile, section 7.4: float, and double alike.
HYPOT, ATAN2, COS, SINH, COSH, EXP2, EXPM1 = 4.0, 6.0, 4.0, 4.0, 4.0, 3.0, 3.0
_RAISE = 1.0 + 2.0**-20  # for the roundings of a bound itself
TANH_LIMIT = 20.0  # from there on +-1 is tanh z but for 4 e^(-2x)

Parts = tuple[Ball, Ball]


def budget_of(name: str, component: Format, *operands: np.ndarray) -> np.ndarray:
    """The absolute error of each part, with a last axis of (real, imaginary); inf where nothing bounds it.

    `operands` are the real and imaginary part of each complex operand in turn, finite float64 arrays of one shape.
    """
    return np.stack(radii_of(name, *(Ball.exact(operand, component) for operand in operands)), axis=-1)


def radii_of(name: str, *operands: Ball) -> list[np.ndarray]:
    """The same for each part, of operands that are known to lie in balls; the caller sees to branch cuts."""
    with np.errstate(all="ignore"):
        parts = _FORMULAS[name](*operands)
    radii = [np.broadcast_to(part.rad, operands[0].mid.shape) for part in parts]
    return [np.where(np.isnan(radius), np.inf, radius) for radius in radii]


# Real functions of balls


def _of(x: Ball, function: Callable[[np.ndarray], np.ndarray], steepest: np.ndarray, ulps: float) -> Ball:
    """A function whose slope within the ball is at most `steepest`."""
    return x.rounded(function(x.mid), np.where(x.rad > 0, steepest * x.rad * _RAISE, 0.0), ulps)


def _cos(x: Ball) -> Ball:
    return x.rounded(np.cos(x.mid), x.turned(), COS)


def _size(x: Ball) -> Ball:
    return Ball(np.abs(x.mid), x.rad, x.compute)


def _plus(x: Ball, number: float) -> Ball:
    """x + a number that the compute type holds."""
    return x + Ball.exact(np.float64(number), x.compute)


def _halved(x: Ball, times: int = 1) -> Ball:
    """x / 2^times, which is exact."""
    return Ball(x.mid / 2**times, x.rad / 2**times, x.compute)


def _hypot(x: Ball, y: Ball) -> Ball:
    return x.rounded(np.hypot(x.mid, y.mid), joined(x.rad, y.rad), HYPOT)


def _atan2(y: Ball, x: Ball) -> Ball:
    """The slope of the angle is 1 / |z| across the direction of z, at the nearest point of the ball."""
    nearest = np.hypot(x.mid, y.mid) - x.rad - y.rad
    across = joined((np.abs(x.mid) + x.rad) / nearest * y.rad, (np.abs(y.mid) + y.rad) / nearest * x.rad)
    spread = np.where((x.rad == 0) & (y.rad == 0), 0.0, np.where(nearest > 0, across / nearest, np.inf))
    return x.rounded(np.arctan2(y.mid, x.mid), spread, ATAN2)


# Parts


def _product(x_function: Callable[[Ball], Ball], y_function: Callable[[Ball], Ball]) -> Callable[[Ball, Ball], Ball]:
    return lambda x, y: x_function(x) * y_function(y)


def _sinh(x: Ball) -> Ball:
    return _of(x, np.sinh, np.cosh(np.abs(x.mid) + x.rad), SINH)


def _cosh(x: Ball) -> Ball:
    return _of(x, np.cosh, np.sinh(np.abs(x.mid) + x.rad), COSH)


def _exp(x: Ball, y: Ball) -> Parts:
    return x.exp() * _cos(y), x.exp() * y.sin()


def _exp2(x: Ball, y: Ball) -> Parts:
    size, angle = _of(x, np.exp2, np.exp2(x.mid + x.rad), EXP2), y * np.log(2.0)
    return size * _cos(angle), size * angle.sin()


def _expm1(x: Ball, y: Ball) -> Parts:
    """expm1(x) cos y - 2 sin(y/2)^2"""
    sine = _halved(y).sin()
    square = sine * sine
    growth = _of(x, np.expm1, np.exp(x.mid + x.rad), EXPM1)
    return growth * _cos(y) - Ball(2 * square.mid, 2 * square.rad, x.compute), x.exp() * y.sin()


def _hyperbolic_sine(x: Ball, y: Ball) -> Parts:
    return _sinh(x) * _cos(y), _cosh(x) * y.sin()


def _hyperbolic_cosine(x: Ball, y: Ball) -> Parts:
    return _cosh(x) * _cos(y), _sinh(x) * y.sin()


def _tanh(x: Ball, y: Ball) -> Parts:
    """(sinh x cosh x + i sin y cos y) / (sinh(x)^2 + cos(y)^2); far out +-1, with what that leaves out."""
    sinh, sine, cosine = _sinh(x), y.sin(), _cos(y)
    below = sinh * sinh + cosine * cosine
    far = np.abs(x.mid) > TANH_LIMIT
    of_both = np.where(x.rad > 0, 2.0, 1.0)  # the exact number, and an implementation's
    left_out = of_both * 4 * np.exp(-2 * (np.abs(x.mid) - x.rad))
    one = x.rounded(np.ones_like(x.mid), left_out, ULPS["tanh"])
    rest = Ball.exact(np.zeros_like(x.mid), x.compute).rounded(0.0, left_out)
    return chosen(far, one, sinh * _cosh(x) / below), chosen(far, rest, sine * cosine / below)


def _reciprocal(x: Ball, y: Ball) -> Parts:
    below = x * x + y * y
    return x / below, y / below


def _unit(x: Ball, y: Ball) -> Parts:
    size = _hypot(x, y)
    return x / size, y / size


def _quotient(a: Ball, b: Ball, c: Ball, d: Ball) -> Parts:
    """Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.6."""
    below = c * c + d * d
    return (a * c + b * d) / below, (b * c - a * d) / below


def _half_angle(x: Ball, y: Ball) -> tuple[Ball, Ball, Ball]:
    """|z|, and the parts of sqrt z: p = sqrt((|z| + |x|)/2) and y / 2p, 0 of 0."""
    r = _hypot(x, y)
    p = _halved(r + _size(x)).sqrt()
    q = _halved(_size(y) / p)
    return r, p, chosen(p.mid == 0, p, q)


def _sqrt(x: Ball, y: Ball) -> Parts:
    _, p, q = _half_angle(x, y)
    return chosen(x.mid >= 0, p, q), chosen(x.mid >= 0, q, p)


def _rsqrt(x: Ball, y: Ball) -> Parts:
    r, p, q = _half_angle(x, y)
    return chosen(x.mid >= 0, p, q) / r, chosen(x.mid >= 0, q, p) / r


def _log(x: Ball, y: Ball) -> Parts:
    return _hypot(x, y).log(), _atan2(y, x)


def _log_to(base: float) -> Callable[[Ball, Ball], Parts]:
    def parts(x: Ball, y: Ball) -> Parts:
        size, angle = _log(x, y)
        return size * (1 / np.log(base)), angle * (1 / np.log(base))

    return parts


def _log1p(x: Ball, y: Ball) -> Parts:
    """log1p(x (2 + x) + y^2) / 2 for |z| < 1/2, else log |1 + z|."""
    near = np.hypot(x.mid, y.mid) < 0.5
    inner = _halved((x * _plus(x, 2) + y * y).log1p())
    return chosen(near, inner, _hypot(_plus(x, 1), y).log()), _atan2(y, _plus(x, 1))


def _sigmoid(x: Ball, y: Ball) -> Parts:
    """The conjugate of w = 1 + e^-z over |w|^2, divided by |w| twice."""
    size = (-x).exp()
    real, imag = _plus(size * _cos(y), 1), size * y.sin()
    norm = _hypot(real, imag)
    return real / norm / norm, imag / norm / norm


def _foci(x: Ball, y: Ball) -> Parts:
    """sqrt(a^2 - x^2), and acosh a, a the half sum of the distances from 1 and -1: Hull, Fairgrieve and Tang, ACM TOMS
    23, 1997; x, y >= 0."""
    plus, minus = _plus(x, 1), _size(_plus(x, -1))
    right = y * (y / (_hypot(plus, y) + plus))
    larger = _hypot(minus, y) + minus
    smaller = chosen(larger.mid == 0, larger, y * (y / larger))
    inside = x.mid <= 1
    beyond_one = _halved(right + chosen(inside, smaller, larger))
    beyond_x = _halved(right + chosen(inside, larger, smaller))
    cathetus = beyond_x.sqrt() * (x + x + beyond_x).sqrt()
    return cathetus, (beyond_one + beyond_one.sqrt() * _plus(beyond_one, 2).sqrt()).log1p()


def _asin(x: Ball, y: Ball) -> Parts:
    cathetus, size = _foci(_size(x), _size(y))
    return _atan2(_size(x), cathetus), size


def _acos(x: Ball, y: Ball) -> Parts:
    cathetus, size = _foci(_size(x), _size(y))
    return _atan2(cathetus, x), size


def _atanh(x: Ball, y: Ball) -> Parts:
    """log1p(4x / |1 - z|^2) / 4 and (arg(1 + z) + arg(1 - conj z)) / 2."""
    x, y = _size(x), _size(y)
    below = _hypot(_plus(-x, 1), y)
    four = Ball.exact(4 * x.mid, x.compute)
    return _halved((four / below / below).log1p(), 2), _halved(_atan2(y, _plus(x, 1)) + _atan2(y, _plus(-x, 1)))


def _pow(x: Ball, y: Ball, c: Ball, d: Ball) -> Parts:
    """e^((c + id) log z)"""
    size, angle = _log(x, y)
    growth, turn = (c * size - d * angle).exp(), d * size + c * angle
    return growth * _cos(turn), growth * turn.sin()


def _cbrt(x: Ball, y: Ball) -> Parts:
    """z^(1/3), the exponent rounded to the compute type"""
    zero = Ball.exact(np.zeros_like(x.mid), x.compute)
    third = zero.rounded(np.full_like(x.mid, 1 / 3), np.spacing(1 / 3) / 2)
    return tuple(chosen(np.hypot(x.mid, y.mid) + x.rad + y.rad == 0, zero, part) for part in _pow(x, y, third, zero))


def _swapped(parts: Callable[[Ball, Ball], Parts]) -> Callable[[Ball, Ball], Parts]:
    """sin z = -i sinh iz, and so on: of the function with the operand's parts, and its own, exchanged."""

    def exchanged(x: Ball, y: Ball) -> Parts:
        real, imag = parts(y, x)
        return imag, real

    return exchanged


def _cos_of(x: Ball, y: Ball) -> Parts:
    return _hyperbolic_cosine(y, x)


def _acosh(x: Ball, y: Ball) -> Parts:
    angle, size = _acos(x, y)
    return size, angle


# P75: the errors of these are bounded part by part ...
_BY_PARTS: dict[str, Callable[..., Parts]] = {
    "reciprocal": _reciprocal, "div": _quotient, "sgn": _unit, "sqrt": _sqrt, "exp": _exp,
    "sinh": _hyperbolic_sine, "cosh": _hyperbolic_cosine, "sin": _swapped(_hyperbolic_sine), "cos": _cos_of,
}  # fmt: skip
# ... and those of these in norm: a small part carries the error of the large one.
_IN_NORM: dict[str, Callable[..., Parts]] = {
    "rsqrt": _rsqrt, "cbrt": _cbrt, "pow": _pow, "exp2": _exp2, "expm1": _expm1, "sigmoid": _sigmoid,
    "log": _log, "log2": _log_to(2.0), "log10": _log_to(10.0), "log1p": _log1p, "tanh": _tanh, "tan": _swapped(_tanh),
    "asin": _asin, "acos": _acos, "atanh": _atanh,
    "asinh": _swapped(_asin), "acosh": _acosh, "atan": _swapped(_atanh),
}  # fmt: skip
_FORMULAS = _BY_PARTS | _IN_NORM


def is_judged_in_norm(name: str) -> bool:
    """Whether the error of the function is the magnitude of the difference, not that of each part."""
    return name in _IN_NORM
