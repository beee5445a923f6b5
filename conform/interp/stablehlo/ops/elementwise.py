"""Ops of one element of each operand. What a function means is what it means for torch's operators.

Of integers where the specification says nothing, the answers are those of two's complement machines that do not trap:
x / 0 = -1 (all bits), x rem 0 = x, MIN / -1 = MIN, MIN rem -1 = 0 (as RISC-V has them, M extension, table 11); shifts by
as many bits as there are, or more, leave 0, an arithmetic one the sign. Complex numbers that are not finite, or overflow
on the way, are computed by the formula in complex128 and rounded (docs/stablehlo.md).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conform.interp import semantics
from conform.interp.stablehlo.registry import Call, meaning
from conform.interp.stablehlo.values import Tensor
from conform.numerics.formats import Format, format_of
from conform.numerics.rounding import round_to

Array = np.ndarray


# Operands


def same_types(call: Call, constraint: str = "C1") -> tuple[Array, ...]:
    """The arrays of operands that have one type, which is the result's."""
    first = call.operands[0]
    for other in call.operands[1:]:
        call.require(constraint, (other.dtype, other.shape) == (first.dtype, first.shape),
                     f"operands of the types {first} and {other}")  # fmt: skip
    result = call.results[0]
    call.require(constraint, result.holds(first.dtype, first.shape), f"{first} with the result {result}")
    return tuple(one.array for one in call.operands)


def of_kinds(call: Call, label: str, *kinds: str) -> Format:
    """The format of the first operand; `label`: the name of the input (I1) that may be of these kinds alone."""
    fmt = call.operands[0].format
    call.require(label, fmt.kind in kinds, f"an operand of {fmt.name}, expected {', '.join(kinds)}")
    return fmt


NUMBERS = ("int", "uint", "float", "complex")
REAL_OR_COMPLEX = ("float", "complex")


def of_torch(name: str, *operands: Array, fallback: Callable[..., Array] | None = None) -> Array:
    """The correctly rounded value that torch's operator `name` has; where its meaning is open, `fallback` in
    complex128, rounded."""
    with np.errstate(all="ignore"):
        found = semantics.find(name).function(*operands)
        golden = getattr(found, "goldens", (found,))[0]
        if fallback is None or golden.open is None or not golden.open.any():
            return golden.value
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
    meaning(f"stablehlo.{name}", pointwise=True)(function)


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


@meaning("stablehlo.logistic", pointwise=True)
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


@meaning("stablehlo.cbrt", pointwise=True)
def cbrt(call: Call) -> Array:
    """The number whose cube is operand: of complex numbers the principal one, e^(log(operand) / 3), by numpy in
    complex128"""
    (x,) = same_types(call)
    fmt = of_kinds(call, "I1", *REAL_OR_COMPLEX)
    if not fmt.is_complex:
        return of_torch("aten::cbrt", x)
    with np.errstate(all="ignore"):
        return rounded_complex(fmt, np.power(x.astype(np.complex128), 1 / 3))


def _rounding(name: str, torch_name: str) -> None:
    def function(call: Call) -> Array:
        (x,) = same_types(call)
        of_kinds(call, "I1", "float")
        return of_torch(f"aten::{torch_name}", x)

    function.__doc__ = f"{name}(operand), a number of the format"
    meaning(f"stablehlo.{name}", pointwise=True)(function)


_rounding("ceil", "ceil")
_rounding("floor", "floor")
_rounding("round_nearest_even", "round")


@meaning("stablehlo.round_nearest_afz", pointwise=True)
def round_nearest_afz(call: Call) -> Array:
    """The integer nearest to operand, of two the one farther from 0; the sign of a zero is kept"""
    (x,) = same_types(call)
    fmt = of_kinds(call, "I1", "float")
    number = x.astype(np.float64)
    with np.errstate(all="ignore"):
        lower = np.floor(np.abs(number))
        rounded = lower + (np.abs(number) - lower >= 0.5)
        return round_to(fmt, np.where(np.isfinite(number), np.copysign(rounded, number), number))


@meaning("stablehlo.abs", pointwise=True)
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


@meaning("stablehlo.negate", pointwise=True)
def negate(call: Call) -> Array:
    """-operand; integers wrap"""
    (x,) = same_types(call)
    of_kinds(call, "I1", *NUMBERS)
    return of_torch("aten::neg", x)


@meaning("stablehlo.sign", pointwise=True)
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


@meaning("stablehlo.is_finite", pointwise=True)
def is_finite(call: Call) -> Array:
    """Whether x is neither infinite nor NaN"""
    x, y = call.operands[0], call.results[0]
    of_kinds(call, "I1", "float")
    call.require("C1", y.holds("bool", x.shape), f"{x} with the result {y}")
    return np.isfinite(x.array.astype(np.float64))


