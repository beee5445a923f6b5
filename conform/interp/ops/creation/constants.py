"""Tensors of one number, tensors whose elements nobody sets, and a number out of a tensor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from conform.interp.golden import Golden
from conform.interp.operands import converted
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.promotion import DEFAULT_FLOAT, format_of_operand
from conform.interp.semantics import semantics
from conform.numerics.formats import FORMATS, Format, format_named, format_of

Number = bool | int | float | complex
UNSET = "P100"


def _of_size(arguments: Mapping[str, Any]) -> int:
    return prod(arguments["size"])


def _filled(shape: Sequence[int], number: Number, fmt: Format) -> Golden:
    return exact(np.full(tuple(shape), converted(number, fmt)), fmt)


def named(dtype: str | None, default: Format = DEFAULT_FLOAT) -> Format:
    """The format of a dtype argument."""
    return format_named(dtype) if dtype else default


@semantics("aten::full", elements=_of_size)
def full(size: Sequence[int], fill_value: Number, dtype: str | None = None) -> Golden:
    """fill_value everywhere, as full's dtype holds it (P93); without one bool, int64, float32 or complex64, as it is"""
    return _filled(size, fill_value, named(dtype, format_of_operand(fill_value)))


@semantics("aten::full_like")
def full_like(self: np.ndarray, fill_value: Number, dtype: str | None = None) -> Golden:
    """fill_value everywhere in the shape of self, and in its dtype unless there is another"""
    return _filled(self.shape, fill_value, named(dtype, format_of(self)))


@semantics("aten::new_full", elements=_of_size)
def new_full(self: np.ndarray, size: Sequence[int], fill_value: Number, dtype: str | None = None) -> Golden:
    """fill_value everywhere, in the dtype of self unless there is another (P93)"""
    return _filled(size, fill_value, named(dtype, format_of(self)))


@semantics("aten::scalar_tensor", elements=lambda arguments: 1)
def scalar_tensor(s: Number, dtype: str | None = None) -> Golden:
    """The number as a 0-d tensor; without dtype of float32, a complex one of complex64"""
    return _filled((), s, named(dtype, FORMATS["complex64"] if isinstance(s, complex) else DEFAULT_FLOAT))


@semantics("aten::ones", elements=_of_size)
def ones(size: Sequence[int], dtype: str | None = None) -> Golden:
    """1 everywhere; without dtype of float32"""
    return _filled(size, 1, named(dtype))


@semantics("aten::zeros", elements=_of_size)
def zeros(size: Sequence[int], dtype: str | None = None) -> Golden:
    """0 everywhere; without dtype of float32"""
    return _filled(size, 0, named(dtype))


@semantics("aten::new_ones", elements=_of_size)
def new_ones(self: np.ndarray, size: Sequence[int], dtype: str | None = None) -> Golden:
    """1 everywhere, in the dtype of self unless there is another"""
    return _filled(size, 1, named(dtype, format_of(self)))


@semantics("aten::new_zeros", elements=_of_size)
def new_zeros(self: np.ndarray, size: Sequence[int], dtype: str | None = None) -> Golden:
    """0 everywhere, in the dtype of self unless there is another"""
    return _filled(size, 0, named(dtype, format_of(self)))


@semantics("aten::zero")
def zero(self: np.ndarray) -> Golden:
    """0 everywhere in the shape and the dtype of self"""
    return _filled(self.shape, 0, format_of(self))


@semantics("aten::ones_like")
def ones_like(self: np.ndarray, dtype: str | None = None) -> Golden:
    """1 everywhere in the shape of self, and in its dtype unless there is another"""
    return _filled(self.shape, 1, named(dtype, format_of(self)))


@semantics("aten::zeros_like")
def zeros_like(self: np.ndarray, dtype: str | None = None) -> Golden:
    """0 everywhere in the shape of self, and in its dtype unless there is another"""
    return _filled(self.shape, 0, named(dtype, format_of(self)))


@semantics("aten::eye", elements=lambda arguments: arguments["n"] ** 2)
def eye(n: int, dtype: str | None = None) -> Golden:
    """The identity matrix of n rows; without dtype of float32"""
    return eye_m(n, n, dtype)


