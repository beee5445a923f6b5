"""Grids: powers of two of which every term of a sum is a multiple.

On a grid g a sum has no rounding errors, in whatever order it is made. A partial result is the sum of some of the
terms: a multiple of g, no larger than the positive terms together or the negative ones. A format of p bits holds every
multiple of g up to 2^p g, and rounding leaves alone what the format holds. So it is for sums in blocks, in wider
accumulators, of fused products, and for compensated sums, whose corrections are 0.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from conform.numerics.formats import Format

SIGNIFICAND = 53
LOOKED_AT = 16  # terms of a row: that numbers have random digits shows at once


def finest(x: np.ndarray) -> np.ndarray:
    """The largest power of two of which each float64 number is a multiple; inf for 0, infinities and NaN."""
    significand, exponent = np.frexp(x)
    counts = np.isfinite(x) & (x != 0)
    digits = np.where(counts, np.ldexp(significand, SIGNIFICAND), 1.0).astype(np.int64)
    lowest = (digits & -digits).astype(np.float64)
    return np.where(counts, np.ldexp(lowest, exponent - SIGNIFICAND), np.inf)


def common_grid(fmt: Format, pieces: Iterable[np.ndarray], axis: int = -1) -> np.ndarray | None:
    """The grid of terms that float64 holds, or of factors of them, along `axis`, which come in pieces of it; None where
    none of their sums in `fmt` can be without rounding errors."""
    grid: np.ndarray | float = np.inf
    for piece in pieces:
        if not _is_useful(fmt, piece, axis):
            return None
        grid = np.minimum(grid, finest(piece.astype(np.float64, copy=False)).min(axis, initial=np.inf))
    return np.asarray(grid)


def _is_useful(fmt: Format, piece: np.ndarray, axis: int) -> bool:
    """Whether the first terms of some row are multiples of the last place of the largest of them."""
    some = piece[(slice(None),) * (axis % piece.ndim) + (slice(LOOKED_AT),)].astype(np.float64)
    with np.errstate(all="ignore"):
        largest = np.fmax.reduce(np.abs(some), axis, keepdims=True, initial=0.0)
        some /= np.ldexp(1.0, np.frexp(np.nextafter(largest, 0.0))[1] - fmt.precision)
        return bool(((some == np.rint(some)) | np.isnan(some)).all(axis).any())


def is_held(fmt: Format, x: np.ndarray) -> np.ndarray:
    """Which float64 numbers `fmt` has, but for subnormal ones."""
    places = x / np.ldexp(1.0, np.frexp(x)[1] - fmt.precision)
    return (places == np.rint(places)) & (np.abs(x) >= fmt.min_normal) & (np.abs(x) <= fmt.max_finite) | (x == 0)


def is_exact(
    fmt: Format, grid: np.ndarray, total: np.ndarray, magnitude: np.ndarray, least: np.ndarray | float
) -> np.ndarray:
    """Where sums on `grid` have no rounding errors in `fmt`, in any order.

    total: the sums; magnitude: those of their terms' magnitudes; least: the smallest number that the arithmetic keeps
    """
    one_sign = (magnitude + np.abs(total)) / 2  # the larger of what the terms of either sign add up to
    is_held = (one_sign <= np.ldexp(grid, fmt.precision)) & (magnitude <= fmt.max_finite) & (grid >= least)
    return is_held | (magnitude == 0)
