"""What a worker makes of replies and of the kit's own failures, with a backend that is a list of replies."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from conform.backends.call import Call
from conform.backends.protocol import Most
from conform.backends.reply import Output, Reply
from conform.contracts.arithmetic import Arithmetic
from conform.contracts.tables import contract_table
from conform.errors import KitDefect, Unjudged
from conform.sweep import record
from conform.sweep.judged import Judge
from conform.sweep.space import CALL, Codes
from conform.sweep.subject import Subject, subject_of
from conform.sweep.tally import Tally
from conform.sweep.worker import Worker

THREE_CALLS = Codes(0, 3 * CALL - 1)
ALL_RIGHT = 3 * CALL


@dataclass
class Backend:
    """Answers each call rightly, with `beside` in the fields of the reply to it."""

    beside: dict[int, dict[str, Any]] = field(default_factory=dict)
    calls: list[np.ndarray] = field(default_factory=list)
    most_in_flight: int = 0
    answered: int = 0

    def submit(self, call: Call) -> None:
        self.calls.append(call.args[0])
        self.most_in_flight = max(self.most_in_flight, len(self.calls) - self.answered)

    def take_back(self, places: Collection[int]) -> None:
        waiting = self.calls[self.answered :]
        self.calls[self.answered :] = [call for place, call in enumerate(waiting) if place not in places]

    def receive(self, most: Most) -> Reply:
        number, self.answered = self.answered, self.answered + 1
        right = Output(np.abs(self.calls[number]), (1,))
        return Reply(**{"status": "ok", "result": right, **self.beside.get(number, {})})


def worker(backend: Backend) -> Worker:
    subject = subject_of("abs")
    return Worker(subject, backend, Judge(subject, (contract_table("opencl"),), "opencl"))


def swept(backend: Backend) -> Tally:
    return worker(backend).tally(THREE_CALLS)


def test_calls_are_asked_in_order_one_ahead():
    backend = Backend()
    found = swept(backend)
    assert (found.inputs, found.right, found.lost, backend.most_in_flight) == (ALL_RIGHT, ALL_RIGHT, (), 2)
    assert [int(call.view(np.uint32)[0]) for call in backend.calls] == [0, CALL, 2 * CALL]


def test_a_backend_that_dies_after_it_answered():
    """The second reply says what the first call deserves; its results were right, and stay counted."""
    found = swept(Backend({1: {"before": Reply("crash", "SIGSEGV (Segmentation fault)")}}))
    assert [(lost.codes, lost.status, lost.reason) for lost in found.lost] == [
        (Codes(0, CALL - 1), "crash", "SIGSEGV (Segmentation fault), after it had answered")
    ]
    assert (found.inputs, found.right) == (ALL_RIGHT, ALL_RIGHT)


@pytest.mark.parametrize(("calls_before", "blamed"), [(2, 0), (3, 2)])
def test_a_call_further_before_may_be_the_one(calls_before: int, blamed: int):
    """One of another block is not known: the call on which it was noticed is told."""
    crash = Reply("crash", "SIGABRT (Aborted)", calls_before=calls_before)
    (lost,) = swept(Backend({2: {"before": crash}})).lost
    assert lost.codes == Codes(blamed * CALL, (blamed + 1) * CALL - 1)


class _JudgesNothing(Judge):
    def tally(self, codes: Codes, output: Output) -> Tally:
        raise AssertionError("judged")


def test_answers_that_are_known_are_not_judged_and_others_are():
    first = swept(Backend())
    knowing = replace(worker(Backend()), judge=_JudgesNothing(**vars(worker(Backend()).judge)))
    assert knowing.tally(THREE_CALLS, {first.answers: first}) is first

    wrong = np.abs(np.arange(CALL, dtype=np.uint32).view(np.float32))
    wrong[7] = 1.0
    other = Backend({0: {"result": Output(wrong, (1,))}})
    found = worker(other).tally(THREE_CALLS, {first.answers: first})
    assert (found.inputs, found.right) == (ALL_RIGHT, ALL_RIGHT - 1)
    assert found.answers not in (None, first.answers)


@pytest.mark.parametrize("place", [0, 2])
def test_where_answers_are_lost_nothing_is_known(place: int):
    first = swept(Backend())
    found = worker(Backend({place: {"status": "error", "reason": "no"}})).tally(THREE_CALLS, {first.answers: first})
    assert (found.inputs, found.right, found.answers) == (ALL_RIGHT, ALL_RIGHT - CALL, None)
    assert [lost.status for lost in found.lost] == ["error"]


def test_the_same_answers_of_a_backend_that_declares_another_arithmetic_are_not_the_same():
    flushing = replace(worker(Backend()).judge, arithmetic=Arithmetic(flushes_subnormals=True))
    assert replace(worker(Backend()), judge=flushing).tally(THREE_CALLS).answers != swept(Backend()).answers


def test_what_was_sent_ahead_to_a_backend_that_hangs_is_taken_back():
    """Else the next block would be judged by the answer to another call."""
    hangs = {"status": "timeout", "reason": "no answer", "result": None}
    own = worker(Backend(dict.fromkeys(range(3), hangs)))
    found = own.tally(Codes(0, 5 * CALL - 1))
    assert [(lost.codes, lost.status) for lost in found.lost] == [
        (THREE_CALLS, "timeout"), (Codes(3 * CALL, 5 * CALL - 1), "not_run")
    ]  # fmt: skip
    after = own.tally(Codes(7 * CALL, 8 * CALL - 1))
    assert (after.inputs, after.right, after.lost) == (CALL, CALL, ())


@pytest.mark.parametrize(
    ("result", "reason"),
    [(3.0, "float instead of a tensor"), ([], "0 outputs instead of 1"), (None, "NoneType instead of a tensor")],
)
def test_a_result_that_is_no_tensor(result, reason):
    found = swept(Backend({2: {"result": result}}))
    assert [(lost.codes.first, lost.status, lost.reason) for lost in found.lost] == [(2 * CALL, "fail", reason)]


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (Unjudged("too near a tie"), "unjudged", "too near a tie"),
        (ZeroDivisionError("of the kit"), "defect", "defect of the kit, please report it: ZeroDivisionError"),
    ],
)
def test_where_the_kit_fails_the_sweep_goes_on(monkeypatch, error, status, reason):
    """On one piece of 65,536 inputs."""
    right = Subject.outcome

    def outcome(subject, call):
        if call.arguments["self"].size > 2 and call.arguments["self"].view(np.uint32)[0] == CALL:
            raise error
        return right(subject, call)

    monkeypatch.setattr(Subject, "outcome", outcome)
    found = swept(Backend())
    assert [(lost.codes, lost.status) for lost in found.lost] == [(Codes(CALL, CALL + 65535), status)]
    assert found.lost[0].reason.startswith(reason)
    assert (found.inputs, found.right) == (ALL_RIGHT, ALL_RIGHT - 65536)


def of(lost: list[str], failed: int = 0, compared: int = 5, stopped: str | None = None) -> dict[str, Any]:
    """A record of which only the verdict matters."""
    summary = {"failed": failed, "compared": compared, "lost": dict.fromkeys(lost, 1)}
    kit = {"digest": "same", "digest_at_end": "same"}
    return {"kit": kit, "summary": summary, "lost": [{"status": each} for each in lost], "stopped": stopped}


@pytest.mark.parametrize(
    ("found", "word", "exit_code"),
    [
        (of([]), "conformant", 0),
        (of([], failed=1), "not conformant", 1),
        (of(["crash"]), "not conformant", 1),
        (of(["timeout"], compared=0), "not conformant", 1),
        (of(["unjudged"]), "partial", 1),
        (of(["unsupported"]), "partial", 1),
        (of([], stopped="interrupted"), "partial", 1),
        (of(["unsupported"], compared=0), "nothing compared", 3),
        (of(["defect"]), "partial", KitDefect.exit_code),
        ({**of([]), "kit": {"digest": "one", "digest_at_end": "another"}}, "no verdict", 3),
    ],
)
def test_verdicts(found, word, exit_code):
    assert (record.word(found), record.exit_code(found)) == (word, exit_code)
