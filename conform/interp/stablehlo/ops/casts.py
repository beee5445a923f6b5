"""From one element type to another."""

from __future__ import annotations

from math import prod

import numpy as np

from conform.interp.stablehlo.ops.elementwise import of_kinds, same_types
from conform.interp.stablehlo.quantized import INTEGERS, numbers
from conform.interp.stablehlo.registry import Call, meaning
from conform.interp.stablehlo.values import Tensor, contiguous
from conform.numerics.formats import Format, format_named
from conform.numerics.rounding import convert as converted
from conform.numerics.rounding import widened


@meaning("stablehlo.convert", pointwise=True)
def convert(call: Call) -> np.ndarray:
    """operand in another element type: floats rounded once to nearest even, what overflows is infinite (NaN where there
    is no infinity, the largest number where there is neither); integers wrap. Floats toward zero to integers: NaN gives
    0, what lies beyond the range its end"""
    operand, result = call.operands[0], call.results[0]
    call.require("C1", result.holds(result.dtype, operand.shape), f"{operand} with the result {result}")
    return cast(operand.array, operand.format, format_named(result.dtype))


def cast(array: np.ndarray, source: Format, fmt: Format) -> np.ndarray:
    if source.is_complex and fmt.is_integer:
        return cast(array.real, source.component, fmt)
    if source.is_float and fmt.is_integer:
        return _saturated(widened(array, source), fmt)
    return converted(array, source, fmt)


def _saturated(x: np.ndarray, fmt: Format) -> np.ndarray:
    above, below = x >= float(fmt.max_value + 1), x < float(fmt.min_value)
    inside = np.where(np.isnan(x) | above | below, 0.0, np.trunc(x))
    integers = inside.astype(np.uint64 if fmt.kind == "uint" else np.int64)
    ends = np.where(above, np.array(fmt.max_value, integers.dtype), np.array(fmt.min_value, integers.dtype))
    return np.where(above | below, ends, integers).astype(fmt.storage)


@meaning("stablehlo.reduce_precision", pointwise=True, selects=True, quantized=numbers("C1"))
def reduce_precision(call: Call) -> np.ndarray:
    """operand with its mantissa rounded to mantissa_bits, to nearest even; where exponent_bits are fewer than it has,
    infinite beyond their range, and a zero of its sign below the smallest normal number that they have"""
    (x,) = same_types(call)
    fmt = of_kinds(call, "I1", "float")
    exponent_bits, mantissa_bits = (int(call.attributes[name]) for name in ("exponent_bits", "mantissa_bits"))
    call.require("C2", exponent_bits >= 1, f"exponent_bits {exponent_bits}")
    call.require("C3", mantissa_bits >= 0, f"mantissa_bits {mantissa_bits}")
    number, bias = x.astype(np.float64), 2 ** (exponent_bits - 1) - 1
    is_narrower = exponent_bits < fmt.exponent_bits
    emax = bias if is_narrower else fmt.emax
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(number)[1], fmt.emin + 1)  # subnormals have the places of the smallest exponent
        bits = min(mantissa_bits, fmt.mantissa_bits)
        rounded = np.ldexp(np.rint(np.ldexp(number, bits + 1 - exponent)), exponent - 1 - bits)
        beyond = np.abs(rounded) >= 2.0 ** (emax + 1) if emax < 1023 else np.isinf(rounded)
        rounded = np.where(beyond, np.copysign(np.inf, number), rounded)
        if is_narrower:
            rounded = np.where(np.abs(rounded) < 2.0 ** (1 - bias), np.copysign(0.0, number), rounded)
        return np.where(np.isfinite(number), rounded, number).astype(fmt.storage)


@meaning("stablehlo.bitcast_convert", selects=True, quantized=INTEGERS)
def bitcast_convert(call: Call) -> np.ndarray:
    """The bits of operand read as another element type, the lowest first; wider elements are made of a last dimension
    of narrower ones, or fall apart into one"""
    operand, result = call.operands[0], call.results[0]
    source, fmt = operand.format, format_named(result.dtype)
    wide, narrow = _bits(source), _bits(fmt)
    if narrow <= wide:
        shape = operand.shape if narrow == wide else (*operand.shape, wide // narrow)
    else:
        call.require("C1", operand.rank > 0 and operand.shape[-1] * wide == narrow,
                     f"{operand} with the result {result}")  # fmt: skip
        shape = operand.shape[:-1]
    call.require("C1", result.holds(result.dtype, shape), f"{operand} with the result {result}")
    call.require("C2", source.is_complex == fmt.is_complex, f"{operand} with the result {result}")
    return _from_bits(_to_bits(operand), fmt, shape)


def _bits(fmt: Format) -> int:
    return 1 if fmt.kind == "bool" else fmt.bits


def _to_bits(operand: Tensor) -> np.ndarray:
    """[bits], the lowest of each element first."""
    bytes_ = contiguous(operand.array).reshape(-1, 1).view(np.uint8)
    return np.unpackbits(bytes_, axis=1, bitorder="little")[:, : _bits(operand.format)].reshape(-1)


def _from_bits(bits: np.ndarray, fmt: Format, shape: tuple[int, ...]) -> np.ndarray:
    rows = bits.reshape(prod(shape), _bits(fmt))
    rows = np.pad(rows, [(0, 0), (0, 8 * fmt.storage.itemsize - rows.shape[1])])
    return np.packbits(rows, axis=1, bitorder="little").view(fmt.storage).reshape(shape)
