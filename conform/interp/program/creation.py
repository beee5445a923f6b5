"""Rules of ops that make tensors of a number: known numbers, of any dtype."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conform.interp.program.number import Number
from conform.interp.program.rules import rule
from conform.numerics.formats import Format, format_named
from conform.numerics.real import Real
from conform.numerics.rounding import round_to


@rule("aten::full")
def full(size: Sequence[int], fill_value: float, dtype: str | None = None) -> Number:
    """`fill_value` everywhere: in the dtype of a Python number where none is named."""
    inferred = {bool: "bool", int: "int64"}.get(type(fill_value), "float32")
    return _filled(format_named(dtype or inferred), size, fill_value)


@rule("aten::full_like")
def full_like(self: Number, fill_value: float, dtype: str | None = None) -> Number:
    return _filled(format_named(dtype or self.dtype), self.shape, fill_value)


@rule("aten::fill.Scalar")
def fill(self: Number, value: float) -> Number:
    return full_like(self, value)


@rule("aten::empty_permuted", "aten::empty.memory_format")
def empty(size: Sequence[int], physical_layout: Sequence[int] = (), dtype: str | None = None) -> Number:
    """Elements of which nothing is known."""
    shape = tuple(size)
    return Number(format_named(dtype or "float32"), Real.exact(np.zeros(shape)), np.full(shape, np.inf))


@rule("aten::scalar_tensor")
def scalar_tensor(s: float, dtype: str | None = None) -> Number:
    return _filled(format_named(dtype or "float32"), (), s)


@rule("aten::zeros")
def zeros(size: Sequence[int], dtype: str | None = None) -> Number:
    return _filled(format_named(dtype or "float32"), size, 0)


@rule("aten::ones")
def ones(size: Sequence[int], dtype: str | None = None) -> Number:
    return _filled(format_named(dtype or "float32"), size, 1)


@rule("aten::zeros_like")
def zeros_like(self: Number, dtype: str | None = None) -> Number:
    return full_like(self, 0, dtype)


@rule("aten::ones_like")
def ones_like(self: Number, dtype: str | None = None) -> Number:
    return full_like(self, 1, dtype)


def _filled(fmt: Format, shape: Sequence[int], number: float) -> Number:
    one = round_to(fmt, np.asarray(number, np.float64)) if fmt.is_float else np.asarray(number).astype(fmt.storage)
    return Number.exact(np.broadcast_to(one, tuple(shape)).copy())
