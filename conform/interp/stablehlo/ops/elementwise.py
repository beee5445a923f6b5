"""Ops of one element of each operand. What a function means is what it means for torch's operators.

Of integers where the specification says nothing, the answers are those of machines that do not trap: x / 0 = -1 (all
bits), x rem 0 = x, MIN / -1 = MIN, MIN rem -1 = 0 (as RISC-V has them, M extension). Complex numbers that are not
finite, or overflow on the way, are computed by the formula in complex128 and rounded (docs/stablehlo.md).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conform.errors import Unjudged
from conform.interp import semantics
from conform.interp.formulas.complexes import joined
from conform.interp.stablehlo.quantized import ADDED, PER_TENSOR, numbers
from conform.interp.stablehlo.registry import Call, meaning
from conform.interp.stablehlo.two_complement import codes_of, of_codes
from conform.numerics.formats import Format
from conform.numerics.functions import complex_parts
from conform.numerics.rounding import round_to

Array = np.ndarray


# Operands


def same_types(call: Call, constraint: str = "C1") -> tuple[Array, ...]:
    """The arrays of operands that have one type, which is the result's."""
    first, result = call.operands[0], call.results[0]
    dtype, shape = first.dtype, first.shape
    for other in call.operands[1:]:
        if (other.dtype, other.shape) != (dtype, shape):
            call.require(constraint, False, f"operands of the types {first} and {other}")
    if not result.holds(dtype, shape):
        call.require(constraint, False, f"{first} with the result {result}")
    return tuple(one.array for one in call.operands)


def of_kinds(call: Call, label: str, *kinds: str) -> Format:
    """The format of the first operand; `label`: the name of the input (I1) that may be of these kinds alone."""
    fmt = call.operands[0].format
    call.require(label, fmt.kind in kinds, f"an operand of {fmt.name}, expected {', '.join(kinds)}")
    return fmt


NUMBERS = ("int", "uint", "float", "complex")
REAL_OR_COMPLEX = ("float", "complex")


# Operators that numpy has, on the formats whose every result the processor rounds to nearest even (IEEE 754, clause
# 5.4.1).
ROUNDED_ALIKE = {
    "aten::add.Tensor": np.add, "aten::sub.Tensor": np.subtract, "aten::mul.Tensor": np.multiply,
    "aten::div.Tensor": np.divide,
}  # fmt: skip
OF_NUMPY = (np.dtype(np.float32), np.dtype(np.float64))


def of_torch(name: str, *operands: Array, fallback: Callable[..., Array] | None = None) -> Array:
    """The correctly rounded value that torch's operator `name` has; where its meaning is open, `fallback` in
    complex128, rounded."""
    with np.errstate(all="ignore"):
        if name in ROUNDED_ALIKE and operands[0].dtype in OF_NUMPY:
            return np.asarray(ROUNDED_ALIKE[name](*operands))
        found = semantics.find(name).function(*operands)
        golden = getattr(found, "goldens", (found,))[0]
        if golden.open is None or not golden.open.any():
            return golden.value
        if fallback is None:
            raise Unjudged(f"{name} leaves a result open, and nothing else says what it is")
        wide = fallback(*(np.asarray(one, np.complex128) for one in operands))
        return np.where(golden.open, rounded_complex(golden.format, wide), golden.value).astype(golden.format.storage)


def rounded_complex(fmt: Format, wide: Array) -> Array:
    result = np.empty(np.shape(wide), fmt.storage)
    result.real, result.imag = (round_to(fmt.component, part) for part in (wide.real, wide.imag))
    return result


# Functions of one number: name, torch's operator, numpy's formula for complex numbers that are not finite


def _unary(name: str, torch_name: str, fallback: Callable[[Array], Array]) -> None:
    def function(call: Call) -> Array:
        (x,) = same_types(call)
        of_kinds(call, "I1", *REAL_OR_COMPLEX)
        return of_torch(f"aten::{torch_name}", x, fallback=fallback)

    function.__doc__ = f"{name}(operand), correctly rounded"
    meaning(f"stablehlo.{name}", pointwise=True, quantized=numbers("C1"))(function)


