"""Sorting. NaN is greater than every number (P22); zeros of both signs are equal (P24)."""

from __future__ import annotations

import numpy as np

from conform.errors import InvalidArguments
from conform.interp.dims import wrap_dim
from conform.interp.golden import Golden, Ties
from conform.interp.numerics.formats import FORMATS, format_of
from conform.interp.ops.elementwise import exact
from conform.interp.registry import semantics


@semantics("aten::sort")
def sort(self: np.ndarray, dim: int = -1, descending: bool = False) -> tuple[Golden, Golden]:
    """The elements in order along dim, and where each was; the order of equal ones is free (P23)"""
    return stable_sort(self, False, dim, descending)


@semantics("aten::sort.stable")
def stable_sort(
    self: np.ndarray, stable: bool | None, dim: int = -1, descending: bool = False
) -> tuple[Golden, Golden]:
    """The elements in order along dim, and where each was; with stable=True equal ones keep their order"""
    fmt, axis = format_of(self), wrap_dim(dim, self.ndim)
    if fmt.is_complex:
        raise InvalidArguments(f"sort is not defined for {fmt.name}")
    operand = self.reshape(1) if self.ndim == 0 else self
    ranks = _ranks(operand, axis)
    order = np.argsort(-ranks if descending else ranks, axis=axis, kind="stable")
    values = np.take_along_axis(operand, order, axis).reshape(self.shape)
    indices = exact(order.reshape(self.shape), FORMATS["int64"])
    if stable:
        return exact(values, fmt), indices
    free = exact(values, fmt, zero_sign_free=fmt.is_float)
    return free, exact(indices.value, FORMATS["int64"], ties=Ties(axis, ranks.reshape(self.shape)))


def _ranks(operand: np.ndarray, axis: int) -> np.ndarray:
    """Each element's place among the distinct values along axis: equal elements share one, NaN has the highest."""
    keys = operand.astype(np.float64) if format_of(operand).is_float else operand
    order = np.argsort(keys, axis=axis, kind="stable")
    ordered = np.take_along_axis(keys, order, axis)
    ahead, behind = (
        np.take(ordered, range(*bounds), axis)
        for bounds in ((1, ordered.shape[axis]), (0, max(ordered.shape[axis] - 1, 0)))
    )
    rises = (ahead != behind) & ~((ahead != ahead) & (behind != behind))
    first = np.zeros_like(
        np.take(rises, [], axis) if ordered.shape[axis] == 0 else np.take(ordered, [0], axis), dtype=bool
    )
    steps = np.cumsum(np.concatenate([first, rises], axis), axis)
    ranks = np.empty_like(steps)
    np.put_along_axis(ranks, order, steps, axis)
    return ranks
