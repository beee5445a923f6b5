"""Judging kept answers again: the case made anew from its seed, its golden computed, and what is kept of the backend's
answer put in the backend's place; the verdict is to be the one that the record tells."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conform.backends.call import Call
from conform.backends.client import BackendProcess
from conform.backends.reply import Output, Reply
from conform.certify.outputs import Bytes, Kept, Line
from conform.contracts.tables import Table
from conform.judging.credit import NOT_CREDITED, uncredited
from conform.judging.verdict import REFUSAL, Verdict
from conform.manifest.language import Manifest
from conform.report.numbers import json_value
from conform.report.record import case_json
from conform.report.run_json import DIGITS, OF_FAILURES
from conform.running.answers import digest_of
from conform.running.sent import module_of, prepared
from conform.running.verdicts import verdicts_of
from conform.running.waivers import Waivers
from conform.suites.builtin import limits_of
from conform.suites.cases import Case

TIME_RAN_OUT = ("took longer than", "there is not enough memory")  # what another machine decides otherwise


class Replayed:
    """What was kept of a backend's answers to one case, in the place of the process that gave them."""

    left_running: Sequence[str] = ()
    suspected = submitted = 0  # an answer that was kept stays what it is

    def __init__(self, replies: Iterator[Reply]) -> None:
        self.replies = replies

    def submit(self, call: Call) -> None:
        """Nothing is run."""

    def receive(self, most: object = None) -> Reply:
        """The next answer. ValueError where there is none."""
        reply = next(self.replies, None)
        if reply is None:
            raise ValueError("there is no answer to a call of it")
        return reply

    def answer(self, call: Call) -> Reply:
        return self.receive()

    def answers(self, call: Call, times: int) -> list[Reply]:
        """The next ones, to so many calls; none behind one that is no answer."""
        replies = [self.receive()]
        while replies[-1].status == "ok" and len(replies) < times:
            replies.append(self.receive())
        return replies

    def another(self) -> Replayed:
        return self

    def __enter__(self) -> Replayed:
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Nothing was begun."""

    def settle(self) -> None:
        """What came of a worker's death is among the answers already."""

    def take_back(self, places: Sequence[int]) -> None:
        """Nothing was sent ahead."""


@dataclass(frozen=True)
class Judge:
    """Judges the answers of one draw again, as they were: `backend` and `checks` as its record tells them, `table` its
    contract; `waivers`: those of its backend on the certificate's day."""

    backend: Mapping[str, Any]
    checks: frozenset[str]
    table: Table
    suites: Sequence[str]
    manifest: Manifest | None
    waivers: Waivers | None

    def difference(self, case: Case, told: Mapping[str, Any], answer: Line, data: Bytes) -> str | None:
        """How the verdict on a kept answer, made again, differs from the one that the record tells; None: not at all.

        Raises ValueError where the bytes are not what the index says, or the answers are not as many as the calls.
        """
        replies = data.replies(answer)
        made = self._verdict(case, replies)
        if next(replies, None) is not None:
            raise ValueError("there are more answers than calls")
        if told["rule"] == NOT_CREDITED and made.check == REFUSAL and made.status == "pass":
            made = uncredited(made)
        if self.waivers is not None:
            made = self.waivers.told(made)
        again = json.loads(json.dumps(json_value(case_json(made))))
        if any(_ran_out(one) for one in (again, told)):
            return None
        for name in again:
            if not (told["status"] == "pass" and name in OF_FAILURES) and not _same(told.get(name), again[name]):
                return f"{name} {_brief(again[name])} now, {_brief(told.get(name))} in the record"
        return None

    def counts(self, case: Case) -> bool:
        """Whether the checks of the run hold a case to anything, however it ends."""
        return self._verdict(case, iter([Reply("unsupported", "not asked")])).is_counted

    def _verdict(self, case: Case, replies: Iterator[Reply]) -> Verdict:
        """What a run says of the case: of several verdicts the last."""
        described = {"exports": False, **self.backend}
        *_, verdict = verdicts_of(
            [[case]], Replayed(replies), described, self.table, limits=limits_of(self.suites), in_flight=1,
            checks=self.checks, manifest=self.manifest,
        )  # fmt: skip
        return verdict


def _ran_out(case: Mapping[str, Any]) -> bool:
    return case["status"] == "unjudged" and any(text in case["reason"] for text in TIME_RAN_OUT)


def _brief(value: Any) -> str:
    return repr(value)[:100]


def _same(one: Any, other: Any) -> bool:
    """Equal, figures to the digits that records have of cases that passed."""
    if isinstance(one, float) and isinstance(other, (int, float)):
        return float(f"{one:.{DIGITS}g}") == float(f"{other:.{DIGITS}g}")
    return one == other


def answers_again(backend: str, cases: Sequence[Case], timeout_s: float, threads: int) -> Iterator[Reply]:
    """What a backend answers to these cases now, with so many intra-op threads."""
    with BackendProcess(backend, timeout_s=timeout_s, threads=threads) as process:
        is_exporting = bool(process.describe()["exports"])
        for case in cases:
            _, call = prepared(case, case.draw.arguments(), is_exporting, module_of(case))
            process.submit(call)
            yield process.receive()


def is_same(answer: Line, reply: Reply) -> bool:
    """Whether a reply ends as the first of a certificate's answers to a case, with the same bytes."""
    first = answer.replies[0]
    told = [_content(one) for one in first.outputs or ()]
    return first.status == reply.status and told == [_told(one) for one in reply.outputs if reply.status == "ok"]


def _content(kept: Kept | str) -> Any:
    return kept if isinstance(kept, str) else (kept.dtype, kept.shape, kept.digest)


def _told(output: Any) -> Any:
    if not isinstance(output, Output):
        return repr(output)
    return output.array.dtype.name, list(output.array.shape), digest_of(output)
