"""How a case ends, from a hand-made reply beside the interpreter's golden."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import conform
from conform.backends.reply import Output, Reply
from conform.call.bound import bound_call
from conform.contracts import indices
from conform.contracts.tables import contract_table
from conform.errors import InvalidArguments, Unjudged
from conform.interp.blocks import blocks
from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden, Outcome
from conform.judging.case import cannot_run, verdict_of
from conform.judging.verdict import Operand, Verdict
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real
from conform.running import truth
from conform.running.truth import evaluated
from conform.suites.cases import Case, Draw
from conform.suites.nodes import ClassPath, Construct
from conform.suites.test import ModuleSpec, Test

OPENCL = contract_table("opencl")
INF, NAN = np.inf, np.nan


def case(op: str | ModuleSpec, device: str | None = None) -> Case:
    test = Test(
        id="t", op=op, inputs=(), kwargs={}, device=device, cast_input0_to_complex=False, impl=None, pair=None,
        location="suite.yaml:3", arguments_at="suite.yaml:3:9", builtin=False, recorded_at="suite.yaml:3",
    )  # fmt: skip
    return Case("t/float32/typical/contiguous", Draw(test, {}, 0, 0), test.op_name, "float32", "typical", "contiguous")


def returned(*arrays: np.ndarray, **rest: Any) -> Reply:
    """A reply with these outputs, one alone as it is, several in a tuple."""
    outputs = tuple(Output(np.asarray(array), ()) for array in arrays)
    return Reply("ok", result=outputs[0] if len(outputs) == 1 else outputs, **rest)


def verdict(op: str, args: list, reply: Reply, outcome: Outcome | Exception | None = None, **kwargs: Any) -> Verdict:
    call = bound_call(op, args, kwargs)
    return verdict_of(case(call.op), call, evaluated(call) if outcome is None else outcome, reply, OPENCL)


def ended(verdict: Verdict) -> tuple[str, str | None]:
    return verdict.status, verdict.reason


F32 = np.float32
X = F32([0.0, 1.0])
EXP = F32([1.0, 2.7182817459106445])
ULP_OF_1 = 2.0**-23


# --- Passing and failing ----------------------------------------------------------------------------------------------


def test_a_pass_counts_what_it_compared_and_shows_the_worst_element() -> None:
    passed = verdict("aten::exp", [X], returned(EXP + F32([ULP_OF_1, 0.0])))
    assert ended(passed) == ("pass", None)
    assert (passed.compared, passed.failed, passed.open, passed.checks) == (2, 0, 0, 3)
    assert (passed.max_error_ulp, passed.bound_ulp) == (1.0, 3.0)
    assert (passed.contract.kind, passed.contract.bound) == ("ulp", 3.0)
    assert passed.worst.index == (0,)
    assert (passed.worst.expected, passed.worst.actual) == (1.0, 1 + ULP_OF_1)
    assert passed.worst.inputs == (Operand("self", "float32", (2,), (0.0,), 1),)
    assert (passed.id, passed.test, passed.op, passed.location) == (
        "t/float32/typical/contiguous", "t", "aten::exp", "suite.yaml:3",
    )  # fmt: skip


def test_a_short_record_has_the_operands_of_what_did_not_pass_alone() -> None:
    call = bound_call("aten::exp", [X], {})
    for off_ulp, full, operands in ((1, True, 1), (1, False, 0), (9, True, 1), (9, False, 1)):
        reply = returned(EXP + F32([off_ulp * ULP_OF_1, 0.0]))
        told = verdict_of(case(call.op), call, evaluated(call), reply, OPENCL, full=full)
        assert (told.status, len(told.worst.inputs)) == ("pass" if off_ulp == 1 else "fail", operands)


def test_what_must_be_equal_has_no_bound_in_ulps() -> None:
    moved = verdict("aten::neg", [F32([1, 2])], returned(F32([-1, -2])))
    assert (moved.status, moved.max_error_ulp, moved.bound_ulp) == ("pass", 0.0, None)
    assert (moved.contract.kind, moved.contract.bound, moved.worst.bound_ulp) == ("exact", None, None)


def test_an_error_above_the_bound_fails() -> None:
    failed = verdict("aten::exp", [X], returned(EXP + F32([4 * ULP_OF_1, 0.0])))
    assert ended(failed) == ("fail", "error above the bound")
    assert (failed.compared, failed.failed) == (2, 1)
    assert (failed.max_error_ulp, failed.bound_ulp) == (4.0, 3.0)


@pytest.mark.parametrize(
    ("op", "args", "actual", "reason"),
    [
        ("aten::exp", [X], F32([1.0, NAN]), "NaN where a number is expected"),
        ("aten::exp", [F32([NAN])], F32([1.0]), "a number where NaN is expected"),
        ("aten::exp", [F32([INF])], F32([3e38]), "wrong infinity"),
        ("aten::exp", [F32([100.0])], F32([-INF]), "error above the bound"),
        ("aten::neg", [F32([0.0])], F32([0.0]), "wrong sign of zero"),
        ("aten::mul", [F32([3.0]), F32([0.5])], F32([1.5 + ULP_OF_1]), "not the correctly rounded result"),
        ("aten::neg", [F32([1.0])], F32([-1 - ULP_OF_1]), "not the correctly rounded result"),
        ("aten::neg", [np.int32([1])], np.int32([1]), "wrong value"),
        ("aten::eq", [X, X], np.array([True, False]), "wrong value"),
        ("aten::mul", [np.complex64([2]), np.complex64([1j])], np.complex64([complex(NAN, 2)]),
         "NaN where a number is expected"),
    ],
)  # fmt: skip
def test_reasons_of_a_wrong_element(op: str, args: list, actual: np.ndarray, reason: str) -> None:
    assert ended(verdict(op, args, returned(actual))) == ("fail", reason)


@pytest.mark.parametrize(
    ("name", "code"),
    [("float16", 0x7C01), ("bfloat16", 0x7F81), ("float32", 0x7F800001), ("float64", 0x7FF0000000000001)],
)
@pytest.mark.parametrize("op", ["aten::neg", "aten::exp", "aten::sum"])
def test_a_signalling_nan_is_a_result_where_warnings_are_errors(op: str, name: str, code: int) -> None:
    """As they are in these tests, and with PYTHONWARNINGS=error; ml_dtypes warns of them where numpy does not."""
    storage = FORMATS[name].storage
    ones = np.ones(3, storage)
    signalling = np.full(() if op == "aten::sum" else 3, code, f"uint{8 * storage.itemsize}").view(storage)
    assert ended(verdict(op, [ones], returned(signalling))) == ("fail", "NaN where a number is expected")
    assert ended(verdict("aten::neg", [signalling], returned(signalling)))[0] == "pass"


def test_a_wrong_class_is_worse_than_any_error() -> None:
    failed = verdict("aten::exp", [F32([0.0, 1.0, NAN])], returned(F32([2.0, 2.7182817, 0.0])))
    assert failed.worst.index == (2,)
    assert failed.reason == "a number where NaN is expected"
    assert failed.failed == 2
    assert failed.max_error_ulp is None


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (EXP[:1], "output 0: shape [1] instead of [2]"),
        (EXP[None], "output 0: shape [1, 2] instead of [2]"),
        (EXP.astype(np.float64), "output 0: dtype float64 instead of float32"),
    ],
)
def test_structure_is_checked_before_values(result: np.ndarray, reason: str) -> None:
    failed = verdict("aten::exp", [X], returned(result))
    assert ended(failed) == ("fail", reason)
    assert (failed.compared, failed.checks) == (0, 3)


def test_of_an_undocumented_output_no_structure_is_wrong() -> None:
    x, indices, rows = F32([[1.0], [2.0]]), np.array([0, 1, 1]), F32([[1.0], [4.0]])
    args = ["aten::_embedding_bag", [x, indices, np.array([0, 1])]]
    unknown = [np.zeros(3, np.int64), F32([NAN]), np.zeros((2, 0), bool)]
    passed = verdict(*args, returned(rows, *unknown))
    assert (passed.status, passed.compared, passed.open) == ("pass", 2, 4)
    assert verdict(*args, returned(rows + 1, *unknown)).status == "fail"
    assert ended(verdict(*args, returned(rows))) == ("fail", "1 outputs instead of 4")


def test_a_result_may_have_the_shape_of_another_reading() -> None:
    """Of flushed operands fewer are not zero."""
    golden = Golden(FORMATS["int64"], np.array([[0], [1]]))
    outcome = Outcome((golden.or_else(Golden(FORMATS["int64"], np.array([[1]]))),))
    x = F32([1e-45, 1.0])
    judged = {
        str(result): verdict("aten::nonzero", [x], returned(np.array(result)), outcome).status
        for result in ([[0], [1]], [[1]], [[0]], [[0], [0]], [1])
    }
    assert judged == {"[[0], [1]]": "pass", "[[1]]": "pass", "[[0]]": "fail", "[[0], [0]]": "fail", "[1]": "fail"}


def test_the_number_of_outputs_and_what_is_no_tensor() -> None:
    assert ended(verdict("aten::exp", [X], returned(EXP, EXP))) == ("fail", "2 outputs instead of 1")
    nothing = verdict("aten::exp", [X], Reply("ok", result=None))
    assert ended(nothing) == ("fail", "output 0: None instead of a tensor")
    assert ended(verdict("aten::sort", [X], returned(X))) == ("fail", "1 outputs instead of 2")


@pytest.mark.parametrize(
    ("read", "number", "status"),
    [
        (F32(0.5), 0.5, "pass"),
        (F32(NAN), NAN, "pass"),
        (F32(0.5), 0.25, "fail"),
        (F32(0.0), -0.0, "fail"),
        (F32(1e-45), 0.0, "fail"),  # as if flushed
        (np.int8(-3), -3, "pass"),
        (np.int8(-3), -3.0, "fail"),
        (np.int8(1), True, "fail"),
        (np.int8(1), 2**63, "fail"),
        (np.int8(1), None, "fail"),
    ],
)
def test_a_python_number_is_judged_as_the_tensor_of_what_it_is(read: np.generic, number: Any, status: str) -> None:
    assert verdict("aten::_local_scalar_dense", [np.array(read)], Reply("ok", result=number)).status == status


def test_the_output_that_is_furthest_into_its_bound_decides() -> None:
    x = F32([2.0, 1.0])
    failed = verdict("aten::sort", [x], returned(F32([1.0, 2.0]), np.int64([0, 1])))
    assert ended(failed) == ("fail", "wrong value")
    assert (failed.worst.output, failed.worst.dtype) == (1, "int64")
    assert (failed.compared, failed.checks, failed.failed) == (4, 5, 2)


def test_an_empty_output_passes_by_its_structure_alone() -> None:
    passed = verdict("aten::exp", [F32([])], returned(F32([])))
    assert ended(passed) == ("pass", None)
    assert (passed.compared, passed.checks, passed.worst) == (0, 3, None)


def test_damage_beyond_the_result_fails_a_right_result() -> None:
    assert ended(verdict("aten::exp", [X], returned(EXP, mutated=(0,)))) == (
        "fail", "the backend changed its input tensor 0",
    )  # fmt: skip
    overrun = returned(EXP, overrun=True, mutated=(0,))
    assert ended(verdict("aten::exp", [X], overrun)) == ("fail", "the backend wrote outside the tensors it was given")


@pytest.mark.parametrize(
    ("op", "args", "status"),
    [("aten::abs", [X], "fail"), ("aten::slice.Tensor", [X], "pass"), ("aten::permute", [X, [0]], "pass")],
)
def test_a_result_in_its_argument_s_memory_is_right_for_views_alone(op: str, args: list, status: str) -> None:
    """X is right for all of them."""
    shared = verdict(op, args, returned(X, aliases=((0, 0),)))
    reason = "output 0 shares memory with tensor argument 0" if status == "fail" else None
    assert ended(shared) == (status, reason)
    assert verdict(op, args, returned(X)).status == "pass"


# --- What the worker could not finish ---------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["crash", "timeout", "unsupported"])
@pytest.mark.parametrize("outcome", [None, Unjudged("no semantics"), InvalidArguments("no")])
def test_a_crash_is_one_whatever_the_op_means(status: str, outcome: Exception | None) -> None:
    ending = verdict("aten::exp", [X], Reply(status, "SIGSEGV", declared=status == "unsupported"), outcome)
    assert ended(ending) == (status, "SIGSEGV")


def test_an_error_where_a_result_is_due() -> None:
    assert ended(verdict("aten::exp", [X], Reply("error", "RuntimeError: no"))) == ("error", "RuntimeError: no")


def test_invalid_arguments_must_be_refused() -> None:
    shapes = [F32([1.0, 2.0]), F32([1.0, 2.0, 3.0])]
    refused = verdict("aten::add", shapes, Reply("error", "RuntimeError: shapes"))
    assert (refused.status, refused.checks) == ("pass", 1)
    without_kernel = verdict("aten::add", shapes, Reply("unsupported", "not implemented for 'Float'"))
    assert (without_kernel.status, without_kernel.checks) == ("pass", 1)
    harmful = verdict("aten::add", shapes, Reply("error", "RuntimeError: shapes", overrun=True))
    assert ended(harmful) == ("fail", "the backend wrote outside the tensors it was given")
    accepted = verdict("aten::add", shapes, returned(F32([1.0])))
    broken = "aten::add.Tensor: argument other: found float32[3], expected size(other, d) in {1, size(self, d)}"
    assert ended(accepted) == ("fail", f"the backend accepted invalid arguments: {broken}")


# --- Not judged -------------------------------------------------------------------------------------------------------


def test_a_defect_of_the_kit_in_one_case_is_told_as_one_and_loses_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(truth, "evaluate_call", lambda *_: 1 // 0)
    run = conform.check("smoke", backend="cpu", ids=["smoke_exp/float32/*"])
    assert {case["status"] for case in run.cases} == {"unjudged"}
    assert {case["rule"] for case in run.cases} == {"defect of the kit"}
    assert "ZeroDivisionError" in run.cases[0]["reason"]
    assert run.exit_code == 70


def test_without_semantics_nothing_is_judged() -> None:
    unjudged = verdict("aten::linalg_svd", [F32([[1.0]])], returned(F32([[1.0]])))
    assert (unjudged.status, unjudged.rule) == ("unjudged", "not decided by the kit")
    assert "aten::linalg_svd" in unjudged.reason


def test_division_by_an_integer_zero_may_be_refused_or_give_anything() -> None:
    args = [np.int32([7, 8]), np.int32([0, 2])]
    mode = {"rounding_mode": "floor"}
    refused = verdict("aten::div", args, Reply("error", "ZeroDivisionError"), **mode)
    assert (refused.status, refused.rule) == ("unspecified", "P11, P12")
    answered = verdict("aten::div", args, returned(np.int32([-1, 4])), **mode)
    assert (answered.status, answered.compared, answered.open) == ("pass", 1, 1)
    wrong = verdict("aten::div", args, returned(np.int32([-1, 5])), **mode)
    assert ended(wrong) == ("fail", "wrong value")
    all_open = verdict("aten::div", [np.int32([7]), np.int32([0])], returned(np.int32([9])), **mode)
    assert (all_open.status, all_open.rule, all_open.compared) == ("unspecified", "P11", 0)


def test_what_is_open_must_still_have_the_right_shape() -> None:
    args = [np.int32([7]), np.int32([0])]
    failed = verdict("aten::div", args, returned(np.int64([9])), rounding_mode="floor")
    assert ended(failed) == ("fail", "output 0: dtype int64 instead of int32")


def test_a_vacuous_bound_is_no_pass() -> None:
    vague = Golden(FORMATS["float32"], X, Real.exact(X.astype(np.float64)), budget=np.array([INF, INF]))
    unjudged = verdict("aten::gelu", [X], returned(F32([7.0, 8.0])), Outcome((vague,)))
    assert (unjudged.status, unjudged.rule, unjudged.compared) == ("unjudged", "vacuous bound", 0)
    half_vague = Golden(FORMATS["float32"], X, Real.exact(X.astype(np.float64)), budget=np.array([INF, 0.0]))
    passed = verdict("aten::gelu", [X], returned(F32([7.0, 1.0])), Outcome((half_vague,)))
    assert (passed.status, passed.compared, passed.open, passed.vacuous) == ("pass", 1, 0, 1)


def test_a_bound_beyond_a_hundredth_of_the_scale_is_no_pass_but_beyond_it_a_failure() -> None:
    wide = Golden(FORMATS["float32"], X, Real.exact(X.astype(np.float64)), budget=np.array([0.0, 0.02]))
    within = verdict("aten::gelu", [X], returned(F32([0.0, 1.015])), Outcome((wide,)))
    assert (within.status, within.compared, within.vacuous) == ("pass", 1, 1)
    beyond = verdict("aten::gelu", [X], returned(F32([0.0, 1.03])), Outcome((wide,)))
    assert (beyond.status, beyond.compared, beyond.vacuous) == ("fail", 2, 0)
    alone = Golden(FORMATS["float32"], X[1:], Real.exact(np.float64([1.0])), budget=np.array([0.02]))
    unjudged = verdict("aten::gelu", [X[1:]], returned(F32([1.0])), Outcome((alone,)))
    assert (unjudged.status, unjudged.rule, unjudged.vacuous) == ("unjudged", "vacuous bound", 1)


def test_an_op_without_a_bound_is_no_pass() -> None:
    call = bound_call("aten::erfinv", [F32([0.5])], {})
    told = verdict_of(case(call.op), call, evaluated(call), returned(F32([7.0])), contract_table("tosa"))
    assert (told.status, told.rule, told.compared, told.vacuous) == ("unjudged", "no contract with a source", 0, 1)


def test_an_alternative_of_another_dtype_is_as_right() -> None:
    """P36: the statistics of a half input, in float32 or in its own dtype."""
    x = np.float16([[1.0, -1.0]])
    args = [x, [2], None, None, 0.0]
    for dtype in (np.float16, np.float32):
        right = returned(x, np.zeros((1, 1), dtype), np.ones((1, 1), dtype))
        assert ended(verdict("aten::native_layer_norm", args, right)) == ("pass", None)
    wrong = returned(x, np.zeros((1, 1), np.float64), np.ones((1, 1), np.float64))
    assert verdict("aten::native_layer_norm", args, wrong).reason == "output 1: dtype float64 instead of float32"
    beyond = returned(x, np.zeros((1, 1), np.float16), np.float16([[1.25]]))
    assert verdict("aten::native_layer_norm", args, beyond).status == "fail"


# --- Large outputs ----------------------------------------------------------------------------------------------------


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def replaced(array: np.ndarray, flat: int, value: Any) -> np.ndarray:
    array = np.array(array)
    array.flat[flat] = value
    return array


@pytest.mark.parametrize(
    ("op", "args", "wrong"),
    [
        ("aten::exp", [drawn(5, 7)], lambda right: right),
        ("aten::exp", [drawn(5, 7)], lambda right: replaced(replaced(right, 20, -0.0), 30, NAN)),
        ("aten::exp", [drawn(7, 5).T], lambda right: right * F32(1 + 9 * ULP_OF_1)),
        ("aten::mul", [drawn(5, 7).astype(np.complex64), np.complex64([1j])], lambda right: replaced(right, 17, NAN)),
        ("aten::eq", [drawn(5, 7), drawn(7)], lambda right: replaced(right, 9, not right.flat[9])),
        ("aten::mm", [drawn(40, 3), drawn(3, 40)], lambda right: right + np.abs(right) * F32(4 * ULP_OF_1)),
        ("aten::mm", [drawn(40, 3), drawn(3, 40)], lambda right: right + np.abs(right) * F32(9 * ULP_OF_1)),
    ],
)  # fmt: skip
def test_in_blocks_the_verdict_is_that_of_the_whole(
    op: str, args: list, wrong: Callable[[np.ndarray], np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = evaluate(op, args, {})
    reply = returned(wrong(outcome.goldens[0].value))
    whole = verdict(op, args, reply, outcome)
    monkeypatch.setattr(blocks, "BLOCK", 8)
    assert str(verdict(op, args, reply, outcome)) == str(whole)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("op", ["aten::exp", "aten::sort", "aten::cumsum"])
@pytest.mark.parametrize("wrong", [0, 3], ids=["right", "wrong"])
def test_a_verdict_takes_no_memory_that_grows(op: str, wrong: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither its judgement nor that by every shipped table."""
    monkeypatch.setattr(blocks, "BLOCK", 1 << 11)
    monkeypatch.setattr(indices, "SHARE", 2)
    peaks = []
    for size in (1 << 14, 1 << 16):
        args = [drawn(size), 0] if op == "aten::cumsum" else [drawn(size)]
        outcome = evaluate(op, args, {})
        actual = [golden.value.copy() for golden in outcome.goldens]
        actual[0][:wrong] = -1
        reply = returned(*actual)
        verdict(op, args, reply, outcome)  # what is made once, and kept
        tracemalloc.start()
        verdict(op, args, reply, outcome)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.05 * peaks[0]


