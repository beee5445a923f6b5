"""How a call ends that a spec calls invalid, or valid: from a hand-made reply, and on backends."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import conform
from conform.backends.reply import Output, Reply
from conform.call.bound import bound_call
from conform.contracts.tables import contract_table
from conform.errors import InvalidArguments, Unjudged
from conform.judging.case import verdict_of
from conform.judging.structure import harm, written
from conform.judging.verdict import KIT_DEFECT, Verdict
from conform.report.record import Run
from conform.suites.cases import Case, Draw
from conform.suites.test import Domain, Test

BROKEN = Domain("dtype(self) != bool")
LENIENT = Domain("dtype(self) != bool", "some backends do")
RETURNED = Reply("ok", result=Output(np.array([False]), ()))


def ended(domain: Domain, reply: Reply, outcome: Exception) -> Verdict:
    test = Test(
        id="negative/aten::neg/0000", op="aten::neg", inputs=(), kwargs={}, device=None, cast_input0_to_complex=False,
        impl=None, pair=None, location="spec of aten::neg", arguments_at="spec of aten::neg", builtin=False,
        recorded_at="spec of aten::neg", domain=domain,
    )  # fmt: skip
    case_id, draw = f"{test.id}/bool/typical/contiguous", Draw(test, {}, 0, 0)
    case = Case(case_id, draw, "aten::neg", "bool", "typical", "contiguous")
    return verdict_of(case, bound_call(case.op, [np.array([True])], {}), outcome, reply, contract_table("opencl"))


@pytest.mark.parametrize(
    ("domain", "reply", "status", "reason"),
    [
        (BROKEN, Reply("error", "RuntimeError: no"), "pass", None),
        (BROKEN, Reply("unsupported", '"neg_cpu" not implemented for \'Bool\''), "pass", None),
        (BROKEN, Reply("unsupported", "no bools", declared=True), "unsupported", "no bools"),
        (BROKEN, RETURNED, "fail", "the backend accepted invalid arguments: they break dtype(self) != bool"),
        (BROKEN, Reply("crash", "SIGSEGV"), "crash", "SIGSEGV"),
        (BROKEN, Reply("timeout", "30 s"), "timeout", "30 s"),
        (BROKEN, Reply("error", "no", mutated=(0,)), "fail", "the backend changed its input tensor 0"),
        (LENIENT, RETURNED, "unspecified", "what breaks dtype(self) != bool may be accepted"),
        (LENIENT, Reply("error", "no"), "unspecified", "what breaks dtype(self) != bool may be accepted"),
        (LENIENT, Reply("crash", "SIGSEGV"), "crash", "SIGSEGV"),
    ],
)
@pytest.mark.parametrize("outcome", [InvalidArguments("neg of bool"), Unjudged("unknown")])
def test_what_breaks_a_constraint_must_be_refused(
    domain: Domain, reply: Reply, status: str, reason: str | None, outcome: Exception
) -> None:
    verdict = ended(domain, reply, outcome)
    assert (verdict.status, verdict.reason) == (status, reason)
    assert verdict.rule == (domain.lenience if status == "unspecified" else None)


@pytest.mark.parametrize(("mutated", "wrong"), [((1, 2), None), ((2,), None), ((0, 2), "0"), ((1, 2, 3), "3")])
def test_a_lenient_call_writes_what_the_schema_says(mutated: tuple[int, ...], wrong: str | None) -> None:
    """Running statistics in training, without a weight and with a bias or without: numbers count tensors alone."""
    image, row = np.ones((2, 3, 1), np.float32), np.ones(3, np.float32)
    call = bound_call("aten::_native_batch_norm_legit", [image, None, None, row, row, True, 0.1, 1e-5], {})
    assert written(call) == {1, 2}
    told = harm(Reply("ok", mutated=mutated), written(call))
    assert told == (None if wrong is None else f"the backend changed its input tensor {wrong}")
    with_bias = bound_call("aten::_native_batch_norm_legit", [image, None, row, row, row, True, 0.1, 1e-5], {})
    assert written(with_bias) == {2, 3}
    assert written(bound_call("aten::neg", [row], {})) == frozenset()


@pytest.mark.parametrize("reply", [Reply("error", "no"), RETURNED])
def test_a_valid_call_that_the_kit_refuses_is_a_defect_of_the_kit(reply: Reply) -> None:
    verdict = ended(Domain(), reply, InvalidArguments("neg of bool"))
    assert (verdict.status, verdict.rule) == ("unjudged", KIT_DEFECT)
    assert "the spec of aten::neg allows what is refused here: neg of bool" in str(verdict.reason)


# --- On backends ------------------------------------------------------------------------------------------------------

OPS = ("aten::bitwise_and", "aten::softplus", "aten::where.Scalar")
TAKES_ALL = """
import torch
import conform

class TakesAll(conform.Backend):
    name = "takes_all"
    def run(self, op, args, kwargs):
        return torch.zeros(1)
"""


@cache
def run_on_itself(*suites: str) -> Run:
    return conform.check(suites, backend="self", ops=OPS)


@pytest.mark.parametrize("suites", [["generated"], ["generated", "negative"]])
def test_the_interpreter_agrees_with_the_specs(suites: list[str]) -> None:
    run = run_on_itself(*suites)
    assert {case["status"] for case in run.cases} <= {"pass", "unspecified"}
    assert {case["op"] for case in run.cases if case["status"] == "pass"} == {case["op"] for case in run.cases}


def test_a_backend_that_takes_everything_fails(tmp_path: Path) -> None:
    (tmp_path / "takes_all.py").write_text(TAKES_ALL)
    backend = f"{tmp_path / 'takes_all.py'}::TakesAll"
    run = conform.check("negative", backend=backend, ops=["aten::softplus"], checks="refusal")
    assert {case["status"] for case in run.cases} == {"fail"}
    assert {case["location"] for case in run.cases} == {"spec of aten::softplus"}
    assert "the backend accepted invalid arguments: they break dtype(beta) != complex" in {
        case["reason"] for case in run.cases
    }


def test_a_run_does_not_depend_on_what_else_runs() -> None:
    one, many = conform.check("generated", backend="self", ops=["aten::where.Scalar"]), run_on_itself("generated")
    assert one.record["suite"] == many.record["suite"]
    by_id = {case["id"]: case for case in many.cases}
    assert all(by_id[case["id"]] == case for case in one.cases)


def test_samples_draw_more_values_of_the_same_calls() -> None:
    run = conform.check("generated", backend="self", ops=["aten::where.Scalar"], samples=2)
    ids = {case["id"] for case in run.cases}
    assert {f"{case}/1" for case in ids if not case.endswith("/1")} == {case for case in ids if case.endswith("/1")}
