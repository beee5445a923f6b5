"""The references as the oracle of a run, and what a record says of the truth that it was judged by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import conform
from conform import kit
from conform.call.bound import bound_call
from conform.errors import KitDefect, Unjudged
from conform.interp import semantics
from conform.interp.evaluate import evaluate_call
from conform.interp.golden import Outcome
from conform.report import header
from conform.report.record import Run
from conform.report.schema import read as read_record
from conform.report.write import write
from conform.selftest import green
from conform.selftest.agreement import oracle
from conform.selftest.agreement.oracle import MOST_ELEMENTS, confirmed

SUITE = """tests:
- {id: small, op: aten::exp, in: [{type: tensor, shape: [2, 3], dtype: float32}]}
- {id: large, op: aten::exp, in: [{type: tensor, shape: [2049], dtype: float32}]}
- {id: taken, op: aten::neg, in: [{type: tensor, shape: [2], dtype: int32}]}
- {id: refused, op: aten::neg, in: [{type: tensor, shape: [2], dtype: bool}]}
"""
EXP = bound_call("aten::exp", [np.array([0.5, -1.0], np.float32)], {})


def altered(outcome: Outcome, value: np.ndarray) -> Outcome:
    return Outcome((replace(outcome.goldens[0], value=value),))


def test_what_both_give_is_the_truth() -> None:
    outcome = evaluate_call(EXP)
    assert confirmed(EXP, outcome) is outcome


def test_one_bit_is_a_defect_of_the_kit() -> None:
    outcome = evaluate_call(EXP)
    value = outcome.goldens[0].value.copy()
    value[1] = np.nextafter(value[1], np.float32(1))
    with pytest.raises(KitDefect, match=r"differ in 1 elements: element, output 0, index \(1,\)"):
        confirmed(EXP, altered(outcome, value))


def test_a_golden_of_another_dtype_is_a_defect_too() -> None:
    outcome = evaluate_call(EXP)
    wide = evaluate_call(bound_call("aten::exp", [np.array([0.5, -1.0], np.float64)], {}))
    assert outcome.goldens[0].format != wide.goldens[0].format
    with pytest.raises(KitDefect, match="dtype and shape"):
        confirmed(EXP, wide)


@pytest.mark.parametrize(
    ("fake", "message"),
    [
        (ValueError("no"), "the reference refuses the call: no"),
        (NotImplementedError("no"), "the reference does not cover the call: no"),
    ],
)
def test_what_the_reference_does_not_give_is_not_judged(
    monkeypatch: pytest.MonkeyPatch, fake: Exception, message: str
) -> None:
    monkeypatch.setattr(oracle, "reference_of", lambda call: fake)
    with pytest.raises(Unjudged, match=message) as error:
        confirmed(EXP, evaluate_call(EXP))
    assert not isinstance(error.value, KitDefect)


def test_one_that_refuses_alone_is_not_followed() -> None:
    with pytest.raises(Unjudged, match="the interpreter refuses the call, and the reference does not: out of range"):
        confirmed(EXP, conform.InvalidArguments("out of range"))


@pytest.mark.parametrize(("elements", "is_judged"), [(MOST_ELEMENTS // 2, True), (MOST_ELEMENTS // 2 + 1, False)])
def test_the_limit_counts_operands_and_results(elements: int, is_judged: bool) -> None:
    call = bound_call("aten::neg", [np.ones(elements, np.float32)], {})
    if is_judged:
        assert isinstance(confirmed(call, evaluate_call(call)), Outcome)
        return
    with pytest.raises(Unjudged, match="more than 4,096 elements"):
        confirmed(call, evaluate_call(call))


# --- In a run ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def ran(tmp_path: Path) -> Callable[..., Run]:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    return lambda **asked: conform.check(str(path), backend="cpu", **asked)


def found(run: Run) -> dict[str, str]:
    return {case["test"]: case["status"] for case in run.cases}


def test_a_run_by_the_references_judges_what_they_say(ran: Callable[..., Run], tmp_path: Path) -> None:
    run = ran(oracle="refs")
    assert found(run) == {"small": "pass", "large": "unjudged", "taken": "pass", "refused": "pass"}
    assert "more than 4,096 elements" in run.cases[1]["reason"]
    assert header.lines(run.record)[-1].startswith("truth: the references, by which every golden is confirmed, sha256:")
    write(run, tmp_path)
    assert read_record(tmp_path).truth.oracle == "refs"
    assert set(found(ran()).values()) == {"pass"}


def test_a_reference_that_says_otherwise_ends_in_70(ran: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted defect is on one side; whichever it is, no verdict is given."""
    true = oracle.reference_of

    def planted(call: object) -> object:
        (one,) = true(call)
        one.data[0] = 2.5
        return (one,)

    monkeypatch.setattr(oracle, "reference_of", planted)
    run = ran(oracle="refs", ids="small*")
    assert (run.exit_code, found(run)) == (70, {"small": "unjudged"})
    assert ran(ids="small*").exit_code == 0