# Bits of integers


def _codes(x: Array, fmt: Format) -> Array:
    """Two's complement in uint64."""
    return x.astype(np.int64).astype(np.uint64) & np.uint64(2**fmt.bits - 1) if fmt.kind == "int" else x.astype(np.uint64)


def _of_codes(codes: Array, fmt: Format) -> Array:
    """The integers of `fmt` whose low bits these are."""
    low = codes & np.uint64(2**fmt.bits - 1)
    if fmt.kind == "uint":
        return low.astype(fmt.storage)
    shift = np.int64(64 - fmt.bits)
    return ((low.view(np.int64) << shift) >> shift).astype(fmt.storage)


def _bit_counts(codes: Array) -> Array:
    return np.unpackbits(np.ascontiguousarray(codes)[..., None].view(np.uint8), axis=-1).sum(-1)


@meaning("stablehlo.popcnt", pointwise=True)
def popcnt(call: Call) -> Array:
    """How many bits of operand are set"""
    (x,) = same_types(call)
    fmt = of_kinds(call, "I1", "int", "uint")
    return _of_codes(_bit_counts(_codes(x, fmt)).astype(np.uint64), fmt)


@meaning("stablehlo.count_leading_zeros", pointwise=True)
def count_leading_zeros(call: Call) -> Array:
    """How many bits of operand are clear above its highest set bit"""
    (x,) = same_types(call)
    fmt = of_kinds(call, "I1", "int", "uint")
    codes = _codes(x, fmt)
    for shift in (1, 2, 4, 8, 16, 32):  # every bit below the highest one is set
        codes = codes | codes >> np.uint64(shift)
    return _of_codes((fmt.bits - _bit_counts(codes)).astype(np.uint64), fmt)


@meaning("stablehlo.not", pointwise=True)
def not_(call: Call) -> Array:
    """The bits that are not set; of bools, not"""
    (x,) = same_types(call)
    of_kinds(call, "I1", "bool", "int", "uint")
    return of_torch("aten::bitwise_not", x)


def _bitwise(name: str) -> None:
    def function(call: Call) -> Array:
        x, y = same_types(call)
        of_kinds(call, "I1", "bool", "int", "uint")
        return of_torch(f"aten::bitwise_{name}.Tensor", x, y)

    function.__doc__ = f"{name} of the bits, or of bools"
    meaning(f"stablehlo.{name}", pointwise=True)(function)


for one in ("and", "or", "xor"):
    _bitwise(one)


@meaning("stablehlo.shift_left", pointwise=True)
def shift_left(call: Call) -> Array:
    """lhs * 2^rhs, rhs unsigned; the bits beyond are lost, 0 where all are"""
    return _shifted(call, lambda codes, by, fmt: codes << by)


@meaning("stablehlo.shift_right_logical", pointwise=True)
def shift_right_logical(call: Call) -> Array:
    """The bits of lhs moved down by rhs, unsigned, with zeros from above"""
    return _shifted(call, lambda codes, by, fmt: codes >> by)


def _shifted(call: Call, shift: Callable[[Array, Array, Format], Array]) -> Array:
    x, y = same_types(call)
    fmt = of_kinds(call, "I1", "int", "uint")
    by = _codes(y, fmt)
    beyond = by >= fmt.bits
    moved = shift(_codes(x, fmt), np.where(beyond, np.uint64(0), by), fmt)
    return _of_codes(np.where(beyond, np.uint64(0), moved), fmt)


@meaning("stablehlo.shift_right_arithmetic", pointwise=True)
def shift_right_arithmetic(call: Call) -> Array:
    """The bits of lhs moved down by rhs, unsigned, with copies of the highest bit from above"""
    x, y = same_types(call)
    fmt = of_kinds(call, "I1", "int", "uint")
    unused = np.int64(64 - fmt.bits)
    signed = (_codes(x, fmt).view(np.int64) << unused) >> unused
    by = np.minimum(_codes(y, fmt), np.uint64(fmt.bits - 1)).astype(np.int64)
    return _of_codes((signed >> by).view(np.uint64), fmt)


# Arithmetic of two numbers


def _arithmetic(name: str, torch_name: str, fallback: Callable[[Array, Array], Array], *kinds: str) -> None:
    def function(call: Call) -> Array:
        x, y = same_types(call)
        of_kinds(call, "I1", *kinds)
        return of_torch(f"aten::{torch_name}.Tensor", x, y, fallback=fallback)

    function.__doc__ = f"{name} of lhs and rhs, rounded once; integers wrap"
    meaning(f"stablehlo.{name}", pointwise=True)(function)


_arithmetic("add", "add", np.add, "bool", *NUMBERS)
_arithmetic("subtract", "sub", np.subtract, *NUMBERS)
_arithmetic("multiply", "mul", np.multiply, "bool", *NUMBERS)


