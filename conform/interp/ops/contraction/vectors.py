"""Cross products of vectors of three elements, and traces of matrices."""

from __future__ import annotations

from math import prod

import numpy as np

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import spans
from conform.interp.dims import wrap_dim
from conform.interp.golden import Golden
from conform.interp.operands import refuse_complex
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.reduction.sums import sum_, sums_of
from conform.interp.semantics import semantics
from conform.interp.size import broadcast_elements
from conform.numerics import accumulate
from conform.numerics.digits import decide_digits, dots
from conform.numerics.formats import Format, compute_format, format_of
from conform.numerics.grid import finest


@semantics("aten::linalg_cross", elements=broadcast_elements)
def linalg_cross(self: np.ndarray, other: np.ndarray, dim: int = -1) -> Golden:
    """self x other of the vectors of three elements along dim, the other dims broadcast: element i is self[i + 1] *
    other[i + 2] - self[i + 2] * other[i + 1], indices modulo 3 (P3, P10, P35)"""
    fmt = format_of(self)
    refuse_complex(fmt, "cross products")
    shape = np.broadcast_shapes(self.shape, other.shape)
    axis = wrap_dim(dim, len(shape))
    operands = [np.broadcast_to(operand, shape) for operand in (self, other)]

    def of_some(some: slice) -> Golden:
        place = list(np.unravel_index(np.arange(some.start, some.stop), shape))
        (a1, b1), (a2, b2) = ([operand[_turned(place, axis, by)] for operand in operands] for by in (1, 2))
        return _difference(fmt, a1, b2, a2, b1)

    golden = assembled(((some, of_some(some)) for some in spans(prod(shape))), prod(shape))
    return golden.rearranged(lambda part: part.reshape(shape))


@semantics("aten::cross", elements=broadcast_elements)
def cross(self: np.ndarray, other: np.ndarray, dim: int | None = None) -> Golden:
    """linalg_cross along dim, by default the first dim of self of size 3"""
    return linalg_cross(self, other, self.shape.index(3) if dim is None else dim)


def _turned(place: list[np.ndarray], axis: int, by: int) -> tuple[np.ndarray, ...]:
    """The coordinates with those along the axis `by` further on, modulo 3."""
    return (*place[:axis], (place[axis] + by) % 3, *place[axis + 1 :])


def _difference(fmt: Format, a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> Golden:
    """a * b - c * d [n], rounded once."""
    if not fmt.is_float:
        with np.errstate(over="ignore"):
            return exact(a * b - c * d, fmt)
    lhs, rhs = (np.stack(pair, axis=1).astype(np.float64) for pair in ((a, c), (b, d)))
    rhs[:, 1] *= -1
    total = accumulate.dot(lhs, rhs, 1)
    exactly = lambda index: dots([(lhs[index[0]].T, rhs[index[0]].T)])  # noqa: E731
    value, real = decide_digits(fmt, total.real, total.terms, exactly)
    golden = sums_of(fmt, total, value, real)
    return golden.on_grid(_grid(compute_format(fmt), lhs, rhs))


def _grid(compute: Format, lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """[n]: of both products, 0 where it underflows."""
    with np.errstate(all="ignore"):
        return (finest(lhs) * finest(rhs)).min(axis=1)


@semantics("aten::trace", accumulates="self")
def trace(self: np.ndarray) -> Golden:
    """The sum of the elements self[i, i] (P3, P10)"""
    refuse_complex(format_of(self), "trace")
    return sum_(np.diagonal(self))
