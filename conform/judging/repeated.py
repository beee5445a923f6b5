"""The verdict on several equal calls: equal answers, byte by byte, or not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from conform.backends.reply import Output, Reply, of_each
from conform.call.variants import plain_name
from conform.documents.limits import Limits
from conform.documents.source import parse_yaml, read_text
from conform.interp.golden import Outcome
from conform.judging.case import kind_of
from conform.judging.checks import EVERY
from conform.judging.ended import ended_as, unasked
from conform.judging.standing import Standing
from conform.judging.verdict import Verdict
from conform.suites.cases import Case
from conform.suites.repeats import times_of

DOCUMENTED = Path(__file__).parent / "nondeterministic.yaml"


def verdict_on(
    case: Case,
    replies: Sequence[Reply],
    device: str,
    checks: Collection[str] = EVERY,
    expected: Callable[[], Outcome | Exception] | None = None,
) -> Verdict:
    """The verdict by the replies to its calls, of which the last, behind `_times`, came from another process; none
    comes behind one that is no answer. `expected`: what the call should give, asked where answers differ: outputs that
    may be any tensor need not be equal."""
    differing = _differing(case, replies, frozenset())
    if differing and expected is not None:
        differing = _differing(case, replies, _of_any_content(expected()))
    return unasked(case, _ended(case, replies[0], differing, device), checks)


def _differing(case: Case, replies: Sequence[Reply], free: Collection[int]) -> list[tuple[str, Reply]]:
    """The replies that are not equal to the first, but for the outputs `free`, and their places."""
    times = _times(case, replies[0])
    places = [f"call {number} of {times}" for number in range(2, times + 1)] + ["a call in another process"]
    first, *others = of_each(replies, partial(_answer, free=free))
    each = zip(places, others, replies[1:], strict=False)
    return [(place, reply) for place, other, reply in each if other != first]


def _times(case: Case, first: Reply) -> int:
    """How often the case was to be asked, whose first reply that is."""
    return times_of(case.times, first.shapes)


def _of_any_content(expected: Outcome | Exception) -> frozenset[int]:
    """The numbers of the outputs of which nothing is documented, or that nobody wants."""
    goldens = expected.goldens if isinstance(expected, Outcome) else ()
    return frozenset(number for number, each in enumerate(goldens) if each.undocumented or each.is_none)


def _answer(reply: Reply, free: Collection[int]) -> tuple:
    """What has to be equal: how it ended, and every byte of the outputs but those of any content, or the number."""
    return (reply.status, [None if place in free else _content(each) for place, each in enumerate(reply.outputs)])


def _content(output: Any) -> tuple:
    if isinstance(output, Output):
        return (output.array.dtype, output.array.shape, output.array.tobytes())
    return (type(output), repr(output))  # NaN is like NaN, and -0.0 not like 0.0


def _ended(case: Case, first: Reply, differing: Sequence[tuple[str, Reply]], device: str) -> Verdict:
    times = _times(case, first)
    if differing:
        place, reply = differing[0]
        if reply.status in ("crash", "timeout"):
            reason = f"{place}, of which the first was answered: {reply.reason}"
            return ended_as(case, reply.status, reason, log=reply.log)
        how = "differs from the first" if reply.status == "ok" else f"ended otherwise than the first: {reply.reason}"
        reason = f"equal calls, other answers: {place} {how}"
        if kind_of(device) in documented(case.op):
            return ended_as(case, "unspecified", reason, rule="torch documents it", checks=times)
        return ended_as(case, "fail", reason, Standing(), checks=times)
    if first.status == "ok":
        return ended_as(case, "pass", None, Standing(), checks=times)
    if first.status in ("unsupported", "fallback"):
        return ended_as(case, first.status, first.reason)
    return ended_as(case, "unjudged", "no answer to compare", rule=first.status)


def documented(op: str) -> Sequence[str]:
    """The kinds of device on which torch documents the op, or the class of modules, as nondeterministic."""
    return _all_documented().get(op if op.startswith("torch.") else plain_name(op).partition(".")[0], ())


@cache
def _all_documented() -> Mapping[str, Sequence[str]]:
    limits = Limits.from_environment()
    return parse_yaml(read_text(DOCUMENTED, limits), limits)["ops"]