@meaning("stablehlo.divide", pointwise=True)
def divide(call: Call) -> Array:
    """lhs / rhs; of integers toward zero"""
    x, y = same_types(call)
    fmt = of_kinds(call, "I1", *NUMBERS)
    if not fmt.is_integer:
        return of_torch("aten::div.Tensor", x, y, fallback=np.divide)
    return _quotient(fmt, x, y)


def _quotient(fmt: Format, x: Array, y: Array) -> Array:
    safe = np.where((y == 0) | _wraps(fmt, x, y), 1, y).astype(x.dtype)
    wide = (x.astype(np.uint64), safe.astype(np.uint64)) if fmt.kind == "uint" else (x.astype(np.int64), safe.astype(np.int64))
    quotient = wide[0] // wide[1]
    quotient = quotient + ((quotient * wide[1] != wide[0]) & (quotient < 0)).astype(quotient.dtype)
    all_bits = fmt.max_value if fmt.kind == "uint" else -1
    return np.where(y == 0, np.array(all_bits).astype(fmt.storage), quotient.astype(fmt.storage)).astype(fmt.storage)


def _wraps(fmt: Format, x: Array, y: Array) -> Array:
    """Where the smallest integer is divided by -1."""
    return (x == fmt.min_value) & (y == -1) if fmt.kind == "int" else np.zeros(x.shape, bool)


@meaning("stablehlo.remainder", pointwise=True)
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


@meaning("stablehlo.power", pointwise=True)
def power(call: Call) -> Array:
    """lhs to the power of rhs; integers wrap, and a negative power of them is 1 or -1 of 1 and -1, 0 of all others"""
    x, y = same_types(call)
    fmt = of_kinds(call, "I1", *NUMBERS)
    if not fmt.is_integer:
        return of_torch("aten::pow.Tensor_Tensor", x, y, fallback=np.power)
    return _integer_power(fmt, x, y)


def _integer_power(fmt: Format, x: Array, y: Array) -> Array:
    base, result = _codes(x, fmt), np.ones(x.shape, np.uint64)
    left = np.where(y < 0, 0, y).astype(np.uint64)
    while left.any():
        result = np.where(left & np.uint64(1), result * base, result)
        base, left = base * base, left >> np.uint64(1)
    powers = _of_codes(result, fmt)
    if fmt.kind == "uint":
        return powers
    odd = (y.astype(np.int64) & 1).astype(bool)
    of_negative = np.where(x == 1, 1, np.where(x == -1, np.where(odd, -1, 1), 0))
    return np.where(y < 0, of_negative.astype(fmt.storage), powers).astype(fmt.storage)


@meaning("stablehlo.atan2", pointwise=True)
def atan2(call: Call) -> Array:
    """The angle of the point (rhs, lhs); of complex numbers -i log((rhs + i lhs) / sqrt(rhs^2 + lhs^2)), by numpy in
    complex128"""
    y, x = same_types(call)
    fmt = of_kinds(call, "I1", *REAL_OR_COMPLEX)
    if not fmt.is_complex:
        return of_torch("aten::atan2", y, x)
    y, x = y.astype(np.complex128), x.astype(np.complex128)
    with np.errstate(all="ignore"):
        return rounded_complex(fmt, -1j * np.log((x + 1j * y) / np.sqrt(x * x + y * y)))


@meaning("stablehlo.maximum", pointwise=True)
def maximum(call: Call) -> Array:
    """The larger of lhs and rhs: NaN if either is, +0 rather than -0; of complex numbers by (real, imag)"""
    x, y = same_types(call)
    return extreme(x, y, +1)


@meaning("stablehlo.minimum", pointwise=True)
def minimum(call: Call) -> Array:
    """The smaller of lhs and rhs: NaN if either is, -0 rather than +0; of complex numbers by (real, imag)"""
    x, y = same_types(call)
    return extreme(x, y, -1)


def extreme(x: Array, y: Array, direction: int) -> Array:
    """The larger (+1) or smaller (-1) of each pair, as IEEE 754-2019, 9.6, has maximum and minimum."""
    fmt = format_of(x)
    with np.errstate(all="ignore"):
        if fmt.is_complex:
            return np.where(_lexicographic(x, y, direction), x, y)
        ahead = x >= y if direction > 0 else x <= y
        chosen = np.where(ahead | (x != x), x, y)
        if fmt.is_float and fmt.has_negative_zero:
            negative = np.signbit(x.astype(np.float64)) if direction < 0 else ~np.signbit(x.astype(np.float64))
            chosen = np.where((x == 0) & (y == 0), np.where(negative, x, y), chosen)
        return chosen.astype(fmt.storage)


