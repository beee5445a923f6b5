"""Errors that independent roundings do not come to: a limit of root n where the bound, which holds always, has n.

Where terms are independent numbers with random digits, rounding errors are independent and centred. Then n of them stay
below FACTOR root n u, but for a probability of 2 n exp(-FACTOR^2 / 2), 1e-10 for n = 4096 (Higham and Mary, SIAM J.
Sci. Comput. 41, 2019, theorem 3.1). The root of the sum of squares of a composite op's roundings takes the place of
root n u. That is for ops which round sums, products and quotients alone: an implementation's exponentials may all err
the same way. In a module what errs alike is added up with roundings of its own, of which root n and more are allowed.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from conform.call.bound import Bound
from conform.contracts.accumulation import final_rounding
from conform.contracts.arithmetic import IEEE, Arithmetic
from conform.interp.blocks.blocks import flat
from conform.interp.evaluate import evaluate_call
from conform.interp.golden import Golden, Outcome
from conform.interp.gradients.evaluation import GradientCall
from conform.interp.program.goldens import scale_of
from conform.interp.semantics import traits_of
from conform.judging.declared import with_products
from conform.numerics.formats import Format, compute_format
from conform.numerics.rounding_errors import FACTOR, root_sum_of_squares
from conform.numerics.ulp import ulp

TOLD = f"error above {FACTOR:g} times what independent roundings come to"
LONG = 1024  # terms; in shorter sums the bound is as narrow
RULE = "|error| <= 8 times the root of the sum of squares of the roundings"
SOURCE = "Higham and Mary, SIAM J. Sci. Comput. 41, 2019, theorem 3.1, for independent terms"


_LATEST: deque[tuple[Outcome, str, tuple[Golden | None, ...]]] = deque(maxlen=2)


def likely_errors(call: Bound, outcome: Outcome, arithmetic: Arithmetic = IEEE) -> tuple[Golden | None, ...]:
    """By output, its golden with what independent roundings come to as budget; None where the limit does not apply. All
    layouts of the same values, which come one after the other, have one outcome: they are told the same."""
    applies = _applies(call, outcome)
    if not any(applies):
        return (None,) * len(applies)
    for known, compute, found in _LATEST:
        if known is outcome and compute == arithmetic.compute:
            return found
    with with_products(call, arithmetic), root_sum_of_squares():
        goldens = evaluate_call(call).goldens
    found = tuple(one if applied else None for one, applied in zip(goldens, applies, strict=True))
    _LATEST.append((outcome, arithmetic.compute, found))
    return found


def _applies(call: Bound, outcome: Outcome) -> list[bool]:
    """By output, whether it is made of many independent roundings."""
    goldens = outcome.goldens
    if call.meaning is not None:
        return [_is_wide(golden, isinstance(call, GradientCall)) for golden in goldens]
    traits = traits_of(call.op)
    if not traits.centred or traits.exponentials or any(golden.budget is None for golden in goldens):
        return [False] * len(goldens)
    smallest = min(golden.value.size for golden in goldens)
    return [np.size(call.arguments[traits.accumulates]) >= LONG * max(smallest, 1)] * len(goldens)


def _is_wide(golden: Golden, are_stored: bool) -> bool:
    """Whether the bound of an element of a module's result is that of a sum of so many terms. `are_stored`: whether
    each step may be rounded to the element type, of which a few are as wide as many in the compute type."""
    scale = 0.0 if golden.budget is None or golden.real is None else scale_of(golden.real)
    if scale == 0:  # nothing, or zeros, beside which every bound is wide
        return False
    most = np.max(golden.budget, initial=0.0, where=np.isfinite(golden.budget))
    rounded_to = golden.format if are_stored else compute_format(golden.format)
    return bool(most >= LONG * rounded_to.unit_roundoff * scale)


class Furthest(NamedTuple):
    """The element that spends the largest share of its limit: its number in C order, its error, and the limit."""

    share: float
    number: int
    error_ulp: float
    limit_ulp: float


class LikelyErrors:
    """How far an output's errors go beyond FACTOR times those of `likely`, by each reading, found block by block."""

    def __init__(self, golden: Golden, likely: Golden, actual: np.ndarray) -> None:
        of_golden, of_likely = (_readings(one, golden.format) for one in (golden, likely))
        # A reading of flushed operands, which the golden alone may have, has the errors of the first: of wide draws
        # few are subnormal, and what is lost with those is little beside the rest.
        self.readings = list(zip_longest(of_golden, of_likely[: len(of_golden)], fillvalue=of_likely[0]))
        self.actual, self.furthest = actual, [Furthest(0.0, 0, 0.0, 0.0)] * len(self.readings)

    def add(self, place: slice, judged: np.ndarray) -> None:
        """Take in the errors of the `judged` elements [n] of `place`."""
        actual = flat(self.actual, place).astype(np.float64)
        for number, (golden, likely) in enumerate(self.readings):
            found = _furthest(golden.block(place), likely.block(place), actual, judged)
            if found is not None and found.share > self.furthest[number].share:
                self.furthest[number] = found._replace(number=place.start + found.number)

    def beyond(self) -> Furthest | None:
        """The element that is furthest beyond its limit, by the reading that is the most in favour; None if that
        leaves none there."""
        found = min(self.furthest)
        return found if found.share > 1 else None


def _readings(golden: Golden, fmt: Format) -> list[Golden]:
    return [replace(one, alternatives=()) for one in (golden, *golden.alternatives) if one.format == fmt]


def _furthest(golden: Golden, likely: Golden, actual: np.ndarray, judged: np.ndarray) -> Furthest | None:
    """Of the elements with a finite limit that cannot overflow, the first of those furthest into it; one that is NaN or
    infinite is beyond any. None where no element errs."""
    with np.errstate(all="ignore"):
        error = np.nan_to_num(np.abs((actual - golden.real.hi) - golden.real.lo), nan=np.inf, posinf=np.inf)
        spread = FACTOR * likely.budget
        rounding = final_rounding(golden, compute_format(golden.format), golden.real, spread)
        limit = np.broadcast_to(spread + rounding, error.shape)
        stays_finite = np.abs(golden.real.hi) + limit <= golden.format.max_finite
        shares = np.where(judged & stays_finite & (error > 0), error / limit, 0.0)
        if not shares.any():
            return None
        number, unit = int(shares.argmax()), ulp(golden.format, golden.real.hi)
        share, error_ulp, limit_ulp = (float(each[number]) for each in (shares, error / unit, limit / unit))
        return Furthest(share, number, error_ulp, limit_ulp)
