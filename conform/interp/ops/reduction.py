"""Sums, extremes and running sums over dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod

import numpy as np

from conform.errors import InvalidArguments
from conform.interp.dims import reduced_axes, wrap_dim
from conform.interp.golden import Golden
from conform.interp.numerics import accumulate
from conform.interp.numerics.accumulate import Accumulated
from conform.interp.numerics.formats import FORMATS, Format, format_named, format_of
from conform.interp.numerics.rounding import in_integer_range
from conform.interp.operands import compute_format, converted, refuse_complex
from conform.interp.ops.elementwise import exact
from conform.interp.promotion import category
from conform.interp.registry import semantics


def accumulation(fmt: Format, total: Accumulated, exact_sum: Callable[[tuple[int, ...]], Fraction]) -> Golden:
    """A sum as a golden: its zero sign is free (P3), and where some order can overflow the compute type it is open
    (P35)."""
    value, real = accumulate.decide_sum(fmt, total, exact_sum)
    golden = Golden(fmt, value, real, total.terms, total.magnitude, zero_sign_free=True)
    return golden.opened(overflowing(fmt, total), "P35")


def overflowing(fmt: Format, total: Accumulated) -> np.ndarray:
    """Where the finite terms can overflow the compute type in some order; a NaN term makes any order NaN."""
    return (total.magnitude > compute_format(fmt).max_finite) & ~np.isnan(total.real.hi)


def _summand(self: np.ndarray, dtype: str | None) -> tuple[np.ndarray, Format]:
    """self in the dtype it is summed in: `dtype`, else int64 for bools and integers, else its own."""
    fmt = format_of(self)
    target = format_named(dtype) if dtype else FORMATS["int64"] if category(fmt) < 2 else fmt
    return converted(self, target), target


def _not_held(self: np.ndarray, fmt: Format) -> np.ndarray:
    """Where the conversion before a sum has no result (P13)."""
    is_cast = format_of(self).is_float and fmt.is_integer
    return ~in_integer_range(self, fmt) if is_cast else np.zeros(self.shape, bool)


def _kept(array: np.ndarray, axes: tuple[int, ...], keepdim: bool) -> np.ndarray:
    return np.expand_dims(array, axes) if keepdim and array.ndim + len(axes) else array


@semantics("aten::sum")
def sum_(self: np.ndarray, dtype: str | None = None) -> Golden:
    """The sum of all elements"""
    return sum_over(self, None, False, dtype)


@semantics("aten::sum.dim_IntList")
def sum_over(self: np.ndarray, dim: Sequence[int] | None, keepdim: bool = False, dtype: str | None = None) -> Golden:
    """The sum over dim (all dimensions if None or empty), of elements converted to dtype first"""
    summand, fmt = _summand(self, dtype)
    axes = reduced_axes(dim, self.ndim)
    if not fmt.is_float:
        with np.errstate(over="ignore"):
            total = np.any(summand, axes) if fmt.kind == "bool" else np.sum(summand, axes, dtype=fmt.storage)
        not_held = np.any(_not_held(self, fmt), axes, keepdims=keepdim)
        return exact(_kept(np.asarray(total), axes, keepdim and self.ndim > 0), fmt).opened(not_held, "P13")
    kept = [axis for axis in range(self.ndim) if axis not in axes]
    count = prod(self.shape[axis] for axis in axes)
    terms = summand.astype(np.float64).transpose(*axes, *kept).reshape(count, *(self.shape[axis] for axis in kept))
    total = accumulate.total(terms, axis=0)
    golden = accumulation(fmt, total, lambda index: accumulate.exact_total(terms[(slice(None), *index)]))
    return reshaped(golden, np.expand_dims(golden.value, axes).shape) if keepdim and self.ndim else golden


def reshaped(golden: Golden, shape: tuple[int, ...]) -> Golden:
    """The golden with its elements in another shape."""
    arrays = {name: getattr(golden, name) for name in ("value", "real", "magnitude", "open", "terms")}
    moved = {name: part.reshape(shape) if getattr(part, "shape", ()) else part for name, part in arrays.items()}
    return Golden(
        golden.format,
        **{**moved, "value": golden.value.reshape(shape)},
        open_rule=golden.open_rule,
        zero_sign_free=golden.zero_sign_free,
    )


@semantics("aten::amax")
def amax(self: np.ndarray, dim: Sequence[int] = (), keepdim: bool = False) -> Golden:
    """The largest element over dim (all dimensions if empty), NaN if any is NaN (P4, P5)"""
    fmt = format_of(self)
    refuse_complex(fmt, "amax")
    axes = reduced_axes(dim, self.ndim)
    if any(self.shape[axis] == 0 for axis in axes):
        raise InvalidArguments(f"amax over a dimension of size 0 of {list(self.shape)} has no identity")
    return exact(np.max(self, axes, keepdims=keepdim), fmt, zero_sign_free=fmt.is_float)


@semantics("aten::argmax")
def argmax(self: np.ndarray, dim: int | None = None, keepdim: bool = False) -> Golden:
    """The index of the first largest element along dim, or in the flattened tensor; the first NaN counts as largest
    (P20, P21)"""
    refuse_complex(format_of(self), "argmax")
    axis = None if dim is None else wrap_dim(dim, self.ndim)
    if (self.size if axis is None or self.ndim == 0 else self.shape[axis]) == 0:
        raise InvalidArguments(f"argmax over no elements of {list(self.shape)}")
    operand = self.reshape(1) if self.ndim == 0 else self
    if format_of(self).is_float:
        operand = operand.astype(np.float64)
    index = np.argmax(operand, axis=axis, keepdims=keepdim)
    return exact(np.reshape(index, ()) if self.ndim == 0 else index, FORMATS["int64"])


@semantics("aten::cumsum")
def cumsum(self: np.ndarray, dim: int, dtype: str | None = None) -> Golden:
    """result[i] = self[0] + ... + self[i] along dim, of elements converted to dtype first"""
    axis = wrap_dim(dim, self.ndim)
    summand, fmt = _summand(self, dtype)
    if fmt.kind == "bool":
        raise InvalidArguments("cumsum is not defined for bool results")
    if self.ndim == 0:
        return exact(summand, fmt, zero_sign_free=fmt.is_float).opened(_not_held(self, fmt), "P13")
    if not fmt.is_float:
        with np.errstate(over="ignore"):
            not_held = np.logical_or.accumulate(_not_held(self, fmt), axis)
            return exact(np.add.accumulate(summand, axis, dtype=fmt.storage), fmt).opened(not_held, "P13")
    terms = np.moveaxis(summand.astype(np.float64), axis, 0)
    total = accumulate.running(terms, axis=0)
    golden = accumulation(fmt, total, lambda index: accumulate.exact_total(terms[(slice(index[0] + 1), *index[1:])]))
    return _moved_back(golden, axis)


def _moved_back(golden: Golden, axis: int) -> Golden:
    """The golden with its first axis moved to `axis`."""

    def move(array: np.ndarray | None) -> np.ndarray | None:
        return np.moveaxis(array, 0, axis) if getattr(array, "ndim", 0) else array

    count = np.arange(1, golden.value.shape[0] + 1).reshape(-1, *[1] * (golden.value.ndim - 1))
    terms = np.broadcast_to(count, golden.value.shape)
    real = golden.real.map_parts(move)
    return Golden(
        golden.format,
        move(golden.value),
        real,
        move(terms),
        move(golden.magnitude),
        open=move(golden.open),
        open_rule=golden.open_rule,
        zero_sign_free=True,
    )
