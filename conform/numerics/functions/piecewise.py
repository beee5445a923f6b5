"""Piecewise polynomials with double-double coefficients, from tables that tools/generate_polynomials.py writes.

A piece is a polynomial in t = x - centre. Its first coefficients are pairs, the others, whose share of the value is
below 2^-50, are doubles. Coefficients interpolate the function at Chebyshev nodes in mpmath at 400 bits; the
generator refuses a piece whose error exceeds TRUNCATION, and tests/numerics/functions/test_piecewise.py checks
each table against Arb.

Uniform grids have their centres at multiples of 1/64, logarithmic ones have 64 pieces an octave; t is exact on both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from conform.numerics.functions import dd
from conform.numerics.functions.dd import DD, Array

TRUNCATION = 2.0**-106
"""Largest relative error of a piece against the function, with the coefficients as stored and exact arithmetic."""
EVALUATION = 2.0**-100
"""Relative error of `Piecewise.value` in all: TRUNCATION, `dd.horner`, and the tail's 2^-52 times its share below
2^-50."""
EVALUATION_FLOAT64 = 2.0**-51
"""Relative error of `Piecewise.float64`: c0 is rounded by half an ulp, the sum by another, t*(...) is 2^-5 of the
sum."""

PER_UNIT = 64  # pieces of a uniform grid per unit, of a logarithmic grid per octave
_SHIFT = 46  # of float64's 52 mantissa bits, 6 number the piece
_MIDDLE = 1 << (_SHIFT - 1)


@dataclass(frozen=True)
class Piecewise:
    """The table `data/<name>.npy`: [2 * pairs + doubles, pieces], rows hi0, lo0, hi1, lo1, ..., then the doubles."""

    name: str
    pairs: int

    def __post_init__(self) -> None:
        self.table  # noqa: B018 - read before a backend runs, which may write to the file

    @cached_property
    def table(self) -> Array:
        return np.load(Path(__file__).with_name("data") / f"{self.name}.npy")

    @cached_property
    def _float64_table(self) -> Array:
        n = 2 * self.pairs
        return np.ascontiguousarray(np.concatenate([self.table[:n:2], self.table[n:]]))

    def value(self, piece: Array, t: DD) -> DD:
        """The polynomial number `piece` at t, within EVALUATION."""
        rows = self.table.take(piece, axis=1, mode="clip")
        pairs = [(rows[2 * k], rows[2 * k + 1]) for k in range(self.pairs)]
        return dd.horner(pairs, _horner_float64(rows[2 * self.pairs :], t[0]), t)

    def float64(self, piece: Array, t: Array) -> Array:
        """The polynomial evaluated in float64, within EVALUATION_FLOAT64."""
        return _horner_float64(self._float64_table.take(piece, axis=1, mode="clip"), t)


def _horner_float64(coefficients: Array, t: Array) -> Array:
    value = coefficients[-1]
    for c in coefficients[-2::-1]:
        value = value * t + c
    return value


def uniform_piece(x: Array, last: int) -> tuple[Array, Array]:
    """The piece 0 .. last whose centre is nearest to x >= 0, and its centre."""
    j = np.rint(np.minimum(x, last / PER_UNIT) * PER_UNIT)
    return j.astype(np.intp), j / PER_UNIT


def log_piece(x: Array, lowest: float, highest: float) -> tuple[Array, Array]:
    """The piece of x within [lowest, highest), powers of two, and its centre; others are clamped."""
    bits = np.clip(x, lowest, np.nextafter(highest, 0.0)).view(np.int64) >> _SHIFT
    return bits - (int(np.float64(lowest).view(np.int64)) >> _SHIFT), (bits << _SHIFT | _MIDDLE).view(np.float64)


def log_centres(lowest: float, highest: float) -> Array:
    """All centres of the logarithmic grid over [lowest, highest)."""
    first, last = (int(np.float64(x).view(np.int64)) >> _SHIFT for x in (lowest, highest))
    return (np.arange(first, last, dtype=np.int64) << _SHIFT | _MIDDLE).view(np.float64)
