"""The product of two matrices: the exact real result of every element, as a Real.

The method is accumulate's: products of two slices add up exactly, so that BLAS may add them, and a handful of exact
numbers per output is left. A product is made tile by tile, and a tile in pieces of its terms: what it needs beside its
operands and results stays the same however large those are, and in the processor's caches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

import numpy as np

from conform.numerics.accumulate import SIGNIFICAND, Accumulated, accumulated, added, slices
from conform.numerics.digits import AT_ONCE
from conform.numerics.real import TINY, Real

MAX_SLICES = 13  # of a matrix: 13 slices of 21 bits (256 terms) reach 2^-273 of the largest element of a row
TILE_ROWS, TILE_COLUMNS = 256, 128  # of a product, made at a time: arrays of 256 KiB
TILE_ELEMENTS = 1 << 18  # of an operand: 1024 terms of 256 rows
DIAGONAL_BITS = 2  # 13 products of slices i and d - i add up to at most 4 times the product of the two first slices


def matmul(lhs: np.ndarray, rhs: np.ndarray) -> Accumulated:
    """The matrix product of [m, k] and [k, n], of a dtype whose numbers float64 holds; of stacks of as many matrices,
    [*s, m, k] and [*s, k, n], at once, which are to be small together."""
    if lhs.ndim > 2:
        return _tile(lhs, rhs)
    rows, columns = _tile_shape(*lhs.shape, rhs.shape[1])
    if len(lhs) <= rows and rhs.shape[1] <= columns:
        return _tile(lhs, rhs)
    hi, lo, radius, magnitude = np.empty((4, lhs.shape[0], rhs.shape[1]))
    for column in range(0, rhs.shape[1], columns):
        for row in range(0, lhs.shape[0], rows):
            place = slice(row, row + rows), slice(column, column + columns)
            part = _tile(lhs[place[0]], rhs[:, place[1]])
            hi[place], lo[place], radius[place] = part.real.hi, part.real.lo, part.real.radius
            magnitude[place] = part.magnitude
    return Accumulated(Real(hi, lo, radius), magnitude, lhs.shape[1])


def _tile_shape(rows: int, terms: int, columns: int) -> tuple[int, int]:
    """(rows, columns) of a tile of a product of matrices [rows, terms] and [terms, columns]: longer where it is narrow,
    as far as all of its terms are still in one piece."""
    most, longest = TILE_ROWS * TILE_COLUMNS, TILE_ELEMENTS // max(terms, 1)
    narrow_rows, narrow_columns = max(min(rows, TILE_ROWS), 1), max(min(columns, TILE_COLUMNS), 1)
    return max(TILE_ROWS, min(most // narrow_columns, longest)), max(TILE_COLUMNS, min(most // narrow_rows, longest))


def at_once(rows: int, terms: int, columns: int) -> int:
    """How many products of matrices [rows, terms] and [terms, columns] are made together, as those of stacks."""
    return max(TILE_ELEMENTS // max(rows * terms, terms * columns, rows * columns, 1), 1)


def _tile(lhs: np.ndarray, rhs: np.ndarray) -> Accumulated:
    pairs = _Pairs(lhs, rhs)
    return matmul_of(pairs if len(pairs.places) > 1 else list(pairs))


class _Pairs:
    """(some columns of lhs, the same rows of rhs) in float64, pair by pair."""

    def __init__(self, lhs: np.ndarray, rhs: np.ndarray) -> None:
        self.lhs, self.rhs = lhs, rhs
        *stack, rows, terms = lhs.shape
        step = max(TILE_ELEMENTS // max(prod(stack) * max(rows, rhs.shape[-1]), 1), 1)
        self.places = [slice(start, start + step) for start in range(0, max(terms, 1), step)]

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for place in self.places:
            both = self.lhs[..., place], self.rhs[..., place, :]
            yield tuple(part.astype(np.float64, copy=False) for part in both)


def elements(lhs: np.ndarray, rhs: np.ndarray, *index: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The factors [some of k, n] of the terms of n elements of the product, piece by piece; `index` has their places:
    those of the matrices in their stacks, rows and columns, [n] each."""
    *matrix, rows, columns = index
    step, by_columns = max(AT_ONCE // max(len(rows), 1), 1), rhs.mT
    for start in range(0, max(lhs.shape[-1], 1), step):
        some = slice(start, start + step)
        yield lhs[(*matrix, rows, some)].T, by_columns[(*matrix, columns, some)].T


def matmul_of(pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> Accumulated:
    """The matrix product of float64 matrices [*s, m, k] and [*s, k, n] that come in pieces of k, pairs that are read
    twice."""
    with np.errstate(all="ignore"):
        a_exponent, b_exponent, terms = _extents(pairs)
        bits = (SIGNIFICAND - DIAGONAL_BITS - (terms - 1).bit_length()) // 2
        sums, magnitude, is_cut, special = [], 0.0, False, None
        for lhs, rhs in pairs:
            finite_lhs, finite_rhs = _finite(lhs), _finite(rhs)
            a, b = finite_lhs * np.ldexp(1.0, -a_exponent), finite_rhs * np.ldexp(1.0, -b_exponent)
            diagonals, is_piece_cut = _diagonals(a, b, bits)
            sums = added(sums, diagonals)
            is_cut = is_cut or is_piece_cut or _vanish(finite_lhs, a) or _vanish(finite_rhs, b)
            magnitude = magnitude + np.abs(a) @ np.abs(b)
            if finite_lhs is not lhs or finite_rhs is not rhs:
                special = _special_products(lhs, rhs) + (0.0 if special is None else special)
        magnitude, lost = _with_cut(magnitude, terms, bits) if is_cut else (magnitude, 0.0)
        return accumulated(sums, magnitude, exponent=a_exponent + b_exponent, terms=terms, lost=lost, special=special)


def _extents(pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray, int]:
    """(k [*s, m, 1], l [*s, 1, n], count): the finite elements of a row are below 2^k, those of a column below 2^l;
    count: how many terms there are."""
    row, column, count = 0.0, 0.0, 0
    for lhs, rhs in pairs:
        row, column = np.maximum(row, _largest(lhs, -1)), np.maximum(column, _largest(rhs, -2))
        count += rhs.shape[-2]
    return *(np.clip(np.frexp(largest)[1], -1000, None) for largest in (row, column)), count


def _largest(operand: np.ndarray, axis: int) -> np.ndarray:
    """The largest finite magnitudes along `axis`, which is kept with length 1."""
    largest = np.abs(operand).max(axis, keepdims=True, initial=0.0)
    return largest if np.isfinite(largest).all() else _largest(_finite(operand), axis)


def _diagonals(a: np.ndarray, b: np.ndarray, bits: int) -> tuple[list[np.ndarray], bool]:
    """(the exact sums over i + j = d of slice i of a times slice j of b, for each d below MAX_SLICES; whether there
    are more)."""
    a_slices, a_cut = slices(a, bits, MAX_SLICES)
    b_slices, b_cut = slices(b, bits, MAX_SLICES)
    if not (a_slices and b_slices):  # a factor is zero everywhere, or there are no terms
        return [], a_cut or b_cut
    sums, count = [], len(a_slices) + len(b_slices) - 1
    for d in range(min(count, MAX_SLICES)):
        first = max(0, d - len(b_slices) + 1)
        products = [a_slices[i] @ b_slices[d - i] for i in range(first, min(d + 1, len(a_slices)))]
        sums.append(sum(products[1:], start=products[0]))
    return sums, a_cut or b_cut or count > MAX_SLICES


def _vanish(numbers: np.ndarray, scaled: np.ndarray) -> bool:
    """Whether an element other than 0 is 0 when scaled. One that is rounded, a subnormal, has more slices than are
    made."""
    return np.count_nonzero(scaled) != np.count_nonzero(numbers)


def _with_cut(magnitude: np.ndarray, terms: int, bits: int) -> tuple[np.ndarray, float]:
    """(the magnitude, what the diagonals lack) where slices, products or elements were left out: of each term at most
    MAX_SLICES^2 + 2 products of parts i and j with i + j >= MAX_SLICES, each at most 2^(-bits * MAX_SLICES).
    Elements or products that underflow are far below that."""
    return magnitude + terms * TINY, terms * (MAX_SLICES**2 + 2) * 2.0 ** (-bits * MAX_SLICES)


def _finite(operand: np.ndarray) -> np.ndarray:
    """The operand with 0 for infinities and NaN."""
    finite = np.isfinite(operand)
    return operand if finite.all() else np.where(finite, operand, 0.0)


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