_unary("cbrt", "cbrt", lambda z: np.power(z, 1 / 3))
_unary("cosine", "cos", np.cos)
_unary("exponential", "exp", np.exp)
_unary("exponential_minus_one", "expm1", lambda z: np.exp(z) - 1)
_unary("log", "log", np.log)
_unary("log_plus_one", "log1p", np.log1p)
_unary("rsqrt", "rsqrt", lambda z: 1 / np.sqrt(z))
_unary("sine", "sin", np.sin)
_unary("sqrt", "sqrt", np.sqrt)
_unary("tan", "tan", np.tan)
_unary("tanh", "tanh", np.tanh)


@meaning("stablehlo.logistic", pointwise=True, quantized=numbers("C1"))
def logistic(call: Call) -> Array:
    """1 / (1 + e^-operand), of floats as the specification has it in three operations, each of them rounded; of complex
    numbers correctly rounded"""
    (x,) = same_types(call)
    fmt = of_kinds(call, "I1", *REAL_OR_COMPLEX)
    if fmt.is_complex:
        return of_torch("aten::sigmoid", x, fallback=lambda z: 1 / (1 + np.exp(-z)))
    one = np.broadcast_to(round_to(fmt, np.float64(1)), x.shape)
    power = of_torch("aten::exp", of_torch("aten::neg", x))
    return of_torch("aten::div.Tensor", one, of_torch("aten::add.Tensor", one, power))


def _rounding(name: str, torch_name: str) -> None:
    def function(call: Call) -> Array:
        (x,) = same_types(call)
        of_kinds(call, "I1", "float")
        return of_torch(f"aten::{torch_name}", x)

    function.__doc__ = f"{name}(operand), a number of the format"
    meaning(f"stablehlo.{name}", pointwise=True, selects=True, quantized=numbers("C1"))(function)


_rounding("ceil", "ceil")
_rounding("floor", "floor")
_rounding("round_nearest_even", "round")


@meaning("stablehlo.round_nearest_afz", pointwise=True, selects=True, quantized=numbers("C1"))
def round_nearest_afz(call: Call) -> Array:
    """The integer nearest to operand, of two the one farther from 0; the sign of a zero is kept"""
    (x,) = same_types(call)
    fmt = of_kinds(call, "I1", "float")
    number = x.astype(np.float64)
    with np.errstate(all="ignore"):
        lower = np.floor(np.abs(number))
        rounded = lower + (np.abs(number) - lower >= 0.5)
        return round_to(fmt, np.where(np.isfinite(number), np.copysign(rounded, number), number))


@meaning("stablehlo.abs", pointwise=True, selects=True, quantized=numbers("C2"))
def abs_(call: Call) -> Array:
    """|operand|, of complex numbers a real one; the smallest integer stays"""
    operand = call.operands[0]
    fmt = of_kinds(call, "I1", "int", "float", "complex")
    result = call.results[0]
    call.require("C1", result.holds(result.dtype, operand.shape), f"{operand} with the result {result}")
    expected = fmt.component.name if fmt.is_complex else fmt.name
    call.require("C2", result.dtype == expected, f"{operand} with the result {result}")
    return _modulus(fmt, operand.array) if fmt.is_complex else of_torch("aten::abs", operand.array)


def _modulus(fmt: Format, z: Array) -> Array:
    with np.errstate(all="ignore"):
        golden = semantics.find("aten::abs").function(z)
        special = ~np.isfinite(z.real) | ~np.isfinite(z.imag)
        wide = np.hypot(z.real.astype(np.float64), z.imag.astype(np.float64))
        return np.where(special, round_to(fmt.component, wide), golden.value).astype(fmt.component.storage)


@meaning("stablehlo.negate", pointwise=True, selects=True, quantized=numbers("C1"))
def negate(call: Call) -> Array:
    """-operand; integers wrap"""
    (x,) = same_types(call)
    of_kinds(call, "I1", *NUMBERS)
    return of_torch("aten::neg", x)


@meaning("stablehlo.sign", pointwise=True, selects=True, quantized=numbers("C1"))
def sign(call: Call) -> Array:
    """-1, 0 or 1; a zero keeps its sign, NaN stays; of complex numbers operand / |operand|"""
    (x,) = same_types(call)
    fmt = of_kinds(call, "I1", "int", "float", "complex")
    if fmt.is_complex:
        return _complex_sign(fmt, x)
    if fmt.is_integer:
        return np.sign(x.astype(np.int64)).astype(fmt.storage)
    number = x.astype(np.float64)
    return round_to(fmt, np.where((number == 0) | np.isnan(number), number, np.copysign(1.0, number)))


