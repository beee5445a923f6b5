"""Complex results: both parts rounded once; open where an operand is not finite or the magnitude overflows (P70)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import copysign, isfinite, isinf

from flint import arb

from conform.refs.exact.reals import round_balls, round_real
from conform.refs.exact.rounding import COMPONENTS, FLOAT_FORMATS, round_ratio
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified

Parts = tuple[arb, arb]  # balls of the real and of the imaginary part
ComplexElement = complex | Unspecified


def is_finite(*numbers: complex) -> bool:
    """Whether every part of every number is finite."""
    return all(isfinite(z.real) and isfinite(z.imag) for z in numbers)


def map_complex(self: RefTensor, element: Callable[[str, complex], ComplexElement]) -> RefTensor:
    """`element(format of the parts, z)` of each number; open where a part is not finite."""
    component = COMPONENTS[self.dtype]
    data = [element(component, z) if is_finite(z) else UNSPECIFIED for z in self.data]
    return RefTensor(self.dtype, self.shape, data)


def map_to_real(self: RefTensor, element: Callable[[str, complex], float | Unspecified]) -> RefTensor:
    """`element(format of the parts, z)` of each number, in that format; open where a part is not finite."""
    component = COMPONENTS[self.dtype]
    data = [element(component, z) if is_finite(z) else UNSPECIFIED for z in self.data]
    return RefTensor(component, self.shape, data)


def overflow_threshold(component: str) -> Fraction:
    """The least magnitude that rounds to infinity: half a unit in the last place above the greatest number."""
    fmt = FLOAT_FORMATS[component]
    return Fraction(2) ** (fmt.emax + 1) * (1 - Fraction(1, 2 ** (fmt.precision + 1)))


def known_parts(real: float, imag: float) -> ComplexElement:
    """Parts already rounded, of which at most one is not zero: then an infinite one is an overflowing magnitude."""
    return UNSPECIFIED if isinf(real) or isinf(imag) else complex(real, imag)


def round_fractions(component: str, real: Fraction, imag: Fraction) -> ComplexElement:
    """Rational parts, each rounded once."""
    if real**2 + imag**2 >= overflow_threshold(component) ** 2:
        return UNSPECIFIED
    return complex(*(round_ratio(component, part.numerator, part.denominator) for part in (real, imag)))


def round_parts(component: str, enclose: Callable[[], Parts]) -> ComplexElement:
    """Parts given by balls, neither of them zero or halfway between two values of the format, each rounded once."""
    real, imag = round_balls(component, lambda: list(enclose()))
    if isinf(real) or isinf(imag) or _magnitude_overflows(component, real, imag, enclose):
        return UNSPECIFIED
    return complex(real, imag)


def _magnitude_overflows(component: str, real: float, imag: float, enclose: Callable[[], Parts]) -> bool:
    if max(abs(real), abs(imag)) < 2.0 ** (FLOAT_FORMATS[component].emax - 1):
        return False
    threshold = int(overflow_threshold(component))  # an integer: its last bit is that of the greatest number, halved

    def excess() -> arb:
        x, y = enclose()
        return (x * x + y * y) / arb(threshold) ** 2 - 1

    return copysign(1.0, round_real("float64", excess)) > 0


def times_i(z: complex) -> complex:
    """i z, the signs of zeros included: (x, y) becomes (-y, x)."""
    return complex(-z.imag, z.real)


def over_i(z: ComplexElement) -> ComplexElement:
    """z / i: (x, y) becomes (y, -x)."""
    return z if isinstance(z, Unspecified) else complex(z.imag, -z.real)
