"""torch's type promotion: the common dtype of operands, and operands in it.

Source: "Tensor attributes", section type promotion, of torch's documentation: categories bool < integer < float <
complex; within the highest category, tensors with dimensions win over 0-d tensors, and those over Python scalars.
"""

from __future__ import annotations

from functools import cache, reduce

import numpy as np

from conform.errors import InvalidArguments, Unjudged
from conform.numerics.formats import FORMATS, Format, format_of

Operand = np.ndarray | bool | int | float | complex

BOOL, INT64, FLOAT32, COMPLEX64 = (FORMATS[n] for n in ("bool", "int64", "float32", "complex64"))
DEFAULT_FLOAT = FLOAT32

_CATEGORY = {"bool": 0, "uint": 1, "int": 1, "float": 2, "complex": 3}


def category(fmt: Format) -> int:
    """0 bool, 1 integer, 2 float, 3 complex."""
    return _CATEGORY[fmt.kind]


def format_of_operand(operand: Operand) -> Format:
    """A tensor's own format; for a Python scalar torch's default of its category."""
    if isinstance(operand, np.ndarray):
        return format_of(operand)
    for kind, fmt in ((bool, BOOL), (int, INT64), (float, FLOAT32), (complex, COMPLEX64)):
        if isinstance(operand, kind):
            return fmt
    raise InvalidArguments(f"expected a tensor or a number, got {type(operand).__name__}")


@cache
def promote(a: Format, b: Format) -> Format:
    """The smallest format of the higher category that holds both, as torch.promote_types."""
    if a == b:
        return a
    low, high = sorted((a, b), key=lambda f: (category(f), f.bits, f.kind == "int"))
    if category(high) == 3 and category(low) == 2:
        return _complex_over(promote(low, high.component))
    if category(low) != category(high) or category(high) == 3:
        return high
    if category(high) == 2:
        return FLOAT32 if low.bits == high.bits else high
    if low.kind == high.kind or high.kind == "int" and high.bits > low.bits:
        return high
    return FORMATS[f"int{2 * low.bits}"] if low.bits < 64 else FLOAT32


def _complex_over(component: Format) -> Format:
    if component.name == "float16":
        raise Unjudged("no format complex32, which float16 tensors with a complex number make")
    return FORMATS["complex128"] if component.bits == 64 else COMPLEX64


def result_type(*operands: Operand) -> Format:
    """The common dtype of tensors and Python scalars, as torch.result_type."""
    groups: dict[int, list[Format]] = {0: [], 1: [], 2: []}
    for operand in operands:
        groups[_priority(operand)].append(format_of_operand(operand))
    ranked = [reduce(promote, group) for group in groups.values() if group]
    return reduce(_outrank, ranked)


def _priority(operand: Operand) -> int:
    if not isinstance(operand, np.ndarray):
        return 2
    return 0 if operand.ndim else 1


def _outrank(first: Format, second: Format) -> Format:
    """`first` has priority: `second` counts only if its category is higher."""
    if category(second) <= category(first):
        return first
    if category(second) == 3 and category(first) == 2:
        return _complex_over(first)
    return promote(first, second)


def float_result(fmt: Format) -> Format:
    """Where an op is real-valued, integers and bools become the default dtype."""
    return fmt if category(fmt) >= 2 else DEFAULT_FLOAT
