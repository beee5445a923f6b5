"""Rows of what a reduction goes over, and functions of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from conform.interp.blocks.rows import reduced_shape
from conform.interp.dims import reduced_axes, wrap_dim
from conform.interp.program.number import Number
from conform.interp.program.rules import combined
from conform.numerics.ball import Ball
from conform.numerics.real import Real, concatenate

Dims = Sequence[int] | int | None
OfReals = Callable[[Real], Real]
OfBalls = Callable[[Ball], Ball]


def axes_of(number: Number, dim: Dims) -> tuple[int, ...]:
    return reduced_axes([dim] if isinstance(dim, int) else dim, number.ndim)


def over(number: Number, dim: Dims, keepdim: bool, real: OfReals, ball: OfBalls) -> Number:
    """Functions of [rows, n], which give [rows, 1]."""
    axes = axes_of(number, dim)
    rows = number.moved(lambda part: rows_of(part, axes))
    result = combined(number.format, real, ball, rows, of_rows=True)
    return result.moved(lambda part: part.reshape(reduced_shape(number.shape, axes, keepdim)))


def rows_of(part: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    kept = [axis for axis in range(part.ndim) if axis not in axes]
    count = int(np.prod([part.shape[axis] for axis in axes]))
    lines = int(np.prod([part.shape[axis] for axis in kept]))
    return part.transpose(*kept, *axes).reshape(lines, count) if part.ndim else part.reshape(1, 1)


def along(number: Number, dim: int, real: OfReals, ball: OfBalls) -> Number:
    """Functions of [rows, n], which give [rows, n], of the lines along `dim`."""
    if number.ndim == 0:
        return along(number.moved(lambda part: part.reshape(1)), 0, real, ball).moved(lambda part: part.reshape(()))
    moved = number.moved(lambda part: np.moveaxis(part, wrap_dim(dim, number.ndim), -1))
    lines = moved.moved(lambda part: part.reshape(-1, part.shape[-1]) if part.size else part.reshape(0, 1))
    result = combined(number.format, real, ball, lines, of_rows=True)
    return result.moved(lambda part: np.moveaxis(part.reshape(moved.shape), -1, dim))


def so_far(join: Callable[[Any, Any], Any], rows: Real) -> Real:
    """What the elements up to each place of a row come to, joined in a tree: after step k those of the 2^k up to it."""
    step = 1
    while step < rows.shape[1]:
        rows = concatenate([rows[:, :step], join(rows[:, step:], rows[:, :-step])], 1)
        step *= 2
    return rows
