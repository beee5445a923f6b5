"""Equal calls have equal answers: in one process, and in another."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import conform
from conform.backends.reply import Reply
from conform.errors import Unjudged
from conform.interp.golden import Golden, Outcome
from conform.judging.repeated import documented, verdict_on
from conform.numerics.formats import FORMATS
from conform.report.failure import repeat_command
from conform.report.record import Run
from conform.suites import load
from conform.suites.cases import Case, Selection
from conform.suites.repeats import REPEATED, with_repeats
from conform.suites.select import select

pytestmark = pytest.mark.one_in(6)

CALLS = {"n": 0}


def exact(op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return torch.ops.aten.neg(*args, **kwargs)


def by_call(op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Every seventh answer of the process is another one."""
    CALLS["n"] += 1
    result = exact(op, args, kwargs)
    return result + (CALLS["n"] % 7 == 0) if result.is_floating_point() else result


def by_threads(op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """As of threads that race."""
    return (by_call if torch.get_num_threads() > 1 else exact)(op, args, kwargs)


def by_process(op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    result = exact(op, args, kwargs)
    return result + os.getpid() if result.is_floating_point() else result


def by_sign_of_zero(op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Numbers that are equal, and bytes that are not."""
    CALLS["n"] += 1
    result = exact(op, args, kwargs)
    return torch.zeros_like(result) * (-1) ** CALLS["n"]


def refuses_the_second(op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    CALLS["n"] += 1
    if CALLS["n"] % 2:
        return exact(op, args, kwargs)
    raise RuntimeError("too hot")


BUFFERS: dict[tuple, torch.Tensor] = {}


def into_one_buffer(op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The same memory for every result of a shape, as a graph of kernels that was recorded once has it."""
    result = exact(op, args, kwargs)
    return BUFFERS.setdefault((result.shape, result.dtype), torch.empty_like(result)).copy_(result)


def has_none(op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    raise conform.Unsupported("no kernel")


def run_of(kernel: Callable, times: int = 3, **selection: Any) -> Run:
    return conform.check(
        "core", backend=kernel, ops=["aten::neg"], checks="determinism", determinism=times, **selection
    )


def test_the_same_answers_pass_and_say_how_many_were_compared() -> None:
    run = run_of(exact, times=5)
    assert run.exit_code == 0
    assert {(case["status"], case["check"], case["checks"], case["compared"]) for case in run.cases} == {
        ("pass", "determinism", 5, 0)
    }


@pytest.mark.parametrize(
    ("kernel", "places"),
    [
        (by_call, {"call 2 of 3", "call 3 of 3", "a call in another process"}),
        (by_process, {"a call in another process"}),
        (by_sign_of_zero, {"call 2 of 3"}),
    ],
)
def test_other_answers_to_equal_calls_fail(kernel: Callable, places: set[str]) -> None:
    run = run_of(kernel, dtypes=["float32", "float64"])
    reasons = {case["reason"] for case in run.cases if case["status"] == "fail"}
    assert reasons
    assert reasons <= {f"equal calls, other answers: {place} differs from the first" for place in places}


@pytest.mark.parametrize(
    ("last", "status", "reason"),
    [
        (Reply("timeout", "no answer for 30 s"), "timeout",
         "call 3 of 3, of which the first was answered: no answer for 30 s"),
        (Reply("crash", "SIGSEGV"), "crash", "call 3 of 3, of which the first was answered: SIGSEGV"),
        (Reply("error", "RuntimeError: busy"), "fail",
         "equal calls, other answers: call 3 of 3 ended otherwise than the first: RuntimeError: busy"),
    ],
)  # fmt: skip
def test_a_call_without_an_answer_is_told_as_what_it_is(last: Reply, status: str, reason: str) -> None:
    (case, *_), *_ = select(load(["core"], ops=["aten::neg"]), Selection(ops=["aten::neg"]))
    verdict = verdict_on(replace(case, times=3), [*[Reply("ok", result=1.0)] * 2, last], "cpu")
    assert (verdict.status, verdict.reason) == (status, reason)


def test_a_refusal_of_what_was_answered_fails() -> None:
    reasons = {case["reason"] for case in run_of(refuses_the_second, dtypes=["float32"]).cases}
    assert any(one and "call 2 of 3 ended otherwise than the first: " in one for one in reasons)


@pytest.mark.parametrize(("numbers", "status"), [((1.5, 1.5), "pass"), ((1, 2), "fail"), ((0.0, -0.0), "fail")])
def test_other_python_numbers_to_equal_calls_fail(numbers: tuple[float, float], status: str) -> None:
    (case, *_), *_ = select(load(["core"], ops=["aten::neg"]), Selection(ops=["aten::neg"]))
    replies = [Reply("ok", result=number) for number in numbers]
    assert verdict_on(replace(case, times=2), replies, "cpu").status == status


def test_a_result_that_the_next_call_overwrites_fails() -> None:
    run = run_of(into_one_buffer)
    repeated = [case for case in run.cases if case["id"].endswith(f"/{REPEATED}") and case["checks"] == 3]
    told = "ended otherwise than the first: ValueError: output 0 lies in the memory of the result before it"
    assert len(repeated) > 1
    assert all(case["status"] == "fail" and told in case["reason"] for case in repeated)


def test_what_has_no_answer_is_not_judged() -> None:
    assert {case["status"] for case in run_of(has_none).cases} == {"unsupported"}


def test_two_cases_of_an_op_and_dtype_are_repeated_and_once_is_no_repetition() -> None:
    def selected(times: int) -> list[Case]:
        ops = ["aten::neg", "aten::sum"]
        return [case for group in select(load(["core"], ops=ops), Selection(ops, determinism=times)) for case in group]

    every, again = selected(1), [case for case in selected(2) if case.id.endswith(REPEATED)]
    found = [(case.op, case.dtype) for case in again]
    assert {case.times for case in again} == {2}
    assert all(1 <= found.count(key) <= 2 for key in found)
    assert {(case.op, case.dtype) for case in every if case.draw.test.domain is None} <= set(found)
    assert [case for case in every if case.id.endswith(REPEATED)] == []


def sized(*shape: int) -> Case:
    """A plain case of a tensor of this shape."""
    (case, *_), *_ = select(load(["core"], ops=["aten::neg"]), Selection(ops=["aten::neg"], determinism=1))
    tensors = [SimpleNamespace(shape=shape)]
    test = SimpleNamespace(tensors=tensors, is_given=False, domain=None, id=case.draw.test.id)
    return replace(case, values="typical", layout="contiguous", draw=SimpleNamespace(test=test))


@pytest.mark.parametrize(
    ("shape", "asked", "calls"),
    [((), 1000, 1000), ((0,), 1000, 1000), ((4, 1024), 1000, 1000), ((2**12 + 100,), 1000, 999),
     ((2**20,), 1000, 4), ((2**25,), 1000, 3), ((2**25,), 2, 2)],
)  # fmt: skip
def test_large_tensors_are_asked_for_less_often(shape: tuple[int, ...], asked: int, calls: int) -> None:
    ((_, again),) = with_repeats([[sized(*shape)]], asked)
    assert again.times == calls


def test_a_case_is_found_by_its_own_id() -> None:
    def ids(glob: str) -> list[str]:
        return [case["id"] for case in conform.check("core", backend="cpu", ids=[glob], determinism=3).cases]

    (first, *_) = ids("neg/dtype_float32/*/repeated")
    assert first.endswith("float32/typical/contiguous/repeated")
    plain = first.removesuffix(f"/{REPEATED}")
    assert ids(plain) == [plain]


def test_workers_and_shards_find_the_same() -> None:
    asked = {"ops": ["aten::neg"], "determinism": 2}
    alone, together = (conform.check("core", backend="cpu", workers=workers, **asked) for workers in (1, 2))
    assert [case["id"] for case in alone.cases] == [case["id"] for case in together.cases]
    assert alone.summary == together.summary


def test_what_depends_on_the_order_of_threads_is_seen_with_several() -> None:
    alone, racing = run_of(by_threads, 10), run_of(by_threads, 10, threads=4)
    assert alone.exit_code == 0
    assert racing.summary["fail"] > 0
    assert racing.record["environment"]["numerics"]["threads"] == 4
    assert "threads=4" in repeat_command(next(one for one in racing.cases if one["status"] == "fail"), racing.record)


@pytest.mark.parametrize(
    ("op", "devices"),
    [("aten::scatter_add", ["cuda"]), ("aten::scatter_add_", ["cuda"]), ("aten::index_put.out", ["cpu", "cuda"]),
     ("aten::scatter.value_reduce", ["cuda"]), ("torch.nn.ConvTranspose2d", ["cuda"]), ("aten::add.Tensor", []),
     ("torch.nn.Linear", []), ("mylib::add", [])],
)  # fmt: skip
def test_what_torch_documents_is_no_failure_there_alone(op: str, devices: list[str]) -> None:
    assert list(documented(op)) == devices


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [((1.0, 2.0), (1.0, 3.0), "pass"), ((1.0, 2.0), (1.5, 2.0), "fail"), ((1.0, None), (1.0, 2.0), "pass")],
)
def test_outputs_that_may_be_any_tensor_need_not_be_equal(first: tuple, second: tuple, status: str) -> None:
    (case, *_), *_ = select(load(["core"], ops=["aten::neg"]), Selection(ops=["aten::neg"]))
    goldens = Golden(FORMATS["float32"], np.float32([1])), Golden.of_nothing_documented("P149")
    replies = [Reply("ok", result=outputs) for outputs in (first, second)]
    found = verdict_on(replace(case, times=2), replies, "cpu", expected=lambda: Outcome(goldens))
    assert found.status == status
    assert verdict_on(replace(case, times=2), replies, "cpu", expected=lambda: Unjudged("no golden")).status == "fail"
