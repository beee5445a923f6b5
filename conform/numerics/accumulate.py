"""Sums and sums of products of float64 numbers: the exact real result, as a Real.

Method (Ozaki, Ogita, Oishi and Rump, Numer. Algorithms 59, 2012): terms are cut into slices of a few bits on a common
grid, so short that every partial sum of a slice (or of products of two slices) is an integer multiple of the grid below
2^53. Plain float64 addition of a slice, in whatever order numpy or BLAS choose and fused or not, is then exact. What
is left is to add a handful of exact numbers per output; two_sum catches their rounding errors, which make the radius.
Terms may come in pieces: on one grid for all of them, the sums of slices of all pieces are exact too.

Guarantees (tests/numerics/test_accumulate.py):
 (A1) the Real encloses the exact sum of the finite terms; its radius is 0 where adding up the slices was exact.
 (A2) Non-finite terms give IEEE 754's class whatever the order: NaN for a NaN, inf * 0 or inf - inf, else the infinity.
 (A3) `magnitude` is at least the sum of the magnitudes of the finite terms, and no more than rounding up makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest

import numpy as np

from conform.numerics.eft import SAFE_PRODUCT, two_prod, two_sum
from conform.numerics.escalate import decide_exactly
from conform.numerics.formats import Format
from conform.numerics.real import RAISE, TINY, Real

SIGNIFICAND = 53
CHUNK = 8192  # Python numbers made at a time


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
    return total_of([terms], axis)


def total_of(pieces: Iterable[np.ndarray], axis: int = -1) -> Accumulated:
    """The sums along `axis` of float64 terms that come in pieces of it, which are read twice."""
    with np.errstate(all="ignore"):
        exponent, count = _extent(pieces, axis)
        sums, magnitude, underflow, special = [], 0.0, False, None
        for piece in pieces:
            terms, beyond = _finite(piece)
            scaled = terms * np.ldexp(1.0, -exponent)
            sums = added(sums, [part.sum(axis) for part in slices(scaled, _bits(count))[0]])
            magnitude = magnitude + np.abs(scaled).sum(axis)
            underflow = underflow | _underflows(scaled, terms).any(axis)
            special = special if beyond is None else beyond.sum(axis) + (0.0 if special is None else special)
        lost = count * TINY * underflow
        return accumulated(
            sums, magnitude + lost, exponent=exponent.reshape(magnitude.shape), terms=count, lost=lost, special=special
        )


def total_at(pieces: Iterable[tuple[np.ndarray, np.ndarray]], size: int) -> Accumulated:
    """[size]: for each place the sum of the float64 terms that belong there, where (places, terms), [n] each, come in
    pieces; these are read twice."""
    with np.errstate(all="ignore"):
        largest, counts = np.zeros(size), np.zeros(size, np.int64)
        for places, piece in pieces:
            np.maximum.at(largest, places, np.abs(_finite(piece)[0]))
            counts += np.bincount(places, minlength=size)
        exponent, count = np.clip(np.frexp(largest)[1], -1000, None), int(counts.max(initial=0))
        sums, magnitude, underflow, special = [], np.zeros(size), np.zeros(size, bool), None
        for places, piece in pieces:
            terms, beyond = _finite(piece)
            scaled = terms * np.ldexp(1.0, -exponent[places])
            sums = added(sums, [np.bincount(places, part, size) for part in slices(scaled, _bits(count))[0]])
            magnitude = magnitude + np.bincount(places, np.abs(scaled), size)
            underflow[places[_underflows(scaled, terms)]] = True
            if beyond is not None:
                special = np.bincount(places, beyond, size) + (0.0 if special is None else special)
        lost = count * TINY * underflow
        return accumulated(sums, magnitude + lost, exponent=exponent, terms=counts, lost=lost, special=special)


def running(terms: np.ndarray) -> Accumulated:
    """The sums of float64 `terms` [..., n] up to and with each position of the last axis."""
    return next(running_of([terms]))


def running_of(pieces: Iterable[np.ndarray]) -> Iterator[Accumulated]:
    """Piece by piece, the sums of float64 terms up to and with each position of the last axis, of which they come in
    pieces; these are read twice."""
    with np.errstate(all="ignore"):
        exponent, count = _extent(pieces, -1)
        sums, carried, underflow, special, place = [], 0.0, False, None, 0
        for piece in pieces:
            terms, beyond = _finite(piece)
            scaled = terms * np.ldexp(1.0, -exponent)
            parts = [part.cumsum(-1) for part in slices(scaled, _bits(count))[0]]
            sums = added([each[..., -1:] for each in sums], parts)
            magnitude = carried + np.abs(scaled).cumsum(-1)
            carried = magnitude[..., -1:]
            underflow = underflow | _underflows(scaled, terms).any(-1, keepdims=True)
            if beyond is not None or special is not None:
                before = 0.0 if special is None else special[..., -1:]
                special = before + (np.zeros(piece.shape) if beyond is None else beyond).cumsum(-1)
            lost = np.broadcast_to(count * TINY * underflow, piece.shape)
            places = np.arange(place + 1, place + 1 + piece.shape[-1]).reshape([1] * (piece.ndim - 1) + [-1])
            place += piece.shape[-1]
            yield accumulated(
                sums,
                magnitude + lost,
                exponent=np.broadcast_to(exponent, piece.shape),
                terms=places,
                lost=lost,
                special=special,
            )


def dot(lhs: np.ndarray, rhs: np.ndarray, axis: int) -> Accumulated:
    """The sums of lhs * rhs (float64, of one shape) along `axis`."""
    return dot_of([(lhs, rhs)], axis)


def dot_of(pairs: Iterable[tuple[np.ndarray, np.ndarray]], axis: int = -1) -> Accumulated:
    """The sums along `axis` of products of float64 factors, pairs of one shape, that come in pieces of it; these are
    read three times."""
    with np.errstate(all="ignore"):
        a_exponent, count = _extent((_finite_pair(*pair)[0] for pair in pairs), axis)
        b_exponent, _ = _extent((_finite_pair(*pair)[1] for pair in pairs), axis)
        sums, magnitude, faint, special = [], 0.0, False, None
        for lhs, rhs in pairs:
            a, b, beyond = _finite_pair(lhs, rhs)
            product, error = two_prod(a * np.ldexp(1.0, -a_exponent), b * np.ldexp(1.0, -b_exponent))
            faint = faint | ((np.abs(product) < SAFE_PRODUCT) & (a != 0) & (b != 0)).any(axis)
            both = np.concatenate([product, error], axis)
            sums = added(sums, [part.sum(axis) for part in slices(both, _bits(2 * count))[0]])
            magnitude = magnitude + np.abs(product).sum(axis)
            special = special if beyond is None else beyond.sum(axis) + (0.0 if special is None else special)
        lost = count * TINY * faint
        exponent = (a_exponent + b_exponent).reshape(magnitude.shape)
        return accumulated(sums, magnitude + lost, exponent=exponent, terms=count, lost=lost, special=special)


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
    """The exact sum of finite terms that float64 holds."""
    return _exact_sum(x.as_integer_ratio() for (x,) in _numbers(terms))


def exact_dot(lhs: np.ndarray, rhs: np.ndarray) -> Fraction:
    """The exact sum of products of finite numbers that float64 holds, arrays of one shape."""
    ratios = ((x.as_integer_ratio(), y.as_integer_ratio()) for x, y in _numbers(lhs, rhs))
    return _exact_sum((a * b, c * d) for (a, c), (b, d) in ratios)


def _numbers(*arrays: np.ndarray) -> Iterator[tuple[float, ...]]:
    """Python numbers, one of each array: a list of all of them would be many times as large."""
    for start in range(0, arrays[0].size, CHUNK):
        chunks = (array.flat[start : start + CHUNK].astype(np.float64).tolist() for array in arrays)
        yield from zip(*chunks, strict=True)


def _exact_sum(ratios: Iterable[tuple[int, int]]) -> Fraction:
    """Denominators are powers of two: the largest so far is common."""
    total, common = 0, 1
    for numerator, denominator in ratios:
        if denominator > common:
            total, common = total * (denominator // common), denominator
        total += numerator * (common // denominator)
    return Fraction(total, common)


# -- the sums --------------------------------------------------------------------------------------------------------


def _extent(pieces: Iterable[np.ndarray], axis: int) -> tuple[np.ndarray, int]:
    """(k, count): the finite terms are below 2^k along `axis`, which k keeps with length 1; count: how many there
    are."""
    largest, count = 0.0, 0
    for piece in pieces:
        terms, _ = _finite(piece)
        largest = np.maximum(largest, np.abs(terms).max(axis, keepdims=True, initial=0.0))
        count += piece.shape[axis]
    return np.clip(np.frexp(largest)[1], -1000, None), count


def _finite(terms: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """(the terms with 0 for infinities and NaN, those alone with 0 for the others; None if there are none)."""
    finite = np.isfinite(terms)
    if finite.all():
        return terms, None
    return np.where(finite, terms, 0.0), np.where(finite, 0.0, terms)


def _finite_pair(lhs: np.ndarray, rhs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """(lhs, rhs with 0 where one of the two is not finite, the products there, or None)."""
    finite = np.isfinite(lhs) & np.isfinite(rhs)
    if finite.all():
        return lhs, rhs, None
    return np.where(finite, lhs, 0.0), np.where(finite, rhs, 0.0), np.where(finite, 0.0, lhs * rhs)


def _underflows(scaled: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """Where scaling a term, which is exact above 2^-1022, may have rounded it to a multiple of 2^-1074."""
    return (np.abs(scaled) < 2.0**-1021) & (terms != 0)


def _bits(count: int) -> int:
    """The bits of slices of which so many add up exactly."""
    return min(SIGNIFICAND - (count - 1).bit_length(), 45)


def slices(x: np.ndarray, bits: int, limit: int | None = None) -> tuple[list[np.ndarray], bool]:
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


def added(sums: list[np.ndarray], more: list[np.ndarray]) -> list[np.ndarray]:
    """Slice by slice; whichever has fewer slices has zeros for the others."""
    return [one + other for one, other in zip_longest(sums, more, fillvalue=0.0)]


def accumulated(
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
    if len(pieces) > 1:
        hi, lo = two_sum(hi, pieces[1])
    for piece in pieces[2:]:
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
