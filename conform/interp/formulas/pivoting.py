"""What elimination with partial pivoting may meet on its way, whichever of nearly equal pivots it takes.

The factors that are computed are those of a matrix A + D, |D| <= gamma |L| |U| (Higham, Accuracy and Stability of
Numerical Algorithms, 2nd ed., theorem 9.3), so what is left of A below k rows R that were taken,

    S = A - A_R A_RR^-1 A_R.   moves by no more than   |T| |D| |V|,   T = (-A_R A_RR^-1, I), V = (-A_RR^-1 A_R.; I)

to first order. Where another row than the largest one lies within that, either may be taken, and both ways are
followed; S depends on which rows were taken, and not on their order. Where there are more than MOST ways, or a pivot
may be 0, no row's multiplier is above 1, so that a column at most doubles with each step, as any does (section 9.3).
Of complex numbers the largest is that of |z| or of |re| + |im|, and a multiplier at most the root of 2.

All of it is float64, and twice the bound of S is taken: this elimination errs itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from conform.interp.formulas.backward_errors import DIVISION, lost, spent
from conform.numerics.formats import Format

MOST = 16  # ways that are followed at once

Array = np.ndarray


@dataclass
class Way:
    """A after steps of Gauss and Jordan; what they made of the columns of the identity that belong to the rows that
    were taken, one a step; and these rows."""

    rows: Array
    of_ones: Array
    taken: list[int] = field(default_factory=list)

    def after(self, row: int) -> Way:
        """With one row more."""
        step = len(self.taken)
        ones = self.of_ones.copy()
        ones[row, step] = 1
        both = []
        for part in (self.rows, ones):
            top = part[row] / self.rows[row, step]
            rest = part - np.outer(self.rows[:, step], top)
            rest[row] = top
            both.append(rest)
        return Way(*both, [*self.taken, row])


class Pivoted:
    """Elimination of a matrix, all of whose numbers are finite, in as many steps as it has rows or columns.

    sizes: no less than |L| |U|, by the rows of the matrix as they stand; low, high: ends of each pivot's magnitude;
    order: the rows as they are taken, None where roundings decide; zero: the first step, counted from 1, whose pivot is
    0 whatever is rounded, or None.
    """

    def __init__(self, fmt: Format, matrix: Array) -> None:
        (count, _), steps = matrix.shape, min(matrix.shape)
        wide = matrix.astype(np.complex128 if fmt.is_complex else np.float64)
        self.format, self.own = fmt, np.abs(wide)
        self.most = sqrt(2) if fmt.is_complex else 1.0
        self.share, self.lost = spent(fmt, max(matrix.shape), DIVISION), lost(fmt)
        self.lower, self.upper = np.zeros((count, steps)), np.zeros((steps, matrix.shape[1]))
        self.low, self.high = np.full(steps, np.inf), np.zeros(steps)
        self.order: list[int] | None = []
        self.zero: int | None = None
        with np.errstate(all="ignore"):
            self._follow({frozenset(): Way(wide, np.zeros((count, steps), wide.dtype))})
            self.sizes = self.lower @ self.upper

    def _follow(self, ways: dict[frozenset[int], Way]) -> None:
        for step in range(len(self.low)):
            moved = self._moved(step)
            found = [_Step(self, way, moved) for way in ways.values()]
            if any(one.may_end for one in found) or len(found) > MOST:
                self._end(step, found)
                return
            for one in found:
                self._keep(step, one)
            if len(found) > 1 or len(found[0].candidates) > 1:
                self.order = None
            elif self.order is not None:
                self.order.append(int(found[0].candidates[0]))
            if step + 1 < len(self.low):
                following = [one.way.after(row) for one in found for row in one.candidates]
                ways = {frozenset(way.taken): way for way in following}

    def _moved(self, step: int) -> Array:
        """|D| of the steps so far, twice; of what is 0 and stays 0, nothing."""
        lower, upper = self.lower[:, :step], self.upper[:step]
        lost_ = self.lost * (max(self.own.shape) + upper.sum(0)) * ((lower > 0) @ (upper > 0))
        return 2 * (self.share * (lower @ upper + self.own) + lost_)

    def _keep(self, step: int, one: _Step) -> None:
        for row in one.candidates:
            pivot, error = one.sizes[row, 0], one.errors[row, 0]
            shares = np.minimum((one.sizes[:, 0] + one.errors[:, 0]) / (pivot - error), self.most)
            shares[row] = 1.0
            self.lower[:, step] = np.maximum(self.lower[:, step], np.where(one.is_left, shares, 0))
            self.upper[step, step:] = np.maximum(self.upper[step, step:], one.sizes[row] + one.errors[row])
            self.low[step] = min(self.low[step], pivot - error)
            self.high[step] = max(self.high[step], pivot + error)

    def _end(self, step: int, found: list[_Step]) -> None:
        """The other steps, of which no more is known than that columns grow by a factor each."""
        self.order = None
        largest = np.max([one.largest for one in found], axis=0)
        if largest[0] == 0:
            self.zero = step + 1
        steps = np.arange(len(self.low) - step)
        self.lower[:, step:] = self.most
        self.upper[step:, step:] = np.outer((1 + self.most) ** steps, largest)
        self.low[step:] = 0.0
        self.high[step:] = np.diag(self.upper)[step:]


class _Step:
    """A way before its next step: what is left of the columns from there on, and the rows that may be taken."""

    def __init__(self, on: Pivoted, way: Way, moved: Array) -> None:
        step = len(way.taken)
        self.way = way
        self.is_left = np.ones(len(way.rows), bool)
        self.is_left[way.taken] = False
        left = way.rows[:, step:]
        before = np.abs(way.of_ones[:, :step]) @ moved[way.taken] + moved
        self.sizes = np.abs(left)
        self.errors = before[:, :step] @ np.abs(left[way.taken]) + before[:, step:]
        measures = [self.sizes[:, 0]]
        if on.format.is_complex:
            measures.append(np.abs(left[:, 0].real) + np.abs(left[:, 0].imag))
        near = [self._near_the_largest(one, self.errors[:, 0] * on.most) for one in measures]
        self.candidates = np.flatnonzero(near[0] if len(near) == 1 else near[0] | near[1])
        is_pivot = self.sizes[self.candidates, 0] > self.errors[self.candidates, 0]
        self.may_end = not (is_pivot.size and is_pivot.all())  # without candidates numbers left float64's range

    @property
    def largest(self) -> Array:
        """Of each column what the numbers left may be at most."""
        return (self.sizes + self.errors)[self.is_left].max(0)

    def _near_the_largest(self, measure: Array, errors: Array) -> Array:
        low = np.where(self.is_left, measure - errors, -np.inf).max()
        return self.is_left & (measure + errors >= low)
