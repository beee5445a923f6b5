"""Complex logarithms, inverse circular and hyperbolic functions, and the quotients tan, tanh, exp2 and expm1.

Each takes the format of the parts and a finite number; a branch cut is approached from the side that the sign of the
zero part names (P71). Parts that the code does not name are irrational: logarithms of algebraic numbers and arcs of
algebraic sines and tangents are transcendental (Lindemann), and their quotients by log 2 and log 10 too (Baker).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import copysign, inf

from flint import acb, arb

from conform.refs.exact.complex_parts import ComplexElement, Parts, known_parts, over_i, round_parts, times_i
from conform.refs.exact.reals import fraction_ball, log_ball, round_real
from conform.refs.exact.rounding import round_ratio
from conform.refs.exact.tensor import UNSPECIFIED
from conform.refs.functions.complex_functions import OVERFLOWING_EXPONENT, VANISHING_EXPONENT
from conform.refs.functions.elementary import (
    round_acos,
    round_acosh,
    round_asin,
    round_asinh,
    round_atan,
    round_atanh,
    round_exp2,
    round_expm1,
    round_tan,
    round_tanh,
)
from conform.refs.functions.powers import round_atan2

# ---- logarithms --------------------------------------------------------------------------------------------------


def complex_log(component: str, z: complex) -> ComplexElement:
    """log |z| + i angle."""
    return _logarithm(component, z, 1, lambda: arb(1))


def complex_log2(component: str, z: complex) -> ComplexElement:
    """log z / log 2."""
    return _logarithm(component, z, 2, arb.const_log2)


def complex_log10(component: str, z: complex) -> ComplexElement:
    """log z / log 10."""
    return _logarithm(component, z, 10, arb.const_log10)


def complex_log1p(component: str, z: complex) -> ComplexElement:
    """log(1 + z)."""
    return _logarithm_of(component, 1 + Fraction(z.real), z.imag, 1, lambda: arb(1))


def _logarithm(component: str, z: complex, base: int, log_base: Callable[[], arb]) -> ComplexElement:
    return _logarithm_of(component, Fraction(z.real), z.imag, base, log_base)


def _logarithm_of(component: str, x: Fraction, y: float, base: int, log_base: Callable[[], arb]) -> ComplexElement:
    """(log(x^2 + y^2) / 2 + i angle) / log_base, open at the pole 0; the natural logarithm has 1 for both bases."""
    square = x**2 + Fraction(y) ** 2
    if square == 0:
        return UNSPECIFIED
    exponent = _exponent(square, base)
    if exponent is not None:
        real = round_ratio(component, exponent, 2)
    else:
        real = round_real(component, lambda: log_ball(square) / 2 / log_base())
    if y == 0 and x > 0:
        return complex(real, y)
    return complex(real, round_real(component, lambda: angle_ball(x, y) / log_base()))


def _exponent(square: Fraction, base: int) -> int | None:
    """The integer k with base^k = square, if there is one: no rational k else gives a rational square."""
    if square == 1:
        return 0
    if base == 1:
        return None
    k = round(float((log_ball(square) / arb(base).log()).mid()))
    return k if Fraction(base) ** k == square else None


def angle_ball(x: Fraction, y: float) -> arb:
    """The angle of the point (x, y); on the negative axis with the sign of the zero y."""
    if y == 0 and x < 0:
        return arb.pi() * int(copysign(1.0, y))
    return arb.atan2(arb(y), fraction_ball(x))


# ---- exp2, expm1, tan, tanh --------------------------------------------------------------------------------------


def complex_exp2(component: str, z: complex) -> ComplexElement:
    """2^x (cos(y log 2) + i sin(y log 2)); 2^(iy) is transcendental for y != 0 (Gelfond and Schneider)."""
    x, y = z.real, z.imag
    if y == 0:
        return known_parts(round_exp2(component, x), y)
    if x > OVERFLOWING_EXPONENT:
        return UNSPECIFIED
    if x < VANISHING_EXPONENT:
        return 0j

    def parts() -> Parts:
        power, angle = (arb(x) * arb.const_log2()).exp(), arb(y) * arb.const_log2()
        return power * angle.cos(), power * angle.sin()

    return round_parts(component, parts)


def complex_expm1(component: str, z: complex) -> ComplexElement:
    """e^z - 1 = (e^x - 1) cos y - 2 sin(y / 2)^2 + i e^x sin y."""
    x, y = z.real, z.imag
    if y == 0:
        return known_parts(round_expm1(component, x), y)
    if x > OVERFLOWING_EXPONENT:
        return UNSPECIFIED

    def parts() -> Parts:
        exponent = arb(x).max(arb(VANISHING_EXPONENT))  # below it, -1 and e^x sin y round as there
        real = exponent.expm1() * arb(y).cos() - 2 * (arb(y) / 2).sin() ** 2
        return real, exponent.exp() * arb(y).sin()

    return round_parts(component, parts)


def complex_tan(component: str, z: complex) -> ComplexElement:
    """(sin 2x + i sinh 2y) / (cos 2x + cosh 2y)."""
    x, y = z.real, z.imag
    if y == 0:
        return known_parts(round_tan(component, x), y)
    if x == 0:
        return known_parts(x, round_tanh(component, y))
    if abs(y) > OVERFLOWING_EXPONENT:  # cosh 2y > 2^5000
        return complex(copysign(0.0, x), copysign(1.0, y))

    def parts() -> Parts:
        denominator = 2 * (arb(x).cos() ** 2 + arb(y).sinh() ** 2)  # cos 2x + cosh 2y
        return (2 * arb(x)).sin() / denominator, (2 * arb(y)).sinh() / denominator

    return round_parts(component, parts)


def complex_tanh(component: str, z: complex) -> ComplexElement:
    """tan(i z) / i."""
    return over_i(complex_tan(component, times_i(z)))


# ---- inverse functions -------------------------------------------------------------------------------------------


def complex_asin(component: str, z: complex) -> ComplexElement:
    """The number whose sine is z, its real part in [-pi/2, pi/2]; cuts on the real axis beyond -1 and 1."""
    x, y = z.real, z.imag
    if y == 0:
        return _on_the_real_axis(component, x, y, round_asin)
    if x == 0:
        return complex(x, round_asinh(component, y))
    return round_parts(component, lambda: _arc_parts(z, arb.atan2(arb(x), _root_product(z))))


def complex_acos(component: str, z: complex) -> ComplexElement:
    """pi/2 - asin z, its real part in [0, pi]; 2 atan2(Re sqrt(1 - z), Re sqrt(1 + z)) off the real axis."""
    x, y = z.real, z.imag
    if y == 0:
        return _on_the_real_axis(component, x, -y, round_acos)

    def parts() -> Parts:
        minus, plus = _roots(z)
        real, imag = _arc_parts(z, 2 * arb.atan2(minus.real, plus.real))
        return real, -imag

    return round_parts(component, parts)


def _on_the_real_axis(
    component: str, x: float, sign_of_imag: float, arc: Callable[[str, float], float]
) -> ComplexElement:
    """asin and acos of a real number: beyond 1 the arc of 1 or -1, and the acosh of |x| with the given sign."""
    if abs(x) <= 1:
        return complex(arc(component, x), sign_of_imag)
    return complex(arc(component, copysign(1.0, x)), copysign(round_acosh(component, abs(x)), sign_of_imag))


def _roots(z: complex) -> tuple[acb, acb]:
    """sqrt(1 - z) and sqrt(1 + z)."""
    one, ball = acb(1), acb(arb(z.real), arb(z.imag))
    return (one - ball).sqrt(), (one + ball).sqrt()


def _root_product(z: complex) -> arb:
    """Re(sqrt(1 - z) sqrt(1 + z))."""
    minus, plus = _roots(z)
    return minus.real * plus.real - minus.imag * plus.imag


def _arc_parts(z: complex, real: arb) -> Parts:
    """`real`, and the imaginary part of asin z, asinh Im(conj(sqrt(1 - z)) sqrt(1 + z)) (Kahan)."""
    minus, plus = _roots(z)
    return real, (minus.real * plus.imag - minus.imag * plus.real).asinh()


def complex_acosh(component: str, z: complex) -> ComplexElement:
    """The number of real part >= 0 whose cosh is z: i acos z or -i acos z, on the side of y."""
    arc = complex_acos(component, z)
    return complex(abs(arc.imag), copysign(arc.real, z.imag))


def complex_asinh(component: str, z: complex) -> ComplexElement:
    """asin(i z) / i."""
    return over_i(complex_asin(component, times_i(z)))


def complex_atanh(component: str, z: complex) -> ComplexElement:
    """log(((1 + x)^2 + y^2) / ((1 - x)^2 + y^2)) / 4 + i atan2(2y, 1 - x^2 - y^2) / 2; poles at -1 and 1."""
    x, y = z.real, z.imag
    if x == 0:
        return complex(x, round_atan(component, y))
    if y == 0:
        return _atanh_of_real(component, x, y)

    def parts() -> Parts:
        a, b = arb(x), arb(y)
        size = (4 * abs(a) / ((1 - abs(a)) ** 2 + b * b)).log1p() / 4
        return size if x > 0 else -size, arb.atan2(2 * b, (1 - a) * (1 + a) - b * b) / 2

    return round_parts(component, parts)


def _atanh_of_real(component: str, x: float, y: float) -> ComplexElement:
    """Beyond 1, atanh(1 / x), and a right angle on the side of the zero y."""
    if abs(x) == 1:
        return UNSPECIFIED
    if abs(x) < 1:
        return complex(round_atanh(component, x), y)
    real = round_real(component, lambda: (1 / arb(x)).atanh())
    return complex(real, round_atan2(component, copysign(inf, y), 1.0))


def complex_atan(component: str, z: complex) -> ComplexElement:
    """atanh(i z) / i."""
    return over_i(complex_atanh(component, times_i(z)))