# --- Never sent -------------------------------------------------------------------------------------------------------


def test_a_test_for_another_device_is_unsupported() -> None:
    assert cannot_run(case("aten::exp"), {"device": "cpu"}) is None
    assert cannot_run(case("aten::exp", "cuda"), {"device": "cuda:1"}) is None
    assert cannot_run(case("aten::exp", "gpu"), {"device": "mps"}) is None
    refused = cannot_run(case("aten::exp", "gpu"), {"device": "cpu"})
    assert ended(refused) == ("unsupported", "the test is for device gpu, the backend runs on cpu")


def test_an_object_that_is_an_argument_is_sent_to_a_module_alone() -> None:
    module, operator = case(ModuleSpec(ClassPath("torch.nn.Linear"), (), {})), case("aten::exp")
    assert cannot_run(module, {"device": "cpu"}) is None
    inputs = (Construct(ClassPath("collections.OrderedDict"), (), {}),)
    of_objects = [replace(one, draw=replace(one.draw, test=replace(one.draw.test, inputs=inputs)))
                  for one in (module, operator)]  # fmt: skip
    sent, unjudged = (cannot_run(one, {"device": "cpu"}) for one in of_objects)
    assert sent is None
    assert (unjudged.status, unjudged.op, unjudged.rule) == ("unjudged", "aten::exp", "no semantics")