def _complex_sign(fmt: Format, z: Array) -> Array:
    size = np.zeros(z.shape, fmt.storage)
    size.real = _modulus(fmt, z)
    zero, nan = z == 0, np.isnan(z)
    quotient = of_torch("aten::div.Tensor", z, np.where(zero | nan, 1, size).astype(fmt.storage), fallback=np.divide)
    settled = np.where(nan, complex(np.nan, np.nan), 0)
    return np.where(zero | nan, settled, quotient).astype(fmt.storage)


@meaning("stablehlo.is_finite", pointwise=True, quantized=PER_TENSOR)
def is_finite(call: Call) -> Array:
    """Whether x is neither infinite nor NaN, which no quantized number is"""
    x, y = call.operands[0], call.results[0]
    call.require("C1", y.holds("bool", x.shape), f"{x} with the result {y}")
    if x.quantization is not None:
        return np.ones(x.shape, np.bool_)
    of_kinds(call, "I1", "float")
    return np.isfinite(x.array.astype(np.float64))


# Arithmetic of two numbers


def _arithmetic(name: str, torch_name: str, fallback: Callable[[Array, Array], Array], *kinds: str) -> None:
    def function(call: Call) -> Array:
        x, y = same_types(call)
        of_kinds(call, "I1", *kinds)
        return of_torch(f"aten::{torch_name}.Tensor", x, y, fallback=fallback)

    function.__doc__ = f"{name} of lhs and rhs, rounded once; integers wrap"
    rule = ADDED if name == "add" else numbers("C1")
    meaning(f"stablehlo.{name}", pointwise=True, quantized=rule)(function)


_arithmetic("add", "add", np.add, "bool", *NUMBERS)
_arithmetic("subtract", "sub", np.subtract, *NUMBERS)
_arithmetic("multiply", "mul", np.multiply, "bool", *NUMBERS)


@meaning("stablehlo.divide", pointwise=True, quantized=numbers("C1"))
def divide(call: Call) -> Array:
    """lhs / rhs; of integers toward zero"""
    x, y = same_types(call)
    fmt = of_kinds(call, "I1", *NUMBERS)
    if not fmt.is_integer:
        return of_torch("aten::div.Tensor", x, y, fallback=np.divide)
    return _quotient(fmt, x, y)


def _quotient(fmt: Format, x: Array, y: Array) -> Array:
    safe = np.where((y == 0) | _wraps(fmt, x, y), 1, y).astype(x.dtype)
    wide = (
        (x.astype(np.uint64), safe.astype(np.uint64))
        if fmt.kind == "uint"
        else (x.astype(np.int64), safe.astype(np.int64))
    )
    quotient = wide[0] // wide[1]
    quotient = quotient + ((quotient * wide[1] != wide[0]) & (quotient < 0)).astype(quotient.dtype)
    all_bits = fmt.max_value if fmt.kind == "uint" else -1
    return np.where(y == 0, np.array(all_bits).astype(fmt.storage), quotient.astype(fmt.storage)).astype(fmt.storage)


def _wraps(fmt: Format, x: Array, y: Array) -> Array:
    """Where the smallest integer is divided by -1."""
    return (x == fmt.min_value) & (y == -1) if fmt.kind == "int" else np.zeros(x.shape, bool)


@meaning("stablehlo.remainder", pointwise=True, selects=True, quantized=numbers("C1"))
def remainder(call: Call) -> Array:
    """lhs less the multiple of rhs that lhs / rhs, toward zero, is: it has the sign of lhs; not of complex numbers, of
    which the specification leaves it open"""
    x, y = same_types(call)
    fmt = of_kinds(call, "I1", "int", "uint", "float")
    if fmt.is_float:
        return _signed_as(of_torch("aten::fmod.Tensor", x, y), x)
    wide = np.uint64 if fmt.kind == "uint" else np.int64
    safe = np.where((y == 0) | _wraps(fmt, x, y), 1, y).astype(wide)
    rest = np.fmod(x.astype(wide), safe).astype(fmt.storage)
    return np.where(y == 0, x, rest).astype(fmt.storage)


