"""Waivers: known failures are told and do not count, as long as they are as expected; what expects too much fails."""

from __future__ import annotations

from pathlib import Path

import pytest

import conform
from conform.judging.verdict import Verdict
from conform.report.schema import read as read_record
from conform.report.waivers import are_right, lines
from conform.report.write import write
from conform.running import waivers
from conform.running.waivers import Waiver, Waivers, applied

NUMERICS = {"instructions": "AVX2"}


def verdict(status: str = "fail", op: str = "aten::sqrt", dtype: str = "float64", **rest: object) -> Verdict:
    case = f"sqrt/{dtype}/typical/contiguous"
    reason = None if status == "pass" else "error above the bound"
    told = {"reason": reason, "checks": 1, "max_error_ulp": 3.0, **rest}
    return Verdict(case, "sqrt", op=op, dtype=dtype, values="typical", layout="contiguous", status=status, **told)


def told(
    *entries: Waiver, verdicts: list[Verdict], whole: bool = True, narrowed: bool = False, shared: bool = False
) -> tuple[list, list]:
    """The statuses of the verdicts and the states of the entries."""
    numbered = [entry.model_copy(update={"line": number, "number": number}) for number, entry in enumerate(entries)]
    given = Waivers(source="w.yaml", digest="sha256:0", entries=numbered, is_shared=shared)
    found, states = applied(given, verdicts, NUMERICS, whole, narrowed)
    return [one.status for one in found], [one["state"] for one in states]


def test_a_failure_that_an_entry_expects_is_waived_and_says_by_which() -> None:
    entries = Waivers(source="w.yaml", digest="sha256:0", entries=[Waiver(op="aten::sqrt", reason="known", line=7)])
    one = entries.told(verdict())
    assert (one.status, one.reason, one.rule) == ("waived", "fail: error above the bound", "waiver at w.yaml:7")
    assert entries.told(verdict("pass")).status == "pass"


def test_entries_on_one_line_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    path.write_text("waivers: [{op: aten::sqrt, reason: known}, {op: aten::exp, reason: known}]\n")
    verdicts = [verdict(), verdict("pass", op="aten::exp")]
    _, states = applied(waivers.read(str(path)), verdicts, NUMERICS, is_whole=True, is_narrowed=False)
    assert [(one["line"], one["state"]) for one in states] == [(1, "used"), (1, "passing")]


@pytest.mark.parametrize(
    "entry",
    [
        {"op": "aten::rsqrt"},
        {"op": "aten::sqrt", "dtype": "float32"},
        {"id": "*/special/*"},
        {"op": "aten::sqrt", "status": ["crash", "error"]},
        {"op": "aten::sqrt", "failure": "NaN *"},
        {"op": "aten::sqrt", "max_error_ulp": 2.5},
        {"op": "aten::sqrt", "until": "2020-02-29"},
        {"op": "aten::sqrt", "numerics": {"instructions": ["DEFAULT", "AVX512"]}},
        {"op": "aten::sqrt", "numerics": {"no such switch": True}},
    ],
)
def test_what_an_entry_does_not_expect_is_news(entry: dict) -> None:
    statuses, _ = told(Waiver(**entry, reason="known"), verdicts=[verdict()])
    assert statuses == ["fail"]


@pytest.mark.parametrize(
    "entry",
    [
        {"op": "aten::sq*"},
        {"op": ["aten::exp", "aten::sqrt"], "dtype": ["float32", "float64"], "id": "sqrt/*"},
        {"op": "aten::sqrt", "status": "fail", "failure": "error * bound", "max_error_ulp": 3},
        {"op": "aten::sqrt", "until": "2999-12-31", "numerics": {"instructions": "AVX2"}},
    ],
)
def test_what_an_entry_expects(entry: dict) -> None:
    assert told(Waiver(**entry, reason="known"), verdicts=[verdict()]) == (["waived"], ["used"])


