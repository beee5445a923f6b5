"""The call of a case that asks for gradients: cotangents are drawn for the results that the call should have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from conform.backends.call import Call
from conform.call.arguments import Arguments, tensors
from conform.call.bound import Bound
from conform.errors import InvalidArguments, Unjudged
from conform.interp.golden import Golden, Outcome
from conform.interp.gradients.evaluation import GradientCall, Place, gradient_call, outputs_of, places_of
from conform.judging.verdict import Verdict
from conform.numerics.draws import Stream
from conform.numerics.rounding import round_to
from conform.suites.cases import Case

ONES, ZEROS = 0.125, 0.25  # shares of the elements of a cotangent: below ONES a one, below ZEROS a zero


def asked(case: Case, call: Bound, outcome: Outcome | Exception, sent: Call) -> tuple[GradientCall, Call]:
    """The call whose results are the gradients, and as it is sent. `call`, `outcome` and `sent` are those of the op.
    Unjudged where there is nothing to ask for."""
    if isinstance(outcome, InvalidArguments):
        raise Unjudged(f"no gradient of a call that is refused: {outcome}")
    if isinstance(outcome, Exception):
        raise outcome
    outcome = outcome.of_results()
    if outcome.given is not None:
        raise Unjudged(f"no gradient of {call.op}, in which chance has a part")
    places = places_of(call)
    have = outputs_of(call, outcome)
    if not places or not any(have):
        raise Unjudged(f"no gradient of {call.op} here: no float operand, or no result that is a float")
    pairs = enumerate(zip(have, outcome.goldens, strict=True))
    cotangents = tuple(_cotangent(case, number, golden) if has else None for number, (has, golden) in pairs)
    wanted = _numbers(places, call.arguments, tensors(Arguments(sent.args, sent.kwargs)))
    asks = replace(sent, requires_grad=frozenset(), wanted=wanted, cotangents=cotangents, is_view=False)
    return gradient_call(call, cotangents, outcome.refusal), asks


def _cotangent(case: Case, number: int, golden: Golden) -> np.ndarray:
    """Normally distributed numbers, ones and zeros, in the dtype of a result."""
    shape = golden.value.shape
    stream: Stream = case.draw.stream(f"cotangent.{number}")
    normal, share = stream.normal(shape), stream.uniform(shape)
    return round_to(golden.format, np.where(share < ONES, 1.0, np.where(share < ZEROS, 0.0, normal)))


def _numbers(places: Sequence[Place], arguments: Mapping[str, Any], sent: Sequence[np.ndarray]) -> tuple[int, ...]:
    """Of the tensors of a call, as they are sent, those whose gradient is asked for."""
    number = {id(tensor): at for at, tensor in enumerate(sent)}
    return tuple(number[id(place.of(arguments))] for place in places)


def told(verdict: Verdict, call: GradientCall) -> Verdict:
    """The verdict on gradients, which says of which operand."""
    operands, worst = [*map(str, call.places)], verdict.worst
    named = ", ".join(operands) if worst is None else operands[worst.output]
    reason = verdict.reason if verdict.status != "fail" else f"gradient of {named}: {verdict.reason}"
    return replace(verdict, gradient=named, reason=reason)
