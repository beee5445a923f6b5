"""How near two lines of numbers are: the cosine of their angle, and a norm of their difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

import numpy as np

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.rows import Rows, reduced_shape
from conform.interp.dims import reduced_axes
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.combinations import wider
from conform.interp.promotion import result_type
from conform.interp.semantics import semantics
from conform.numerics.ball import Ball
from conform.numerics.escalate import decide_exactly, root
from conform.numerics.formats import Format
from conform.numerics.real import Real, maximum, where
from conform.numerics.rounding_errors import held_format

Pairs = list[tuple[np.ndarray, np.ndarray]]  # of some lines [m, n], piece by piece


@dataclass(frozen=True)
class _Lines:
    """Some lines of both tensors, and what is known of what stands in them."""

    fmt: Format
    first: Rows
    second: Rows

    def pairs(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """float64 numbers, finite ones: 0 stands for others."""
        for x, y in self.all():
            finite = np.isfinite(x) & np.isfinite(y)
            yield np.where(finite, x, 0.0), np.where(finite, y, 0.0)

    def all(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return zip(self.first.pieces, self.second.pieces, strict=True)

    def any(self, holds: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        """[m]: in which lines it is true of a pair."""
        return reduce(np.logical_or, (holds(x, y).any(axis=1) for x, y in self.all()))

    def fractions(self, line: int) -> Iterator[tuple[Fraction, Fraction]]:
        for x, y in self.pairs():
            yield from zip(map(Fraction, x[line].tolist()), map(Fraction, y[line].tolist()), strict=True)


def _along(
    x1: np.ndarray, x2: np.ndarray, dim: int, keepdim: bool, golden: Callable[[_Lines], Golden]
) -> Golden:
    """`golden` [m] of lines along the dim of the broadcast tensors."""
    fmt = result_type(x1, x2)
    x, y = np.broadcast_arrays(x1, x2)
    axes = reduced_axes([dim], x.ndim)

    def read(some: np.ndarray) -> np.ndarray:
        return some.astype(np.float64)

    blocks = zip(Rows.over(x, axes, read).blocks(), Rows.over(y, axes, read).blocks(), strict=True)
    shape = reduced_shape(x.shape, axes, keepdim)
    parts = ((place, golden(_Lines(fmt, first, second))) for (place, first), (_, second) in blocks)
    with np.errstate(all="ignore"):
        count = int(np.prod(shape, dtype=np.int64))
        return assembled(parts, count).rearranged(lambda part: part.reshape(shape))


@semantics("aten::cosine_similarity", commutes=True)
def cosine_similarity(x1: np.ndarray, x2: np.ndarray, dim: int = 1, eps: float = 1e-8) -> Golden:
    """x1 . x2 / (max(|x1|, eps) max(|x2|, eps)) along dim; open beside an infinity (P148)"""
    return _along(x1, x2, dim, False, lambda lines: _cosine(lines, eps))


def _cosine(lines: _Lines, eps: float) -> Golden:
    pairs = lines.pairs
    dot = Real.total(Real.exact(x) * Real.exact(y) for x, y in pairs())[:, 0]
    lengths = [
        maximum(Real.total(Real.exact(each[side]) * Real.exact(each[side]) for each in pairs())[:, 0].sqrt(), eps)
        for side in (0, 1)
    ]
    special, nan = lines.any(_is_special), lines.any(lambda x, y: np.isnan(x) | np.isnan(y))
    real = where(special, np.where(nan, np.nan, 0.0), dot / (lengths[0] * lengths[1]))

    def exactly(index: tuple[int]) -> Fraction:
        numbers = list(lines.fractions(index[0]))
        squares = (sum((each[side] ** 2 for each in numbers), Fraction(0)) for side in (0, 1))
        first, second = (max(square, Fraction(eps) ** 2) for square in squares)
        product = sum((x * y for x, y in numbers), Fraction(0))
        cosine = root(product * product / (first * second), 2)
        return type(cosine)(-cosine) if product < 0 else cosine

    value, real = decide_exactly(lines.fmt, real, exactly)
    golden = Golden.derived(lines.fmt, value, real, _cosine_ball(lines, eps), zero_sign_free=True)
    return golden.opened(special & ~nan, "P148")


def _is_special(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return ~(np.isfinite(x) & np.isfinite(y))


def _cosine_ball(lines: _Lines, eps: float) -> Ball:
    """Divided at the end, or each line before."""
    compute = held_format(lines.fmt)

    def balls(side: int) -> Iterator[Ball]:
        return (Ball.exact(each[side], compute) for each in lines.pairs())

    def length(side: int) -> Ball:
        own = Ball.total(ball.square() for ball in balls(side)).sqrt()
        least = own.constant(eps)
        return replace(own, mid=np.maximum(own.mid, least.mid), rad=np.maximum(own.rad, least.rad))

    first, second = length(0), length(1)
    at_end = Ball.total(x * y for x, y in zip(balls(0), balls(1), strict=True)) / (first * second)
    before = Ball.total((x / first) * (y / second) for x, y in zip(balls(0), balls(1), strict=True))
    return wider(at_end, before)[:, 0]


@semantics("aten::pairwise_distance")
def pairwise_distance(
    x1: np.ndarray, x2: np.ndarray, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Golden:
    """The norm of order p, 1, 2 or infinity, of x1 - x2 + eps along the last dimension"""
    return _along(x1, x2, -1, keepdim, lambda lines: _distance(lines, p, eps))


def _distance(lines: _Lines, p: float, eps: float) -> Golden:
    def differences() -> Iterator[Real]:
        return (abs(Real.exact(x) - Real.exact(y) + np.float64(eps)) for x, y in lines.pairs())

    compute = held_format(lines.fmt)
    balls = (Ball.exact(x, compute) - Ball.exact(y, compute) + eps for x, y in lines.pairs())
    real, ball = _NORMS[p](differences(), (replace(one, mid=np.abs(one.mid)) for one in balls))
    special = lines.any(lambda x, y: ~np.isfinite(x - y) & _is_special(x, y))
    nan = lines.any(lambda x, y: np.isnan(x - y))
    real = where(special, np.where(nan, np.nan, np.inf), real)

    def exactly(index: tuple[int]) -> Fraction:
        sizes = [abs(x - y + Fraction(eps)) for x, y in lines.fractions(index[0])]
        if p == 2:
            return root(sum((size * size for size in sizes), Fraction(0)), 2)
        return sum(sizes, Fraction(0)) if p == 1 else max(sizes, default=Fraction(0))

    value, real = decide_exactly(lines.fmt, real, exactly)
    return Golden.derived(lines.fmt, value, real, ball.but_exact(special))


Sizes = tuple[Iterator[Real], Iterator[Ball]]


def _sum(differences: Iterator[Real], balls: Iterator[Ball]) -> tuple[Real, Ball]:
    return Real.total(differences)[:, 0], Ball.total(balls, in_terms=False)[:, 0]


def _length(differences: Iterator[Real], balls: Iterator[Ball]) -> tuple[Real, Ball]:
    real, ball = _sum((one * one for one in differences), (one * one for one in balls))
    return real.sqrt(), ball.sqrt()


def _largest(differences: Iterator[Real], balls: Iterator[Ball]) -> tuple[Real, Ball]:
    """The radius of the widest ball will do for the largest number, whichever that is."""
    largest = reduce(maximum, map(_largest_of_lines, differences))
    first, *others = ((ball.rad.max(axis=1), ball.compute) for ball in balls)
    rad = reduce(np.maximum, (other for other, _ in others), first[0])
    return largest, Ball(largest.hi, rad, first[1])


def _largest_of_lines(numbers: Real) -> Real:
    """[m] of [m, n]: of halves that are laid beside each other, until one number is left."""
    while (count := numbers.shape[1]) > 1:
        half = (count + 1) // 2
        numbers = maximum(numbers[:, :half], numbers[:, count - half :])
    return numbers[:, 0]


_NORMS = {1.0: _sum, 2.0: _length, np.inf: _largest}
