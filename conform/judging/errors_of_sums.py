"""What a verdict says about sums beyond their elements: the errors of many together, and what they look like."""

from __future__ import annotations

import numpy as np

from conform.call.bound import Bound
from conform.contracts.accumulation import ErrorsOfSums
from conform.contracts.arithmetic import Arithmetic
from conform.contracts.causes import cause
from conform.contracts.tables import Row
from conform.interp.golden import Golden
from conform.judging.products import products_of


def errors_of_sums(golden: Golden, actual: np.ndarray, row: Row) -> ErrorsOfSums | None:
    """What gathers the errors of many sums; None if the row or the output is none of sums."""
    of_sums = row.kind in ("accumulation", "tosa") or (row.kind == "derived" and golden.budget is None)
    if not of_sums or not golden.format.is_float or not ErrorsOfSums.are_judged(golden):
        return None
    return ErrorsOfSums(golden, actual)


def violation(errors: ErrorsOfSums | None, arithmetic: Arithmetic) -> str | None:
    """What is wrong with the errors of many sums; None if nothing is."""
    found = errors.statistics(arithmetic) if errors else None
    return found.violation() if found else None


def looks_like(call: Bound, golden: Golden, actual: np.ndarray) -> str:
    """The words ", as if ...": the cause of a failed sum, told from its errors; empty if there is none to tell."""
    if golden.magnitude is None:
        return ""
    words = cause(golden, actual, products_of(call))
    return f", {words}" if words else ""
