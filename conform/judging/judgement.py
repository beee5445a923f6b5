"""One output's judgement in figures: what a verdict is made from, found block by block, however large the output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from conform.contracts.accumulation import ErrorsOfSums
from conform.contracts.comparison import Comparison
from conform.contracts.judge import Elements, Numbers, judge, judged, judged_shape
from conform.contracts.tables import Row
from conform.interp.golden import Golden
from conform.judging.errors_of_sums import Violation, errors_together, judged_together, violation
from conform.judging.evidence import Marks
from conform.judging.histogram import counted, empty
from conform.judging.likely import Furthest, LikelyErrors
from conform.judging.marks import Marking


@dataclass(frozen=True)
class Element:
    """One judged element: its number in C order, the figure it was chosen for, and what `Elements` says of it."""

    number: int
    figure: float
    compared: bool
    error_ulp: float
    bound_ulp: float
    wrong_class: bool


@dataclass(frozen=True)
class Judgement:
    """size: how many elements were judged (of complex numbers, components); right, compared, open, vacuous: how many
    of them are that; furthest: the first of those furthest into their bound, or where none is beyond it the one that
    shows the violation; largest_error: the first of those with the largest error in ulps, -1 where no ulp is defined;
    None of an empty output. violation: what is wrong with the errors of many sums. errors: those of the elements that
    were compared, counted by `histogram`. marks: what the wrong and the right elements have in common."""

    size: int
    right: int
    compared: int
    open: int
    vacuous: int
    furthest: Element | None
    largest_error: Element | None
    violation: Violation | None
    errors: np.ndarray
    marks: Marks

    @property
    def failed(self) -> int:
        return self.size - self.right


@dataclass(frozen=True)
class Result:
    """Output `number` of a call beside its golden, and the row, perhaps of a table of the user's, that judges it.

    op: the name that its rows stand under; independent: what it adds up are independent numbers with random digits, and
    so the rounding errors of its sums are independent; likely: what `likely_errors` says of the output; beside: the
    operands of an elementwise op, by name; outputs: how many there are; holder: the argument that holds it, None of one
    that is returned
    """

    number: int
    op: str
    comparison: Comparison
    row: Row
    independent: bool
    likely: Golden | None = None
    beside: Mapping[str, np.ndarray] = field(default_factory=dict)
    outputs: int = 1
    holder: str | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return judged_shape(self.comparison)

    def errors_together(self, row: Row) -> ErrorsOfSums | LikelyErrors | None:
        """What gathers errors that rules for all of them together hold to their limits, by `row`."""
        golden, actual = self.comparison.golden, self.comparison.actual
        return errors_together(golden, actual, row, self.likely) if self.independent else None

    @cached_property
    def judgement(self) -> Judgement:
        comparison, counts = self.comparison, dict.fromkeys(("ok", "compared", "open", "vacuous"), 0)
        errors = self.errors_together(self.row)
        marking = Marking(comparison.golden, self.beside, self.number, self.outputs)
        furthest = largest = None
        size, histogram = 0, empty()
        for numbers, elements in judged(comparison, self.row):
            size += elements.ok.size
            for mask in counts:
                counts[mask] += int(np.count_nonzero(getattr(elements, mask)))
            histogram += counted(elements.error_ulp[elements.compared])
            furthest = _first_largest(furthest, numbers, elements, _share(elements))
            largest = _first_largest(largest, numbers, elements, np.fmax(elements.error_ulp, -1.0))  # of NaN -1
            marking.add(numbers, elements.ok, elements.compared)
            if errors:
                errors.add(numbers, judged_together(errors, elements))
        found = violation(errors, comparison.arithmetic)
        if found and found.element and counts["ok"] == size:
            furthest = _shown_by(found.element)
        return Judgement(size, *counts.values(), furthest, largest, found, histogram, marking.marks())

    def are_wrong(self, golden: Golden, actual: np.ndarray) -> np.ndarray:
        """Which of some elements of the output, a block of its golden and the actual values, are outside their bound.
        """
        return ~judge(golden, actual, self.row, self.comparison.operands, self.comparison.arithmetic).ok


def _shown_by(beyond: Furthest) -> Element:
    return Element(beyond.number, beyond.share, True, beyond.error_ulp, beyond.limit_ulp, wrong_class=False)


def _share(elements: Elements) -> np.ndarray:
    """How much of its bound each element spends; a wrong class or an inexact exact result is beyond any bound."""
    with np.errstate(all="ignore"):
        share = np.where(elements.compared, np.fmax(elements.error_ulp / elements.bound_ulp, 0.0), -1.0)
    within = np.minimum(share, 1.0)
    if elements.ok.all():
        return within
    return np.where(elements.ok, within, np.where(elements.wrong_class, np.inf, np.maximum(share, 1.0 + 1e-9)))


def _first_largest(best: Element | None, numbers: Numbers, elements: Elements, figures: np.ndarray) -> Element | None:
    """`best`, or the element among these with a larger figure or with the same and a smaller number."""
    if not figures.size:
        return best
    at = int(figures.argmax())
    if isinstance(numbers, np.ndarray):  # in any order
        equal = np.flatnonzero(figures == figures[at])
        at = int(equal[numbers[equal].argmin()])
    number, figure = _number(numbers, at), float(figures[at])
    if best is not None and (best.figure, -best.number) >= (figure, -number):
        return best
    told = (elements.compared, elements.error_ulp, elements.bound_ulp, elements.wrong_class)
    return Element(number, figure, *(array[at].item() for array in told))


def _number(numbers: Numbers, at: int) -> int:
    return numbers.start + at if isinstance(numbers, slice) else int(numbers[at])
