"""Operands of an elementwise op in its common dtype: converted, broadcast, and as exact float64 numbers."""

from __future__ import annotations

import numpy as np

from conform.errors import InvalidArguments
from conform.interp.numerics.formats import FORMATS, Format, format_of
from conform.interp.numerics.rounding import convert
from conform.interp.promotion import Operand, category, format_of_operand


def compute_format(fmt: Format) -> Format:
    """What an implementation computes in: float32 for the formats narrower than it, else the format itself."""
    return FORMATS["float32"] if fmt.is_float and fmt.bits < 32 else fmt


def converted(operand: Operand, fmt: Format) -> np.ndarray:
    """`operand` in `fmt`, rounded once where it does not fit; a Python number that overflows an integer format is an error."""
    if not isinstance(operand, np.ndarray):
        return _converted_number(operand, fmt)
    source = format_of(operand)
    return operand if source is fmt else convert(operand, source, fmt)


def _converted_number(number: bool | int | float | complex, fmt: Format) -> np.ndarray:
    if fmt.is_integer:
        # torch lets a negative number wrap into an unsigned dtype, if its magnitude fits (c10/util/TypeCast.h, overflows).
        smallest = fmt.min_value if fmt.kind == "int" else -fmt.max_value
        if not smallest <= int(number) <= fmt.max_value:
            raise InvalidArguments(f"value {number} cannot be converted to {fmt.name} without overflow")
        return np.array(int(number) % 2**fmt.bits, dtype=fmt.code_storage).view(fmt.storage)
    if fmt.kind == "bool":
        return np.array(bool(number))
    if fmt.is_complex:
        return np.array(complex(number)).astype(fmt.storage)
    return convert(np.array(float(number)), FORMATS["float64"], fmt)


def numbers(operand: Operand, fmt: Format) -> np.ndarray:
    """The float64 numbers that `operand` stands for in an op whose common dtype is the float format `fmt`.

    Tensors are rounded to `fmt` first. A Python number, or a 0-d tensor wider than `fmt`, is read as its own value: the
    default reading of policy P30.
    """
    if not isinstance(operand, np.ndarray):
        return np.float64(operand)
    source = format_of(operand)
    if operand.ndim == 0 and source.is_float and source.bits > fmt.bits:
        return operand.astype(np.float64)
    return converted(operand, fmt).astype(np.float64)


def broadcast_numbers(fmt: Format, *operands: Operand) -> list[np.ndarray]:
    """The operands as float64 numbers of one shape."""
    return list(_broadcast([numbers(operand, fmt) for operand in operands]))


def broadcast_converted(fmt: Format, *operands: Operand) -> list[np.ndarray]:
    """The operands in `fmt`, of one shape."""
    return list(_broadcast([converted(operand, fmt) for operand in operands]))


def _broadcast(arrays: list[np.ndarray]) -> list[np.ndarray]:
    try:
        return np.broadcast_arrays(*arrays)
    except ValueError:
        shapes = " and ".join(str(list(array.shape)) for array in arrays)
        raise InvalidArguments(f"shapes {shapes} do not broadcast") from None


def number_of(fmt: Format, value: bool | int | float, argument: str) -> int | float:
    """A Scalar parameter (alpha, beta) as the op's dtype lets it be: integral dtypes take no floats."""
    if category(fmt) < 2 and category(format_of_operand(value)) >= 2:
        raise InvalidArguments(f"argument {argument} must not be a floating point number for {fmt.name} tensors, got {value}")
    return value
