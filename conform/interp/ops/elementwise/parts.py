"""Parts of numbers: real and imaginary parts, signs, significands and exponents, and the numbers next to them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import flat, spans
from conform.interp.golden import Golden
from conform.interp.operands import broadcast_numbers, converted, numbers
from conform.interp.ops.elementwise.arithmetic import exact, rounded_from
from conform.interp.promotion import Operand, float_result, result_type
from conform.interp.semantics import pointwise, semantics
from conform.numerics import arithmetic
from conform.numerics.formats import FORMATS, Format, format_of
from conform.numerics.real import Real, where
from conform.numerics.rounding import round_to
from conform.numerics.rounding_errors import flushed_sum
from conform.numerics.scaled import Scaled

# Of complex numbers


@pointwise("aten::conj_physical")
def conj_physical(self: np.ndarray) -> Golden:
    """The complex conjugate; real numbers are themselves"""
    return exact(np.conj(self) if format_of(self).is_complex else self, format_of(self))


@pointwise("aten::real", selects=True)
def real(self: np.ndarray) -> Golden:
    """The real part; real numbers are themselves"""
    fmt = format_of(self)
    return exact(self.real, fmt.component) if fmt.is_complex else exact(self, fmt)


@pointwise("aten::imag", selects=True)
def imag(self: np.ndarray) -> Golden:
    """The imaginary part of complex numbers"""
    return exact(self.imag, format_of(self).component)


# Signs and neighbours


@pointwise("aten::copysign.Tensor", "aten::copysign.Scalar")
def copysign(self: Operand, other: Operand) -> Golden:
    """The magnitude of self with the sign of other, zeros included; integers become float32, open where other is NaN
    (P1)"""
    fmt = float_result(result_type(self, other))
    magnitude, sign = broadcast_numbers(fmt, self, other)
    return exact(round_to(fmt, np.copysign(magnitude, sign)), fmt).opened(np.isnan(sign), "P1")


@pointwise("aten::nextafter", compares=True)
def nextafter(self: np.ndarray, other: np.ndarray) -> Golden:
    """The number of the common dtype next to self toward other; other where they are equal"""
    fmt = result_type(self, other)
    start, end = np.broadcast_arrays(converted(self, fmt), converted(other, fmt))
    return exact(np.nextafter(start, end), fmt, zero_sign_free=np.asarray(start == end))


# Powers of two


@semantics("aten::frexp.Tensor", compares=True)
def frexp(self: np.ndarray) -> tuple[Golden, Golden]:
    """self = mantissa * 2^exponent with 0.5 <= |mantissa| < 1, both 0 of zeros; the exponent is open of infinities and
    NaN (P98)"""
    return _of_split(self, _mantissa), _of_split(self, _exponent)


def _mantissa(fmt: Format, mantissa: np.ndarray, _exponent: np.ndarray) -> Golden:
    return exact(mantissa, fmt)


def _exponent(_fmt: Format, mantissa: np.ndarray, exponent: np.ndarray) -> Golden:
    finite = np.isfinite(mantissa)
    return exact(np.where(finite, exponent, 0), FORMATS["int32"]).opened(~finite, "P98")


def _of_split(self: np.ndarray, part: Callable[[Format, np.ndarray, np.ndarray], Golden]) -> Golden:
    """One output of frexp, block by block."""
    fmt = format_of(self)
    parts = ((some, part(fmt, *np.frexp(numbers(flat(self, some), fmt)))) for some in spans(self.size))
    return assembled(parts, self.size).rearranged(lambda whole: whole.reshape(self.shape))


@pointwise("aten::ldexp.Tensor")
def ldexp(self: np.ndarray, other: np.ndarray) -> Golden:
    """self * 2^other; with the power rounded first it is as right (P97)"""
    fmt = float_result(result_type(self, other))
    factor, power = np.broadcast_arrays(numbers(self, fmt), np.clip(other.astype(np.int64), -5000, 5000))
    rounded = round_to(fmt, np.ldexp(1.0, power)).astype(np.float64)
    powers = [rounded] if not flushed_sum(fmt) else [rounded, np.where(rounded < fmt.min_normal, 0.0, rounded)]
    products = (arithmetic.mul(fmt, factor, each)[0].astype(float) for each in powers)
    return _scaled(fmt, factor, power).or_else(*(rounded_from(fmt, each) for each in products))


def _scaled(fmt: Format, factor: np.ndarray, power: np.ndarray) -> Golden:
    significand, exponent = np.frexp(factor)
    plain = (factor == 0) | ~np.isfinite(factor)
    product = Scaled.of(np.where(plain, 0.5, significand), np.zeros_like(factor), 0.0, power + exponent)
    value, _ = product.decided(fmt)
    known = where(plain, Real.exact(factor), product.real())
    return Golden(fmt, np.where(plain, factor.astype(fmt.storage), value), known)
