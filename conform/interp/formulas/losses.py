"""What the losses share: elements that are reduced to their mean or sum, each known in three ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

import numpy as np
from gmpy2 import mpq

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import Pieces, fits, flat, spans
from conform.interp.golden import Golden
from conform.numerics import accumulate as sums
from conform.numerics import multiprecision as mp
from conform.numerics.ball import Ball
from conform.numerics.escalate import Irrational, resolved
from conform.numerics.formats import Format
from conform.numerics.real import Real, where
from conform.numerics.rounding_errors import held_format
from conform.numerics.scaled import Scaled

NONE, MEAN, SUM = range(3)  # at::Reduction


@dataclass(frozen=True)
class Terms:
    """A block of the elements of a loss, one after the other.

    real, ball: their real numbers and an honest implementation's errors, of shape [n]
    rational: element i as a fraction, or as an Irrational what rounds like it, or None
    formula: element i on numbers of any precision; not asked where `rational` gives a fraction
    scaled: the numbers with their exponents held apart, asked for where the reals do not decide; None: not known so
    open: which elements the policy leaves open, of shape [n]; None: none
    """

    real: Real
    ball: Ball
    rational: Callable[[int], Fraction | mpq | None]
    formula: Callable[[int], mp.Number | int] | None = None
    open: np.ndarray | None = None
    scaled: Callable[[], Scaled] | None = None

    def exactly(self, i: int) -> Fraction | mpq | None:
        """Element i where it is known to be rational."""
        number = self.rational(i)
        return None if isinstance(number, Irrational) else number

    def mp(self, i: int) -> mp.Number | int:
        number = self.exactly(i)
        return self.formula(i) if number is None else mp.of_fraction(number)


Blocks = Iterable[Terms]  # of all elements in order; read again wherever they are asked for


def in_blocks(function: Callable[..., Terms], *operands: np.ndarray) -> Blocks:
    """function(*numbers) of block after block of the operands, views of one shape, as float64 numbers [n]."""
    size = operands[0].size

    def blocks() -> Iterator[Terms]:
        return (function(*(flat(x, place).astype(np.float64) for x in operands)) for place in spans(size))

    return Pieces(blocks, are_many=not fits(size))


def reduced(
    fmt: Format,
    blocks: Blocks,
    reduction: int,
    shape: tuple[int, ...],
    divisor: Divisor | None = None,
    open_rule: str | None = None,
) -> Golden:
    """The elements as they are (in `shape`), their sum, or their sum over `divisor`: their number, unless it is given.

    `open_rule`: by which elements are open; so is every sum of one.
    """
    count = prod(shape)
    if reduction == NONE:
        return assembled(_columns(fmt, blocks, open_rule), count).rearranged(lambda part: part.reshape(shape))
    if count == 0 and reduction == MEAN:
        return Golden(fmt, np.array(np.nan, fmt.storage), Real.exact(np.nan), budget=np.zeros(()))
    if reduction == MEAN:
        divisor = divisor or Divisor.exactly(Fraction(count), held_format(fmt))
    return _added_up(fmt, blocks, divisor if reduction == MEAN else None, open_rule)


def _added_up(fmt: Format, blocks: Blocks, divisor: Divisor | None, open_rule: str | None) -> Golden:
    """The sum of all elements, over `divisor` if there is one."""
    real, ball, is_open = _sums(blocks)
    if divisor is not None:
        real, ball = _quotient(real, divisor), ball / divisor.ball
        if divisor.exact is None:  # an infinite weight makes an infinite loss, or 0 * inf: inf / inf, or NaN
            real = Real.exact(np.full(1, np.nan))
        if divisor.exact == 0 and divisor.ball.rad[0] == 0:
            ball = replace(ball, rad=np.zeros(1))  # every weight is 0, and so is everything: 0 / 0
    exact_divisor = Fraction(1) if divisor is None else divisor.exact

    def rational(_: int) -> mpq | None:
        total = _fraction_sum(blocks)
        return None if total is None else total / exact_divisor

    def formula(_: int) -> mp.Number:
        total = mp.total(terms.mp(i) for terms in blocks for i in range(terms.real.size))
        return total * exact_divisor.denominator / exact_divisor.numerator

    golden = _column(fmt, real, ball, rational, formula)
    return golden.rearranged(lambda part: part.reshape(())).opened(is_open, open_rule)


def _columns(fmt: Format, blocks: Blocks, open_rule: str | None) -> Iterator[tuple[slice, Golden]]:
    """(which elements, their golden [n, 1]), block by block."""
    stop = 0
    for terms in blocks:
        start, stop = stop, stop + terms.real.size
        golden = _column(fmt, terms.real, terms.ball, terms.rational, terms.mp, terms.scaled)
        is_closed = terms.open is None
        yield slice(start, stop), golden if is_closed else golden.opened(terms.open.reshape(-1, 1), open_rule)


def _sums(blocks: Blocks) -> tuple[Real, Ball, np.ndarray]:
    """(the sum of all elements as a real and as a ball, [1], whether one of them is open, [])."""
    real, is_open = None, np.False_

    def balls() -> Iterator[Ball]:
        nonlocal real, is_open
        for terms in blocks:
            more = _finite_beside_special(terms.real).sum(0, keepdims=True)
            real = more if real is None else _sum_beside_special(real, more)
            is_open = is_open | np.any(terms.open if terms.open is not None else False)
            yield terms.ball

    ball = Ball.total(balls(), 0)
    return real, ball, is_open


def _finite_beside_special(real: Real) -> Real:
    """Infinities and NaN decide a sum: beside them every finite number is 0, however large."""
    special = ~np.isfinite(real.hi)
    return where(~special, 0.0, real) if special.any() else real


def _sum_beside_special(one: Real, other: Real) -> Real:
    """The sum of two sums [1], one of which may be an infinity or NaN."""
    if np.isfinite(one.hi[0]) == np.isfinite(other.hi[0]):
        return one + other
    return other if np.isfinite(one.hi[0]) else one


def _fraction_sum(blocks: Blocks) -> mpq | None:
    """The exact sum of all elements, None where one is not known to be rational."""
    total = mpq(0)
    for terms in blocks:
        for i in range(terms.real.size):
            if (number := terms.exactly(i)) is None:
                return None
            total += number
    return total


def nan_beside_special(real: Real, operands: Sequence[np.ndarray]) -> Real:
    """`real`, of shape [n], with NaN where an operand, of shape [n], is: of a NaN, or left open by the policy."""
    finite = np.all([np.isfinite(operand) for operand in operands], axis=0)
    return where(finite, real, np.nan)


def _quotient(total: Real, divisor: Divisor) -> Real:
    """The quotient; where the total is an infinity or NaN, only the divisor's sign matters, however large it is."""
    if np.isfinite(total.hi[0]) or not divisor.exact:
        return total / divisor.real
    return total / (1.0 if divisor.exact > 0 else -1.0)


