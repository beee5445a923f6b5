"""Several kinds of misbehaviour in one call: which of them a verdict tells, for valid, invalid and lenient calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conform.backends.reply import Output, Reply
from conform.call.bound import bound_call
from conform.contracts.tables import contract_table
from conform.judging.case import verdict_of
from conform.judging.verdict import Verdict
from conform.running.truth import evaluated
from conform.suites.cases import Case, Draw
from conform.suites.test import Domain, Test

OPENCL = contract_table("opencl")
F32 = np.float32
X = F32([0.0, 1.0])
RIGHT, WRONG, NO_SHAPE = F32([-0.0, -1.0]), F32([-0.0, 1.0]), F32([0.0])
UNLIKE = F32([1.0, 2.0, 3.0])
WROTE = "the backend wrote outside the tensors it was given"
CHANGED = "the backend changed its input tensor 0"


def case(op: str, domain: Domain | None = None) -> Case:
    test = Test(
        id="t", op=op, inputs=(), kwargs={}, device=None, cast_input0_to_complex=False, impl=None, pair=None,
        location="s.yaml:3", arguments_at="s.yaml:3:9", builtin=False, recorded_at="s.yaml:3", domain=domain,
    )  # fmt: skip
    return Case("t/float32/typical/contiguous", Draw(test, {}, 0, 0), op, "float32", "typical", "contiguous")


def verdict(op: str, args: list, reply: Reply, domain: Domain | None = None, **kwargs: Any) -> Verdict:
    call = bound_call(op, args, kwargs)
    return verdict_of(case(call.op, domain), call, evaluated(call), reply, OPENCL)


def told(verdict: Verdict) -> tuple[str, str | None]:
    return verdict.status, verdict.reason


def answered(array: np.ndarray, **rest: Any) -> Reply:
    return Reply("ok", result=Output(array, ()), **rest)


def raised(**rest: Any) -> Reply:
    return Reply("error", "RuntimeError: no", **rest)


def without_kernel(**rest: Any) -> Reply:
    return Reply("unsupported", "not implemented for 'Float'", **rest)


HARM = [
    ({"mutated": (0,)}, CHANGED),
    ({"mutated": (0, 2)}, "the backend changed its input tensor 0, 2"),
    ({"overrun": True}, WROTE),
    ({"overrun": True, "mutated": (0,)}, WROTE),
]


@pytest.mark.parametrize(("harm", "reason"), HARM)
@pytest.mark.parametrize("array", [RIGHT, WRONG, NO_SHAPE], ids=["right", "wrong", "no-shape"])
def test_harm_is_told_before_what_is_wrong_with_the_result(array: np.ndarray, harm: dict, reason: str) -> None:
    assert told(verdict("aten::neg", [X], answered(array, **harm))) == ("fail", reason)
    assert told(verdict("aten::neg", [X], answered(array, aliases=((0, 0),), **harm))) == ("fail", reason)


@pytest.mark.parametrize("array", [RIGHT, WRONG, NO_SHAPE], ids=["right", "wrong", "no-shape"])
def test_shared_memory_is_told_before_what_is_wrong_with_the_result(array: np.ndarray) -> None:
    shared = answered(array, aliases=((0, 0),))
    assert told(verdict("aten::neg", [X], shared)) == ("fail", "output 0 shares memory with tensor argument 0")


def test_structure_is_told_before_values() -> None:
    assert told(verdict("aten::neg", [X], answered(NO_SHAPE))) == ("fail", "output 0: shape [1] instead of [2]")
    wrong_twice = answered(WRONG.astype(np.float64))
    assert told(verdict("aten::neg", [X], wrong_twice)) == ("fail", "output 0: dtype float64 instead of float32")


@pytest.mark.parametrize(("harm", "reason"), HARM)
@pytest.mark.parametrize("reply", [raised, without_kernel])
def test_who_refuses_what_is_invalid_must_do_no_harm(reply: Any, harm: dict, reason: str) -> None:
    """By the interpreter, and by the op's spec, where that is lenient too."""
    refusals = [None, Domain("dtype(self)", None), Domain("dtype(self)", "torch takes it")]
    for domain in refusals:
        assert told(verdict("aten::add", [X, UNLIKE], reply(**harm), domain)) == ("fail", reason), domain
    assert told(verdict("aten::add", [X, UNLIKE], reply())) == ("pass", None)
    assert told(verdict("aten::add", [X, UNLIKE], reply(), refusals[1])) == ("pass", None)
    assert verdict("aten::add", [X, UNLIKE], reply(), refusals[2]).status == "unspecified"


@pytest.mark.parametrize(("harm", "reason"), HARM)
def test_who_takes_what_he_may_must_do_no_harm(harm: dict, reason: str) -> None:
    lenient, strict = Domain("dtype(self)", "torch takes it"), Domain("dtype(self)", None)
    assert told(verdict("aten::add", [X, UNLIKE], answered(X, **harm), lenient)) == ("fail", reason)
    assert verdict("aten::add", [X, UNLIKE], answered(X), lenient).status == "unspecified"
    assert told(verdict("aten::add", [X, UNLIKE], answered(X), strict)) == (
        "fail", "the backend accepted invalid arguments: they break dtype(self)",
    )  # fmt: skip


@pytest.mark.parametrize(("harm", "reason"), HARM)
def test_who_may_refuse_a_valid_call_must_do_no_harm(harm: dict, reason: str) -> None:
    """Integers divided by zero: to raise is right (P12), to overwrite the operands first is not."""
    args, mode = [np.int32([7, 8]), np.int32([0, 2])], {"rounding_mode": "floor"}
    assert verdict("aten::div", args, raised(), **mode).status == "unspecified"
    assert told(verdict("aten::div", args, raised(**harm), **mode)) == ("fail", reason)


@pytest.mark.parametrize("status", ["crash", "timeout"])
@pytest.mark.parametrize("domain", [None, Domain("dtype(self)", None), Domain("dtype(self)", "torch takes it")])
def test_a_crash_is_no_refusal_whatever_else_it_did(status: str, domain: Domain | None) -> None:
    ending = verdict("aten::add", [X, UNLIKE], Reply(status, "SIGSEGV", mutated=(0,), overrun=True, log="x"), domain)
    assert (*told(ending), ending.log) == (status, "SIGSEGV", "x")


def test_who_declares_to_support_nothing_refuses_nothing() -> None:
    declared = Reply("unsupported", "not today", declared=True)
    for domain in (None, Domain("dtype(self)", None), Domain("dtype(self)", "torch takes it")):
        assert told(verdict("aten::add", [X, UNLIKE], declared, domain)) == ("unsupported", "not today")
