"""Runs that a manifest leads: what is not claimed is not asked, what is claimed and missing fails, and what passed in a
run makes a manifest by which the next one is conformant."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import conform
from conform.cli import main
from conform.report import header
from conform.report.record import Run, word
from conform.report.schema import read as read_record

pytestmark = pytest.mark.one_in(6)

FILE = Path(__file__).with_name("backends.py")
SHAPES = {"exp": ([4], [2, 3, 2]), "neg": ([3], [2, 2]), "abs": ([3],), "sign": ([3],)}
ROWS = [
    f"- {{id: {op}_{dtype}_{number}, op: aten::{op}, in: [{{type: tensor, shape: {shape}, dtype: {dtype}}}]}}"
    for op, shapes in SHAPES.items() for number, shape in enumerate(shapes) for dtype in ("float32", "float64")
]  # fmt: skip
SUITE = "\n".join(["tests:", *ROWS, ""])


@pytest.fixture
def suite(tmp_path: Path) -> str:
    """A file of a few tests, one case each."""
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    return str(path)


def ran(suite: str, text: str, name: str = "Holes", **asked: object) -> Run:
    path = Path(suite).with_name("m.yaml")
    path.write_text(text)
    return conform.check(suite, backend=f"{FILE}::{name}", manifest=str(path), **asked)


def check(suite: str, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["check", suite, "--no-progress", "--workers", "1", *arguments])


def found(run: Run) -> dict[tuple[str, str], Counter]:
    counts: dict[tuple[str, str], Counter] = {}
    for case in run.cases:
        counts.setdefault((case["op"].removeprefix("aten::"), case["dtype"]), Counter())[case["status"]] += 1
    return counts


HONEST = """claims:
- op: aten::exp
  dtype: [float32, float64]
  max_rank: 2
- op: [aten::neg, aten::abs]
  dtype: float32
"""


def test_an_honest_manifest_is_conformant_and_stands_in_the_record(suite: str) -> None:
    run = ran(suite, HONEST)
    assert run.exit_code == 0
    assert set(found(run)["sign", "float32"]) == set(found(run)["neg", "float64"]) == {"unsupported"}
    assert set(found(run)["exp", "float64"]) == {"pass", "unsupported"}  # beyond max_rank
    manifest = run.record["manifest"]
    assert [(one["line"], one["cases"] == one["judged"] > 0) for one in manifest["claims"]] == [(2, True), (5, True)]
    assert header.lines(run.record)[2] == f"claims: m.yaml, {manifest['digest']}"
    required = run.record["required"]
    assert (required["of"], required["coverage"]) == ("the cases that m.yaml claims", 1.0)
    assert run.summary["coverage"] < 0.7  # of all that was selected, as ever


def test_what_is_not_claimed_is_not_even_asked(suite: str) -> None:
    run = ran(suite, HONEST, "Crashing")
    assert (run.exit_code, run.summary["crash"]) == (0, 0)
    reasons = {case["reason"] for case in run.cases if case["op"] == "aten::sign"}
    assert reasons == {"not claimed by m.yaml"}


def test_what_is_claimed_and_missing_fails(suite: str) -> None:
    run = ran(suite, HONEST.replace("aten::abs]", "aten::abs, aten::sign]"), fail_fast=False)
    assert run.exit_code == 1
    assert set(found(run)["sign", "float32"]) == {"fail"}
    (reason,) = {case["reason"] for case in run.cases if case["status"] == "fail"}
    assert reason == "claimed by m.yaml:5, and the backend says it is unsupported: no kernel"


def test_an_error_is_one_wherever_the_claim_holds(suite: str) -> None:
    run = ran(suite, HONEST.replace("  max_rank: 2\n", ""))
    assert run.exit_code == 1
    assert set(found(run)["exp", "float32"]) == {"pass", "error"}  # RuntimeError: unsupported rank


def test_what_ran_elsewhere_is_missing(suite: str) -> None:
    run = ran(suite, "claims:\n- op: aten::neg\n", "Falling", ids="neg*")
    assert (run.exit_code, set(found(run)["neg", "float32"])) == (1, {"fail"})
    assert run.cases[0]["reason"] == "claimed by m.yaml:2, and it did not run there: eager torch did it"


def test_a_manifest_that_claims_nothing_of_the_run_judges_nothing(suite: str) -> None:
    run = ran(suite, "claims:\n- op: aten::cos\n")
    assert (run.exit_code, run.summary["judged"], run.record["required"]["asked"]) == (3, 0, 0)


@pytest.mark.parametrize(("claims", "share", "exit_code"), [("aten::neg", 1.0, 0), ("[aten::neg, aten::sign]", 0.5, 1)])
def test_coverage_is_that_of_what_is_claimed(suite: str, claims: str, share: float, exit_code: int) -> None:
    """A case for another device is claimed, and not judged."""
    elsewhere = SUITE.replace("op: aten::sign,", "op: aten::sign, device: cuda,")
    Path(suite).write_text(elsewhere)
    run = ran(suite, f"claims:\n- op: {claims}\n  dtype: float32\n", min_coverage=0.9)
    assert (run.exit_code, word(run.record)) == (exit_code, "partial" if exit_code else "conformant")
    assert run.record["required"]["coverage"] == pytest.approx(share, abs=0.17)


SUBNORMALS = """tests:
- id: product
  op: aten::mul.Tensor
  in:
  - {type: tensor, shape: [4], dtype: float32, init: uniform, low: 1.0e-40, high: 1.0e-39}
  - {type: tensor, shape: [4], dtype: float32, init: uniform, low: 1.0, high: 2.0}