def _signed_as(result: Array, x: Array) -> Array:
    """A zero has the sign of x."""
    number = result.astype(np.float64)
    return np.where(number == 0, np.copysign(0.0, x.astype(np.float64)), number).astype(result.dtype)


@meaning("stablehlo.power", pointwise=True, quantized=numbers("C1"))
def power(call: Call) -> Array:
    """lhs to the power of rhs; integers wrap, and a negative power of them is 1 or -1 of 1 and -1, 0 of all others"""
    x, y = same_types(call)
    fmt = of_kinds(call, "I1", *NUMBERS)
    if not fmt.is_integer:
        return of_torch("aten::pow.Tensor_Tensor", x, y, fallback=np.power)
    return _integer_power(fmt, x, y)


def _integer_power(fmt: Format, x: Array, y: Array) -> Array:
    base, result = codes_of(x, fmt), np.ones(x.shape, np.uint64)
    left = np.where(y < 0, 0, y).astype(np.uint64)
    while left.any():
        result = np.where(left & np.uint64(1), result * base, result)
        base, left = base * base, left >> np.uint64(1)
    powers = of_codes(result, fmt)
    if fmt.kind == "uint":
        return powers
    odd = (y.astype(np.int64) & 1).astype(bool)
    of_negative = np.where(x == 1, 1, np.where(x == -1, np.where(odd, -1, 1), 0))
    return np.where(y < 0, of_negative.astype(fmt.storage), powers).astype(fmt.storage)


@meaning("stablehlo.atan2", pointwise=True, quantized=numbers("C1"))
def atan2(call: Call) -> Array:
    """The angle of the point (rhs, lhs); of complex numbers -i log((rhs + i lhs) / sqrt(rhs^2 + lhs^2)), correctly
    rounded"""
    y, x = same_types(call)
    fmt = of_kinds(call, "I1", *REAL_OR_COMPLEX)
    if not fmt.is_complex:
        return of_torch("aten::atan2", y, x)
    return _complex_angle(fmt, y.astype(np.complex128), x.astype(np.complex128))


def _complex_angle(fmt: Format, y: Array, x: Array) -> Array:
    """By numpy where an operand is not finite, and at the poles."""
    with np.errstate(all="ignore"):
        elsewhere = rounded_complex(fmt, -1j * np.log((x + 1j * y) / np.sqrt(x * x + y * y)))
    is_finite = np.isfinite(y) & np.isfinite(x)
    operands = (np.where(is_finite, part, 0.5) for part in (y.real, y.imag, x.real, x.imag))
    found = complex_parts.apply("atan2", fmt.component, *operands)
    return np.where(is_finite & ~found.beyond, joined(fmt, found.value), elsewhere)


# Parts of complex numbers


@meaning("stablehlo.complex", pointwise=True, selects=True)
def complex_(call: Call) -> Array:
    """The complex number of the real part lhs and the imaginary part rhs"""
    lhs, rhs = call.operands
    call.require("I1", lhs.dtype in ("float32", "float64"), f"an operand of {lhs.dtype}, expected float32 or float64")
    call.require("C1", (lhs.dtype, lhs.shape) == (rhs.dtype, rhs.shape), f"operands of the types {lhs} and {rhs}")
    result = call.results[0]
    call.require("C2", result.holds(result.dtype, lhs.shape), f"{lhs} with the result {result}")
    name = "complex64" if lhs.dtype == "float32" else "complex128"
    call.require("C3", result.dtype == name, f"{lhs} with the result {result}")
    joined = np.empty(lhs.shape, name)
    joined.real, joined.imag = lhs.array, rhs.array
    return joined


def _part(name: str, of_real: Callable[[Array], Array]) -> None:
    def function(call: Call) -> Array:
        operand, result = call.operands[0], call.results[0]
        fmt = of_kinds(call, "I1", *REAL_OR_COMPLEX)
        expected = fmt.component.name if fmt.is_complex else fmt.name
        call.require("C1", result.holds(result.dtype, operand.shape), f"{operand} with the result {result}")
        call.require("C2", result.dtype == expected, f"{operand} with the result {result}")
        return getattr(operand.array, name).copy() if fmt.is_complex else of_real(operand.array)

    function.__doc__ = f"The {name} part of operand"
    meaning(f"stablehlo.{name}", pointwise=True, selects=True)(function)


_part("real", lambda x: x)
_part("imag", np.zeros_like)
