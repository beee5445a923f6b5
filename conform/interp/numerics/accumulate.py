"""Sums and sums of products of float64 numbers: the exact real result, as a Real.

Method (Ozaki, Ogita, Oishi and Rump, Numer. Algorithms 59, 2012): terms are cut into slices of a few bits on a common
grid, so short that every partial sum of a slice (or of products of two slices) is an integer multiple of the grid below
2^53. Plain float64 addition of a slice, in whatever order numpy or BLAS choose and fused or not, is then exact. What
is left is to add a handful of exact numbers per output; two_sum catches their rounding errors, which make the radius.

Guarantees (tests/interp/numerics/test_accumulate.py):
 (A1) the Real encloses the exact sum of the finite terms; its radius is 0 where adding up the slices was exact.
 (A2) Non-finite terms give IEEE 754's class whatever the order: NaN for a NaN, inf * 0 or inf - inf, else the infinity.
 (A3) `magnitude` is at least the sum of the magnitudes of the finite terms, and no more than rounding up makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from conform.interp.numerics.eft import SAFE_PRODUCT, two_prod, two_sum
from conform.interp.numerics.escalate import decide_exactly
from conform.interp.numerics.formats import Format
from conform.interp.numerics.real import RAISE, TINY, Real

SIGNIFICAND = 53
MAX_SLICES = 13  # of a matrix: 13 slices of 21 bits (256 terms) reach 2^-273 of the largest element of a row
TILE_ROWS, TILE_COLUMNS = 256, 128  # of a product, made at a time: arrays of 256 KiB
TILE_TERMS = 2048  # longer rows and columns make smaller tiles,
MIN_TILE = 16  # of at least this many
DIAGONAL_BITS = 2  # 13 products of slices i and d - i add up to at most 4 times the product of the two first slices


@dataclass(frozen=True)
class Accumulated:
    """A sum per output element. `magnitude`: the sum of the terms' magnitudes (float64, of the outputs' shape).

    `terms`: how many terms an output has, an int or, for running sums, an array that broadcasts to the outputs.
    """

    real: Real
    magnitude: np.ndarray
    terms: int | np.ndarray


def total(terms: np.ndarray, axis: int) -> Accumulated:
    """The sums of float64 `terms` along `axis`."""
    return _summed(terms, axis, lambda part: part.sum(axis), terms.shape[axis])


def running(terms: np.ndarray, axis: int) -> Accumulated:
    """The sums of float64 `terms` up to and with each position along `axis`."""
    count = terms.shape[axis]
    places = np.arange(1, count + 1).reshape([count if i == axis % terms.ndim else 1 for i in range(terms.ndim)])
    return _summed(terms, axis, lambda part: part.cumsum(axis), places)


def dot(lhs: np.ndarray, rhs: np.ndarray, axis: int) -> Accumulated:
    """The sums of lhs * rhs (float64, of one shape) along `axis`."""
    with np.errstate(all="ignore"):
        finite = np.isfinite(lhs) & np.isfinite(rhs)
        special = None if finite.all() else np.where(finite, 0.0, lhs * rhs).sum(axis)
        a, a_exponent = _normalised(np.where(finite, lhs, 0.0), axis)
        b, b_exponent = _normalised(np.where(finite, rhs, 0.0), axis)
        product, error = two_prod(a, b)
        faint = ((np.abs(product) < SAFE_PRODUCT) & finite & (lhs != 0) & (rhs != 0)).any(axis)
        pieces = _exact_sums(np.concatenate([product, error], axis), axis, lambda part: part.sum(axis))
        exponent = (a_exponent + b_exponent).reshape(faint.shape)
        lost = lhs.shape[axis] * faint * TINY
        return _assembled(pieces, np.abs(product).sum(axis) + lost, exponent, lhs.shape[axis], lost, special)


def matmul(lhs: np.ndarray, rhs: np.ndarray) -> Accumulated:
    """The matrix product of float64 [m, k] and [k, n].

    It is made tile by tile: what a tile needs beside its operands and results stays the same however large those are,
    and in the processor's caches.
    """
    count = lhs.shape[1]
    rows, columns = _tile(TILE_ROWS, count), _tile(TILE_COLUMNS, count)
    if rows >= lhs.shape[0] and columns >= rhs.shape[1]:
        return _tile_product(lhs, rhs)
    hi, lo, radius, magnitude = np.empty((4, lhs.shape[0], rhs.shape[1]))
    for column in range(0, rhs.shape[1], columns):
        for row in range(0, lhs.shape[0], rows):
            place = slice(row, row + rows), slice(column, column + columns)
            part = _tile_product(lhs[place[0]], rhs[:, place[1]])
            hi[place], lo[place], radius[place] = part.real.hi, part.real.lo, part.real.radius
            magnitude[place] = part.magnitude
    return Accumulated(Real(hi, lo, radius), magnitude, count)


def _tile(most: int, count: int) -> int:
    """How many rows or columns of `count` elements make a tile."""
    return max(MIN_TILE, most * TILE_TERMS // max(count, TILE_TERMS))


def _tile_product(lhs: np.ndarray, rhs: np.ndarray) -> Accumulated:
    with np.errstate(all="ignore"):
        finite = np.isfinite(lhs).all() and np.isfinite(rhs).all()
        special = None if finite else _special_products(lhs, rhs)
        if not finite:
            lhs, rhs = (np.where(np.isfinite(operand), operand, 0.0) for operand in (lhs, rhs))
        a, a_exponent = _normalised(lhs, 1)
        b, b_exponent = _normalised(rhs, 0)
        count = lhs.shape[1]
        bits = (SIGNIFICAND - DIAGONAL_BITS - (count - 1).bit_length()) // 2
        a_slices, a_cut = _slices(a, bits, MAX_SLICES)
        b_slices, b_cut = _slices(b, bits, MAX_SLICES)
        pieces = _diagonals(a_slices, b_slices)
        magnitude, lost = np.abs(a) @ np.abs(b), 0.0
        if a_cut or b_cut or len(a_slices) + len(b_slices) > MAX_SLICES + 1:
            # At most MAX_SLICES^2 + 2 products of parts i and j with i + j >= MAX_SLICES were left out, each at most
            # count * 2^(-bits * MAX_SLICES). Elements or products that underflow are far below that.
            magnitude = magnitude + count * TINY
            lost = count * (MAX_SLICES**2 + 2) * 2.0 ** (-bits * MAX_SLICES)
        return _assembled(pieces, magnitude, a_exponent + b_exponent, count, lost, special)


def decide_sum(
    fmt: Format, accumulated: Accumulated, exact: Callable[[tuple[int, ...]], Fraction]
) -> tuple[np.ndarray, Real]:
    """The sums rounded once to `fmt`, and the reals they round.

    `exact(index)` is asked for the exact value where `accumulated.real` cannot decide; what it says joins the reals.
    """
    return decide_exactly(fmt, accumulated.real, exact)


def fraction(number: float) -> Fraction:
    """The exact value of a finite float64."""
    return Fraction(float(number))


def exact_total(terms: np.ndarray) -> Fraction:
    """The exact sum of finite float64 terms."""
    return _exact_sum(x.as_integer_ratio() for x in terms.ravel().tolist())


def exact_dot(lhs: np.ndarray, rhs: np.ndarray) -> Fraction:
    """The exact sum of products of finite float64 arrays of one shape."""
    left = (x.as_integer_ratio() for x in lhs.ravel().tolist())
    right = (x.as_integer_ratio() for x in rhs.ravel().tolist())
    return _exact_sum((a * b, c * d) for (a, c), (b, d) in zip(left, right, strict=True))


def _exact_sum(ratios: Iterable[tuple[int, int]]) -> Fraction:
    """Denominators are powers of two: the largest is common."""
    ratios = list(ratios)
    common = max((denominator for _, denominator in ratios), default=1)
    shift = common.bit_length()
    return Fraction(sum(n << (shift - d.bit_length()) for n, d in ratios), common)


# -- the sums --------------------------------------------------------------------------------------------------------


def _summed(
    terms: np.ndarray, axis: int, add_up: Callable[[np.ndarray], np.ndarray], counts: int | np.ndarray
) -> Accumulated:
    with np.errstate(all="ignore"):
        finite = np.isfinite(terms)
        special = None
        if not finite.all():
            special = add_up(np.where(finite, 0.0, terms))  # adds infinities and NaN only
            terms = np.where(finite, terms, 0.0)
        scaled, exponent = _normalised(terms, axis)
        underflow = ((np.abs(scaled) < 2.0**-1021) & (terms != 0)).any(axis, keepdims=True)
        pieces = _exact_sums(scaled, axis, add_up)
        magnitude = add_up(np.abs(scaled))
        drop = exponent if magnitude.ndim == terms.ndim else exponent.reshape(magnitude.shape)
        lost = terms.shape[axis] * TINY * underflow.reshape(drop.shape)
        return _assembled(pieces, magnitude + lost, drop, counts, lost, special)


def _normalised(x: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """(y, k) with x = y * 2^k and |y| < 1 along `axis`, which k keeps with length 1.

    The scaling is exact but for y below 2^-1022, which are rounded to multiples of 2^-1074.
    """
    largest = np.abs(x).max(axis, keepdims=True, initial=0.0)
    exponent = np.clip(np.frexp(largest)[1], -1000, None)
    return x * np.ldexp(1.0, -exponent), exponent


def _slices(x: np.ndarray, bits: int, limit: int | None = None) -> tuple[list[np.ndarray], bool]:
    """(slices, cut): x, |x| < 1, in slices: multiples of 2^(-bits * (i + 1)) of magnitude at most 2^(-bits * i).

    Slice i > 0 is at most half that: it holds what rounding to the grid before it left. All slices add up to x,
    unless more than `limit` are needed (`cut`): then less than 2^(-bits * limit) is missing.
    """
    slices: list[np.ndarray] = []
    rest, exponent = x, SIGNIFICAND - 1 - bits
    while rest.any():
        if len(slices) == limit:
            return slices, True
        anchor = 1.5 * 2.0**exponent  # its last bit is 2^(exponent - 52), so adding it rounds to that grid
        head = (rest + anchor) - anchor
        slices.append(head)
        rest = rest - head
        exponent -= bits
    return slices, False


def _exact_sums(x: np.ndarray, axis: int, add_up: Callable[[np.ndarray], np.ndarray]) -> list[np.ndarray]:
    """Exact float64 numbers that add up to the sum of x, |x| < 1, along `axis`: one for each slice."""
    bits = min(SIGNIFICAND - (x.shape[axis] - 1).bit_length(), 45)
    return [add_up(part) for part in _slices(x, bits)[0]]


def _diagonals(a_slices: list[np.ndarray], b_slices: list[np.ndarray]) -> list[np.ndarray]:
    """The exact sums over i + j = d of a_slices[i] @ b_slices[j], for each d below MAX_SLICES."""
    if not (a_slices and b_slices):  # a factor is zero everywhere, or there are no terms
        return []
    sums = []
    for d in range(min(len(a_slices) + len(b_slices) - 1, MAX_SLICES)):
        first = max(0, d - len(b_slices) + 1)
        products = [a_slices[i] @ b_slices[d - i] for i in range(first, min(d + 1, len(a_slices)))]
        sums.append(sum(products[1:], start=products[0]))
    return sums


def _assembled(
    pieces: list[np.ndarray],
    magnitude: np.ndarray,
    exponent: np.ndarray,
    terms: int | np.ndarray,
    lost: np.ndarray | float,
    special: np.ndarray | None,
) -> Accumulated:
    """The sum of `pieces`, and `magnitude`, times 2^exponent. `lost` bounds what the pieces lack of the exact sum."""
    lo = dropped = np.zeros(magnitude.shape)
    hi = pieces[0] + 0.0 if pieces else lo  # no sum is -0
    for piece in pieces[1:]:
        hi, error = two_sum(hi, piece)
        lo, rounding = two_sum(lo, error)
        dropped = dropped + np.abs(rounding)
    hi, lo = two_sum(hi, lo)
    real = Real(hi, lo, (dropped + lost) * RAISE).times_power_of_two(exponent)
    count = np.max(terms, initial=0)
    magnitude = np.ldexp(magnitude * (1 + (count + 4) * 2.0**-52), exponent) + 2.0**-1074 * (magnitude > 0)
    if special is not None:
        determined = ~np.isfinite(special)
        finite = Real(*(np.where(determined, 0.0, part) for part in (real.hi, real.lo, real.radius)))
        real = Real(np.where(determined, special, finite.hi), finite.lo, finite.radius)
    return Accumulated(real, magnitude, terms)


def _special_products(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """0, an infinity or NaN per output: the sum of the non-finite products alone, counted with exact 0/1 matrices."""

    def count(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a.astype(np.float64) @ b.astype(np.float64)

    a_inf, b_inf = np.isinf(lhs), np.isinf(rhs)
    nan = count(np.isnan(lhs), np.ones(rhs.shape)) + count(np.ones(lhs.shape), np.isnan(rhs))
    nan = nan + count(a_inf, rhs == 0) + count(lhs == 0, b_inf)
    plus = minus = np.zeros(nan.shape)
    for a, b in ((a_inf, np.ones(rhs.shape, bool)), (np.ones(lhs.shape, bool), b_inf)):
        plus = plus + count(a & (lhs > 0), b & (rhs > 0)) + count(a & (lhs < 0), b & (rhs < 0))
        minus = minus + count(a & (lhs > 0), b & (rhs < 0)) + count(a & (lhs < 0), b & (rhs > 0))
    infinite = np.where(plus > 0, np.inf, np.where(minus > 0, -np.inf, 0.0))
    return np.where((nan > 0) | ((plus > 0) & (minus > 0)), np.nan, infinite)
