"""What several families of witness calls vary: dtypes, and arguments in place of each other."""

from __future__ import annotations

INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
REAL = ("bool", *INTEGERS, *FLOATS)
HALVES = ("float16", "bfloat16")
SMALL_FLOATS = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")


def is_float(dtype: str) -> bool:
    """Whether `dtype` is one of the real floats."""
    return dtype in FLOATS


def is_complex(dtype: str) -> bool:
    """Whether `dtype` is complex."""
    return dtype in COMPLEX


def is_half_beside_complex(dtype: str, other: str) -> bool:
    """Where a 0-d operand makes complex32, which neither side covers."""
    return (dtype == "float16" and is_complex(other)) or (is_complex(dtype) and other == "float16")
