"""Numbers along the dims that an op reduces."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from conform.errors import Unjudged
from conform.interp.dims import reduced_axes
from conform.interp.operands import converted
from conform.interp.program.apply import apply
from conform.interp.program.number import Number
from conform.numerics.formats import format_named

MOST = 2**22  # elements of what is made of all pairs of elements of a line


def axes_of(x: Number, dim: int | Sequence[int] | None) -> tuple[int, ...]:
    """The dims that a reduction over `dim` takes; all for None and an empty list."""
    return tuple(sorted(reduced_axes([dim] if isinstance(dim, int) else dim, x.ndim)))


def count_of(x: Number, dim: int | Sequence[int] | None) -> int:
    """How many elements are reduced to one."""
    return prod(x.shape[axis] for axis in axes_of(x, dim))


def kept(y: Number, x: Number, dim: int | Sequence[int] | None) -> Number:
    """What x was reduced to, with size 1 in place of the dims that it may have lost."""
    axes = axes_of(x, dim)
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
    return y.moved(lambda part: part.reshape(shape))


def spread(y: Number, x: Number, dim: int | Sequence[int] | None) -> Number:
    """What x was reduced to, beside each element of x."""
    return kept(y, x, dim).moved(lambda part: np.broadcast_to(part, x.shape))


def converted_first(x: Number, dtype: str | None) -> Number:
    """An operand as an op has it that converts it to `dtype` before it reduces it."""
    return x if dtype is None else Number.exact(converted(x.array, format_named(dtype)))


def last(x: Number, axis: int) -> Number:
    """x with the dim `axis` behind the others."""
    return x.moved(lambda part: np.moveaxis(part, axis, -1) if part.ndim else part.reshape(1))


def back(x: Number, axis: int, shape: tuple[int, ...]) -> Number:
    """x with its last dim where `axis` was, in that shape."""
    return x.moved(lambda part: (np.moveaxis(part, -1, axis) if len(shape) else part).reshape(shape))


def summed_from_each(terms: Number, axis: int) -> Number:
    """Of each element the sum of those at its place along `axis` and behind it."""
    line = last(terms, axis)
    size = line.shape[-1]
    if line.real.size * size > MOST:
        raise Unjudged(f"the sums over the ends of lines of {size} elements, where they were computed, are too many")
    pairs = line.moved(lambda part: np.broadcast_to(part[..., None, :], (*part.shape[:-1], size, size)))
    return back(summed_behind(pairs), axis, terms.shape)


def summed_behind(pairs: Number) -> Number:
    """Of pairs [..., n, n] of places in lines the sums [..., n] over the second one, from the first one on."""
    behind = np.triu(np.ones(pairs.shape[-2:], bool))
    zero = Number.exact(np.zeros((), pairs.format.storage))
    return apply("aten::where.self", behind, pairs, zero).sum(-1)