def test_an_unknown_oracle_is_refused(ran: Callable[..., Run]) -> None:
    with pytest.raises(conform.UsageError, match="oracle: expected one of interp, refs, got 'torch'"):
        ran(oracle="torch")


# --- Of which ops I8 is known to hold ---------------------------------------------------------------------------------


def ledger_of(*ops: str) -> dict[str, Any]:
    """An entry for each op as its files are, of two dtypes."""
    modules = ["conform.refs.functions.real"]
    return {
        op: {
            "on": f"2026-11-2{number}", "digest": green.digest_of(op, modules), "modules": modules,
            "elements": {"float32": 10_000, "float64": 12_345},
        } for number, op in enumerate(ops)
    }  # fmt: skip


def noted(monkeypatch: pytest.MonkeyPatch, ledger: dict[str, Any]) -> None:
    monkeypatch.setattr(green, "shipped", lambda: ledger)


def test_i8_is_known_of_the_ops_in_the_ledger(ran: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    noted(monkeypatch, ledger_of("aten::exp", "aten::mm"))
    run = ran(ids="small*")
    of = len(semantics.names())
    assert run.record["truth"] == {
        "oracle": "interp", "digest": kit.truth_digest(),
        "i8": {"on": "2026-11-20", "ops": 2, "of": of, "pairs": 4, "elements": 44_690},
    }  # fmt: skip
    told = f"I8 holds for 2 of {of} ops (4 pairs of op and dtype, 44,690 elements, since 2026-11-20); "
    assert header.lines(run.record)[-1] == (
        f"truth: the interpreter, {kit.truth_digest()}; {told}conform selftest --full runs the others"
    )


def test_i8_is_known_of_all_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    noted(monkeypatch, ledger_of("aten::exp"))
    monkeypatch.setattr(semantics, "names", lambda: ["aten::exp"])
    told = header.i8_held(green.last_green())
    assert told == "holds for all 1 ops (2 pairs of op and dtype, 22,345 elements, since 2026-11-20)"


@pytest.mark.parametrize("field", ["digest", "modules"])
def test_of_other_files_nothing_is_known(ran: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, field: str) -> None:
    other = {"digest": "sha256:" + "0" * 64, "modules": ["conform.refs.no_more"]}
    ledger = ledger_of("aten::exp")
    ledger["aten::exp"][field] = other[field]
    noted(monkeypatch, ledger)
    run = ran(ids="small*")
    assert run.record["truth"]["i8"] is None
    assert header.lines(run.record)[-1].endswith("; I8 is not known to hold: conform selftest --full runs it")


def test_of_an_op_that_is_no_more_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    noted(monkeypatch, {"aten::gone": {"on": "2026-11-20", "digest": "", "modules": [], "elements": {}}})
    assert green.last_green() is None


@pytest.mark.parametrize(
    ("path", "changes"),
    [
        ("interp/evaluate.py", True),
        ("interp/stablehlo/checks.py", False),
        ("refs/fft/transforms.py", True),
        ("numerics/ulp.py", True),
        ("domains/fft/transforms.py", True),
        ("selftest/agreement/compare.py", True),
        ("selftest/i8.json", False),
        ("report/header.py", False),
    ],
)
def test_the_digest_is_that_of_what_the_truth_is_made_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, changes: bool
) -> None:
    for name in ("interp/evaluate.py", "interp/stablehlo/checks.py", "refs/fft/transforms.py", "numerics/ulp.py",
                 "domains/fft/transforms.py", "report/header.py", "selftest/agreement/compare.py", "selftest/i8.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(kit, "_ROOT", tmp_path)
    before = kit.truth_digest()
    (tmp_path / path).write_text("changed")
    assert (kit.truth_digest() != before) == changes
