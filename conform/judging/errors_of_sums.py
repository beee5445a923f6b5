"""What a verdict says about sums beyond their elements: the errors of many together, and what they look like."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from conform.call.bound import Bound
from conform.contracts.accumulation import STATISTICS, STATISTICS_SOURCE, ErrorsOfSums
from conform.contracts.arithmetic import Arithmetic
from conform.contracts.causes import AreWrong, explained, together
from conform.contracts.judge import Elements
from conform.contracts.tables import Row
from conform.interp.golden import Golden
from conform.judging import likely
from conform.judging.likely import TOLD, Furthest, LikelyErrors
from conform.judging.products import products_of


class Violation(NamedTuple):
    """What is wrong with errors that are right one by one, the rule that says so, and its source; the element that
    shows it, if one does."""

    words: str
    rule: str
    source: str
    element: Furthest | None = None


def errors_together(
    golden: Golden, actual: np.ndarray, row: Row, expected: Golden | None
) -> ErrorsOfSums | LikelyErrors | None:
    """What gathers the errors of an output of independent terms; None if no rule is for them. expected: what
    `likely_errors` says of the output."""
    if expected is not None and row.kind == "derived":
        return LikelyErrors(golden, expected, actual)
    of_sums = row.kind in ("accumulation", "tosa") or (row.kind == "derived" and golden.budget is None)
    if not of_sums or not golden.format.is_float or not ErrorsOfSums.are_judged(golden):
        return None
    return ErrorsOfSums(golden, actual)


def judged_together(errors: ErrorsOfSums | LikelyErrors, elements: Elements) -> np.ndarray:
    """Which elements a rule is for: also those whose bound is vacuous, if it is finite where the rule is for sums."""
    every = isinstance(errors, LikelyErrors)
    return elements.compared | elements.vacuous & (every | np.isfinite(elements.bound_ulp))


def violation(errors: ErrorsOfSums | LikelyErrors | None, arithmetic: Arithmetic) -> Violation | None:
    """What is wrong with the errors together; None if nothing is."""
    if isinstance(errors, LikelyErrors):
        beyond = errors.beyond()
        return None if beyond is None else Violation(TOLD, likely.RULE, likely.SOURCE, beyond)
    found = errors.statistics(arithmetic) if errors else None
    words = found.violation() if found else None
    return None if words is None else Violation(words, STATISTICS, STATISTICS_SOURCE)


def causes_of(call: Bound, golden: Golden, actual: np.ndarray, are_wrong: AreWrong | None) -> dict[str, int]:
    """By the words of each cause ("as if ...") how many of the wrong elements of an output it explains. None: the
    errors are wrong only together, and one cause or none explains all of them."""
    if golden.magnitude is None:
        return {}
    if are_wrong is not None:
        return explained(golden, actual, are_wrong, products_of(call))
    words = together(golden, actual, products_of(call))
    return {words: actual.size} if words else {}
