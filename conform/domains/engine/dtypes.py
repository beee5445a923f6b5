"""The dtypes that are generated, by torch's names, and their promotion (docs of torch, "Tensor attributes")."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conform.domains.engine.meta_argument import MetaArgument

INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
NUMBERS = INTEGERS + FLOATS
REAL = ("bool", *NUMBERS)
ALL = (*REAL, *COMPLEX)
SMALL_FLOATS = ("float8_e4m3fn", "float8_e5m2")  # of operands that are of no other dtype
SCALAR_KINDS = ("bool", "int", "float", "complex")  # of Python numbers

DEFAULT_FLOAT = "float32"
_PYTHON = {"bool": "bool", "int": "int64", "float": "float32", "complex": "complex64"}
_BITS = {"bool": 1, "uint8": 8, "int8": 8, "int16": 16, "int32": 32, "int64": 64, "float16": 16, "bfloat16": 16,
         "float32": 32, "float64": 64, "complex32": 32, "complex64": 64, "complex128": 128}  # fmt: skip
_COMPLEX_OVER = {"float16": "complex32", "bfloat16": "complex64", "float32": "complex64", "float64": "complex128"}


def category(dtype: str) -> int:
    """0 bool, 1 integer, 2 float, 3 complex."""
    if dtype == "bool":
        return 0
    return 1 if dtype in INTEGERS else 2 if dtype in FLOATS else 3


def is_integral(dtype: str) -> bool:
    """Whether it is a bool or an integer dtype."""
    return category(dtype) < 2


def real_result(dtype: str) -> str:
    """The dtype of a real-valued op's result: bools and integers give the default dtype."""
    return DEFAULT_FLOAT if is_integral(dtype) else dtype


@functools.cache
def promote(a: str, b: str) -> str:
    """torch.promote_types: the smallest dtype of the higher category that holds both."""
    low, high = sorted((a, b), key=lambda dtype: (category(dtype), _BITS[dtype], dtype != "uint8"))
    if low == high:
        return high
    if category(high) == 3:
        wanted = _COMPLEX_OVER[low] if category(low) == 2 else low if category(low) == 3 else high
        return max(wanted, high, key=_BITS.__getitem__)
    if category(low) < category(high):
        return high
    if low == "uint8" or high == "uint8":
        return "int16" if _BITS[high] == 8 else high
    return "float32" if (low, high) in (("float16", "bfloat16"), ("bfloat16", "float16")) else high


def common_dtype(*operands: MetaArgument) -> str:
    """torch.result_type of tensors and Python numbers.

    Tensors with dimensions come before 0-d tensors, and those before numbers; one that comes later counts where its
    category is higher.
    """
    ranked: list[str | None] = [None, None, None]
    for operand in operands:
        priority = 2 if operand.is_number else 0 if operand.rank else 1
        dtype = _PYTHON.get(operand.dtype, operand.dtype) if operand.is_number else operand.dtype
        ranked[priority] = dtype if ranked[priority] is None else promote(ranked[priority], dtype)
    found = [dtype for dtype in ranked if dtype is not None]
    return functools.reduce(_outrank, found)


def _outrank(first: str, second: str) -> str:
    if category(second) <= category(first):
        return first
    if category(second) == 3 and category(first) == 2:
        return _COMPLEX_OVER[first]
    return promote(first, second)


def component(dtype: str) -> str:
    """The dtype of the parts of a complex one; any other is its own."""
    return {"complex32": "float16", "complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
