"""One piece judged: golden and output in, a tally out.

Most outputs are the golden bit for bit. Every table that accepts correct rounding accepts those, and only the others
are put before its judge; the other tables see all elements. The largest error is asked again of a golden in float64:
its number is the same, and known to 2^-80, where that of a narrower format is known to 2^-41.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from conform.backends.reply import Output
from conform.call.bound import Bound
from conform.contracts.arithmetic import IEEE, Arithmetic
from conform.contracts.comparison import Comparison
from conform.contracts.judge import Elements, by_any, without_exclusion
from conform.contracts.tables import Row, Table
from conform.errors import InvalidArguments, Unjudged
from conform.interp.golden import Golden, Outcome
from conform.judging.declared import admitted
from conform.judging.standing import accepts_rounding, key_of
from conform.judging.structure import fitting_golden
from conform.numerics.ulp import error_ulp, ulp
from conform.sweep.space import Codes
from conform.sweep.subject import Subject
from conform.sweep.tally import BINS, NOTHING, Count, Example, Lost, Standing, Tally, without_result

REFINED = 64  # candidates for the largest error of a piece that are asked again; more are only known to their radius
FLOAT64 = np.dtype(np.float64)


@dataclass(frozen=True)
class Judge:
    """Every table judges; `contract`, one of them, says what is compared and which classes are wrong."""

    subject: Subject
    tables: tuple[Table, ...]
    contract: str
    arithmetic: Arithmetic = IEEE

    def tally(self, codes: Codes, output: Output) -> Tally:
        """Of codes in one piece. What the kit cannot decide leaves them without a result."""
        call = self.subject.call(codes)
        try:
            outcome = self.subject.outcome(call)
        except (Unjudged, InvalidArguments) as reason:
            return without_result(self.subject.space, Lost(codes, "unjudged", str(reason)))
        tally = self._of_outcome(codes, call, outcome, output)
        if self.arithmetic != IEEE and any(one.failed.count for one in tally.tables.values()):
            tally = self._of_outcome(codes, call, admitted(call, outcome, self.arithmetic, [output]), output)
        return tally

    def _of_outcome(self, codes: Codes, call: Bound, outcome: Outcome, output: Output) -> Tally:
        golden = fitting_golden(outcome.goldens[0], output)
        if isinstance(golden, str):
            return without_result(self.subject.space, Lost(codes, "fail", golden))
        comparison = Comparison(golden, output.array, call.arguments, self.arithmetic)
        return _Piece(self, codes, comparison, _other_than_rounded(comparison)).tally()

    def rows(self, golden: Golden) -> dict[str, Row]:
        """The row of each table."""
        return {table.name: table.row_of(self.subject.op, golden) for table in self.tables}


def _other_than_rounded(comparison: Comparison) -> np.ndarray:
    """The places of results that are not the golden bit for bit; one NaN is as good as another."""
    expected, actual = comparison.golden.value, comparison.actual
    codes = comparison.golden.format.code_storage
    places = np.flatnonzero(np.ascontiguousarray(actual).view(codes) != np.ascontiguousarray(expected).view(codes))
    if not places.size or not comparison.golden.format.is_float:
        return places
    return places[~(np.isnan(actual[places]) & np.isnan(expected[places]))]


@dataclass(frozen=True)
class _Judged:
    """A row's judgement of the elements `places`, in order; all others are right."""

    places: np.ndarray
    elements: Elements


