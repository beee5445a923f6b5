"""Values as MLIR writes them: `dense<[1.0, 2.5]> : tensor<2xf32>`. Floats are the shortest decimals that their format
reads back as the same number; NaN and infinities, which MLIR has no words for, are their codes."""

from __future__ import annotations

from typing import Any

import numpy as np

from conform.interp.stablehlo.values import Tensor
from conform.numerics.formats import Format
from conform.numerics.rounding import round_to


def text(value: Any) -> str:
    """A tensor's elements and type; of a token or tuple its type."""
    if not isinstance(value, Tensor):
        values = getattr(value, "values", None)
        return str(value) if values is None else f"({', '.join(map(text, values))})"
    array = value.array
    if array.size == 0:
        return f"dense<> : {value}"
    first = array.reshape(-1)[:1]
    if array.size > 1 and (_codes(array) == _codes(first)).all():
        return f"dense<{number_text(first[0], value.format)}> : {value}"
    return f"dense<{_nested(array, value.format)}> : {value}"


def _codes(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(array.size, -1)


def _nested(array: np.ndarray, fmt: Format) -> str:
    if array.ndim == 0:
        return number_text(array[()], fmt)
    return f"[{', '.join(_nested(row, fmt) for row in array)}]"


def number_text(number: Any, fmt: Format) -> str:
    """One element."""
    if fmt.is_complex:
        return f"({number_text(number.real, fmt.component)}, {number_text(number.imag, fmt.component)})"
    if fmt.kind == "bool":
        return "true" if number else "false"
    if fmt.is_integer:
        return str(int(number))
    wide = float(number)
    if not np.isfinite(wide):
        return f"0x{int(np.asarray(number, fmt.storage).view(fmt.code_storage)):0{-(-fmt.bits // 4)}X}"
    return _with_point(_shortest(wide, fmt))


def _shortest(wide: float, fmt: Format) -> str:
    if fmt.bits == 64:
        return repr(wide)
    for digits in range(1, 18):
        decimal = f"{wide:.{digits}g}"
        if float(round_to(fmt, np.float64(float(decimal)))) == wide:
            return decimal
    return repr(wide)


def _with_point(decimal: str) -> str:
    """MLIR reads a float only with a point: 1.0e+10."""
    mantissa, mark, exponent = decimal.partition("e")
    return (mantissa if "." in mantissa else f"{mantissa}.0") + mark + exponent