@dataclass(frozen=True)
class Divisor:
    """What a mean divides by, as a real and a ball of shape [1], and exactly (None where it is not finite)."""

    real: Real
    ball: Ball
    exact: Fraction | None

    @staticmethod
    def exactly(number: Fraction, compute: Format) -> Divisor:
        """A count."""
        one = np.full(1, float(number))
        return Divisor(Real.exact(one), Ball.exact(one, compute), number)

    @staticmethod
    def total(pieces: Iterable[np.ndarray], compute: Format) -> Divisor:
        """The sum of weights, float64 [n] that come in pieces, which are read again and again."""
        real = sums.total_of(pieces).real.reshape(1)
        exactly = None
        if all(np.isfinite(piece).all() for piece in pieces):
            is_known = np.isfinite(real.hi[0]) and real.radius[0] == 0
            exactly = sum(map(sums.exact_total, (real.hi, real.lo) if is_known else pieces))
        return Divisor(real, Ball.total(Ball.exact(piece, compute) for piece in pieces), exactly)


def _column(
    fmt: Format,
    real: Real,
    ball: Ball,
    rational: Callable[[int], Fraction | mpq | None],
    formula: Callable[[int], mp.Number | int],
    scaled: Callable[[], Scaled] | None = None,
) -> Golden:
    value, real = resolved(
        fmt,
        real.reshape((-1, 1)),
        lambda some: np.array([[formula(i)] for i in some.tolist()], dtype=object),
        lambda index: rational(index[0]),
        None if scaled is None else lambda: scaled().column(),
    )
    return Golden.derived(fmt, value, real, ball[:, None])


def broadcast(*tensors: np.ndarray) -> tuple[tuple[int, ...], list[np.ndarray]]:
    """(the common shape, views of the tensors in it)."""
    arrays = np.broadcast_arrays(*tensors)
    return arrays[0].shape, list(arrays)
