"""Extremes over dimensions and where they are, and what is true of any or all elements, or of how many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conform.interp.blocks.rows import Rows, by_rows, reduced_shape
from conform.interp.dims import reduced_axes
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.reduction.sums import reshaped
from conform.interp.semantics import semantics
from conform.numerics.formats import FORMATS, Format, format_of


def _extreme(ufunc: np.ufunc, self: np.ndarray, dims: Sequence[int] | None, keepdim: bool) -> Golden:
    fmt = format_of(self)
    value = ufunc.reduce(self, reduced_axes(dims, self.ndim), keepdims=keepdim)
    return exact(value, fmt, zero_sign_free=fmt.is_float)


@semantics("aten::amax", along="dim", compares=True, selects=True)
def amax(self: np.ndarray, dim: Sequence[int] = (), keepdim: bool = False) -> Golden:
    """The largest element over dim (all dimensions if empty), NaN if any is NaN (P4, P5)"""
    return _extreme(np.maximum, self, dim, keepdim)


@semantics("aten::amin", along="dim", compares=True, selects=True)
def amin(self: np.ndarray, dim: Sequence[int] = (), keepdim: bool = False) -> Golden:
    """The smallest element over dim (all dimensions if empty), NaN if any is NaN (P4, P5)"""
    return _extreme(np.minimum, self, dim, keepdim)


@semantics("aten::aminmax", along="dim", compares=True, selects=True)
def aminmax(self: np.ndarray, dim: int | None = None, keepdim: bool = False) -> tuple[Golden, Golden]:
    """The smallest and the largest element along dim, or of all, NaN if any is NaN (P4, P5)"""
    dims = None if dim is None else [dim]
    return _extreme(np.minimum, self, dims, keepdim), _extreme(np.maximum, self, dims, keepdim)


@semantics("aten::max", compares=True, selects=True)
def max_of_all(self: np.ndarray) -> Golden:
    """The largest of all elements, NaN if any is NaN (P4, P5)"""
    return _extreme(np.maximum, self, None, False)


@semantics("aten::min", compares=True, selects=True)
def min_of_all(self: np.ndarray) -> Golden:
    """The smallest of all elements, NaN if any is NaN (P4, P5)"""
    return _extreme(np.minimum, self, None, False)


@semantics("aten::max.dim", along="dim", compares=True, selects=True)
def max_along(self: np.ndarray, dim: int, keepdim: bool = False) -> tuple[Golden, Golden]:
    """The largest element along dim, NaN if any is NaN (P4, P5), and the first index of it (P20, P21)"""
    return _extreme(np.maximum, self, [dim], keepdim), argmax(self, dim, keepdim)


@semantics("aten::min.dim", along="dim", compares=True, selects=True)
def min_along(self: np.ndarray, dim: int, keepdim: bool = False) -> tuple[Golden, Golden]:
    """The smallest element along dim, NaN if any is NaN (P4, P5), and the first index of it (P20, P21)"""
    return _extreme(np.minimum, self, [dim], keepdim), argmin(self, dim, keepdim)


@semantics("aten::argmax", along="dim", compares=True)
def argmax(self: np.ndarray, dim: int | None = None, keepdim: bool = False) -> Golden:
    """The index of the first largest element along dim, or in the flattened tensor; the first NaN counts as largest
    (P20, P21)"""
    return _first_index(self, dim, keepdim, descends=False)


@semantics("aten::argmin", along="dim", compares=True)
def argmin(self: np.ndarray, dim: int | None = None, keepdim: bool = False) -> Golden:
    """The index of the first smallest element along dim, or in the flattened tensor; the first NaN counts as smallest
    (P20, P21)"""
    return _first_index(self, dim, keepdim, descends=True)


def _first_index(self: np.ndarray, dim: int | None, keepdim: bool, descends: bool) -> Golden:
    axes = reduced_axes(None if dim is None else [dim], self.ndim)
    is_float = format_of(self).is_float

    def read(some: np.ndarray) -> np.ndarray:
        """The elements, or numbers in the opposite order."""
        some = some.astype(np.float64) if is_float else some
        return some if not descends else -some if is_float else ~some

    golden = by_rows(lambda some: exact(some.first_largest()[:, 0], FORMATS["int64"]), Rows.over(self, axes, read))
    return reshaped(golden, reduced_shape(self.shape, axes, keepdim))


# What is true of elements


def _folded(
    ufunc: np.ufunc, fmt: Format, self: np.ndarray, dims: Sequence[int] | None, keepdim: bool = False
) -> Golden:
    """`ufunc` over whether each element is not 0; NaN is not."""
    axes = reduced_axes(dims, self.ndim)

    def of_rows(rows: Rows) -> Golden:
        parts = [ufunc.reduce(piece, axis=1, dtype=fmt.storage) for piece in rows.pieces]
        return exact(ufunc.reduce(np.array(parts), axis=0, dtype=fmt.storage), fmt)

    golden = by_rows(of_rows, Rows.over(self, axes, lambda some: some != 0))
    return reshaped(golden, reduced_shape(self.shape, axes, keepdim))


def _truth(ufunc: np.ufunc, self: np.ndarray, dims: Sequence[int] | None, keepdim: bool) -> Golden:
    """In bool; in uint8 of uint8."""
    golden = _folded(ufunc, FORMATS["bool"], self, dims, keepdim)
    fmt = format_of(self)
    return exact(golden.value, fmt) if fmt.name == "uint8" else golden


@semantics("aten::any")
def any_of_all(self: np.ndarray) -> Golden:
    """Whether any element is not 0 (NaN is not); of uint8 in uint8"""
    return _truth(np.logical_or, self, None, False)


@semantics("aten::any.dim", along="dim")
def any_along(self: np.ndarray, dim: int, keepdim: bool = False) -> Golden:
    """Whether any element along dim is not 0 (NaN is not); of uint8 in uint8"""
    return _truth(np.logical_or, self, [dim], keepdim)


@semantics("aten::any.dims", along="dim")
def any_over(self: np.ndarray, dim: Sequence[int] | None = None, keepdim: bool = False) -> Golden:
    """Whether any element over dim (all dimensions if None) is not 0 (NaN is not); of uint8 in uint8"""
    return _truth(np.logical_or, self, dim, keepdim)


@semantics("aten::all")
def all_of_all(self: np.ndarray) -> Golden:
    """Whether no element is 0; of uint8 in uint8"""
    return _truth(np.logical_and, self, None, False)


@semantics("aten::all.dim", along="dim")
def all_along(self: np.ndarray, dim: int, keepdim: bool = False) -> Golden:
    """Whether no element along dim is 0; of uint8 in uint8"""
    return _truth(np.logical_and, self, [dim], keepdim)


@semantics("aten::all.dims", along="dim")
def all_over(self: np.ndarray, dim: Sequence[int] | None = None, keepdim: bool = False) -> Golden:
    """Whether no element over dim (all dimensions if None) is 0; of uint8 in uint8"""
    return _truth(np.logical_and, self, dim, keepdim)


@semantics("aten::count_nonzero", along="dim")
def count_nonzero(self: np.ndarray, dim: int | None = None) -> Golden:
    """How many elements along dim, or of all, are not 0; NaN is not"""
    return _folded(np.add, FORMATS["int64"], self, None if dim is None else [dim])


@semantics("aten::count_nonzero.dim_IntList", along="dim")
def count_nonzero_over(self: np.ndarray, dim: Sequence[int]) -> Golden:
    """How many elements over dim (all dimensions if empty) are not 0; NaN is not"""
    return _folded(np.add, FORMATS["int64"], self, dim)
