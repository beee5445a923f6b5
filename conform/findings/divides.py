"""What divides failing from passing cases of an op: found by a small search over conditions, simple ones first.

First conditions on the call that have no exception, then such on single elements (NaN is expected, an operand is
negative, beyond a place), then conditions on the call with few exceptions, then those that speak of the chosen values
alone, then two conditions on the call together. Of several that no case tells apart all are told, or of many the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from conform.findings.causes import FLUSHING_HINT
from conform.findings.conditions import Masks, masks_of
from conform.findings.splits import NEARLY_ALL, Condition, Split, best
from conform.judging.evidence import (
    ANY,
    COLUMN,
    OUTPUT,
    PLACE,
    RESULT,
    SIZE,
    SUBNORMAL,
    TAIL,
    Marks,
    Span,
)
from conform.judging.verdict import FAILURES, REFUSAL, Verdict

LEAST_FAILING = 2  # cases: of one alone anything is true
MOST_TOLD = 3
PLAIN = "contiguous"  # the layout
CASES, ELEMENTS = "cases", "elements"


@dataclass(frozen=True)
class Division:
    """sentence: what stands behind the name of the op; splits: those that no case tells apart, each a condition or two;
    unit: what they divide, cases or elements; reason: of the failing cases, where these are not all that fail."""

    unit: str
    splits: tuple[Split, ...]
    reason: str | None = None

    @cached_property
    def by_subject(self) -> list[Split]:
        """One of each subject, or pair of subjects."""
        found: dict[tuple[str, ...], Split] = {}
        for one in self.splits:
            found.setdefault(one.subjects, one)
        return list(found.values())

    @property
    def told(self) -> list[Split]:
        """Those that the sentence tells."""
        return self.by_subject[:MOST_TOLD]

    @property
    def sentence(self) -> str:
        """`fails only where ... (12 of 12 such cases; 0 of 31 others)`."""
        first, *others = self.told
        verb = "fails" if self.unit == CASES else "is wrong"
        why = "" if self.reason is None else f" ({self.reason}; others fail otherwise)"
        text = f"{verb}{why} {first.told(self.unit)}"
        if others:
            left = len(self.by_subject) - len(self.told)
            more = f", and {left} more" if left else ""
            text += f"; no case tells this from: {'; '.join(one.words for one in others)}{more}"
        is_flushing = self.unit == ELEMENTS and first.conditions[0].subject == SUBNORMAL
        return text + (FLUSHING_HINT if is_flushing else "")


def divisions(verdicts: Sequence[Verdict]) -> list[Division]:
    """What divides the judged cases of one op: all that fail from those that pass, or, where nothing does, those that
    fail for one reason.

    Calls that have to be refused are left out, unless they are all that fails.
    """
    judged = [one for one in verdicts if one.asked is not None]
    valid = [one for one in judged if one.check != REFUSAL]
    if any(one.status in FAILURES for one in valid):
        judged = valid
    passing = [one for one in judged if one.status not in FAILURES]
    failing = [one for one in judged if one.status in FAILURES]
    if found := _division(passing, failing, (), 1):
        return [found]
    reasons: dict[str, list[Verdict]] = {}
    for one in failing:
        reasons.setdefault(re.sub(r"\d+", "#", one.reason or ""), []).append(one)
    found_by_reason = (
        _division(passing, some, [one for other in reasons.values() if other is not some for one in other],
                  len(reasons)) for some in reasons.values()
    )  # fmt: skip
    return [one for one in found_by_reason if one] if len(reasons) > 1 else []


def _division(
    passing: Sequence[Verdict], failing: Sequence[Verdict], otherwise: Sequence[Verdict], searches: int
) -> Division | None:
    """What divides them, found by one of so many searches; otherwise: those that fail for other reasons."""
    draws = _draws_of(failing)
    if draws.bit_count() < LEAST_FAILING:
        return None
    judged, fails = [*failing, *passing], (1 << len(failing)) - 1
    masks = _without_those_of(masks_of([*judged, *otherwise]), fails, len(judged))
    singles = [_split((condition,), mask, fails, draws, len(judged)) for condition, mask in masks.items()]
    tried = searches * max(len(set(masks.values())), 1)
    of_calls = [one for one in singles if not one.conditions[0].is_proxy]
    elements = _of_elements(passing, failing)
    for unit, found in (
        (CASES, best((one for one in of_calls if not one.exceptions), tried)),
        (ELEMENTS, best(elements, searches * max(len(elements), 1), most_fail=False)),
        (CASES, best(of_calls, tried)),
        (CASES, best(singles, tried)),
        (CASES, _pairs(masks, fails, draws, len(judged), searches)),
    ):
        if found:
            return Division(unit, tuple(found), _told_reason(failing) if otherwise else None)
    return None


def _told_reason(failing: Sequence[Verdict]) -> str:
    """The reason of all of them, with ... for numbers in which they differ."""
    reasons = {one.reason or "" for one in failing}
    return reasons.pop() if len(reasons) == 1 else re.sub(r"\d+", "...", reasons.pop())


def _draws_of(failing: Sequence[Verdict]) -> int:
    """Those that tell something by themselves: the same numbers in another layout that fail as well tell nothing, if
    they fail in the memory of a plain tensor."""
    plain = {(one.test, one.dtype, one.values) for one in failing if one.layout == PLAIN}
    is_copy = [one.layout != PLAIN and (one.test, one.dtype, one.values) in plain for one in failing]
    return sum(1 << number for number, copied in enumerate(is_copy) if not copied)


def _without_those_of(masks: Masks, failing: int, count: int) -> Masks:
    """The conditions of the first `count` cases, but for those that are true of more cases that fail for another reason
    than of `failing` ones: they are not what these fail for."""
    among = (1 << count) - 1
    return {
        condition: mask & among for condition, mask in masks.items()
        if 0 < mask & among < among and (mask >> count).bit_count() <= (mask & failing).bit_count()
    }  # fmt: skip


def _split(conditions: tuple[Condition, ...], mask: int, failing: int, draws: int, count: int) -> Split:
    true_of_failing = (mask & failing).bit_count()
    return Split(
        conditions, true_of_failing, mask.bit_count() - true_of_failing,
        all_failing=failing.bit_count(), all_passing=count - failing.bit_count(),
        draws=((mask & draws).bit_count(), draws.bit_count()),
    )  # fmt: skip


def _pairs(masks: Masks, failing: int, draws: int, count: int, searches: int) -> list[Split]:
    """Of two conditions that hold together, each has to be true of nearly all failing cases; of those that hold of the
    same cases one is tried."""
    least = NEARLY_ALL * failing.bit_count()
    different = {mask: one for one, mask in reversed(masks.items()) if (mask & failing).bit_count() >= least}
    pairs = list(combinations(reversed(different.items()), 2))
    splits = (_split((one, other), mask & its, failing, draws, count) for (mask, one), (its, other) in pairs)
    return best(splits, searches * max(len(pairs), 1))


# --- Elements ---------------------------------------------------------------------------------------------------------


def _of_elements(passing: Sequence[Verdict], failing: Sequence[Verdict]) -> list[Split]:
    """How the marks, and limits of the measures, divide wrong from right elements of all cases together; where nearly
    all failing cases have wrong elements, and did not crash, say, or give another shape."""
    if sum(one.failed > 0 for one in failing) < NEARLY_ALL * len(failing):
        return []
    whole = Marks.joined([one.marks for one in (*failing, *passing) if one.marks is not None])
    splits = [
        Split((_condition(view, mark),), wrong, right, whole.wrong, whole.right)
        for view, marks in whole.counts.items()
        for mark, (wrong, right) in marks.items()
        if wrong > right or not mark.startswith(TAIL)  # no element is treated wrongly there and right by luck
    ]
    return splits + [
        Split((condition,), whole.wrong, 0, whole.wrong, whole.right)
        for view, measures in whole.spans.items()
        for measure, (wrong, right) in measures.items()
        if wrong.count == whole.wrong and right.count
        for condition in _limits(view, measure, wrong, right)
    ]


def _condition(view: str, mark: str) -> Condition:
    what = {RESULT: "the expected result", ANY: "an operand"}.get(view, f"`{view}`")
    if mark.startswith(TAIL):
        width = mark.removeprefix(TAIL)
        return Condition("elements of the result", f"an element lies behind the last whole {width} of its output")
    if mark.startswith(OUTPUT):
        return Condition(mark, f"the element is of {mark}")
    return Condition(mark, f"{what} is {mark}")


def _limits(view: str, measure: str, wrong: Span, right: Span) -> Iterator[Condition]:
    """A limit between all wrong and all right elements, if there is one."""
    if measure == PLACE and wrong.least > right.most:
        yield Condition("elements of the result", f"an element lies behind the first {wrong.least:,.0f} of its output")
    if measure == COLUMN and wrong.least > right.most:
        yield Condition("last dim of the result", f"an element lies behind the first {wrong.least:,.0f} of its row")
    if measure == SIZE:
        what = f"the magnitude of {f'`{view}`' if view else 'the expected result'} is"
        if wrong.least > right.most:
            yield Condition(SIZE, f"{what} more than {right.most:.6g}")
        if wrong.most < right.least:
            yield Condition(SIZE, f"{what} less than {right.least:.6g}")
