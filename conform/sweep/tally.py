"""What is known of some codes. The tally of a whole is made of those of its parts, in any order and grouping."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from conform.sweep.space import Codes, Space

BINS = 2049
"""Of errors by size: bin 0 holds those that are 0, bin k those above 2^(k - 1024) and up to 2^(k - 1023)."""
NOTHING = -1.0  # the largest error where there is none


@dataclass(frozen=True)
class Example:
    """One input by its code, with the codes of the expected and the actual result. The error, in ulps, is known to
    within `radius_ulp`; None where no ulp is defined."""

    code: int
    expected: int
    actual: int
    error_ulp: float | None = None
    radius_ulp: float = 0.0


@dataclass(frozen=True)
class Count:
    """How many codes something is true of, and the first of them."""

    count: int = 0
    first: Example | None = None

    def merged(self, other: Count) -> Count:
        found = [each.first for each in (self, other) if each.first is not None]
        return Count(self.count + other.count, min(found, key=lambda each: each.code, default=None))


@dataclass(frozen=True)
class Standing:
    """What a contract table says: which codes fail, and whether it bounds any result at all."""

    failed: Count = Count()
    judges: bool = False

    def merged(self, other: Standing) -> Standing:
        return Standing(self.failed.merged(other.failed), self.judges or other.judges)


@dataclass(frozen=True, order=True)
class Lost:
    """Codes without a judged result: the backend's call ended as `status` (error, crash, timeout, unsupported, or fail,
    where the result was no tensor of their number), or the kit could not decide (unjudged; defect: it failed)."""

    codes: Codes
    status: str
    reason: str
    log: str = field(default="", compare=False)


@dataclass(frozen=True)
class Tally:
    """inputs: how many codes; compared: how many of them the contract judges; open: those that the op's meaning leaves
    open; right: the result is the correctly rounded one. worst: the largest finite error, of equal ones the smallest
    code; at_most_ulp: no finite error is larger. histogram: finite errors by size, [BINS]; binades: for each operand
    the largest error by its binade, NOTHING where there is none; tables, wrong_classes: by name; lost: in order;
    answers: of a whole block the digest of the results and of how they were judged, None where some were lost."""

    inputs: int
    compared: int
    open: int
    right: int
    worst: Example | None
    at_most_ulp: float
    histogram: np.ndarray
    binades: tuple[np.ndarray, ...]
    tables: Mapping[str, Standing]
    wrong_classes: Mapping[str, Count]
    lost: tuple[Lost, ...]
    answers: str | None = None

    def merged(self, other: Tally) -> Tally:
        """The tally of the codes of both, which have none in common."""
        return Tally(
            self.inputs + other.inputs, self.compared + other.compared, self.open + other.open,
            self.right + other.right, _worse(self.worst, other.worst), max(self.at_most_ulp, other.at_most_ulp),
            self.histogram + other.histogram, tuple(map(np.maximum, self.binades, other.binades)),
            _merged(self.tables, other.tables), _merged(self.wrong_classes, other.wrong_classes),
            _joined(self.lost, other.lost),
        )  # fmt: skip


def empty(space: Space, tables: Iterable[str] = ()) -> Tally:
    """The tally of no codes."""
    histogram, binades = np.zeros(BINS, np.int64), np.full(space.binades(), NOTHING)
    standings = dict.fromkeys(tables, Standing())
    return Tally(0, 0, 0, 0, None, NOTHING, histogram, (binades,) * space.count, standings, {}, ())


def without_result(space: Space, lost: Lost) -> Tally:
    """The tally of codes of which nothing was judged."""
    nothing = empty(space)
    return Tally(**{**vars(nothing), "inputs": len(lost.codes), "lost": (lost,)})


def whole(space: Space, parts: Iterable[Tally]) -> Tally:
    """The tally of all parts."""
    return reduce(Tally.merged, parts, empty(space))


def _worse(one: Example | None, other: Example | None) -> Example | None:
    found = [each for each in (one, other) if each is not None]
    return max(found, key=lambda each: (each.error_ulp, -each.code), default=None)


def _merged(mine: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """By name, in an order that does not depend on which is which."""
    both = {**others, **mine}
    shared = mine.keys() & others.keys()
    return {name: mine[name].merged(others[name]) if name in shared else both[name] for name in sorted(both)}


def _joined(mine: tuple[Lost, ...], others: tuple[Lost, ...]) -> tuple[Lost, ...]:
    """In order, neighbours that ended alike as one."""
    if not (mine and others):
        return mine or others
    joined: list[Lost] = []
    for lost in sorted(mine + others):
        before = joined[-1] if joined else None
        alike = before is not None and (before.status, before.reason) == (lost.status, lost.reason)
        if alike and before.codes.last + 1 == lost.codes.first:
            joined[-1] = Lost(Codes(before.codes.first, lost.codes.last), lost.status, lost.reason, before.log)
        else:
            joined.append(lost)
    return tuple(joined)


# --- As JSON: what is not there is left out ---------------------------------------------------------------------------


def to_json(tally: Tally) -> dict[str, Any]:
    """The tally as JSON holds it; `from_json` makes the same of it."""
    return {
        "inputs": tally.inputs, "compared": tally.compared, "open": tally.open, "right": tally.right,
        "worst": tally.worst and vars(tally.worst), "at_most_ulp": tally.at_most_ulp,
        "histogram": _filled(tally.histogram, 0), "binades": [_filled(one, NOTHING) for one in tally.binades],
        "tables": {name: [*_count_json(one.failed), one.judges] for name, one in tally.tables.items()},
        "wrong_classes": {name: _count_json(one) for name, one in tally.wrong_classes.items()},
        "lost": [[one.codes.first, one.codes.last, one.status, one.reason, one.log] for one in tally.lost],
        "answers": tally.answers,
    }  # fmt: skip


def from_json(space: Space, found: Mapping[str, Any]) -> Tally:
    """Raises KeyError, TypeError, ValueError or IndexError where `found` was not written by `to_json`."""
    nothing = empty(space)
    return Tally(
        *(int(found[name]) for name in ("inputs", "compared", "open", "right")),
        found["worst"] and Example(**found["worst"]),
        float(found["at_most_ulp"]),
        _array(nothing.histogram, found["histogram"]),
        tuple(_array(blank, each) for blank, each in zip(nothing.binades, found["binades"], strict=True)),
        {name: Standing(_count(each[:2]), bool(each[2])) for name, each in found["tables"].items()},
        {name: _count(each) for name, each in found["wrong_classes"].items()},
        tuple(Lost(Codes(first, last), *told) for first, last, *told in found["lost"]),
        found.get("answers"),
    )


def _filled(array: np.ndarray, blank: float) -> list[list[Any]]:
    """[[place, value], ...] of what is not `blank`."""
    places = np.flatnonzero(array != blank)
    return [[place, value] for place, value in zip(places.tolist(), array[places].tolist(), strict=True)]


def _array(blank: np.ndarray, filled: list[list[Any]]) -> np.ndarray:
    array = blank.copy()
    for place, value in filled:
        array[place] = value
    return array


def _count_json(one: Count) -> list[Any]:
    return [one.count, one.first and vars(one.first)]


def _count(found: list[Any]) -> Count:
    count, first = found
    return Count(int(count), first and Example(**first))
