"""The parts of complex functions of x + iy in mpmath, at the context's precision: operands as for the kernels.

Every formula is written on real numbers, so that each part is accurate by itself. Where terms may cancel it tells how
many bits that cost; a result of exactly 0 means all of them, since the zeros themselves are in complex_exact.py.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import wraps

import gmpy2
import mpmath
from gmpy2 import mpfr
from mpmath import mpf
from mpmath.libmp import to_rational

from conform.errors import Unjudged

Formula = Callable[..., mpf]

FAR = 1000  # tanh and sigmoid are their limits to 2^-2800 from there on
FAR_EXPONENT = 100_000  # e^-100000 times any double rounds to zero in every format
MOST_BITS = 20_000
SQUARE_BITS = 106  # of the square of a double


def accurate(formula: Callable[..., tuple[mpf, int]]) -> Formula:
    """A formula that tells, beside its value, how many bits it has lost: evaluated with so many more."""

    @wraps(formula)
    def evaluated(*operands: mpf) -> mpf:
        extra = 0
        while extra < MOST_BITS:
            with mpmath.extraprec(extra):
                value, lost = formula(*operands)
            if value and lost <= extra:
                return value
            extra = lost + 10 if value else 2 * extra + 300
        raise Unjudged(f"{formula.__name__}{tuple(map(float, operands))} cancels to nothing")

    return evaluated


def _lost(value: mpf, *terms: mpf) -> int:
    """How many bits cancelled in their sum."""
    return int(max(mpmath.mag(term) for term in terms if term) - mpmath.mag(value)) if value else 0


def product(first: Formula, second: Formula) -> Formula:
    return lambda x, y: first(x) * second(y)


def swapped(formula: Formula) -> Formula:
    return lambda x, y: formula(y, x)


def negated(formula: Formula) -> Formula:
    return lambda *operands: -formula(*operands)


def over_log(formula: Formula, base: int) -> Formula:
    return lambda x, y: formula(x, y) / mpmath.log(base)


def to_fraction(number: mpf) -> Fraction:
    return Fraction(*map(int, to_rational(number._mpf_)))


def to_real(number: Fraction) -> mpf:
    return mpf(number.numerator) / number.denominator


# Quotients and roots


def sgn_real(x: mpf, y: mpf) -> mpf:
    """x / |z|"""
    return x / mpmath.sqrt(x * x + y * y)


sgn_imag = swapped(sgn_real)


def reciprocal_real(x: mpf, y: mpf) -> mpf:
    return x / (x * x + y * y)


def reciprocal_imag(x: mpf, y: mpf) -> mpf:
    return -reciprocal_real(y, x)


def _half_angle(x: mpf, y: mpf) -> tuple[mpf, mpf, mpf]:
    r = mpmath.hypot(x, y)
    p = mpmath.sqrt((r + abs(x)) / 2)
    return r, p, y / (2 * p)


def sqrt_real(x: mpf, y: mpf) -> mpf:
    _, p, q = _half_angle(x, y)
    return p if x >= 0 else q


def sqrt_imag(x: mpf, y: mpf) -> mpf:
    return sqrt_real(-x, y)


def rsqrt_real(x: mpf, y: mpf) -> mpf:
    return sqrt_real(x, y) / mpmath.hypot(x, y)


def rsqrt_imag(x: mpf, y: mpf) -> mpf:
    return -sqrt_imag(x, y) / mpmath.hypot(x, y)


def cbrt_real(x: mpf, y: mpf) -> mpf:
    return mpmath.cbrt(mpmath.hypot(x, y)) * mpmath.cos(arg(x, y) / 3)


def cbrt_imag(x: mpf, y: mpf) -> mpf:
    return mpmath.cbrt(mpmath.hypot(x, y)) * mpmath.sin(arg(x, y) / 3)


# Logarithms


def half_log(square: Fraction) -> mpf:
    """log(square) / 2 of an exact number."""
    if Fraction(1, 2) < square < 2:
        return mpmath.log1p(to_real(square - 1)) / 2
    return mpmath.log(to_real(square)) / 2


def log_abs(x: mpf, y: mpf) -> mpf:
    square = mpmath.fadd(mpmath.fmul(x, x, exact=True), mpmath.fmul(y, y, exact=True), exact=True)
    if 0.5 < square < 2:
        return mpmath.log1p(mpmath.fsub(square, 1, exact=True)) / 2
    return mpmath.log(square) / 2


def log_abs_one_plus(x: mpf, y: mpf) -> mpf:
    return log_abs(mpmath.fadd(x, 1, exact=True), y)


def arg(x: mpf, y: mpf) -> mpf:
    return mpmath.atan2(y, x)


def arg_one_plus(x: mpf, y: mpf) -> mpf:
    return mpmath.atan2(y, 1 + x)


# Exponentials


def _turned(function: Formula, angle: mpf, *terms: mpf) -> tuple[mpf, int]:
    """sin or cos of an angle that is the sum of inexact terms, and the bits lost by that: those of the integer part,
    and of what little is left of a sine."""
    value = function(angle)
    if not value:
        return value, 0
    whole = max((int(mpmath.mag(term)) for term in terms if term), default=0)
    return value, max(whole, 0) - min(int(mpmath.mag(value)), 0)


def _exp2(function: Formula, x: mpf, y: mpf) -> tuple[mpf, int]:
    angle = y * mpmath.log(2)
    turned, lost = _turned(function, angle, angle)
    return mpf(2) ** max(x, -FAR_EXPONENT) * turned, lost


@accurate
def exp2_real(x: mpf, y: mpf) -> tuple[mpf, int]:
    return _exp2(mpmath.cos, x, y)


@accurate
def exp2_imag(x: mpf, y: mpf) -> tuple[mpf, int]:
    return _exp2(mpmath.sin, x, y)


@accurate
def expm1_real(x: mpf, y: mpf) -> tuple[mpf, int]:
    first, second = mpmath.expm1(x) * mpmath.cos(y), -2 * mpmath.sin(y / 2) ** 2
    return first + second, _lost(first + second, first, second)


def _sigmoid_denominator(x: mpf, y: mpf) -> mpf:
    return 4 * (mpmath.sinh(x / 2) ** 2 + mpmath.cos(y / 2) ** 2)


@accurate
def sigmoid_real(x: mpf, y: mpf) -> tuple[mpf, int]:
    x = min(x, FAR)
    first, second = mpmath.expm1(x), 2 * mpmath.cos(y / 2) ** 2
    return (first + second) / _sigmoid_denominator(x, y), _lost(first + second, first, second)


def sigmoid_imag(x: mpf, y: mpf) -> mpf:
    x = min(max(x, -FAR), FAR)
    return mpmath.sin(y) / _sigmoid_denominator(x, y)


# Hyperbolic tangent and inverse functions


def _tanh_denominator(x: mpf, y: mpf) -> mpf:
    return mpmath.sinh(x) ** 2 + mpmath.cos(y) ** 2


def tanh_real(x: mpf, y: mpf) -> mpf:
    x = min(x, FAR)
    return mpmath.sinh(x) * mpmath.cosh(x) / _tanh_denominator(x, y)


def tanh_imag(x: mpf, y: mpf) -> mpf:
    return mpmath.sin(y) * mpmath.cos(y) / _tanh_denominator(min(x, FAR), y)


def _foci(x: mpf, y: mpf) -> tuple[mpf, mpf]:
    """a - 1 and a - x, as in complex_kernels.py."""
    right = y * y / (mpmath.hypot(x + 1, y) + x + 1)
    larger = mpmath.hypot(x - 1, y) + abs(x - 1)
    smaller = y * y / larger if y else mpf(0)
    near, far = (smaller, larger) if x <= 1 else (larger, smaller)
    return (right + near) / 2, (right + far) / 2


def _cathetus(x: mpf, y: mpf) -> mpf:
    _, beyond_x = _foci(x, y)
    return mpmath.sqrt(beyond_x * (2 * x + beyond_x))


def asin_real(x: mpf, y: mpf) -> mpf:
    return mpmath.atan2(x, _cathetus(x, y))


def asin_imag(x: mpf, y: mpf) -> mpf:
    beyond_one, _ = _foci(x, y)
    return mpmath.log1p(beyond_one + mpmath.sqrt(beyond_one * (beyond_one + 2)))


def acos_real(x: mpf, y: mpf) -> mpf:
    return mpmath.atan2(_cathetus(abs(x), y), x)


def acosh_real(x: mpf, y: mpf) -> mpf:
    return asin_imag(abs(x), y)


def atanh_real(x: mpf, y: mpf) -> mpf:
    return mpmath.log1p(4 * x / ((1 - x) ** 2 + y**2)) / 4


def atanh_imag(x: mpf, y: mpf) -> mpf:
    return (mpmath.atan2(y, 1 + x) + mpmath.atan2(y, 1 - x)) / 2


# Powers, by MPFR, whose functions of hundreds of bits take a tenth of the time


def _log_abs(x: mpfr, y: mpfr) -> mpfr:
    """log |x + iy|, from sums that are rounded once; squares of doubles are exact."""
    with gmpy2.context(gmpy2.get_context(), precision=max(gmpy2.get_context().precision, SQUARE_BITS)):
        squares = [x * x, y * y]
    square = gmpy2.fsum(squares)
    return (gmpy2.log1p(gmpy2.fsum([*squares, mpfr(-1)])) if 0.5 < square < 2 else gmpy2.log(square)) / 2


def _mag(number: mpfr) -> int:
    """The exponent of the power of two above it; that of 0 is below all."""
    return gmpy2.get_exp(number) if number else -FAR_EXPONENT


def _power(function: Callable[[mpfr], mpfr], *operands: mpf) -> tuple[mpf, int]:
    """The part of (x + iy)^(c + id) that `function`, sin or cos, of its angle makes, and the bits that are lost: those
    of the integer parts of what exponent and angle are made of, and of what little is left of a sine."""
    with gmpy2.context(precision=mpmath.mp.prec):
        x, y, c, d = (mpfr(float(operand)) for operand in operands)
        size, angle = _log_abs(x, y), gmpy2.atan2(y, x)
        terms = d * size, c * angle, c * size, d * angle
        turned = function(terms[0] + terms[1])
        if not turned:
            return mpf(0), 0
        exponent = min(max(terms[2] - terms[3], -FAR_EXPONENT), FAR_EXPONENT)
        mantissa, binade = (gmpy2.exp(exponent) * turned).as_mantissa_exp()
        lost = max(*map(_mag, terms), 0) - min(_mag(turned), 0)
        return mpmath.ldexp(mpf(int(mantissa)), int(binade)), lost


@accurate
def pow_real(x: mpf, y: mpf, c: mpf, d: mpf) -> tuple[mpf, int]:
    return _power(gmpy2.cos, x, y, c, d)


@accurate
def pow_imag(x: mpf, y: mpf, c: mpf, d: mpf) -> tuple[mpf, int]:
    return _power(gmpy2.sin, x, y, c, d)
