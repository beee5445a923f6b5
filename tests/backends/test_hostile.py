"""Backends that lie, drip, print for ever or die later: each call gets an end in time, and the blame is its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from conform.backends.base import BackendUnavailable
from conform.backends.call import Call
from conform.backends.client import BackendProcess
from conform.backends.launcher import Template
from conform.backends.protocol import most_of_results
from conform.backends.suspects import MOST_BYTES
from conform.errors import UsageError
from tests.backends.conftest import MISBEHAVING
from tests.backends.test_client import ask

pytestmark = pytest.mark.one_in(6)

Starter = Callable[..., BackendProcess]


def test_a_shape_that_numpy_lacks_is_an_error_and_the_run_goes_on(misbehaving: BackendProcess) -> None:
    reply = ask(misbehaving, "huge_and_empty")
    assert (reply.status, str(reply.reason)[:70]) == (
        "error", "TypeError: output 0 has the shape (2147483648, 0, 2147483648), which n",
    )  # fmt: skip
    assert ask(misbehaving, "echo", 1).result == [1]


@pytest.mark.parametrize("how", ["meta", "subclass"])
def test_a_result_that_cannot_be_read_is_never_unsupported(misbehaving: BackendProcess, how: str) -> None:
    reply = ask(misbehaving, "unreadable", how)
    assert (reply.status, reply.declared) == ("error", False)


# --- Limits -----------------------------------------------------------------------------------------------------------


def test_a_byte_now_and_then_does_not_set_the_clock_back(start: Starter) -> None:
    with start(timeout_s=0.5) as process:
        ask(process, "where")
        started_s = time.monotonic()
        reply = ask(process, "drip")
        assert (reply.status, reply.reason) == ("timeout", "no answer for 0.5 s")
        assert time.monotonic() - started_s < 5
        assert ask(process, "echo", 1).result == [1]


def test_what_is_printed_for_ever_ends_in_time_and_the_end_of_it_is_kept(start: Starter) -> None:
    with start(timeout_s=0.5) as process:
        reply = ask(process, "say_for_ever")
        assert reply.status == "timeout"
        assert reply.log.splitlines()[-1].startswith("again again")
        assert len(reply.log) <= 2000


def test_a_result_larger_than_the_expected_one_admits_is_not_taken(misbehaving: BackendProcess) -> None:
    misbehaving.submit(Call("do::zeros", [1 << 25]))  # 128 MiB
    reply = misbehaving.receive(most_of_results(outputs=1, elements=10))
    assert reply.status == "crash"
    assert str(reply.reason).startswith("the worker broke the protocol: a frame announces ")
    assert ask(misbehaving, "zeros", 1 << 25).outputs[0].array.size == 1 << 25


def test_a_template_that_does_not_answer_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    with Template() as template, BackendProcess(f"{MISBEHAVING}::Misbehaving", template=template) as process:
        first = ask(process, "where").result[1]
        monkeypatch.setattr("conform.backends.launcher._ANSWERING_S", 0.3)
        reply = ask(process, "stop_template_and_die")
        assert (reply.status, reply.reason) == ("crash", "the worker ended, and its template process with it")
        monkeypatch.setattr("conform.backends.launcher._ANSWERING_S", 30.0)
        assert ask(process, "where").result[1] != first


# --- Blame ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("culprit", "args", "reason"),
    [
        ("abort_later", [0.1], "SIGABRT (Aborted)"),
        ("twice", [], "the worker broke the protocol: a frame came that answers no call"),
    ],
)
def test_who_breaks_the_call_behind_it_is_named(start: Starter, culprit: str, args: list, reason: str) -> None:
    with start() as process:
        for op, given in (("echo", [1]), (culprit, args), ("sleep", [0.4]), ("echo", [2])):
            process.submit(Call(f"do::{op}", given))
        first, guilty, innocent, last = [process.receive() for _ in range(4)]
    assert (guilty.status, innocent.status) == ("ok", "ok")
    assert innocent.before is not None
    assert (innocent.before.status, innocent.before.reason) == ("crash", reason)
    assert [reply.before for reply in (first, guilty, last)] == [None] * 3
    assert (first.result, last.result) == ([1], [2])


@pytest.mark.parametrize("behind", [1, 2, 5])
def test_who_breaks_a_call_further_behind_is_named_too(start: Starter, behind: int) -> None:
    with start() as process:
        quick = [("echo", [number]) for number in range(behind)]
        for op, given in (*quick, ("abort_later", [0.1]), *quick, ("sleep", [0.4]), ("echo", ["last"])):
            process.submit(Call(f"do::{op}", given))
        *answered, innocent, last = [process.receive() for _ in range(2 * behind + 3)]
    assert {reply.status for reply in (*answered, innocent, last)} == {"ok"}
    assert (innocent.before.status, innocent.before.reason) == ("crash", "SIGABRT (Aborted)")
    assert innocent.before.calls_before == behind + 1
    assert [reply.before for reply in (*answered, last)] == [None] * (2 * behind + 2)


def test_equal_calls_that_went_together_are_suspected_together(misbehaving: BackendProcess) -> None:
    assert [reply.status for reply in misbehaving.answers(Call("do::abort_later", [0.1]), 3)] == ["ok"] * 3
    ask(misbehaving, "echo", 1)
    innocent = ask(misbehaving, "sleep", 0.4)
    assert (innocent.status, innocent.before.status, innocent.before.calls_before) == ("ok", "crash", 2)


def test_who_dies_after_an_answer_before_the_last_one_is_named_at_the_end(misbehaving: BackendProcess) -> None:
    ask(misbehaving, "abort_later", 0.1)
    ask(misbehaving, "echo", 1)
    settled = misbehaving.settle()
    assert (settled.status, settled.reason, settled.calls_before) == ("crash", "SIGABRT (Aborted)", 2)


def test_what_large_operands_went_into_is_no_suspect_once_another_call_is_answered(misbehaving: BackendProcess) -> None:
    suspected = []
    for size in (4, 4, MOST_BYTES + 1, 4, 4):
        ask(misbehaving, "echo", np.zeros(size, np.uint8))
        suspected.append(misbehaving.suspected)
    assert suspected == [1, 2, 3, 1, 2]
    ask(misbehaving, "say_and_die", "words")
    assert misbehaving.suspected == 0


def test_who_is_asked_again_gets_the_inputs_as_they_were_and_is_watched_writing_to_them(start: Starter) -> None:
    with start() as process:
        process.submit(Call("do::abort_later", [0.1]))
        process.submit(Call("do::add_one_and_sleep", [np.zeros(3, np.float32), 0.4]))
        _, again = process.receive(), process.receive()
    assert again.before is not None
    assert (again.result.array.tolist(), again.mutated) == ([1.0, 1.0, 1.0], (0,))


def test_who_dies_after_the_last_answer_is_noticed(misbehaving: BackendProcess) -> None:
    assert misbehaving.settle() is None
    assert ask(misbehaving, "echo", 1).status == "ok"
    assert misbehaving.settle() is None
    assert ask(misbehaving, "abort_later", 0.05).status == "ok"
    settled = misbehaving.settle()
    assert settled is not None
    assert (settled.status, settled.reason) == ("crash", "SIGABRT (Aborted)")
    assert ask(misbehaving, "echo", 2).result == [2]


def test_who_dies_again_when_asked_alone_has_the_blame(misbehaving: BackendProcess) -> None:
    for op in ("echo", "say_and_die"):
        misbehaving.submit(Call(f"do::{op}", ["words"]))
    echoed, died = misbehaving.receive(), misbehaving.receive()
    assert (echoed.status, died.status, died.reason, died.before) == ("ok", "crash", "SIGABRT (Aborted)", None)
    assert died.log.startswith("words\nFatal Python error: Aborted")


def test_a_death_that_does_not_happen_again_is_one_all_the_same(misbehaving: BackendProcess, tmp_path: Path) -> None:
    for op, given in (("echo", 1), ("abort_once", str(tmp_path / "dead"))):
        misbehaving.submit(Call(f"do::{op}", [given]))
    echoed, died = misbehaving.receive(), misbehaving.receive()
    assert (echoed.status, died.status) == ("ok", "crash")
    assert died.reason == "SIGABRT (Aborted); asked again alone, it is answered"


# --- Identity ---------------------------------------------------------------------------------------------------------


def test_a_backend_that_declares_something_else_when_started_again_is_unavailable(
    start: Starter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHANGING_MARKER", str(tmp_path / "started"))
    with BackendProcess(f"{MISBEHAVING}::Changing") as process:
        assert process.describe()["flushes_subnormals"] is False
        assert ask(process, "exit", 3).status == "crash"
        with pytest.raises(BackendUnavailable, match="started again, and its flushes_subnormals is another one"):
            process.submit(Call("do::echo", [1]))


def test_a_version_that_is_no_text_is_refused(start: Starter) -> None:
    with start("Unreadily") as process, pytest.raises(UsageError, match="version is 3, not str or None"):
        process.describe()
