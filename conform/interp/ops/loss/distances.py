"""How near two lines of numbers are: the cosine of their angle, and a norm of their difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, reduce
from math import isfinite

import numpy as np
from gmpy2 import mpq

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import Pieces, fits
from conform.interp.blocks.rows import Rows, reduced_shape
from conform.interp.dims import reduced_axes
from conform.interp.formulas.losses import Terms, reduced
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.combinations import wider
from conform.interp.ops.loss.margins import or_zero
from conform.interp.promotion import result_type
from conform.interp.semantics import semantics
from conform.numerics import multiprecision as mp
from conform.numerics.ball import Ball, chosen
from conform.numerics.escalate import Irrational, decide_exactly, root
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

    def fractions(self, line: int) -> Iterator[tuple[mpq, mpq]]:
        """Of one line, 0 for both where one is not finite."""
        for x, y in self.all():
            for pair in zip(x[line].tolist(), y[line].tolist(), strict=True):
                yield tuple(map(mpq, pair)) if all(map(isfinite, pair)) else (mpq(0), mpq(0))


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
        squares = (sum((each[side] ** 2 for each in numbers), mpq(0)) for side in (0, 1))
        first, second = (max(square, mpq(eps) ** 2) for square in squares)
        product = sum((x * y for x, y in numbers), mpq(0))
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
    real, ball, special = _distance_of(lines, p, eps)
    real, ball = where(special != 0, special, real), ball.but_exact(special != 0)

    def exactly(index: tuple[int]) -> Fraction | mpq:
        power = _power(lines, index[0], p, eps)
        return root(power, 2) if p == 2 else power

    value, real = decide_exactly(lines.fmt, real, exactly)
    return Golden.derived(lines.fmt, value, real, ball)


Distance = tuple[Real, Ball, np.ndarray]


def _distance_of(lines: _Lines, p: float, eps: float) -> Distance:
    """[m]: the norms of the differences, and 0 beside them; of an infinity and of what has no difference infinity and
    NaN beside any number."""

    def differences() -> Iterator[Real]:
        return (abs(Real.exact(x) - Real.exact(y) + np.float64(eps)) for x, y in lines.pairs())

    compute = held_format(lines.fmt)
    balls = (Ball.exact(x, compute) - Ball.exact(y, compute) + eps for x, y in lines.pairs())
    real, ball = _NORMS[p](differences(), (replace(one, mid=np.abs(one.mid)) for one in balls))
    special = lines.any(lambda x, y: ~np.isfinite(x - y) & _is_special(x, y))
    nan = lines.any(lambda x, y: np.isnan(x - y))
    return real, ball, np.where(nan, np.nan, np.where(special, np.inf, 0.0))


def _power(lines: _Lines, line: int, p: float, eps: float) -> mpq:
    """The norm of a line's difference exactly, that of order 2 squared."""
    sizes = (abs(x - y + mpq(eps)) for x, y in lines.fractions(line))
    if p == 2:
        return sum((size * size for size in sizes), mpq(0))
    return sum(sizes, mpq(0)) if p == 1 else max(sizes, default=mpq(0))


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


# Losses of distances and of angles


@semantics("aten::triplet_margin_loss")
def triplet_margin_loss(
    anchor: np.ndarray,
    positive: np.ndarray,
    negative: np.ndarray,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 1,
) -> Golden:
    """max(d(anchor, positive) - d(anchor, negative) + margin, 0) of pairwise_distance d along the last dimension, with
    swap d(positive, negative) where it is less than d(anchor, negative); its mean or its sum (P54)"""
    fmt = result_type(anchor, positive, negative)
    tensors = np.broadcast_arrays(anchor, positive, negative)

    def terms(rows: tuple[Rows, ...]) -> Terms:
        first, near, far = rows
        pairs = [_Lines(fmt, first, near), _Lines(fmt, first, far), *([_Lines(fmt, near, far)] if swap else [])]
        return _of_triplets(pairs, margin, p, eps)

    with np.errstate(all="ignore"):
        golden = reduced(fmt, _lines_of(tensors, terms), reduction, tensors[0].shape[:-1])
    return replace(golden, zero_sign_free=True)


def _lines_of(tensors: list[np.ndarray], terms: Callable[[tuple[Rows, ...]], Terms]) -> Pieces[Terms]:
    """`terms` of lines along the last dimension, those of all tensors beside each other, block by block."""
    rows = [Rows.over(tensor, (tensor.ndim - 1,)) for tensor in tensors]

    def blocks() -> Iterator[Terms]:
        return (
            terms(tuple(some for _, some in block))
            for block in zip(*(each.blocks() for each in rows), strict=True)
        )  # fmt: skip

    return Pieces(blocks, are_many=not fits(tensors[0].size))


