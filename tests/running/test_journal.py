"""Nothing judged is lost: journals, what resumes them, and what they refuse."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from conform.cli import main
from conform.errors import UsageError
from conform.judging.verdict import Contract, Operand, Verdict, Worst
from conform.running import journal
from conform.running.head import End, Head

ROOT = Path(__file__).parents[2]
HEAD = Head(
    kit_digest="sha256:0", suites=["core"], suite_digest="sha256:1", tests=["t"], contract="opencl",
    contract_digest="", selection={"seed": 0}, is_by_coverage=False, timeout_s=30.0, golden_timeout_s=60.0,
    min_coverage=0.5, of_judged_ops=False, checks=["accuracy"], backend={"name": "mine"}, jail=None, imports=[],
    shard=None, asked_of={"aten::neg": 1}, numerics={"threads": 1}, invocation={"backend": "k\udcff.py::Mine"},
)  # fmt: skip
WORST = Worst(
    output=0,
    index=(1, 0),
    dtype="complex64",
    inputs=(Operand("self", "complex64", (2, 1), (complex(-0.0, float("inf")),)), Operand("dim", None, None, (-1,))),
    expected=complex(1.5, -0.0),
    actual=True,
    error_ulp=float("inf"),
    bound_ulp=0.1,
)
VERDICT = Verdict(
    "t/float32/typical/contiguous", "t", "aten::neg", "float32", "typical", "contiguous", "fail", reason="wrong",
    compared=2, failed=1, contract=Contract("ulp", 0.5, "a source"), worst=WORST, largest=(2, 1), log="a\nb\n",
    tables={"cr": "fail", "cuda": None},
)  # fmt: skip
END = End(seconds=1.5, left_running=["sleep"], kit_digest="sha256:0", stopped=None)


def written(directory: Path) -> journal.Part:
    one = journal.Journal.begun(directory, HEAD)
    one.append(7, VERDICT)
    one.end(END)
    return journal.read(directory)


def test_a_journal_says_what_was_written(tmp_path: Path) -> None:
    part = written(tmp_path)
    assert part.head == HEAD
    assert part.verdicts == {VERDICT.id: (7, VERDICT)}
    assert repr(part.verdicts[VERDICT.id][1]) == repr(VERDICT)  # == takes -0.0 for 0.0, and 1 for True
    assert (part.ends, part.has_ended) == ([END], True)


@pytest.mark.parametrize("value", [True, 1, 1.0, -0.0, float("nan"), 2**70, complex(0, float("nan"))])
def test_numbers_keep_their_type_and_value(tmp_path: Path, value: complex) -> None:
    worst = Worst(0, (), "a", (), value, value)
    with closing(journal.Journal.begun(tmp_path, HEAD)) as one:
        one.append(0, Verdict("t/a/b/c", "t", "op", "a", "b", "c", "pass", compared=1, worst=worst))
    read = journal.read(tmp_path).verdicts["t/a/b/c"][1].worst
    assert repr((read.expected, read.actual)) == repr((value, value))


def test_a_torn_last_line_is_written_anew(tmp_path: Path) -> None:
    written(tmp_path)
    path = tmp_path / "journal.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"number": 8, "verd')
    part = journal.read(tmp_path)
    with closing(part.continued(HEAD)) as one:
        one.append(9, VERDICT)
    assert path.read_bytes().startswith(whole + b'{"number": 9,')
    assert journal.read(tmp_path).verdicts == {VERDICT.id: (9, VERDICT)}
    assert not journal.read(tmp_path).has_ended


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("[]", ":2: no number of a case"),
        ('{"verdict": {}, "number": "1"}', ":2: no number of a case"),
        ('{"number": 1, "verdict": {"id": 3}}', ":2: id: Input should be a valid string, found 3"),
        ('{"number": 1, "verdict": ' + json.dumps({"status": "won"}) + "}", ":2: id: Field required"),
        ('{"number": 1', ":2: Expecting ',' delimiter"),
        ("[" * 100_000, ":2: "),
        ('{"seconds": "1"}', ":2: seconds: Input should be a valid number, found '1'"),
    ],
)
def test_what_conform_did_not_write_is_told_with_its_place(tmp_path: Path, line: str, told: str) -> None:
    journal.Journal.begun(tmp_path, HEAD).close()
    with (tmp_path / "journal.jsonl").open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(UsageError) as caught:
        journal.read(tmp_path)
    assert told in str(caught.value)


def test_without_a_journal_there_is_nothing_to_resume(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file or directory; there is one where a run ended early"):
        journal.read(tmp_path)


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"selection": {"seed": 1}}, "seed 0, and 1 now"),
        ({"backend": {"name": "yours"}}, "name 'mine', and 'yours' now"),
        ({"checks": ["refusal"]}, r"checks \['accuracy'\], and \['refusal'\] now"),
        ({"timeout_s": 1.0}, "timeout_s 30.0, and 1.0 now"),
        ({"kit_digest": "sha256:2"}, "kit_digest 'sha256:0', and 'sha256:2' now"),
    ],
)
def test_another_run_is_refused(tmp_path: Path, other: dict, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        written(tmp_path).continued(HEAD.model_copy(update=other))


# --- From the outside -------------------------------------------------------------------------------------------------

ARGUMENTS = ["check", "core", "--backend", "cpu", "--op", "aten::maximum", "--no-progress", "--quiet"]
ARGUMENTS += ["--dtype", "float32", "--dtype", "int8"]


def record(directory: Path) -> dict:
    found = json.loads((directory / "run.json").read_text())
    del found["environment"]
    return found


def begun(*arguments: str) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-m", "conform", *ARGUMENTS, *arguments], cwd=ROOT, start_new_session=True)


@pytest.mark.one_in(6)
def test_a_killed_run_resumes_to_the_same_record(tmp_path: Path) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    program = begun("--out", str(killed), "--workers", "2")
    notes = killed / "journal.jsonl"
    while not notes.exists() or notes.read_bytes().count(b"\n") < 20:
        time.sleep(0.01)
    os.kill(program.pid, signal.SIGKILL)
    program.wait()
    judged = len(journal.read(killed).verdicts)
    runner = CliRunner()
    assert runner.invoke(main, [*ARGUMENTS, "--resume", str(killed)]).exit_code == 0
    assert runner.invoke(main, [*ARGUMENTS, "--out", str(whole), "--workers", "1"]).exit_code == 0
    assert record(killed) == record(whole)
    assert judged >= 19
    assert not notes.exists()  # the run is whole


@pytest.mark.one_in(6)
@pytest.mark.parametrize("other", [[], ["--seed", "1"]], ids=["that has ended", "that was another"])
def test_a_run_that_cannot_be_resumed_keeps_its_record(tmp_path: Path, other: list[str]) -> None:
    kept = CliRunner().invoke(main, [*ARGUMENTS, "--shard", "1/9", "--out", str(tmp_path)])
    assert kept.exit_code == 0, kept.output
    if not other:
        (tmp_path / "journal.jsonl").unlink()
    before = (tmp_path / "run.json").read_text()
    result = CliRunner().invoke(main, [*ARGUMENTS, "--shard", "1/9", *other, "--resume", str(tmp_path)])
    assert result.exit_code == 2, result.output
    assert (tmp_path / "run.json").read_text() == before


def test_out_and_resume_are_not_for_one_run(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, [*ARGUMENTS, "--resume", str(tmp_path), "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "--out begins a run, --resume goes on with one" in result.output
