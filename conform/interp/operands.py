"""Operands of an elementwise op in its common dtype: converted, broadcast, and as exact float64 numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from conform.errors import Unjudged
from conform.interp.promotion import Operand, category
from conform.numerics.formats import FORMATS, Format, compute_format, format_of
from conform.numerics.rounding import convert


def steps_of(fmt: Format) -> tuple[Format, ...]:
    """The formats that an implementation may round its steps to: the compute type, and the element type."""
    return tuple(dict.fromkeys((compute_format(fmt), fmt)))


def conversions(source: Format, fmt: Format) -> tuple[Format, ...]:
    """The formats that an operand may be rounded to before an op computes in the common dtype `fmt`: that, or the
    compute type alone (P84)."""
    return (fmt,) if source == fmt else tuple(dict.fromkeys((fmt, compute_format(fmt))))


_IN_COMPUTE_TYPE: ContextVar[bool] = ContextVar("_IN_COMPUTE_TYPE", default=False)


@contextmanager
def excess_precision() -> Iterator[None]:
    """Within, operands of elementwise ops are rounded to the compute type, not to the common dtype (P84)."""
    before = _IN_COMPUTE_TYPE.set(True)
    try:
        yield
    finally:
        _IN_COMPUTE_TYPE.reset(before)


def refuse_complex(fmt: Format, op: str) -> None:
    """Unjudged for a complex format, of which the definition of `op` says nothing."""
    if fmt.is_complex:
        raise Unjudged(f"no semantics for {op} of complex numbers")


def converted(operand: Operand, fmt: Format) -> np.ndarray:
    """`operand` in `fmt`, rounded once where it does not fit; integers wrap (P10)."""
    if not isinstance(operand, np.ndarray):
        return _converted_number(operand, fmt)
    source = format_of(operand)
    return operand if source is fmt else convert(operand, source, fmt)


def _converted_number(number: bool | int | float | complex, fmt: Format) -> np.ndarray:
    if fmt.is_integer:
        return np.array(int(number) % 2**fmt.bits, dtype=fmt.code_storage).view(fmt.storage)
    if fmt.kind == "bool":
        return np.array(bool(number))
    if fmt.is_complex:
        return np.array(complex(number)).astype(fmt.storage)
    return convert(np.array(float(number)), FORMATS["float64"], fmt)


def numbers(operand: Operand, fmt: Format) -> np.ndarray:
    """The float64 numbers that `operand` stands for in an op whose common dtype is the float format `fmt`.

    Tensors are rounded to `fmt` first, or within `excess_precision()` to its compute type. A Python number, or a 0-d
    tensor wider than `fmt`, is read as its own value: the default reading of policy P30.
    """
    refuse_complex(fmt, "this real function")
    if not isinstance(operand, np.ndarray):
        return np.float64(operand)
    source = format_of(operand)
    if operand.ndim == 0 and source.is_float and source.bits > fmt.bits:
        return operand.astype(np.float64)
    return converted(operand, compute_format(fmt) if _IN_COMPUTE_TYPE.get() else fmt).astype(np.float64)


def complex_numbers(operand: Operand, fmt: Format) -> np.ndarray:
    """`numbers` of an op whose common dtype is the complex format `fmt`, as complex128."""
    if not isinstance(operand, np.ndarray):
        return np.array(operand, np.complex128)
    source = format_of(operand)
    component = source.component if source.is_complex else source
    own = operand.ndim == 0 and category(source) >= 2 and component.bits > fmt.component.bits
    return (operand if own else converted(operand, fmt)).astype(np.complex128)


def broadcast_complex_numbers(fmt: Format, *operands: Operand) -> list[np.ndarray]:
    """The operands as complex128 numbers of one shape."""
    return list(np.broadcast_arrays(*[complex_numbers(operand, fmt) for operand in operands]))


def broadcast_numbers(fmt: Format, *operands: Operand) -> list[np.ndarray]:
    """The operands as float64 numbers of one shape."""
    return list(np.broadcast_arrays(*[numbers(operand, fmt) for operand in operands]))


def broadcast_converted(fmt: Format, *operands: Operand) -> list[np.ndarray]:
    """The operands in `fmt`, of one shape."""
    return list(np.broadcast_arrays(*[converted(operand, fmt) for operand in operands]))