def _lexicographic(x: Array, y: Array, direction: int) -> Array:
    """Where x comes first; of NaNs the first operand's, then the second's."""
    lhs, rhs = (x, y) if direction > 0 else (y, x)
    ahead = (lhs.real > rhs.real) | ((lhs.real == rhs.real) & (lhs.imag >= rhs.imag))
    return (ahead & ~np.isnan(y)) | np.isnan(x)


# Parts of complex numbers


@meaning("stablehlo.complex", pointwise=True)
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
    meaning(f"stablehlo.{name}", pointwise=True)(function)


_part("real", lambda x: x)
_part("imag", np.zeros_like)


# Choice


@meaning("stablehlo.select", pointwise=True)
def select(call: Call) -> Array:
    """on_true where pred, on_false elsewhere; a 0-dimensional pred chooses all"""
    pred, on_true, on_false = call.operands
    call.require("I1", pred.dtype == "bool", f"a pred of {pred.dtype}")
    call.require("C1", pred.rank == 0 or pred.shape == on_true.shape, f"{pred} to choose from {on_true}")
    call.require("C2", (on_true.dtype, on_true.shape) == (on_false.dtype, on_false.shape)
                 and call.results[0].holds(on_true.dtype, on_true.shape),
                 f"{on_true} and {on_false} with the result {call.results[0]}")  # fmt: skip
    return np.where(pred.array, on_true.array, on_false.array)


@meaning("stablehlo.clamp", pointwise=True)
def clamp(call: Call) -> Array:
    """minimum(maximum(operand, min), max)"""
    low, operand, high = call.operands
    call.require("C1", low.rank == 0 or low.shape == operand.shape, f"a min of {low} for {operand}")
    call.require("C2", high.rank == 0 or high.shape == operand.shape, f"a max of {high} for {operand}")
    call.require("C3", low.dtype == operand.dtype == high.dtype, f"{low}, {operand} and {high}")
    call.require("C4", call.results[0].holds(operand.dtype, operand.shape),
                 f"{operand} with the result {call.results[0]}")  # fmt: skip
    lows, highs = (np.broadcast_to(one.array, operand.shape) for one in (low, high))
    return extreme(extreme(operand.array, lows, +1), highs, -1)


DIRECTIONS = {"EQ": np.equal, "NE": np.not_equal, "GE": np.greater_equal, "GT": np.greater, "LE": np.less_equal,
              "LT": np.less}  # fmt: skip


@meaning("stablehlo.compare", pointwise=True)
def compare(call: Call) -> Array:
    """lhs against rhs as comparison_direction says; with compare_type TOTALORDER by IEEE 754's totalOrder"""
    lhs, rhs = call.operands
    call.require("C1", lhs.dtype == rhs.dtype, f"operands of the types {lhs} and {rhs}")
    call.require("C2", lhs.shape == rhs.shape and call.results[0].holds("bool", lhs.shape),
                 f"{lhs} and {rhs} with the result {call.results[0]}")  # fmt: skip
    kinds = {"int": ("SIGNED",), "uint": ("UNSIGNED",), "bool": ("UNSIGNED",), "float": ("FLOAT", "TOTALORDER"),
             "complex": ("FLOAT",)}[lhs.format.kind]  # fmt: skip
    kind = call.get("compare_type", kinds[0])
    kind = kinds[0] if kind == "NOTYPE" else kind
    call.require("C3", kind in kinds, f"compare_type {kind} of {lhs.dtype}, expected {' or '.join(kinds)}")
    holds = DIRECTIONS[call.attributes["comparison_direction"]]
    if kind == "TOTALORDER":
        return holds(_total_order(lhs), _total_order(rhs))
    if not lhs.format.is_complex:
        return holds(lhs.array, rhs.array)
    return _compared(holds, lhs.array, rhs.array)


def _total_order(x: Tensor) -> Array:
    """An integer for each code: negative ones in the opposite order, -0 before +0, NaN beyond infinity by its sign."""
    codes = np.ascontiguousarray(x.array).view(x.format.code_storage).astype(np.int64)
    if x.format.bits == 64:
        return np.where(codes < 0, codes ^ np.int64(2**63 - 1), codes)
    sign = np.int64(1 << (x.format.bits - 1))
    return np.where(codes & sign, -(codes & (sign - 1)) - 1, codes) if x.format.is_signed else codes


def _compared(holds: np.ufunc, lhs: Array, rhs: Array) -> Array:
    """By (real, imag)."""
    if holds in (np.equal, np.not_equal):
        return holds(lhs, rhs)
    strict = np.greater if holds in (np.greater, np.greater_equal) else np.less
    return strict(lhs.real, rhs.real) | ((lhs.real == rhs.real) & holds(lhs.imag, rhs.imag))
