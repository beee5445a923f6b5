"""The logarithm of a sum of exponentials, taken over rows: on reals, on numbers of any precision and on balls.

x - max, and log(sum(exp(x - max))) = log1p(the sum over all places but the first largest one): two numbers without
cancellation, from which log_softmax, logsumexp and cross entropy are made. Rows have a column at least.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from conform.interp.blocks.blocks import Pieces
from conform.interp.blocks.rows import Rows
from conform.numerics import functions
from conform.numerics import multiprecision as mp
from conform.numerics.ball import Ball
from conform.numerics.eft import two_sum
from conform.numerics.formats import Format
from conform.numerics.real import Real, concatenate, where
from conform.numerics.scaled import Scaled

FAR = 2.0**20  # e^-FAR rounds to 0 in every format
LEAST = mp.power_of_two(-2300)  # products of two float64 are multiples of 2^-2148, and so are the midpoints


def _first_largest(rows: Rows) -> Pieces[np.ndarray]:
    """Whether a column is that of the first largest element."""
    place = rows.first_largest()
    return rows.beside(lambda _, columns: np.arange(columns.start, columns.stop) == place)


def of_reals(rows: Rows) -> tuple[Pieces[Real], Real]:
    """(x - max, the logarithm of the sum of its exponentials [rows, 1], NaN where the maximum is infinite)."""
    largest = rows.largest()
    shifted = rows.pieces.map(lambda x: Real.exact(x) - Real.exact(largest))

    def power(x: np.ndarray, is_first: np.ndarray) -> Real:
        return where(is_first, 0.0, functions.exp(distance(x, largest)))

    with np.errstate(all="ignore"):
        others = rows.pieces.map(power, _first_largest(rows))
        log_sum = functions.log1p(Real.total(others))
        return shifted, where(np.isinf(largest), np.nan, log_sum)


def distance(x: np.ndarray, largest: np.ndarray) -> Real:
    """x - largest; -FAR stands for what is less and finite, where float64 may overflow."""
    far = (x / 2 - largest / 2 < -FAR) & np.isfinite(x) & np.isfinite(largest)
    return where(far, -FAR, Real.exact(x) - Real.exact(largest))


def faint(rows: Rows) -> Scaled:
    """[rows, 1]: the logarithm of the sum where that is below 2^-700: e^(second largest - largest) times the sum of the
    exponentials of x - second largest over all but the largest; what log1p takes away is less than 2^-700 of it."""
    largest, first = rows.largest(), _first_largest(rows)
    others = rows.pieces.map(lambda x, is_first: np.where(is_first, -np.inf, x), first)
    second = np.maximum.reduce([x.max(axis=1, keepdims=True) for x in others])
    with np.errstate(all="ignore"):
        below = distance(second, largest)
        total = Real.total(others.map(lambda x: functions.exp(distance(x, second))))
        return functions.exp_scaled(below).times(total).known_where(below.hi < -555.0)


def far_below(fmt: Format, x: np.ndarray, largest: np.ndarray, log_sum: Real) -> tuple[np.ndarray, np.ndarray, Real]:
    """(where of x - max - log_sum only the sign of the positive log_sum counts, its rounding to `fmt` there, its real).

    x - max is hi + lo, exactly. All rounding boundaries are multiples of ulp(hi) / 4, and so of the unit of lo: between
    hi + lo and the number of that unit below it there is none, nor between hi and hi (1 + 2^-60).
    """
    with np.errstate(all="ignore"):
        halves = x / 2, -largest / 2  # their sum does not overflow
        hi, lo = two_sum(*halves)
        most = (np.abs(log_sum.hi) + log_sum.radius) * (1 + 2.0**-40)
        room = np.where(lo == 0, np.abs(hi) * 2.0**-60, np.abs(np.spacing(lo)))
        far = (hi < 0) & np.isfinite(hi) & (most > 0) & (most <= room)
        far &= (2 * halves[0] == x) & (2 * halves[1] == -largest)
        below = np.where(lo == 0, hi * 2.0**-70, np.nextafter(lo, -np.inf))
        value, _ = Scaled.of(*two_sum(hi, below), 0.0, 1).decided(fmt)
        return far, value, Scaled.of(hi, lo, most / np.abs(hi), 1).real()


def of_numbers(pieces: Iterable[np.ndarray]) -> tuple[mp.Number, mp.Number]:
    """(max, the logarithm of the sum of the exponentials of x - max) of one row [m], piece by piece, at the precision
    of the context.

    A positive logarithm is at least LEAST: what is less decides on which side of a rounding boundary x - max comes to
    lie, also times a weight, and this does so just as well. To a Real, whose radius is then 2^-1074 or more, both are
    the same number.
    """
    largest = np.maximum.reduce([piece.max() for piece in pieces])
    others = (mp.exp(mp.of_float(x) - mp.of_float(largest)).sum() for x in without_first(largest, pieces))
    log_sum = mp.log1p(sum(others))
    return mp.of_float(largest), max(log_sum, LEAST) if log_sum > 0 else log_sum


def without_first(number: float, pieces: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """The pieces [m] without the first element that is `number`."""
    is_left_out = False
    for piece in pieces:
        places = [] if is_left_out else np.flatnonzero(piece == number)[:1]
        is_left_out = is_left_out or len(places) > 0
        yield np.delete(piece, places)


def of_balls(rows: Rows, compute: Format) -> tuple[Pieces[Ball], Ball]:
    """The errors of both where the exponentials are added up in any order and the logarithm of the sum is taken."""
    largest = Ball.exact(rows.largest(), compute)
    shifted = rows.pieces.map(lambda x: Ball.exact(x, compute) - largest)
    return shifted, Ball.total(shifted.map(Ball.exp)).log()


def running(rows: Rows) -> Iterator[tuple[np.ndarray, Real]]:
    """Piece by piece, up to and with each column: (the largest element, the sum of the exponentials of x - largest
    over all others), [rows, m] each; of a largest one that is not finite the second means nothing."""
    carried: tuple[np.ndarray, Real] | None = None
    for piece in rows.pieces:
        largest, others, reach = piece, Real.exact(np.zeros(piece.shape)), 1
        with np.errstate(all="ignore"):
            while reach < piece.shape[1]:  # each sum is joined with the one of as many columns before it
                before = largest[:, :-reach], others[:, :-reach]
                largest_joined, others_joined = _joined(before, (largest[:, reach:], others[:, reach:]))
                largest = np.concatenate([largest[:, :reach], largest_joined], axis=1)
                others = concatenate([others[:, :reach], others_joined], 1)
                reach *= 2
            if carried is not None:
                largest, others = _joined(carried, (largest, others))
        yield largest, others
        carried = largest[:, -1:], others[:, -1:]


def _joined(first: tuple[np.ndarray, Real], second: tuple[np.ndarray, Real]) -> tuple[np.ndarray, Real]:
    """`running`'s pair of the elements of two; the largest is the first one of them."""
    (mine, own), (its, more) = first, second
    largest, smallest = np.maximum(mine, its), np.minimum(mine, its)
    counts = np.isfinite(smallest) & np.isfinite(largest)  # e^-inf is 0, and beside an infinity nothing counts
    weight = where(counts, functions.exp(distance(smallest, largest)), 0.0)
    is_first = mine >= its
    kept, weighed = where(is_first, own, more), where(is_first, more, own)
    return largest, kept + weight * (Real.exact(np.ones(largest.shape)) + weighed)
