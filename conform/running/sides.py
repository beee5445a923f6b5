"""Compare pairs: what the two sides of one gave on the same inputs, beside each other and beside the truth of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from conform.backends.reply import Output, Reply
from conform.equivalence.distance import Distance, between
from conform.interp.golden import Golden, Outcome
from conform.judging.verdict import Verdict
from conform.suites.cases import Case


@dataclass(frozen=True)
class Answer:
    """What one side gave; `truths`: its goldens; `error_ulp`: the largest error beside them."""

    impl: str | None
    outputs: list[np.ndarray]
    truths: list[np.ndarray]
    error_ulp: float


@dataclass
class Sides:
    """The answers of first sides, until those of the second ones come."""

    _first: dict[tuple[str, ...], Answer] = field(default_factory=dict)

    def compared(self, case: Case, outcome: object, reply: Reply, verdict: Verdict) -> Verdict:
        """The verdict; of a second side, whose first one answered, with how far apart the two are, and which of them is
        further from its own golden."""
        pair = case.draw.test.pair
        if pair is None:
            return verdict
        key = (pair.group, *case.id.removeprefix(f"{case.draw.test.id}/").split("/"))
        first = self._first.pop(key, None)
        answer = _answer(outcome, reply, verdict)
        if first is None or answer is None:
            if answer is not None:
                self._first[key] = answer
            return verdict
        return replace(verdict, pair={**verdict.pair, **_beside(first, answer)})


def _answer(outcome: object, reply: Reply, verdict: Verdict) -> Answer | None:
    """None where there is nothing to be compared: no answer, or no golden."""
    outputs = [one.array for one in reply.outputs if isinstance(one, Output)] if reply.status == "ok" else []
    goldens = outcome.goldens if isinstance(outcome, Outcome) else ()
    if not outputs or len(outputs) != len(goldens) or not all(map(_fits, goldens, outputs)):
        return None
    from conform.api import error_of

    errors = [error_of(*pair).max(initial=0.0, where=_judged(*pair)) for pair in zip(goldens, outputs, strict=True)]
    return Answer(verdict.pair["impl"], outputs, [one.value for one in goldens], float(max(errors)))


def _fits(golden: Golden, output: np.ndarray) -> bool:
    return output.shape == golden.value.shape and output.dtype == golden.value.dtype


def _judged(golden: Golden, output: np.ndarray) -> np.ndarray:
    """Where an error is told: not where the op's meaning leaves elements open."""
    parts = [2] if golden.format.is_complex else []
    where = np.ones(output.shape, bool) if golden.open is None else ~golden.open
    return np.broadcast_to(where.reshape(*output.shape, *[1 for _ in parts]), (*output.shape, *parts))


def _beside(first: Answer, second: Answer) -> dict[str, Any]:
    """`apart_ulp`: the largest distance of two elements, None where none differs or their dtype has no ulp; `equal` and
    `elements`: how many there are; `truths_apart_ulp`: the distance of the goldens, a rounding at most where both sides
    are the same function; `errors_ulp`: the largest error of either side; `further`: which is further from its truth.
    """
    apart, truths = _distance(first.outputs, second.outputs), _distance(first.truths, second.truths)
    errors = [first.error_ulp, second.error_ulp]
    return {
        "elements": apart.elements, "equal": apart.equal, "apart_ulp": apart.worst_ulp,
        "truths_apart_ulp": truths.worst_ulp, "errors_ulp": errors,
        "further": None if errors[0] == errors[1] else "ab"[errors[1] > errors[0]], "other_impl": first.impl,
    }  # fmt: skip


def _distance(mine: Sequence[np.ndarray], its: Sequence[np.ndarray]) -> Distance:
    whole = Distance()
    for number, (one, other) in enumerate(zip(mine, its, strict=False)):
        if (one.dtype, one.shape) == (other.dtype, other.shape):
            whole = whole.with_output(between(one, other), number)
    return whole
