"""Arrays as the bytes of a safetensors file, and back: which dtype of that format stands for which of the kit's.

Definition: the safetensors format, https://github.com/huggingface/safetensors#format: little-endian, row-major. A
format that every reader of it knows is itself; the others have the encodings of docs/golden.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from conform.numerics.formats import Format, format_of

NATIVE = {
    "bool": "BOOL", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "uint8": "U8", "uint16": "U16",
    "uint32": "U32", "uint64": "U64", "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64",
    "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
}  # fmt: skip
OF_COMPLEX = {"complex64": "F32", "complex128": "F64"}  # real and imaginary parts, in a last axis of 2
OF_VALUES = {"int4": ("I8", np.int8), "uint4": ("U8", np.uint8)}  # a byte an element
OF_CODES = "U8"  # any other float: a byte an element, its code in the low bits, zeros above

ITEM_BYTES = {
    "BOOL": 1, "I8": 1, "U8": 1, "F8_E4M3": 1, "F8_E5M2": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2, "I32": 4,
    "U32": 4, "F32": 4, "I64": 8, "U64": 8, "F64": 8,
}  # fmt: skip


@dataclass(frozen=True)
class Encoded:
    """A tensor as safetensors has it: dtype, shape, and the little-endian bytes."""

    dtype: str
    shape: tuple[int, ...]
    data: memoryview


def encoding(fmt: Format, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """The dtype and shape in the file of a tensor of this format and shape."""
    if fmt.is_complex:
        return OF_COMPLEX[fmt.name], (*shape, 2)
    if fmt.name in OF_VALUES:
        return OF_VALUES[fmt.name][0], shape
    return NATIVE.get(fmt.name, OF_CODES), shape


def encoded(array: np.ndarray) -> Encoded:
    """`array`, in the storage dtype of a format."""
    fmt = format_of(array)
    dtype, shape = encoding(fmt, array.shape)
    values = np.ascontiguousarray(array).reshape(-1)
    if fmt.name in OF_VALUES:
        values = values.astype(OF_VALUES[fmt.name][1])
    codes = values.view(_codes(dtype).newbyteorder("="))
    return Encoded(dtype, shape, memoryview(codes.astype(_codes(dtype), copy=False)).cast("B"))


def decoded(fmt: Format, shape: tuple[int, ...], data: bytes) -> np.ndarray:
    """The array of this format and shape whose `encoded` has these bytes."""
    codes = np.frombuffer(data, _codes(encoding(fmt, shape)[0]))
    if fmt.kind == "bool":
        return (codes != 0).reshape(shape)
    values = codes.astype(codes.dtype.newbyteorder("="))
    if fmt.name in OF_VALUES:
        return values.view(OF_VALUES[fmt.name][1]).astype(fmt.storage).reshape(shape)
    return values.view(fmt.storage).reshape(shape)


def size_bytes(dtype: str, shape: tuple[int, ...]) -> int:
    """How many bytes a tensor takes in the file."""
    return ITEM_BYTES[dtype] * prod(shape)


def one_nan(array: np.ndarray) -> np.ndarray:
    """`array` with every NaN the same, the positive quiet one: which of them results is the processor's choice."""
    fmt = format_of(array)
    if fmt.is_complex:
        parts = np.ascontiguousarray(array).reshape(-1).view(fmt.component.storage)
        return one_nan(parts).view(fmt.storage).reshape(array.shape)
    if not (fmt.is_float and fmt.has_nan):
        return array
    return np.where(np.isnan(array), np.array(np.nan, fmt.storage), array)


def _codes(dtype: str) -> np.dtype:
    return np.dtype(f"<u{ITEM_BYTES[dtype]}")
