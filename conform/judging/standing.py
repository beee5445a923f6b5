"""Which shipped contract tables a result would pass, and which of those is the tightest.

Tables are ordered only in part: StableHLO's 1e-4 is wide around 1 and narrow at a million. So "tightest" is said of one
result: of the tables that it passes, the one with the smallest bound at its worst element, the one with the largest
error in ulps. A bound below half an ulp counts as half an ulp, since all of them accept the correctly rounded result;
of equal bounds the first in the order of `names()` is told. A table that bounds none of the elements neither passes
nor fails the result. Everything is judged on the arrays that the verdict was made from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from conform.contracts import tosa
from conform.contracts.judge import judged
from conform.contracts.tables import Row, contract_table, names
from conform.judging.errors_of_sums import judged_together, violation
from conform.judging.judgement import Result
from conform.judging.verdict import JUDGED
from conform.numerics.formats import Format, format_named

ROUNDING_ALONE = ("exact", "ulp", "ulp_of_rounded", "almost_eq", "tosa")  # kinds that accept what is correctly rounded


@dataclass(frozen=True)
class Standing:
    """`tables`: of each shipped table `pass`, `fail` or, where it bounds nothing of the result, None; the tightest of
    those that pass it, None if none does."""

    tables: Mapping[str, str | None] = field(default_factory=dict)
    tightest: str | None = None


def without_bounds(status: str) -> Standing:
    """What no bound decides is the same by every table: right, wrong, or not judged."""
    if status not in JUDGED:
        return Standing()
    told = "pass" if status == "pass" else "fail"
    return Standing(dict.fromkeys(names(), told), names()[0] if told == "pass" else None)


@dataclass(frozen=True)
class _Answer:
    """What a row says of one output: right or wrong, whether it compared anything, and its bound in ulps at the worst
    element (NaN if that is in another output)."""

    right: bool
    judges: bool
    bound_ulp: float


def standing(results: Sequence[Result]) -> Standing:
    """Every shipped table on the outputs of one call."""
    places = _worst_places(results)
    asked = [_Asked.of(each, at) for each, at in zip(results, places, strict=True)]
    tables: dict[str, str | None] = {}
    bounds: dict[str, float] = {}
    for name in names():
        answers = [each.answer(name) for each in asked]
        if not all(one.right for one in answers):
            tables[name] = "fail"
        elif any(one.judges for one in answers):
            tables[name] = "pass"
            bounds[name] = max([0.5, *(one.bound_ulp for one in answers if not math.isnan(one.bound_ulp))])
        else:
            tables[name] = None
    return Standing(tables, min(bounds, key=bounds.__getitem__, default=None))


def key_of(row: Row, fmt: Format) -> tuple:
    """What decides a judgement: all of the row but its source; of integers and bools, which are right or wrong,
    nothing."""
    if not (fmt.is_float or fmt.is_complex):
        return ()
    return (row.kind, row.bound, row.tolerance, row.excluded, row.inside, row.formula if row.kind == "tosa" else None)


CORRECTLY_ROUNDED = ("correctly rounded",)  # the answer for a result that is, among those by the keys of rows


def accepts_rounding(row: Row) -> bool:
    """Whether the row accepts every correctly rounded result of what the op's meaning determines."""
    return row.kind in ROUNDING_ALONE and row.excluded is None and row.formula not in tosa.PARTIAL


class _Rule(NamedTuple):
    """A table's row for an output, with what is asked of it for every result: `key_of`, `accepts_rounding`, and whether
    it accepts nothing else."""

    row: Row
    key: tuple
    accepts_rounding: bool
    accepts_no_more: bool


@cache
def _rules(op: str, format_name: str) -> dict[str, _Rule]:
    """By table what it says of an output of this format."""
    fmt = format_named(format_name)
    rows = {name: contract_table(name).row(op, format_name) for name in names()}
    return {name: _Rule(row, key_of(row, fmt), accepts_rounding(row), _is_rounding(row)) for name, row in rows.items()}


def _is_rounding(row: Row) -> bool:
    """Whether the row demands the correctly rounded result."""
    return row.kind == "exact" or (row.kind == "ulp" and row.bound == 0.5)


class _Asked(NamedTuple):
    """One output, the place of the worst element in it, and the answers of rows to it by what decides them."""

    result: Result
    place: int | None
    rules: dict[str, _Rule]
    known: dict[tuple, _Answer]

    @classmethod
    def of(cls, result: Result, place: int | None) -> _Asked:
        fmt = result.comparison.golden.format
        rules, known = _rules(result.op, fmt.name), {key_of(result.row, fmt): _own_answer(result, place)}
        if rules[names()[0]].accepts_no_more and () not in known and result.comparison.is_the_golden:
            known[CORRECTLY_ROUNDED] = _answer_to_the_golden(result, place)
        return cls(result, place, rules, known)

    def answer(self, table: str) -> _Answer:
        """That of the table's row, made once for rows that say the same; rows that accept every correctly rounded
        result need none where the first table's, correct rounding, has accepted this one."""
        rule, known = self.rules[table], self.known
        if CORRECTLY_ROUNDED in known and rule.accepts_rounding:
            return known[CORRECTLY_ROUNDED]
        if rule.key not in known:
            known[rule.key] = _answer(replace(self.result, row=rule.row), self.place)
        if known[rule.key].right and rule.accepts_no_more:
            known[CORRECTLY_ROUNDED] = known[rule.key]
        return known[rule.key]


def _own_answer(result: Result, place: int | None) -> _Answer:
    """The answer of the row by which the result was judged already."""
    judgement = result.judgement
    right, judges = judgement.failed == 0 and not judgement.violation, judgement.compared > 0 or judgement.size == 0
    if place is None or not right:
        return _Answer(right, judges, np.nan)
    worst = judgement.largest_error
    return _Answer(right, judges, worst.bound_ulp if worst.compared else np.inf)


def _answer_to_the_golden(result: Result, place: int | None) -> _Answer:
    """That of correct rounding where the output is the golden bit for bit."""
    golden = result.comparison.golden
    judges = golden.open is None or not golden.open.size or not golden.open.all()
    if place is None:
        return _Answer(True, judges, np.nan)
    number = place // 2 if golden.format.is_complex else place
    return _Answer(True, judges, np.inf if golden.open is not None and golden.open.flat[number] else 0.5)


def _answer(result: Result, place: int | None) -> _Answer:
    """Block by block, no further than to the first element that is wrong."""
    comparison, bound = result.comparison, np.nan
    judges = comparison.golden.value.size == 0
    errors = result.errors_together(result.row)
    for numbers, elements in judged(comparison, result.row):
        if not elements.ok.all():
            return _Answer(False, True, np.nan)
        judges = judges or bool(elements.compared.any())
        if place is not None and numbers.start <= place < numbers.stop:
            at = place - numbers.start
            bound = float(elements.bound_ulp[at]) if elements.compared[at] else np.inf
        if errors:
            errors.add(numbers, judged_together(errors, elements))
    return _Answer(not violation(errors, comparison.arithmetic), judges, bound)


def _worst_places(results: Sequence[Result]) -> list[int | None]:
    """The element with the largest error in ulps, in the output that has it; None for the others, and where no ulp is
    defined."""
    found = [each.judgement.largest_error for each in results]
    largest = [-1.0 if each is None else each.figure for each in found]
    worst = max(largest, default=-1.0)
    return [each.number if number == largest.index(worst) and worst >= 0 else None for number, each in enumerate(found)]
