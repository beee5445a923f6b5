"""A disagreement in words: both results and the inputs, every number in decimal and in hex."""

from __future__ import annotations

from typing import Any

import numpy as np

from conform.numerics.formats import format_of
from conform.selftest.agreement.calls import Call
from conform.selftest.agreement.compare import Difference

MOST_ELEMENTS = 40  # of one tensor; a longer one is cut


def shown(call: Call, difference: Difference, pointwise: bool) -> str:
    """The difference and the arguments; of a pointwise op only the elements that meet at the index."""
    place = "" if difference.output is None else f" of output {difference.output}"
    lines = [f"{difference.what}{place}"]
    if difference.index is not None:
        lines[0] += f" at {list(difference.index)}"
        lines += [f"  interpreter: {_side(difference.interpreter)}", f"  reference:   {_side(difference.reference)}"]
    index = difference.index if pointwise else None
    return "\n".join(lines + [f"  {name} = {_argument(value, index)}" for name, value in call.items()])


def _side(number: Any) -> str:
    return "open" if number is None else in_decimal_and_hex(number)


def _argument(value: Any, index: tuple[int, ...] | None) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(_argument(item, index) for item in value)}]"
    if not isinstance(value, np.ndarray):
        return f"{value!r} ({value.hex()})" if isinstance(value, float) else repr(value)
    label = f"{format_of(value).name}{list(value.shape)}"
    if index is not None and value.size:
        return f"{in_decimal_and_hex(_met(value, index))} of {label}"
    numbers = [in_decimal_and_hex(number) for number in value.ravel()[:MOST_ELEMENTS]]
    cut = ", ..." if value.size > MOST_ELEMENTS else ""
    return f"{label} [{', '.join(numbers)}{cut}]"


def _met(value: np.ndarray, index: tuple[int, ...]) -> np.generic:
    """The element that broadcasting brings to `index` of the result."""
    own = index[len(index) - value.ndim :] if value.ndim else ()
    return value[tuple(0 if size == 1 else i for i, size in zip(own, value.shape, strict=True))]


def in_decimal_and_hex(number: np.generic) -> str:
    """`0.1 (0x2e66)`: the number, and its code in the format."""
    array = np.asarray(number)
    fmt = format_of(array)
    if fmt.is_complex:
        return f"{in_decimal_and_hex(array.real)} + {in_decimal_and_hex(array.imag)} j"
    code = int(array.reshape(1).view(fmt.code_storage)[0])
    decimal = float(array) if fmt.is_float else array.item()
    return f"{decimal!r} ({code:#0{2 + 2 * fmt.storage.itemsize}x})"
