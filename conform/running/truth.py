"""What a call should give: its golden outcome within a time limit, by the oracle of the run, or why there is none."""

from __future__ import annotations

from conform import time_limit
from conform.call.bound import Bound
from conform.errors import InvalidArguments, Unjudged
from conform.interp.evaluate import evaluate_call
from conform.interp.golden import Outcome
from conform.judging.ended import defect

INTERP, REFS = ORACLES = ("interp", "refs")  # whose results are the truth


def evaluated(call: Bound, timeout_s: float = time_limit.GOLDEN_TIMEOUT_S, oracle: str = INTERP) -> Outcome | Exception:
    """The golden outcome of a call, or why there is none: Unjudged, InvalidArguments, a defect of the kit."""
    try:
        return time_limit.limited(timeout_s, lambda: _truth(call, oracle))
    except InvalidArguments as reason:
        return reason
    except time_limit.TookTooLong:
        return too_long("the golden", timeout_s)
    except Exception as error:  # a defect of the kit in one case must not lose the others; it is told as what it is
        return as_unjudged(error)


def _truth(call: Bound, oracle: str) -> Outcome | InvalidArguments:
    """What the oracle says of a call. Raises Unjudged."""
    try:
        outcome: Outcome | InvalidArguments = evaluate_call(call)
    except InvalidArguments as reason:
        outcome = reason
    if oracle == INTERP:
        return outcome
    from conform.selftest.agreement.oracle import confirmed  # with the references

    return confirmed(call, outcome)


def too_long(what: str, limit_s: float) -> Unjudged:
    """Why there is none where `what` was interrupted."""
    return Unjudged(f"{what} took longer than {limit_s:g} s")


def as_unjudged(error: Exception) -> Unjudged:
    """What an exception of the kit's own says of a case."""
    if isinstance(error, Unjudged):
        return error
    return Unjudged("there is not enough memory for it") if isinstance(error, MemoryError) else defect(error)