"""


def test_declared_flushing_is_that_of_the_class(tmp_path: Path) -> None:
    path = tmp_path / "subnormal.yaml"
    path.write_text(SUBNORMALS)
    text = "claims:\n- op: aten::mul.Tensor\n  dtype: float32\n"
    assert ran(str(path), text, "Flushing").exit_code == 1
    run = ran(str(path), text + "arithmetic:\n  flushes_subnormals: true\n", "Flushing")
    assert (run.exit_code, run.record["backend"]["flushes_subnormals"]) == (0, True)


def test_a_run_makes_a_manifest_by_which_the_next_one_is_conformant(suite: str, tmp_path: Path) -> None:
    backend = f"{FILE}::Holes"
    first = check(suite, "--backend", backend, "--out", str(tmp_path / "first"))
    assert first.exit_code == 1  # exp raises for some ranks
    made = CliRunner().invoke(main, ["manifest", "--run", str(tmp_path / "first")])
    assert made.exit_code == 0, made.output
    assert "- op: [aten::abs, aten::neg]\n  dtype: [float32]\n" in made.output
    assert "aten::exp of float32, float64: error in " in made.output  # not claimed, and the comment says why
    assert "unsupported rank" in made.output
    path = tmp_path / "made.yaml"
    path.write_text(made.output)
    second = check(suite, "--backend", backend, "--manifest", str(path), "--out", str(tmp_path / "second"))
    assert second.exit_code == 0, second.output
    record = read_record(tmp_path / "second")
    assert record.manifest is not None
    assert record.required.coverage == 1.0
    third = CliRunner().invoke(main, ["manifest", "--run", str(tmp_path / "second")])
    claims = [text.partition("# Not claimed")[0] for text in (made.output, third.output)]
    assert claims[0] == claims[1]


def test_nothing_passed_so_nothing_is_claimed(suite: str, tmp_path: Path) -> None:
    check(suite, "--backend", f"{FILE}::Falling", "--out", str(tmp_path / "run"))
    made = CliRunner().invoke(main, ["manifest", "--run", str(tmp_path / "run")])
    assert (made.exit_code, "so there is nothing to claim" in made.stderr) == (2, True)


def test_parts_of_a_run_have_one_manifest(suite: str, tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(HONEST)
    backend, parts = f"{FILE}::Holes", [str(tmp_path / number) for number in "12"]
    for number, part in enumerate(parts, 1):
        check(suite, "--backend", backend, "--manifest", str(path), "--shard", f"{number}/2", "--out", part)
    whole = CliRunner().invoke(main, ["merge", *parts, "--out", str(tmp_path / "whole"), "--quiet"])
    assert whole.exit_code == 0, whole.output
    merged = json.loads((tmp_path / "whole/run.json").read_text())
    assert [one["cases"] > 0 for one in merged["manifest"]["claims"]] == [True, True]
    path.write_text(HONEST + "# changed\n")
    again = check(suite, "--backend", backend, "--manifest", str(path), "--shard", "2/2", "--resume", parts[1])
    assert (again.exit_code, "that run had manifest" in again.stderr) == (2, True)
    check(suite, "--backend", backend, "--manifest", str(path), "--shard", "2/2", "--out", parts[1])
    mixed = CliRunner().invoke(main, ["merge", *parts, "--out", str(tmp_path / "mixed")])
    assert (mixed.exit_code, "parts of different runs: manifest" in mixed.stderr) == (2, True)


def test_a_broken_claim_is_repeated_and_reduced_with_its_manifest(suite: str, tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(HONEST.replace("aten::abs]", "aten::abs, aten::sign]"))
    run = check(suite, "--backend", f"{FILE}::Holes", "--manifest", str(path), "--out", str(tmp_path / "run"))
    assert f"--manifest {path}" in run.output
    (failed, *_) = [case.id for case in read_record(tmp_path / "run").cases if case.status == "fail"]
    words = ["repro", failed, "--run", str(tmp_path / "run"), "--backend", f"{FILE}::Holes"]
    assert CliRunner().invoke(main, words).exit_code == 0
    path.write_text(HONEST)
    assert "changed since" in CliRunner().invoke(main, words).stderr


@pytest.mark.parametrize("name", ["Holes", "Crashing"])
def test_two_processes_say_what_one_says(suite: str, name: str) -> None:
    both = [ran(suite, HONEST, name, workers=workers) for workers in (1, 2)]
    told = [{key: value for key, value in run.record.items() if key != "environment"} for run in both]
    assert told[0] == told[1]
