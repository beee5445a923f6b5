"""What a verdict remembers of its case: what was asked, and what wrong and right elements have in common."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from conform.backends.reply import Reply
from conform.call.bound import bound_call
from conform.inputs.layouts import layouts_of
from conform.interp.blocks import blocks
from conform.interp.evaluate import evaluate_call
from conform.judging.case import verdict_of
from conform.judging.evidence import ANY, PLACE, RESULT, SIZE, Marks, Span, TensorMeta
from conform.judging.marks import Marking
from conform.judging.verdict import Verdict
from conform.numerics.formats import FORMATS
from conform.running import journal
from conform.selftest.trial import Trial, prepare
from conform.suites.cases import Selection
from tests.judging.test_case import OPENCL, case, returned

F32 = np.float32
INF, NAN = np.inf, np.nan


def verdict(op: str, args: list[Any], *outputs: np.ndarray, reply: Reply | None = None) -> Verdict:
    call = bound_call(op, args, {})
    return verdict_of(case(call.op), call, evaluate_call(call), reply or returned(*outputs), OPENCL)


# --- Marks ------------------------------------------------------------------------------------------------------------


def test_marks_of_the_expected_result_and_of_the_operands() -> None:
    lhs = F32([1.0, -2.0, NAN, INF, 2.0**-140, -0.0])
    rhs = F32([0.0, 1.0, 1.0, 1.0, 0.0, -0.0])
    marks = verdict("aten::add", [lhs, rhs], F32([1.0, 7.0, 0.0, INF, 0.0, -0.0])).marks
    assert (marks.wrong, marks.right) == (3, 3)
    told = {
        (view, mark): both for view, marked in marks.counts.items() for mark, both in marked.items()
        if not mark.startswith("tail")
    }  # fmt: skip
    assert told == {
        (RESULT, "negative"): (1, 0), (RESULT, "NaN"): (1, 0), (RESULT, "NaN or infinite"): (1, 1),
        (RESULT, "infinite"): (0, 1), (RESULT, "subnormal"): (1, 0), (RESULT, "zero"): (0, 1), (RESULT, "-0"): (0, 1),
        ("self", "negative"): (1, 0), ("self", "NaN"): (1, 0), ("self", "NaN or infinite"): (1, 1),
        ("self", "infinite"): (0, 1), ("self", "subnormal"): (1, 0), ("self", "zero"): (0, 1), ("self", "-0"): (0, 1),
        ("other", "zero"): (1, 2), ("other", "-0"): (0, 1),
        (ANY, "negative"): (1, 0), (ANY, "NaN"): (1, 0), (ANY, "NaN or infinite"): (1, 1), (ANY, "infinite"): (0, 1),
        (ANY, "subnormal"): (1, 0), (ANY, "zero"): (1, 2), (ANY, "-0"): (0, 1),
    }  # fmt: skip


def test_places_and_tails() -> None:
    actual = np.arange(70, dtype=np.int64)
    actual[64:] = -1
    marks = verdict("aten::neg", [-np.arange(70, dtype=np.int64)], actual).marks
    assert marks.spans[RESULT][PLACE] == (Span(64, 69, 6), Span(0, 63, 64))
    assert marks.counts[RESULT]["tail of 32"] == (6, 0)
    assert marks.counts[RESULT]["tail of 4"] == (2, 0)
    assert marks.counts[RESULT]["tail of 64"] == (6, 0)
    assert marks.counts[RESULT]["tail of 128"] == (6, 64)


def test_one_of_several_outputs_that_is_smaller_than_a_vector_is_no_tail() -> None:
    x = np.arange(6, dtype=F32)
    marks = verdict("aten::sort", [x], x, np.zeros(6, np.int64)).marks
    assert marks.counts[RESULT]["tail of 4"] == (2, 2)
    assert "tail of 8" not in marks.counts[RESULT]
    alone = verdict("aten::neg", [x], x).marks
    assert alone.counts[RESULT]["tail of 8"] == (6, 0)


def test_a_nan_has_no_size() -> None:
    marks = verdict("aten::neg", [F32([NAN, 3.0, 5.0])], F32([0.0, 0.0, -5.0])).marks
    assert marks.spans[RESULT][SIZE] == (Span(3.0, 3.0, 1), Span(5.0, 5.0, 1))


def test_complex_numbers_are_their_parts() -> None:
    marks = verdict("aten::neg", [np.complex64([1 + 2j, 3 - 4j])], np.complex64([-1 - 2j, 3 + 4j])).marks
    assert (marks.wrong, marks.right) == (1, 3)
    assert marks.counts[RESULT]["negative"] == (1, 2)
    assert marks.spans[RESULT][PLACE] == (Span(1, 1, 1), Span(0, 1, 3))


def test_outputs_are_told_apart() -> None:
    values, indices = F32([1.0, 2.0]), np.int64([0, 0])
    marks = verdict("aten::sort", [F32([1.0, 2.0])], values, indices).marks
    assert marks.counts[RESULT]["output 1"][0] > 0 == marks.counts[RESULT]["output 0"][0]


@pytest.mark.parametrize("op", ["aten::exp", "aten::add", "aten::cumsum", "aten::mm"])
def test_blocks_have_the_marks_of_the_whole(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    args = [generator.normal(size=(6, 6)).astype(F32) for _ in range(1 if op in ("aten::exp", "aten::cumsum") else 2)]
    args += [1] if op == "aten::cumsum" else []
    call = bound_call(op, args, {})
    actual = np.where(np.arange(36).reshape(6, 6) % 7 < 3, 0, evaluate_call(call).goldens[0].value)
    whole = verdict(op, args, actual).marks
    monkeypatch.setattr(blocks, "BLOCK", 5)
    assert verdict(op, args, actual).marks == whole
    assert whole.wrong + whole.right == 36


def test_nothing_is_said_of_elements_that_were_not_compared() -> None:
    golden = evaluate_call(bound_call("aten::neg", [F32([1.0, 2.0])], {})).goldens[0]
    marking = Marking(golden, {})
    marking.add(slice(0, 2), np.array([False, True]), np.array([False, False]))
    assert (marking.marks().wrong, marking.marks().right, marking.marks().counts) == (0, 0, {})


def test_marks_of_several_cases_add_up() -> None:
    one = Marks(1, 2, {"": {"NaN": (1, 0)}}, {"": {"size": (Span(3, 3, 1), Span(1, 2, 2))}})
    other = Marks(2, 0, {"": {"NaN": (1, 0), "zero": (1, 0)}}, {"": {"size": (Span(0, 9, 2), Span())}})
    assert Marks.joined([one, other]) == Marks(
        3, 2, {"": {"NaN": (2, 0), "zero": (1, 0)}}, {"": {"size": (Span(0, 9, 3), Span(1, 2, 2))}}
    )
    assert Marks.joined([]) == Marks()


# --- What was asked ---------------------------------------------------------------------------------------------------


def test_what_was_asked_has_no_elements() -> None:
    asked = verdict("aten::add", [F32([[1.0, NAN]]), np.int64([3])], F32([[4.0, NAN]])).asked
    assert asked.arguments == {"self": TensorMeta("float32", (1, 2)), "other": TensorMeta("int64", (1,)), "alpha": 1}
    assert asked.results == (TensorMeta("float32", (1, 2)),)
    assert (asked.placed, asked.holds) == (None, (("self", "NaN"),))


@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128"])
@pytest.mark.parametrize("op", ["aten::neg", "aten::clone", "aten::reciprocal", "aten::logical_not"])
def test_what_is_expected_of_a_scalar_is_a_tensor_without_dims(op: str, dtype: str) -> None:
    """numpy makes scalars of some results of arrays without dims."""
    call = bound_call(op, [np.array(1, dtype)], {})
    golden = evaluate_call(call).goldens[0]
    asked = verdict(op, [np.array(1, dtype)], np.asarray(golden.value)).asked
    assert asked.results == (TensorMeta(golden.format.name, ()),)


def test_what_was_not_judged_remembers_nothing() -> None:
    refused = verdict("aten::neg", [F32([1.0])], reply=Reply("unsupported", "no such kernel"))
    assert (refused.asked, refused.marks) == (None, None)
    crashed = verdict("aten::neg", [F32([1.0])], reply=Reply("crash", "SIGSEGV"))
    assert crashed.asked is not None
    assert crashed.marks is None


def test_the_argument_of_a_layout_is_the_one_that_is_laid_out() -> None:
    """Against the memory of the arguments themselves, for every layout of tests with lists and keywords."""
    trial = Trial(selection=Selection(ops=["aten::where.self", "aten::cat", "aten::native_layer_norm"], samples=1))
    seen = set()
    for cases in trial.cases.values():
        for one in cases:
            if one.layout == "contiguous" or (one.op, one.layout) in seen:
                continue
            seen.add((one.op, one.layout))
            prepared = prepare(one)
            call, outcome = prepared.expected
            verdict = verdict_of(one, call, outcome, Reply("crash", "SIGSEGV"), OPENCL)
            laid_out = {
                name for name, value in prepared.bound.items()
                for each in (value if isinstance(value, list) else [value]) if hasattr(each, "storage")
            }  # fmt: skip
            assert {verdict.asked.placed} == laid_out, one.id
            assert one.layout in layouts_of(replace(prepared.arguments))
    assert len(seen) > 20


def test_every_format_that_a_result_may_have_can_be_marked() -> None:
    for name in ("bool", "uint8", "int64", "float16", "bfloat16", "float8_e4m3fn", "float64", "complex64"):
        golden = evaluate_call(bound_call("aten::cat", [[np.zeros(3, FORMATS[name].storage)]], {})).goldens[0]
        count = 6 if golden.format.is_complex else 3
        marking = Marking(golden, {})
        marking.add(slice(0, count), np.ones(count, bool), np.ones(count, bool))
        assert marking.marks().right == count


def test_the_journal_keeps_what_a_verdict_remembers() -> None:
    """Else a run that is resumed, or put together of shards, would find less than one in one piece."""
    call = bound_call("aten::cat", [[F32([1.0, NAN]), F32([INF])], 0], {})
    several = verdict_of(case(call.op), call, evaluate_call(call), returned(F32([1.0, 2.0, INF])), OPENCL)
    number = bound_call("aten::add", [np.complex64([1j]), 2.0], {"alpha": 1 + 2j})
    one = verdict_of(case(number.op), number, evaluate_call(number), returned(np.complex64([0])), OPENCL)
    for each in (several, one):
        text = json.dumps(each, default=journal._plain)
        read = TypeAdapter(Verdict).validate_python(json.loads(text, object_hook=journal._typed))
        assert repr(read) == repr(each)  # NaN is not equal to itself