@dataclass(frozen=True)
class _Piece:
    judge: Judge
    codes: Codes
    comparison: Comparison
    other: np.ndarray  # the places of results that are not the correctly rounded ones

    def tally(self) -> Tally:
        rows, fmt = self.judge.rows(self.comparison.golden), self.comparison.golden.format
        keys = {name: key_of(row, fmt) for name, row in rows.items()}
        answers = self._answers({keys[name]: row for name, row in rows.items()})
        judged = answers[keys[self.judge.contract]]
        errors = self._errors(judged)
        worst, at_most = self._worst(errors)
        opened = int(np.count_nonzero(self.comparison.open))
        unbounded = int(np.count_nonzero(~judged.elements.compared & ~judged.elements.open))
        size, space = len(self.codes), self.judge.subject.space
        return Tally(
            size, size - opened - unbounded, opened, size - self.other.size, worst, at_most,
            _by_size(errors), tuple(self._by_binade(errors, at) for at in range(space.count)),
            {name: self._standing(answers[key], opened) for name, key in keys.items()},
            self._wrong_classes(judged), (),
        )  # fmt: skip

    # What the tables say

    def _answers(self, rows: Mapping[tuple, Row]) -> dict[tuple, _Judged]:
        """What each row says, by what decides it."""
        everything = np.arange(len(self.codes))
        readings, names = list(self.comparison.readings()), self.judge.subject.operands
        others = [each.block(self.other, names) for each in readings]  # what one row asks of them, the next knows
        found = {}
        for key, given in rows.items():
            row = without_exclusion(self.comparison, given)
            asked, places = (others, self.other) if accepts_rounding(row) else (readings, everything)
            found[key] = _Judged(places, by_any(iter(asked), row).reshaped(-1))
        return found

    def _standing(self, judged: _Judged, opened: int) -> Standing:
        elements, places = judged.elements, judged.places
        failed = places[~elements.ok]
        judges = bool(elements.compared.any()) or len(self.codes) - opened > places.size
        return Standing(self._count(failed, elements, places), judges)

    def _wrong_classes(self, judged: _Judged) -> dict[str, Count]:
        """By what is wrong, in the words of a verdict's reason."""
        at = judged.places[judged.elements.wrong_class]
        if not at.size or not self.comparison.golden.format.is_float:
            return {}
        arrays = (self.comparison.golden.value, self.comparison.actual)
        expected, actual = (array[at].astype(np.float64) for array in arrays)
        zeros, infinite = (actual == 0) & (expected == 0), np.isinf(actual) | np.isinf(expected)
        kinds = np.select([np.isnan(actual), np.isnan(expected), zeros, infinite], [0, 1, 2, 3], 4)
        counts = ((name, at[kinds == kind]) for kind, name in enumerate(_CLASSES))
        return {name: self._count(places, judged.elements, judged.places) for name, places in counts if places.size}

    def _count(self, at: np.ndarray, elements: Elements, places: np.ndarray) -> Count:
        if not at.size:
            return Count()
        error = float(elements.error_ulp[np.searchsorted(places, at[0])])
        return Count(int(at.size), self._example(int(at[0]), error if np.isfinite(error) else None))

    def _example(self, place: int, error_ulp: float | None, radius_ulp: float = 0.0) -> Example:
        arrays = (self.comparison.golden.value, self.comparison.actual)
        storage = self.comparison.golden.format.code_storage
        expected, actual = (int(array[place : place + 1].view(storage)[0]) for array in arrays)
        return Example(self.codes.first + place, expected, actual, error_ulp, radius_ulp)

    # Errors

    def _errors(self, judged: _Judged) -> np.ndarray:
        """In ulps; NOTHING where none is defined or finite, and where the op leaves the result open."""
        comparison = self.comparison
        if not comparison.golden.format.is_float or comparison.determined.all():
            return np.full(len(self.codes), NOTHING)
        errors = np.array(comparison.error_ulp)
        errors[self.other] = judged.elements.error_ulp[np.searchsorted(judged.places, self.other)]
        without = ~np.isfinite(errors) | comparison.determined
        if comparison.golden.open is not None:
            without |= comparison.golden.open
        errors[without] = NOTHING
        return errors

    def _worst(self, errors: np.ndarray) -> tuple[Example | None, float]:
        """The largest error, and what none is larger than; what is asked again is written into `errors`."""
        among = self.other[errors[self.other] >= 0]
        if not among.size:
            place = int(errors.argmax())
            radius = float(self._radius_ulp(np.array([place]))[0])
            return (self._example(place, float(errors[place]), radius), 0.5) if errors[place] >= 0 else (None, NOTHING)
        found, radius = errors[among], self._radius_ulp(among)
        candidates = np.flatnonzero(found + radius >= (found - radius).max())
        candidates = candidates[np.argsort(-found[candidates], kind="stable")]
        refined, rest = candidates[:REFINED], candidates[REFINED:]
        found[refined], radius[refined] = self._refined(among[refined], found[refined], radius[refined])
        errors[among[refined]] = found[refined]
        best = refined[found[refined] == found[refined].max()].min()
        at_most = max((found[refined] + radius[refined]).max(), (found[rest] + radius[rest]).max(initial=0.0))
        return self._example(int(among[best]), float(found[best]), float(radius[best])), float(at_most)

    def _radius_ulp(self, places: np.ndarray) -> np.ndarray:
        """How well the errors at `places` are known."""
        real = self.comparison.real
        return real.radius[places] / ulp(self.comparison.golden.format, real.hi[places])

    def _refined(self, places: np.ndarray, errors: np.ndarray, radius: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Errors and radii by the op's golden in float64, where it lies within what was known before: it does not where
        another reading of the golden was the right one."""
        if not radius.any():
            return errors, radius
        subject, golden = self.judge.subject, self.comparison.golden
        try:
            real = subject.outcome(subject.call(self.codes.first + places.astype(np.uint64), FLOAT64)).goldens[0].real
        except (Unjudged, InvalidArguments):
            return errors, radius
        if real is None:
            return errors, radius
        finer = error_ulp(golden.format, self.comparison.actual[places], real)
        better = np.abs(finer - errors) <= radius
        return np.where(better, finer, errors), np.where(better, real.radius / ulp(golden.format, real.hi), radius)

    def _by_binade(self, errors: np.ndarray, operand: int) -> np.ndarray:
        space = self.judge.subject.space
        starts, binades = space.runs(self.codes, operand)
        largest = np.full(space.binades(), NOTHING)
        np.maximum.at(largest, binades, np.maximum.reduceat(errors, starts))
        return largest


_CLASSES = ("NaN where a number is expected", "a number where NaN is expected", "wrong sign of zero", "wrong infinity",
            "wrong class of value")  # fmt: skip


def _by_size(errors: np.ndarray) -> np.ndarray:
    """[BINS]: the exponent of the double below each error, which is -1 of 0 and NOTHING's own of NOTHING."""
    places = ((errors.view(np.int64) - 1) >> 52) + 1
    counted = places[errors >= 0] if errors.min() < 0 else places
    return np.bincount(counted, minlength=BINS)
