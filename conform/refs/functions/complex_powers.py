"""Complex pow, rsqrt and sigmoid."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import copysign, inf

from flint import arb

from conform.refs.exact.complex_parts import ComplexElement, Parts, is_finite, round_fractions, round_parts
from conform.refs.exact.radicals import rational_power, rational_sqrt
from conform.refs.exact.reals import log_ball, round_exp, round_real
from conform.refs.exact.rounding import round_sqrt
from conform.refs.exact.tensor import UNSPECIFIED
from conform.refs.functions.activations import round_sigmoid
from conform.refs.functions.complex_functions import (
    OVERFLOWING_EXPONENT,
    VANISHING_EXPONENT,
    rational_magnitude,
    root_parts,
)
from conform.refs.functions.complex_logarithms import angle_ball
from conform.refs.functions.elementary import round_at


def complex_rsqrt(component: str, z: complex) -> ComplexElement:
    """1 / sqrt z = sqrt(conj z) / |z|; open at the pole 0. Where |z| is irrational, so are both parts."""
    if z == 0:
        return UNSPECIFIED
    magnitude = rational_magnitude(z)
    if magnitude is None:
        return round_parts(component, lambda: _rsqrt_parts(z))
    x = Fraction(z.real)
    squares = (magnitude + x) / (2 * magnitude**2), (magnitude - x) / (2 * magnitude**2)
    real, imag = (round_sqrt(component, part.numerator, part.denominator) for part in squares)
    return complex(real, copysign(imag, -z.imag))


def _rsqrt_parts(z: complex) -> Parts:
    real, imag = root_parts(z)
    magnitude = real * real + imag * imag
    return real / magnitude, -imag / magnitude


def complex_sigmoid(component: str, z: complex) -> ComplexElement:
    """1 / (1 + e^-z) = (1 + E cos y + i E sin y) / |1 + e^-z|^2 with E = e^-x; open where E overflows (P73)."""
    x, y = z.real, z.imag
    if round_exp(component, -x) == inf:
        return UNSPECIFIED
    if y == 0:
        return complex(round_sigmoid(component, x), y)
    if x == 0:  # 1 / (1 + e^-iy) = (1 + i tan(y / 2)) / 2
        return complex(0.5, round_at(component, lambda ball: (ball / 2).tan() / 2, y))

    def parts() -> Parts:
        power = (-arb(x)).max(arb(VANISHING_EXPONENT)).exp()  # below it, 1 and 0 result as there
        cosine, sine = power * arb(y).cos(), power * arb(y).sin()
        square = (1 + cosine) ** 2 + sine**2
        return (1 + cosine) / square, sine / square

    return round_parts(component, parts)


# ---- pow ---------------------------------------------------------------------------------------------------------

# Powers of an odd number > 1 have more bits than a format and its midpoints, where the power is greater than this.
MOST_EXACT_POWER = 64
# By eighths of a turn: the signs of the parts.
DIRECTIONS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))


def complex_pow(component: str, z: complex, w: complex) -> ComplexElement:
    """exp(w log z); 1 for w = 0, and 0 for z = 0 if the real part of w is positive (P72).

    By Baker's theorem a part of the power is 0 only where z has the size 1 or w is real, and the angle of z is a
    rational multiple of pi: on an axis or a diagonal.
    """
    if not is_finite(z, w):
        return UNSPECIFIED
    if w == 0:
        return 1 + 0j
    if z == 0:
        return 0j if w.real > 0 else UNSPECIFIED
    exponent, _ = _log_of_power(z, w)
    if exponent < VANISHING_EXPONENT or exponent > OVERFLOWING_EXPONENT:
        return 0j if exponent < 0 else UNSPECIFIED
    eighths = _eighths_of_a_turn(z)
    if eighths is not None and (w.imag == 0 or z in (1, -1, 1j, -1j)):
        turned = Fraction(w.real) * eighths
        if turned.denominator == 1:
            return _power_on_a_ray(component, z, w, *DIRECTIONS[turned.numerator % 8])
    exactly = _rational_power(z, Fraction(w.real)) if w.imag == 0 else None
    if exactly is not None:
        return round_fractions(component, *exactly)
    return round_parts(component, lambda: _power_parts(z, w))


def _log_of_power(z: complex, w: complex) -> tuple[arb, arb]:
    """w log z: the logarithm of the size, and the angle, of the power."""
    x, u, v = Fraction(z.real), arb(w.real), arb(w.imag)
    log_size, angle = log_ball(x**2 + Fraction(z.imag) ** 2) / 2, angle_ball(x, z.imag)
    return u * log_size - v * angle, v * log_size + u * angle


def _power_parts(z: complex, w: complex) -> Parts:
    exponent, angle = _log_of_power(z, w)
    size = _bounded(exponent).exp()
    return size * angle.cos(), size * angle.sin()


def _bounded(exponent: arb) -> arb:
    """An exponent of which a ball is not far beyond what matters, kept from growing at low precision."""
    return exponent.min(arb(2 * OVERFLOWING_EXPONENT)).max(arb(2 * VANISHING_EXPONENT))


def _eighths_of_a_turn(z: complex) -> int | None:
    """The angle of an axis or diagonal in units of pi / 4, from -4 to 4; the sign of a zero y tells -4 from 4."""
    x, y = z.real, z.imag
    side = int(copysign(1.0, y))
    if y == 0:
        return 0 if x > 0 else 4 * side
    if x == 0:
        return 2 * side
    return (1 if x > 0 else 3) * side if abs(x) == abs(y) else None


def _power_on_a_ray(component: str, z: complex, w: complex, real_sign: int, imag_sign: int) -> ComplexElement:
    """The power on an axis, one part 0 and the other of its size, or on a diagonal, both of its size / sqrt 2."""
    square = _square_of_size(z, w)
    size = _round_root(component, square, lambda: _bounded(_log_of_power(z, w)[0]).exp())
    if size == inf:
        return UNSPECIFIED
    if real_sign and imag_sign:
        half = None if square is None else square / 2
        size = _round_root(component, half, lambda: _bounded(_log_of_power(z, w)[0]).exp() / arb(2).sqrt())
    return complex(real_sign * size, imag_sign * size)


def _round_root(component: str, square: Fraction | None, enclose: Callable[[], arb]) -> float:
    """The root of `square`; where that is None, of the irrational number in the ball."""
    if square is None:
        return round_real(component, enclose)
    return round_sqrt(component, square.numerator, square.denominator)


def _square_of_size(z: complex, w: complex) -> Fraction | None:
    """|z^w|^2 if it is rational, and its root may be a value of a format or halfway between two."""
    if z == 1:
        return Fraction(1)
    if w.imag != 0:
        return None  # e^(-2 Im w * angle)
    square, power = Fraction(z.real) ** 2 + Fraction(z.imag) ** 2, Fraction(w.real)
    if square.numerator & (square.numerator - 1) == 0:  # a power of two, as the denominator is
        exponent = power * (square.numerator.bit_length() - square.denominator.bit_length())
        return Fraction(2) ** exponent.numerator if exponent.denominator == 1 else None
    return rational_power(square, power) if abs(power.numerator) <= MOST_EXACT_POWER else None


def _rational_power(z: complex, power: Fraction) -> tuple[Fraction, Fraction] | None:
    """The parts of z^power if they are rational, by square roots and a product; None also for a great power."""
    if abs(power.numerator) > MOST_EXACT_POWER:
        return None
    x, y, denominator = Fraction(z.real), Fraction(z.imag), power.denominator
    while denominator > 1:
        root = _rational_root(x, y)
        if root is None:
            return None
        (x, y), denominator = root, denominator // 2
    real, imag = Fraction(1), Fraction(0)
    for _ in range(abs(power.numerator)):
        real, imag = real * x - imag * y, real * y + imag * x
    if power > 0:
        return real, imag
    square = real**2 + imag**2
    return real / square, -imag / square


def _rational_root(x: Fraction, y: Fraction) -> tuple[Fraction, Fraction] | None:
    """The parts of sqrt(x + iy) off the negative axis, if they are rational."""
    magnitude = rational_sqrt(x**2 + y**2)
    real = None if magnitude is None else rational_sqrt((magnitude + x) / 2)
    return (real, y / (2 * real)) if real else None
