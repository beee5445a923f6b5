"""What the losses share: elements that are reduced to their mean or sum, each known in three ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from conform.errors import InvalidArguments, Unjudged
from conform.interp.golden import Golden
from conform.interp.numerics import multiprecision as mp
from conform.interp.numerics.ball import Ball
from conform.interp.numerics.escalate import resolved
from conform.interp.numerics.formats import Format, format_of
from conform.interp.numerics.real import Real, concatenate, where
from conform.interp.rows import BLOCK

NONE, MEAN, SUM = range(3)  # at::Reduction


@dataclass(frozen=True)
class Terms:
    """The elements of a loss, one after the other.

    real, ball: their real numbers and an honest implementation's errors, of shape [n]
    rational: element i as a fraction, or None where it is not known to be rational
    formula: element i in mpmath; only asked where `rational` says None
    """

    real: Real
    ball: Ball
    rational: Callable[[int], Fraction | None]
    formula: Callable[[int], mp.Number] | None = None

    def mp(self, i: int) -> mp.Number:
        number = self.rational(i)
        return self.formula(i) if number is None else mp.of_fraction(number)


def in_blocks(function: Callable[..., Terms], *operands: np.ndarray) -> Terms:
    """function(*operands), of operands that have an entry for each term: of many terms some at a time."""
    count = len(operands[0])
    step = max(BLOCK * count // max(operands[0].size, 1), 1)
    if count <= step:
        return function(*operands)
    blocks = [function(*(operand[i : i + step] for operand in operands)) for i in range(0, count, step)]
    mid, rad = (np.concatenate([getattr(block.ball, name) for block in blocks]) for name in ("mid", "rad"))
    return Terms(
        concatenate([block.real for block in blocks]),
        Ball(mid, rad, blocks[0].ball.compute),
        lambda i: blocks[i // step].rational(i % step),
        lambda i: blocks[i // step].mp(i % step),
    )


def reduced(
    fmt: Format, terms: Terms, reduction: int, shape: tuple[int, ...], divisor: Divisor | None = None
) -> Golden:
    """The terms as they are (in `shape`), their sum, or their sum over `divisor`: their number, unless it is given."""
    if reduction == NONE:
        column = _column(fmt, terms.real, terms.ball, terms.rational, terms.mp)
        return column.rearranged(lambda part: part.reshape(shape))
    if reduction not in (MEAN, SUM):
        raise Unjudged(f"no semantics for reduction={reduction}; 0 is none, 1 mean, 2 sum")
    count = terms.real.size
    if count == 0 and reduction == MEAN:
        return Golden(fmt, np.array(np.nan, fmt.storage), Real.exact(np.nan), budget=np.zeros(()))
    real, ball = _finite_beside_special(terms.real).sum(0, keepdims=True), terms.ball.sum(0)
    divisor = divisor or Divisor.exactly(Fraction(count), ball.compute)
    if reduction == MEAN:
        real, ball = _quotient(real, divisor), ball / divisor.ball
    exact_divisor = divisor.exact if reduction == MEAN else Fraction(1)

    def rational(_: int) -> Fraction | None:
        numbers = [terms.rational(i) for i in range(count)]
        return None if None in numbers else sum(numbers, start=Fraction(0)) / exact_divisor

    def formula(_: int) -> mp.Number:
        total = sum((terms.mp(i) for i in range(count)), start=mp.of_float(0))
        return total * exact_divisor.denominator / exact_divisor.numerator

    if reduction == MEAN and divisor.exact == 0 and divisor.ball.rad[0] == 0:
        ball = replace(ball, rad=np.zeros(1))  # every weight is 0, and so is everything: 0 / 0
    golden = _column(fmt, real, ball, rational, formula)
    return golden.rearranged(lambda part: part.reshape(()))


def _finite_beside_special(real: Real) -> Real:
    """Infinities and NaN decide a sum: beside them every finite number is 0, however large."""
    special = ~np.isfinite(real.hi)
    return where(~special, 0.0, real) if special.any() else real


def nan_beside_special(real: Real, operands: Sequence[np.ndarray]) -> Real:
    """`real`, of shape [n], with NaN where an operand, of shape [n], is: of a NaN, or left open by the policy."""
    finite = np.all([np.isfinite(operand) for operand in operands], axis=0)
    return where(finite, real, np.nan)


def _quotient(total: Real, divisor: Divisor) -> Real:
    """Of an infinity or NaN, only the divisor's sign matters, however large it is."""
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


def _column(
    fmt: Format,
    real: Real,
    ball: Ball,
    rational: Callable[[int], Fraction | None],
    formula: Callable[[int], mp.Number],
) -> Golden:
    value, real = resolved(
        fmt,
        real.reshape((-1, 1)),
        lambda some: np.array([[formula(i)] for i in some.tolist()], dtype=object),
        lambda index: rational(index[0]),
    )
    return Golden(fmt, value, real, budget=ball.rad.reshape(-1, 1))


def common_float(name: str, *tensors: np.ndarray | None, promotes: bool = True) -> Format:
    """The float dtype that all tensors have. InvalidArguments for another one; for a mixture too, where torch does not
    promote it, else Unjudged."""
    formats = list(dict.fromkeys(format_of(tensor) for tensor in tensors if tensor is not None))
    names = " and ".join(fmt.name for fmt in formats)
    if len(formats) > 1 and promotes:
        raise Unjudged(f"no semantics for {name} of {names}: floats of one dtype only")
    if len(formats) > 1 or not formats[0].is_float:
        raise InvalidArguments(f"{name} is not defined for {names}: floats of one dtype only")
    return formats[0]


def broadcast(*tensors: np.ndarray) -> tuple[tuple[int, ...], list[np.ndarray]]:
    """(the common shape, the tensors in it as flat float64 arrays)."""
    try:
        arrays = np.broadcast_arrays(*tensors)
    except ValueError:
        shapes = " and ".join(str(list(tensor.shape)) for tensor in tensors)
        raise InvalidArguments(f"shapes {shapes} do not broadcast") from None
    return arrays[0].shape, [array.reshape(-1).astype(np.float64) for array in arrays]
