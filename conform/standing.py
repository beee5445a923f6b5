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
from dataclasses import dataclass, field

import numpy as np

from conform.contracts import tosa
from conform.contracts.comparison import Comparison
from conform.contracts.judge import Elements, elements_of
from conform.contracts.tables import Row, Table, contract_table, names
from conform.report.verdict import JUDGED
from conform.sums import violation

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
class Result:
    """One output beside its golden: the name its rows stand under, and the judgement by one row, perhaps of a table of
    the user's. `drawn`: its operands are drawn at random, so that its errors have a mean and a variance."""

    op: str
    comparison: Comparison
    row: Row
    elements: Elements
    drawn: bool


@dataclass(frozen=True)
class _Answer:
    """What a row says of one output: right or wrong, whether it compared anything, and its bound in ulps at the worst
    element (NaN if that is in another output)."""

    right: bool
    judges: bool
    bound_ulp: float


def standing(results: Sequence[Result]) -> Standing:
    """Every shipped table on the outputs of one call."""
    places = _worst_place(results)
    known = [
        {_key(each.row): _answer(each, each.row, each.elements, at)} for each, at in zip(results, places, strict=True)
    ]
    tables: dict[str, str | None] = {}
    bounds: dict[str, float] = {}
    for name in names():
        table = contract_table(name)
        answers = [_answer_of(*one, table) for one in zip(results, places, known, strict=True)]
        if not all(one.right for one in answers):
            tables[name] = "fail"
        elif any(one.judges for one in answers):
            tables[name] = "pass"
            bounds[name] = max([0.5, *(one.bound_ulp for one in answers if not math.isnan(one.bound_ulp))])
        else:
            tables[name] = None
    return Standing(tables, min(bounds, key=bounds.__getitem__, default=None))


def _key(row: Row) -> tuple:
    """What decides a judgement: all of the row but its source."""
    return (row.kind, row.bound, row.tolerance, row.excluded, row.formula if row.kind == "tosa" else None)


CORRECTLY_ROUNDED = ("correctly rounded",)  # the answer for a result that is, among those by the keys of rows


def _answer_of(result: Result, place: int | None, known: dict[tuple, _Answer], table: Table) -> _Answer:
    """The answer of the table's row, made once for rows that say the same; rows that accept every correctly rounded
    result need none where the first table's, correct rounding, has accepted this one."""
    row = table.row(result.op, result.comparison.golden.format.name)
    total = row.excluded is None and row.formula not in tosa.PARTIAL
    if CORRECTLY_ROUNDED in known and row.kind in ROUNDING_ALONE and total:
        return known[CORRECTLY_ROUNDED]
    key = _key(row)
    if key not in known:
        known[key] = _answer(result, row, elements_of(result.comparison, row), place)
    if known[key].right and (row.kind == "exact" or (row.kind == "ulp" and row.bound == 0.5)):
        known[CORRECTLY_ROUNDED] = known[key]
    return known[key]


def _answer(result: Result, row: Row, elements: Elements, place: int | None) -> _Answer:
    right = bool(elements.ok.all()) and not _violated(result, row, elements)
    judges = bool(elements.compared.any()) or elements.ok.size == 0
    if place is None or not right:
        return _Answer(right, judges, np.nan)
    bound = elements.bound_ulp.flat[place] if elements.compared.flat[place] else np.inf
    return _Answer(right, judges, float(bound))


def _violated(result: Result, row: Row, elements: Elements) -> bool:
    """Whether the errors of many sums are wrong together."""
    comparison = result.comparison
    return result.drawn and violation(
        comparison.golden, comparison.actual, elements.compared, row, comparison.arithmetic
    ) is not None  # fmt: skip


def _worst_place(results: Sequence[Result]) -> list[int | None]:
    """The element with the largest error in ulps, in the output that has it; None for the others, and where no ulp is
    defined."""
    found = [each.elements.largest(lambda block: np.nan_to_num(block.error_ulp, nan=-1.0)) for each in results]
    largest = [number for number, _ in found]
    worst = max(largest, default=-1.0)
    return [at if number == largest.index(worst) and worst >= 0 else None for number, (_, at) in enumerate(found)]