def _of_triplets(pairs: list[_Lines], margin: float, p: float, eps: float) -> Terms:
    """pairs: (anchor, positive), (anchor, negative), and (positive, negative) where that may stand for the second."""
    near, *others = (_distance_of(lines, p, eps) for lines in pairs)
    far = reduce(_lesser, others)
    special = near[2] - far[2]
    real = maximum(near[0] - far[0] + np.float64(margin), 0.0)
    real = where(special != 0, np.maximum(special, 0.0), real)
    ball = or_zero(wider(near[1] - far[1] + margin, near[1] + margin - far[1])).but_exact(special != 0)

    powers_of = cache(lambda i: [_power(lines, i, p, eps) for lines in pairs])

    def rational(i: int) -> mpq | None:
        first, *others = powers_of(i)
        near, far = (mpq(0), mpq(0)) if first == min(others) else (first, min(others))
        near, far = (root(power, 2) if p == 2 else power for power in (near, far))
        if isinstance(near, Irrational) or isinstance(far, Irrational):
            return None
        return max(mpq(near) - mpq(far) + mpq(margin), mpq(0))

    def formula(i: int) -> mp.Number | int:
        near, *others = (mp.sqrt(mp.of_fraction(power)) for power in powers_of(i))
        return mp.total_or_zero((near, -min(others), mp.of_float(margin)))

    return Terms(real, ball, rational, formula)


def _lesser(one: Distance, other: Distance) -> Distance:
    """The lesser of two distances; NaN of NaN."""
    real, ball, special = one[0], one[1], np.minimum(one[2], other[2])
    lesser = -maximum(-real, -other[0])
    real = where(np.isinf(one[2]), other[0], where(np.isinf(other[2]), real, lesser))
    either = replace(ball, mid=np.minimum(ball.mid, other[1].mid), rad=np.maximum(ball.rad, other[1].rad))
    return real, chosen(np.isinf(one[2]), other[1], chosen(np.isinf(other[2]), ball, either)), special


GUARD = 1e-12  # what implementations add to squared lengths before they divide by them


@semantics("aten::cosine_embedding_loss")
def cosine_embedding_loss(
    input1: np.ndarray, input2: np.ndarray, target: np.ndarray, margin: float = 0.0, reduction: int = 1
) -> Golden:
    """1 - cos where target is 1, max(0, cos - margin) where it is -1, of the cosine of the angle between input1 and
    input2 along the last dimension; open beside an infinity, and where a line has no direction (P54, P154)"""
    fmt = result_type(input1, input2)
    tensors = np.broadcast_arrays(input1, input2)
    signs = np.broadcast_to(target, tensors[0].shape[:-1]).reshape(-1)

    def terms(rows: tuple[Rows, ...]) -> Terms:
        return _of_angles(_Lines(fmt, *rows), signs[rows[0].place] == 1, margin)

    with np.errstate(all="ignore"):
        golden = reduced(fmt, _lines_of(tensors, terms), reduction, signs.shape[: target.ndim], open_rule="P154")
    return replace(golden, zero_sign_free=True)


def _of_angles(lines: _Lines, similar: np.ndarray, margin: float) -> Terms:
    dot = Real.total(Real.exact(x) * Real.exact(y) for x, y in lines.pairs())[:, 0]
    squares = [
        Real.total(Real.exact(each[side]) * Real.exact(each[side]) for each in lines.pairs())[:, 0] for side in (0, 1)
    ]
    special, nan = lines.any(_is_special), lines.any(lambda x, y: np.isnan(x) | np.isnan(y))
    cosine = dot / (squares[0].sqrt() * squares[1].sqrt())
    no_direction = ~lines.any(lambda x, y: x != 0) | ~lines.any(lambda x, y: y != 0)
    real = where(similar, 1.0 - cosine, maximum(cosine - margin, 0.0))
    unread = special | no_direction

    @cache
    def parts(i: int) -> tuple[mpq, mpq]:
        numbers = list(lines.fractions(i))
        product = sum((x * y for x, y in numbers), mpq(0))
        first, second = (sum((each[side] ** 2 for each in numbers), mpq(0)) for side in (0, 1))
        return product, first * second

    def rational(i: int) -> Fraction | None:
        product, square = parts(i)
        cosine = root(product * product / square, 2) if square else Fraction(0)  # left open
        if isinstance(cosine, Irrational):
            return None
        cosine = -cosine if product < 0 else cosine
        return 1 - cosine if similar[i] else max(cosine - Fraction(margin), Fraction(0))

    def formula(i: int) -> mp.Number | int:
        product, square = parts(i)
        cosine = mp.of_fraction(product) / mp.sqrt(mp.of_fraction(square))
        if similar[i]:
            return mp.total((mp.of_float(1.0), -cosine))
        return mp.total_or_zero((cosine, -mp.of_float(margin)))

    ball = _guarded(lines)
    ball = chosen(similar, -ball + 1.0, or_zero(ball - margin))
    real = where(unread, np.where(nan, np.nan, 0.0), real)
    return Terms(real, ball.but_exact(unread), rational, formula, open=unread & ~nan)


def _guarded(lines: _Lines) -> Ball:
    """The cosine, whose squared lengths may have been enlarged."""
    plain = _cosine_ball(lines, 0.0)
    compute = held_format(lines.fmt)
    least = np.minimum.reduce(
        [sum((each[side] ** 2).sum(axis=1) for each in lines.pairs()) for side in (0, 1)]
    )  # fmt: skip
    return replace(plain, rad=plain.rad + np.abs(plain.mid) * GUARD / least, compute=compute)