def test_an_entry_that_expects_too_much_fails_the_run() -> None:
    of_sqrt, of_exp = Waiver(op="aten::sqrt", reason="known"), Waiver(op="aten::exp", reason="known")
    old = Waiver(op="aten::sqrt", reason="old", until="2020-01-01")
    far = Waiver(op="aten::sqrt", reason="far", numerics={"instructions": "X"})
    passes = [verdict("pass")]
    assert told(of_sqrt, of_exp, old, far, verdicts=passes)[1] == ["passing", "unused", "expired", "elsewhere"]
    sometimes = Waiver(op="aten::sqrt", reason="some processors", sometimes=True)
    assert told(sometimes, verdicts=passes)[1] == ["elsewhere"]
    assert told(sometimes, verdicts=[verdict()]) == (["waived"], ["used"])
    assert told(sometimes.model_copy(update={"op": ["aten::exp"]}), verdicts=passes)[1] == ["not asked"]
    assert told(of_exp, verdicts=passes, whole=False)[1] == ["not asked"]
    assert told(of_sqrt, verdicts=passes, narrowed=True)[1] == ["not asked"]  # what fails may be left out
    assert told(of_sqrt, of_exp, verdicts=passes, shared=True)[1] == ["not asked", "not asked"]
    assert told(of_sqrt, of_sqrt, verdicts=[verdict()])[1] == ["used", "used"]  # one waives, both are right


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("waivers:\n- reason: x\n", "2: entry 1: `op` or `id` says which cases it is for; found neither"),
        ("waivers:\n- op: aten::sqrt\n", "2: entry 1: `reason`: the key is missing"),
        ("waivers:\n- op: aten::sqrtt\n  reason: x\n", "2: entry 1: unknown operator 'aten::sqrtt'; did you mean"),
        ("waivers:\n- op: aten::sqrt\n  dtype: float\n  reason: x\n", "2: entry 1: unknown dtype 'float'"),
        ("waivers:\n- op: aten::sqrt\n  reasn: x\n  reason: x\n", "3: entry 1: unknown key 'reasn'; did you mean"),
        ("waivers:\n- op: aten::sqrt\n  until: soon\n  reason: x\n", "3: entry 1: `until`: expected a day as 2027"),
        ("waivers:\n- op: aten::sqrt\n  status: pass\n  reason: x\n", "3: entry 1: `status`: Input should be 'fail'"),
        ("suites: [cor]\nwaivers: []\n", "1: entry 1: unknown suite 'cor': expected one of smoke, core, "),
        ("waivers:\n- op: [\n", "3: not YAML"),
        ("[]", "1: "),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "w.yaml"
    path.write_text(text)
    with pytest.raises(conform.UsageError) as error:
        waivers.read(str(path))
    assert str(error.value).startswith(f"{path}:{message}")


def test_a_file_that_is_not_there_is_told_with_those_that_are() -> None:
    names = "torch-cpu, torch-cpu-modules, torch-cpu-writes, torch-cuda, torch-cuda-modules, torch-cuda-writes"
    expected = f"'nowhere.yaml': expected one of {names} or a YAML file"
    with pytest.raises(conform.UsageError, match=expected):
        waivers.read("nowhere.yaml")


FILE = """waivers:
- op: aten::sqrt
  dtype: float64
  failure: not the correctly rounded result
  reason: torch rounds 0-d results twice
"""


def test_a_run_whose_failures_are_known_is_conformant_and_its_record_says_why(tmp_path: Path) -> None:
    path = tmp_path / "known.yaml"
    path.write_text(FILE)
    asked = {"backend": "cpu", "ops": ["aten::sqrt"]}
    plain, waived = conform.check("core", **asked), conform.check("core", **asked, waivers=str(path))
    known = plain.summary["fail"]
    assert known > 0 == waived.summary["fail"]
    assert (plain.exit_code, waived.exit_code, waived.summary["waived"]) == (1, 0, known)
    assert [finding for finding in waived.record["findings"] if finding["op"] == "aten::sqrt"] == []
    assert lines(waived.record) == [f"waived: {known} failures that 1 of 1 entries of known.yaml expect"]
    write(waived, tmp_path)
    assert read_record(tmp_path).waivers.entries[0].cases == known


def test_a_run_fails_by_an_entry_alone(tmp_path: Path) -> None:
    path = tmp_path / "known.yaml"
    path.write_text(FILE.replace("sqrt", "neg"))
    run = conform.check("core", backend="cpu", ops=["aten::neg"], waivers=str(path))
    assert (run.summary["fail"], run.exit_code, are_right(run.record)) == (0, 1, False)
    assert "every case that it is for passes: take it out (torch rounds" in lines(run.record)[1]


def test_a_run_of_other_suites_than_those_of_the_file_says_of_no_entry_that_it_expects_too_much(tmp_path: Path) -> None:
    path = tmp_path / "known.yaml"
    path.write_text("suites: [core, scale]\n" + FILE.replace("sqrt", "neg"))
    run = conform.check("core", backend="cpu", ops=["aten::neg"], waivers=str(path))
    assert (run.exit_code, [one["state"] for one in run.record["waivers"]["entries"]]) == (0, ["not asked"])


def test_a_run_that_ended_early_says_of_no_entry_that_it_expects_too_much(tmp_path: Path) -> None:
    path = tmp_path / "known.yaml"
    path.write_text(FILE.replace("sqrt", "neg"))
    run = conform.check("core", backend="cpu", ops=["aten::neg"], waivers=str(path), budget_s=0.05)
    assert run.record["stopped"]
    assert [one["state"] for one in run.record["waivers"]["entries"]] == ["not asked"]


def test_fail_fast_goes_past_what_is_waived(tmp_path: Path) -> None:
    path = tmp_path / "known.yaml"
    path.write_text(FILE)
    run = conform.check("core", backend="cpu", ops=["aten::sqrt"], waivers=str(path), fail_fast=True)
    assert run.record["not_run"] == 0
