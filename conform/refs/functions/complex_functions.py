"""Complex functions whose parts are judged one by one: abs, angle, quotients, sqrt, exp, sin, cos, sinh, cosh.

Each takes the format of the parts and a finite number. An operand on an axis has a real function for its one part that
is not zero; off the axes both parts are irrational but for those of sqrt: e^x cos y and the like are combinations of
powers of e of different algebraic exponents (Lindemann and Weierstrass).
"""

from __future__ import annotations

from fractions import Fraction
from math import copysign, inf

from flint import arb

from conform.refs.exact.complex_parts import (
    ComplexElement,
    Parts,
    is_finite,
    known_parts,
    over_i,
    round_fractions,
    round_parts,
    times_i,
)
from conform.refs.exact.radicals import rational_sqrt
from conform.refs.exact.reals import round_exp, round_sin
from conform.refs.exact.rounding import round_sqrt
from conform.refs.exact.tensor import UNSPECIFIED, Unspecified
from conform.refs.functions.elementary import round_cos, round_cosh, round_sinh
from conform.refs.functions.powers import round_atan2, round_hypot

# e^2000 / 2 > 2^2800: greater than every format's numbers; e^-4000 times any of them is less than all but zero.
OVERFLOWING_EXPONENT = 2000
VANISHING_EXPONENT = -4000


def complex_abs(component: str, z: complex) -> float | Unspecified:
    """sqrt(x^2 + y^2); open where it overflows (P70)."""
    magnitude = round_hypot(component, z.real, z.imag)
    return UNSPECIFIED if magnitude == inf else magnitude


def complex_angle(component: str, z: complex) -> float:
    """The angle of the point (x, y), the signs of zeros included (P74)."""
    return round_atan2(component, z.imag, z.real)


# ---- quotients ---------------------------------------------------------------------------------------------------


def complex_quotient(component: str, z: complex, w: complex) -> ComplexElement:
    """z / w = z conj(w) / |w|^2."""
    if not is_finite(z, w) or w == 0:
        return UNSPECIFIED
    a, b, c, d = map(Fraction, (z.real, z.imag, w.real, w.imag))
    square = c * c + d * d
    return round_fractions(component, (a * c + b * d) / square, (b * c - a * d) / square)


def complex_reciprocal(component: str, z: complex) -> ComplexElement:
    """1 / z."""
    return complex_quotient(component, 1 + 0j, z)


def complex_sgn(component: str, z: complex) -> ComplexElement:
    """z / |z|, 0 of 0; open where |z| overflows. Off the axes no part is dyadic: the denominator of a Pythagorean
    triple is odd."""
    if round_hypot(component, z.real, z.imag) == inf:
        return UNSPECIFIED
    if 0 in (z.real, z.imag):
        return complex((z.real > 0) - (z.real < 0), (z.imag > 0) - (z.imag < 0))

    def parts() -> Parts:
        x, y = arb(z.real), arb(z.imag)
        size = (x * x + y * y).sqrt()
        return x / size, y / size

    return round_parts(component, parts)


# ---- sqrt --------------------------------------------------------------------------------------------------------


def complex_sqrt(component: str, z: complex) -> ComplexElement:
    """The root in the right half plane, on its border with the sign of y (P71).

    It is sqrt((|z| + x) / 2) + i sign(y) sqrt((|z| - x) / 2). Where |z| is irrational, so are both parts.
    """
    magnitude = rational_magnitude(z)
    if magnitude is None:
        return round_parts(component, lambda: root_parts(z))
    x = Fraction(z.real)
    real, imag = (round_sqrt(component, part.numerator, part.denominator) for part in _halves(magnitude, x))
    return complex(real, copysign(imag, z.imag))


def _halves(magnitude: Fraction, x: Fraction) -> tuple[Fraction, Fraction]:
    return (magnitude + x) / 2, (magnitude - x) / 2


def rational_magnitude(z: complex) -> Fraction | None:
    """sqrt(x^2 + y^2) if it is rational."""
    return rational_sqrt(Fraction(z.real) ** 2 + Fraction(z.imag) ** 2)


def root_parts(z: complex) -> Parts:
    """The parts of sqrt z off the real axis; the lesser one by its product with the greater, y / 2."""
    x, y = arb(z.real), arb(z.imag)
    greater = ((abs(x) + (x * x + y * y).sqrt()) / 2).sqrt()
    lesser = abs(y) / (2 * greater)
    real, imag = (greater, lesser) if z.real >= 0 else (lesser, greater)
    return real, imag if z.imag > 0 else -imag


# ---- exponential and circular functions --------------------------------------------------------------------------


def complex_exp(component: str, z: complex) -> ComplexElement:
    """e^x (cos y + i sin y)."""
    x, y = z.real, z.imag
    if y == 0:
        return known_parts(round_exp(component, x), y)
    if x > OVERFLOWING_EXPONENT:
        return UNSPECIFIED
    if x < VANISHING_EXPONENT:
        return 0j
    return round_parts(component, lambda: (arb(x).exp() * arb(y).cos(), arb(x).exp() * arb(y).sin()))


def complex_sin(component: str, z: complex) -> ComplexElement:
    """sin x cosh y + i cos x sinh y."""
    x, y = z.real, z.imag
    if y == 0:
        return known_parts(round_sin(component, x), y)
    if x == 0:
        return known_parts(x, round_sinh(component, y))
    if abs(y) > OVERFLOWING_EXPONENT:
        return UNSPECIFIED
    return round_parts(component, lambda: (arb(x).sin() * arb(y).cosh(), arb(x).cos() * arb(y).sinh()))


def complex_cos(component: str, z: complex) -> ComplexElement:
    """cos x cosh y - i sin x sinh y."""
    x, y = z.real, z.imag
    if y == 0:
        return known_parts(round_cos(component, x), 0.0)
    if x == 0:
        return known_parts(round_cosh(component, y), 0.0)
    if abs(y) > OVERFLOWING_EXPONENT:
        return UNSPECIFIED
    return round_parts(component, lambda: (arb(x).cos() * arb(y).cosh(), -arb(x).sin() * arb(y).sinh()))


def complex_sinh(component: str, z: complex) -> ComplexElement:
    """sin(i z) / i."""
    return over_i(complex_sin(component, times_i(z)))


def complex_cosh(component: str, z: complex) -> ComplexElement:
    """cos(i z)."""
    return complex_cos(component, times_i(z))