@semantics("aten::eye.m", elements=lambda arguments: arguments["n"] * arguments["m"])
def eye_m(n: int, m: int, dtype: str | None = None) -> Golden:
    """n rows of m columns: 1 where both indices are equal, else 0; without dtype of float32"""
    fmt = named(dtype)
    result = np.zeros((n, m), fmt.storage)
    result[np.arange(min(n, m)), np.arange(min(n, m))] = 1
    return exact(result, fmt)


def _in_rectangle(arguments: Mapping[str, Any]) -> int:
    return 2 * arguments["row"] * arguments["col"]


@semantics("aten::tril_indices", elements=_in_rectangle)
def tril_indices(row: int, col: int, offset: int = 0, dtype: str | None = "int64") -> Golden:
    """The rows, and below them the columns, of the elements [i, j] of a matrix for which j - i <= offset, row by row"""
    return _places(row, col, lambda beyond: beyond <= offset, dtype)


@semantics("aten::triu_indices", elements=_in_rectangle)
def triu_indices(row: int, col: int, offset: int = 0, dtype: str | None = "int64") -> Golden:
    """The rows, and below them the columns, of the elements [i, j] of a matrix for which j - i >= offset, row by row"""
    return _places(row, col, lambda beyond: beyond >= offset, dtype)


def _places(row: int, col: int, is_in: Callable[[np.ndarray], np.ndarray], dtype: str | None) -> Golden:
    fmt = named(dtype, FORMATS["int64"])
    found = np.nonzero(is_in(np.arange(col) - np.arange(row)[:, None]))
    return exact(np.stack(found).astype(fmt.storage), fmt)


@semantics("aten::empty.memory_format", elements=_of_size, undetermined=True)
def empty(size: Sequence[int], dtype: str | None = None) -> Golden:
    """Any elements, of a shape and a dtype (P100); without dtype of float32"""
    fmt = named(dtype)
    return exact(np.zeros(tuple(size), fmt.storage), fmt).opened(np.ones(tuple(size), bool), UNSET)


@semantics("aten::empty_strided", elements=_of_size, undetermined=True)
def empty_strided(size: Sequence[int], stride: Sequence[int], dtype: str | None = None) -> Golden:
    """Any elements, of a shape and a dtype, `stride` apart in memory (P100); without dtype of float32"""
    return replace(empty(size, dtype), strides=tuple(stride))


@semantics("aten::empty_permuted", elements=_of_size, undetermined=True)
def empty_permuted(size: Sequence[int], physical_layout: Sequence[int], dtype: str | None = None) -> Golden:
    """Any elements, of a shape and a dtype (P100): dim physical_layout[0] is the outermost in memory, and so on,
    without gaps; without dtype of float32"""
    strides, step = [0] * len(size), 1
    for dim in reversed(physical_layout):
        strides[dim] = step
        step *= max(size[dim], 1)
    return replace(empty(size, dtype), strides=tuple(strides))


@semantics("aten::empty_like", undetermined=True)
def empty_like(self: np.ndarray, dtype: str | None = None) -> Golden:
    """Any elements in the shape of self, and in its dtype unless there is another (P100)"""
    return empty(self.shape, dtype or format_of(self).name)


@semantics("aten::new_empty", elements=_of_size, undetermined=True)
def new_empty(self: np.ndarray, size: Sequence[int], dtype: str | None = None) -> Golden:
    """Any elements, in the dtype of self unless there is another (P100)"""
    return empty(size, dtype or format_of(self).name)


@semantics("aten::new_empty_strided", elements=_of_size, undetermined=True)
def new_empty_strided(
    self: np.ndarray, size: Sequence[int], stride: Sequence[int], dtype: str | None = None
) -> Golden:
    """Any elements, `stride` apart in memory, in the dtype of self unless there is another (P100)"""
    return empty_strided(size, stride, dtype or format_of(self).name)


@semantics("aten::_local_scalar_dense")
def local_scalar_dense(self: np.ndarray) -> Golden:
    """The one element as a Python number: bool, int, float or complex, 0-d of bool, int64, float64 or complex128"""
    fmt = format_of(self)
    kind = (
        "bool" if fmt.kind == "bool" else "int64" if fmt.is_integer else "complex128" if fmt.is_complex else "float64"
    )
    return exact(converted(self.reshape(()), FORMATS[kind]), FORMATS[kind])
