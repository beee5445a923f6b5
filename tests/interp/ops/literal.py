"""Literal tensors in, literal tensors out."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden
from conform.numerics.formats import FORMATS, format_of


def tensor(dtype: str, values: Any) -> np.ndarray:
    """Literal numbers in the storage of `dtype`; each must be a number of the dtype or NaN."""
    wide = np.array(
        values, np.complex128 if FORMATS[dtype].is_complex else None if FORMATS[dtype].bits == 64 else np.float64
    )
    stored = wide.astype(FORMATS[dtype].storage)
    assert np.array_equal(stored.astype(wide.dtype), wide, equal_nan=wide.dtype.kind in "fc"), f"{values} in {dtype}"
    return stored


def codes(dtype: str, values: Any) -> np.ndarray:
    """A tensor by its codes."""
    return np.array(values, FORMATS[dtype].code_storage).view(FORMATS[dtype].storage)


f16, bf16, f32, f64 = (partial(tensor, name) for name in ("float16", "bfloat16", "float32", "float64"))
i8, i16, i32, i64, u8 = (partial(tensor, name) for name in ("int8", "int16", "int32", "int64", "uint8"))
boolean, c64, c128 = (partial(tensor, name) for name in ("bool", "complex64", "complex128"))


def goldens(op: str, *args: Any, **kwargs: Any) -> tuple[Golden, ...]:
    """What the interpreter says."""
    return evaluate(op, args, kwargs).goldens


def check(op: str, *args: Any, gives: np.ndarray | tuple[np.ndarray, ...], **kwargs: Any) -> None:
    """The op's values are exactly `gives`: dtype, shape, every number, the sign of zeros; and nothing is left open."""
    found = goldens(op, *args, **kwargs)
    expected = gives if isinstance(gives, tuple) else (gives,)
    same([shown(golden.value) for golden in found], [shown(value) for value in expected])
    same([None if golden.open is None else golden.open.tolist() for golden in found], [None] * len(found))


def check_open(op: str, *args: Any, gives: np.ndarray, where_open: Any, rule: str, **kwargs: Any) -> None:
    """The one output is `gives` where it is not open, and open, by `rule`, exactly at `where_open`."""
    (golden,) = goldens(op, *args, **kwargs)
    same((golden.open.tolist(), golden.open_rule, golden.value.shape), (where_open, rule, gives.shape))
    settled = ~np.array(where_open)
    same(shown(golden.value[settled]), shown(gives[settled]))


def same(found: object, expected: object) -> None:
    """Both, compared as they print: NaNs are alike, the zeros are not."""
    assert repr(found) == repr(expected), f"found {found}, expected {expected}"


def shown(array: np.ndarray) -> str:
    """`float32[2] [1.0, -0.0]`: NaNs are alike, the zeros are not."""
    fmt = format_of(array)
    exact = array.astype(np.float64) if fmt.is_float else array
    return f"{fmt.name}{list(array.shape)} {exact.tolist()}"
