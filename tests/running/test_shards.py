"""Shards, what merges them, and what a budget chooses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import conform
from conform.cli import main
from conform.errors import UsageError
from conform.running import order
from conform.running.head import Shard
from conform.running.merge import merged
from conform.suites import load
from conform.suites.cases import Selection
from conform.suites.select import select

pytestmark = pytest.mark.one_in(6, together=True)

ARGUMENTS = ["check", "core", "negative", "--backend", "cpu", "--op", "aten::maximum"]
ARGUMENTS += ["--dtype", "float32", "--values", "typical", "--no-progress", "--quiet"]


def ran(directory: Path, *arguments: str, exit_code: int | None = 0) -> dict:
    result = CliRunner().invoke(main, [*ARGUMENTS, "--out", str(directory), *arguments])
    assert exit_code in (None, result.exit_code), result.output
    return recorded(directory)


def recorded(directory: Path) -> dict:
    found = json.loads((directory / "run.json").read_text())
    del found["environment"]
    return found


def test_shards_make_the_record_of_one_run(tmp_path: Path) -> None:
    whole = ran(tmp_path / "whole")
    parts = [ran(tmp_path / str(number), "--shard", f"{number}/3", exit_code=None) for number in (1, 2, 3)]
    assert sum(part["summary"]["asked"] for part in parts) == whole["summary"]["asked"]
    assert [part["shard"] for part in parts] == ["1/3", "2/3", "3/3"]
    directories = [str(tmp_path / str(number)) for number in (3, 1, 2)]
    result = CliRunner().invoke(main, ["merge", *directories, "--out", str(tmp_path / "merged")])
    assert result.exit_code == 0, result.output
    assert recorded(tmp_path / "merged") == whole


@pytest.fixture(scope="module")
def halves(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with both halves of a run, `1` and `2`."""
    directory = tmp_path_factory.mktemp("halves")
    for number in (1, 2):
        ran(directory / str(number), "--shard", f"{number}/2", exit_code=None)
    return directory


def altered(directory: Path, old: str, new: str, copy: Path) -> Path:
    """A copy of a shard with something else in the head of its journal."""
    copy.mkdir()
    notes = (directory / "journal.jsonl").read_text()
    assert old in notes
    (copy / "journal.jsonl").write_text(notes.replace(old, new, 1))
    return copy


def test_what_does_not_belong_together_is_not_merged(halves: Path, tmp_path: Path) -> None:
    one, two = halves / "1", halves / "2"
    third = altered(two, '"count": 2', '"count": 3', tmp_path / "third")
    seed = altered(two, '"seed": 0', '"seed": 1', tmp_path / "seed")
    whole = altered(two, '"shard": {"number": 2, "count": 2}', '"shard": null', tmp_path / "whole")
    for directories, problem in (
        ([one], "of 2 shards 2 is missing"),
        ([one, two, one / ".." / "2"], "are both shard 2/2"),
        ([one, third], "shard 2/3, where the others are of 2"),
        ([one, seed], "are parts of different runs: seed 0, and 1 now"),
        ([one, whole], "that run was no shard"),
        ([tmp_path / "nowhere"], "No such file"),
    ):
        with pytest.raises(UsageError, match=problem):
            merged(directories)


def test_a_shard_that_did_not_end_makes_the_run_partial(halves: Path, tmp_path: Path) -> None:
    lines = (halves / "2" / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "journal.jsonl").write_bytes(b"".join(lines[:10]))
    run = merged([halves / "1", tmp_path])
    assert run.record["stopped"] == "shard 2/2 did not end"
    assert run.record["not_run"] > 0
    assert run.exit_code == 1


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "a/b", "1/2/3", "-1/2", "1/0", "½/2"])
def test_a_shard_is_written_so(text: str) -> None:
    with pytest.raises(UsageError, match="shard: expected I/N with 1 <= I <= N"):
        Shard.written_as(text)


# --- Budgets ----------------------------------------------------------------------------------------------------------


def test_the_cases_that_show_the_most_come_first() -> None:
    groups = select(load(["core"], ops=["aten::neg", "aten::abs", "aten::exp"]), Selection(["aten::neg", "aten::exp"]))
    cases = [case for (case,) in order.by_coverage(groups)]
    assert sorted(case.id for case in cases) == sorted(case.id for group in groups for case in group)
    assert {case.op for case in cases[:2]} == {"aten::neg", "aten::exp"}
    dtypes = {case.dtype for case in cases if case.op == "aten::exp"}
    first = [case for case in cases if case.op == "aten::exp"][: len(dtypes)]
    assert {case.dtype for case in first} == dtypes
    assert len({(case.values, case.layout) for case in first}) > 1


def test_a_sample_is_never_presented_as_the_whole(tmp_path: Path) -> None:
    run = conform.check("core", backend="cpu", ops=["aten::neg"], budget_s=1e-3)
    assert run.record["stopped"] == "the budget of 0.001 s is spent; what ran was chosen for coverage"
    assert run.record["not_run"] > 0
    assert run.exit_code in (1, 3)


def test_a_budget_that_is_enough_runs_all() -> None:
    run = conform.check("smoke", backend="cpu", ops=["aten::exp"], budget_s=600)
    assert (run.record["stopped"], run.record["not_run"], run.exit_code) == (None, 0, 0)
