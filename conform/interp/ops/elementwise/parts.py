"""Parts of numbers: real and imaginary parts, signs, significands and exponents, and the numbers next to them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import flat, spans
from conform.interp.formulas.complexes import joined
from conform.interp.golden import Golden
from conform.interp.operands import broadcast_numbers, converted, numbers
from conform.interp.ops.elementwise.arithmetic import exact, rounded_from
from conform.interp.promotion import Operand, float_result, result_type
from conform.interp.semantics import pointwise, semantics
from conform.numerics import arithmetic, functions
from conform.numerics import multiprecision as mp
from conform.numerics.ball import Ball
from conform.numerics.escalate import resolved
from conform.numerics.formats import FORMATS, Format, format_of
from conform.numerics.product import held_apart
from conform.numerics.real import Real, where
from conform.numerics.real import joined as joined_reals
from conform.numerics.rounding import round_to
from conform.numerics.rounding_errors import held_format, readings_of_step
from conform.numerics.scaled import Scaled

# Of complex numbers

COMPLEX_OF = {fmt.component.name: fmt for fmt in FORMATS.values() if fmt.is_complex}


@pointwise("aten::conj_physical", may_copy=True, signs=True)
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


@semantics("aten::view_as_real", selects=True, elements=lambda a: 2 * np.size(a["self"]))
def view_as_real(self: np.ndarray) -> Golden:
    """The real and the imaginary part of each element, along a new last dimension; a view"""
    return exact(np.stack([self.real, self.imag], axis=-1), format_of(self).component)


@semantics("aten::view_as_complex", selects=True, memory=("strides", "offset"))
def view_as_complex(self: np.ndarray) -> Golden:
    """The complex numbers whose real and imaginary parts are the pairs along the last dim; a view, of tensors in whose
    memory the parts of a number lie beside each other"""
    fmt = COMPLEX_OF[format_of(self).name]
    return exact(joined(fmt, self), fmt)


@pointwise("aten::complex")
def complex_(real: np.ndarray, imag: np.ndarray) -> Golden:
    """real + i imag, each part as it is"""
    fmt = COMPLEX_OF[format_of(real).name]
    return exact(joined(fmt, np.stack(np.broadcast_arrays(real, imag), axis=-1)), fmt)


@pointwise("aten::polar")
def polar(abs: np.ndarray, angle: np.ndarray) -> Golden:
    """abs * cos(angle) + i abs * sin(angle), each part rounded once; open where an operand is not finite (P70)"""
    fmt = COMPLEX_OF[format_of(abs).name]
    pair = broadcast_numbers(fmt.component, abs, angle)
    finite = np.isfinite(pair[0]) & np.isfinite(pair[1])
    length, turn = (np.where(finite, operand, 0.5) for operand in pair)
    value, real, ball = zip(
        _turned(fmt.component, length, turn, functions.cos, mp.cos, Ball.cos),
        _turned(fmt.component, length, turn, functions.sin, mp.sin, Ball.sin),
        strict=True,
    )
    parts = joined_reals(partial(np.stack, axis=-1), real)
    budget = np.stack([each.rad for each in ball], axis=-1)
    golden = Golden(fmt, joined(fmt, np.stack(value, axis=-1)), parts, budget=budget, zero_sign_free=True)
    return golden.opened(~finite, "P70")


def _turned(
    fmt: Format,
    length: np.ndarray,
    turn: np.ndarray,
    of_real: Callable[[Real], Real],
    of_numbers: Callable[[np.ndarray], np.ndarray],
    of_ball: Callable[[Ball], Ball],
) -> tuple[np.ndarray, Real, Ball]:
    """(value, real, ball) of length * function(turn) for the cosine or the sine."""
    column, angle = length.reshape(-1, 1), turn.reshape(-1, 1)
    of_angle = of_real(Real.exact(angle))
    real = Real.exact(column) * of_angle

    def formula(rows: np.ndarray) -> np.ndarray:
        return mp.of_float(column[rows]) * of_numbers(mp.of_float(angle[rows]))

    def rational(index: tuple[int, int]) -> Fraction | None:
        """Where the function is: at 0 (Lindemann)."""
        if column[index] and angle[index]:
            return None
        return Fraction(column[index]) * int(of_numbers(mp.of_float(0.0)))

    def scaled() -> Scaled:
        return Scaled.exact(column).product(held_apart(of_angle, np.zeros(column.shape, int)))

    value, real = resolved(fmt, real, formula, rational, scaled)
    compute = held_format(fmt)
    ball = Ball.exact(length, compute) * of_ball(Ball.exact(turn, compute))
    return value.reshape(length.shape), real.reshape(length.shape), ball


# Signs and neighbours


@pointwise("aten::copysign.Tensor", "aten::copysign.Scalar", signs=True)
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
    products = (arithmetic.mul(fmt, factor, each)[0].astype(float) for each in readings_of_step(fmt, rounded))
    return _scaled(fmt, factor, power).or_else(*(rounded_from(fmt, each) for each in products))


def _scaled(fmt: Format, factor: np.ndarray, power: np.ndarray) -> Golden:
    significand, exponent = np.frexp(factor)
    plain = (factor == 0) | ~np.isfinite(factor)
    product = Scaled.of(np.where(plain, 0.5, significand), np.zeros_like(factor), 0.0, power + exponent)
    value, _ = product.decided(fmt)
    known = where(plain, Real.exact(factor), product.real())
    return Golden(fmt, np.where(plain, factor.astype(fmt.storage), value), known)
