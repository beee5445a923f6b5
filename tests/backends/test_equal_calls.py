"""Equal calls that go to a worker together: each has its own memory and its own reply."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from conform.backends.call import Call
from conform.backends.client import BackendProcess
from conform.running.equal_calls import EqualCalls

X = np.float32([1.5, 0.0])


def at_call(number: int, name: str, *args: object) -> Call:
    return Call("do::at_call", [number, name, *args])


def test_each_answers_what_it_gets(misbehaving: BackendProcess) -> None:
    replies = misbehaving.answers(Call("do::echo", [X, 2]), 5)
    assert [(reply.status, reply.outputs[0].array.tolist(), reply.outputs[1]) for reply in replies] == [
        ("ok", [1.5, 0.0], 2)
    ] * 5
    assert misbehaving.answer(Call("do::echo", [3])).result == [3]


def test_a_difference_in_the_sign_of_a_python_zero_stays(misbehaving: BackendProcess) -> None:
    replies = misbehaving.answers(at_call(2, "negated", 0.0), 3)
    assert [str(reply.result) for reply in replies] == ["[0.0]", "[-0.0]", "[0.0]"]


def test_only_the_call_that_writes_has_written(misbehaving: BackendProcess) -> None:
    replies = misbehaving.answers(at_call(2, "write_to", X, 7.0), 3)
    assert [reply.mutated for reply in replies] == [(), (0,), ()]
    assert [reply.outputs[0].array.tolist() for reply in replies] == [[1.5, 0.0], [7.0, 7.0], [1.5, 0.0]]


def test_results_share_memory_with_an_argument_of_their_own_call_alone(misbehaving: BackendProcess) -> None:
    replies = misbehaving.answers(Call("do::itself", [X]), 2)
    assert [reply.aliases for reply in replies] == [((0, 0), (1, 0))] * 2
    first, second = misbehaving.answers(Call("do::keep", [X]), 2)
    assert (first.aliases, second.aliases) == (((0, 0),), ())


def test_an_in_place_variant_is_read_from_the_memory_of_its_own_call(start: Callable[..., BackendProcess]) -> None:
    with start(name="cpu") as process:
        replies = process.answers(Call("aten::add_.Tensor", [X, np.float32([1, 2])]), 3)
    assert [(reply.result[0].array.tolist(), reply.mutated, reply.overrun) for reply in replies] == [
        ([2.5, 2.0], (), False)
    ] * 3


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("size", "calls"), [(2**12, 1000), (2**19, 8), (2**23, 3)])
def test_calls_of_large_results_are_fewer(start: Callable[..., BackendProcess], size: int, calls: int) -> None:
    with start(name="cpu") as process:
        equal_calls = EqualCalls(process)
        replies = equal_calls.replies(Call("aten::full", [[size], 1.5]), 1000)
        equal_calls.close()
    assert len(replies) == calls + 1  # one in another process


def test_none_comes_behind_one_that_is_no_answer(misbehaving: BackendProcess) -> None:
    replies = misbehaving.answers(at_call(3, "fail", "no more"), 5)
    assert [reply.status for reply in replies] == ["ok", "ok", "error"]
    assert misbehaving.answer(Call("do::echo", [3])).result == [3]


def test_the_call_on_which_a_worker_dies_is_found(misbehaving: BackendProcess) -> None:
    replies = misbehaving.answers(at_call(3, "exit_at_once", 9), 5)
    assert [reply.status for reply in replies] == ["ok", "ok", "crash"]


def test_a_death_that_does_not_come_again_is_told(misbehaving: BackendProcess, tmp_path: Path) -> None:
    replies = misbehaving.answers(Call("do::abort_once", [str(tmp_path / "died")]), 3)
    assert [reply.status for reply in replies] == ["ok", "ok", "crash"]
    assert (replies[-1].reason or "").endswith("; asked again one by one, they are answered")


def test_silence_is_a_timeout(start: Callable[..., BackendProcess]) -> None:
    with start(timeout_s=0.5) as process:
        replies = process.answers(at_call(2, "hang", 1), 3)
    assert [reply.status for reply in replies] == ["ok", "timeout"]


@pytest.mark.parametrize("name", ["garbage", "drip"])
def test_a_protocol_that_is_broken_ends_them(start: Callable[..., BackendProcess], name: str) -> None:
    with start(timeout_s=0.5) as process:
        replies = process.answers(Call(f"do::{name}", []), 3)
    assert [reply.status for reply in replies] == ["crash" if name == "garbage" else "timeout"]
