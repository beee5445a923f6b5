"""Whole sweeps: one wrong input among all is found; whatever happens on the way, the record is the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conform.cli import main
from conform.errors import UsageError
from conform.sweep import record
from conform.sweep.journal import Journal
from conform.sweep.run import sweep
from conform.sweep.space import CALL, Codes

pytestmark = pytest.mark.one_in(6)

ROOT = Path(__file__).parents[2]
PLANTED = f"{Path(__file__).parent / 'planted.py'}::"
PLACE = 0x3F9D70A4
AROUND = Codes(PLACE - PLACE % CALL - CALL, PLACE - PLACE % CALL + 3 * CALL - 1)


@pytest.fixture
def small_blocks(monkeypatch):
    """As many blocks as there are calls."""
    monkeypatch.setattr("conform.sweep.run.BLOCK", CALL)


def told(found: dict) -> dict:
    """The record but for where and how it was made."""
    return {name: value for name, value in found.items() if name != "environment"}


def test_one_wrong_input_is_found(tmp_path):
    found = sweep("abs", f"{PLANTED}OneWrong", codes=AROUND, out=tmp_path, workers=1).record
    assert (found["inputs"], found["swept"]) == (4 * CALL, 4 * CALL)
    assert found["summary"]["correctly_rounded"] == 4 * CALL - 1
    assert (found["max_error_ulp"], found["worst"]["code"], found["worst"]["error_ulp"]) == (8.0, hex(PLACE), 8.0)
    assert found["worst"]["inputs"]["self"] == {"decimal": "1.23", "hex": "0x1.3ae148p+0"}
    assert found["worst"]["actual"]["hex"] == "0x1.3ae158p+0"
    assert found["binades"] == {"self": [{"from": "0x1.0000000000000p+0", "max_error_ulp": 8.0}]}
    assert found["tables"]["opencl"]["standing"] == "fail"
    assert found["tables"]["opencl"]["first"]["code"] == hex(PLACE)
    assert (record.word(found), record.exit_code(found)) == ("not conformant", 1)
    assert json.loads((tmp_path / "sweep.json").read_text()) == found


def test_a_lost_call_is_told_with_its_inputs_and_the_sweep_goes_on():
    first = PLACE - PLACE % CALL
    found = sweep(
        "abs", f"{PLANTED}Misbehaving", codes=Codes(first, first + 9 * CALL - 1), timeout_s=1.0, workers=1
    ).record
    codes = [[hex(first + at * CALL), hex(first + (at + 1) * CALL - 1)] for at in range(9)]
    ended = [(lost["codes"], lost["status"], lost["reason"].partition(" (in run,")[0]) for lost in found["lost"]]
    assert ended == [
        (codes[1], "crash", "SIGABRT (Aborted)"),
        (codes[2], "timeout", "no answer for 1 s"),
        (codes[3], "fail", f"shape [{CALL - 1}] instead of [{CALL}]"),
        (codes[4], "fail", "the backend changed its input tensor 0"),
        (codes[5], "unsupported", "no kernel"),
        (codes[6], "error", "ValueError: no way"),
        (codes[7], "fail", "output 0 shares memory with tensor argument 0"),
        (codes[8], "fail", "dtype float64 instead of float32"),
    ]
    assert {lost["inputs"] for lost in found["lost"]} == {CALL}
    counts = {"crash": CALL, "error": CALL, "fail": 4 * CALL, "timeout": CALL, "unsupported": CALL}
    assert (found["summary"]["lost"], found["swept"], found["summary"]["compared"]) == (counts, 9 * CALL, CALL)
    assert (found["stopped"], record.exit_code(found)) == (None, 1)
    assert "about to abort" in found["environment"]["logs"][" to ".join(codes[1])]


def test_nothing_is_compared_of_who_does_nothing():
    found = sweep("abs", f"{PLANTED}Cannot", dtype="float16", workers=1).record
    assert (found["summary"]["lost"], record.word(found)) == ({"unsupported": 2**16}, "nothing compared")
    assert record.exit_code(found) == 3


def test_a_backend_that_says_that_it_flushes():
    """Of the numbers below 2^-133 only 0 is itself."""
    asked = {"op": "mul", "backend": f"{PLANTED}Flushes", "keywords": {"other": 1.0}, "codes": Codes(0, 0xFFFF)}
    found = sweep(**asked, workers=1).record
    assert (found["summary"]["failed"], found["summary"]["correctly_rounded"]) == (0, 1)


def test_the_same_record_whatever_the_workers_and_shards(tmp_path, small_blocks):
    asked = {"op": "exp", "backend": f"{PLANTED}OneWrong", "codes": Codes(AROUND.first + 7, AROUND.last - 9)}
    expected = sweep(**asked, workers=2).record
    for number in (1, 2):
        found = sweep(**asked, workers=1, shard=f"{number}/2", out=tmp_path / str(number)).record
        assert (found["shard"], found["inputs"]) == (f"{number}/2", 2 * CALL - (7 if number == 1 else 9))
    merged = sweep(**asked, resume=[tmp_path / "2", tmp_path / "1"], out=tmp_path / "all").record
    assert told(merged) == told(expected)
    assert merged["environment"]["timings"]["inputs"] == 0


def test_what_is_answered_as_in_a_sweep_that_is_known_is_judged_as_there(tmp_path, small_blocks):
    asked = {"op": "abs", "codes": AROUND, "workers": 1}
    of_torch = sweep(backend="cpu", out=tmp_path / "cpu", **asked).record
    expected = sweep(backend=f"{PLANTED}OneWrong", **asked).record
    for workers in (1, 2):
        asked["workers"] = workers
        found = sweep(backend=f"{PLANTED}OneWrong", known=[tmp_path / "cpu"], out=tmp_path / "own", **asked).record
        assert told(found) == told(expected) != told(of_torch)
        assert found["environment"]["timings"]["answered_as_known"] == 3 * CALL  # all but the block of the wrong input
    both = sweep(backend=f"{PLANTED}OneWrong", known=[tmp_path / "cpu", tmp_path / "own"], **asked).record
    assert (told(both), both["environment"]["timings"]["answered_as_known"]) == (told(expected), 4 * CALL)


def test_what_is_known_is_a_sweep_of_the_same(tmp_path):
    sweep("abs", "cpu", codes=Codes(0, 9), out=tmp_path, workers=1)
    with pytest.raises(UsageError, match=r"the journal of another sweep: contract: found .*opencl.*expected .*cuda"):
        sweep("abs", "cpu", codes=Codes(0, 9), contract="cuda", known=[tmp_path])


FROM_PLACE = Codes(PLACE - PLACE % CALL, PLACE - PLACE % CALL + 9 * CALL - 1)


def test_a_backend_that_hangs_again_and_again_is_given_up_whoever_asks(tmp_path, small_blocks):
    """Every second call hangs: the third time is the fifth call. Of shards the last one asks for more than counts."""
    asked = {"op": "abs", "backend": f"{PLANTED}Hangs", "codes": FROM_PLACE, "timeout_s": 1.0, "workers": 1}
    expected = sweep(**asked).record
    assert expected["summary"]["lost"] == {"timeout": 3 * CALL}
    assert (expected["inputs"], expected["swept"]) == (9 * CALL, 5 * CALL)
    fifth = hex(FROM_PLACE.first + 5 * CALL - 1)
    assert expected["stopped"] == (
        f"the backend hung on 3 calls or more up to the code {fifth}, and was not asked for the rest"
    )
    assert (record.word(expected), record.exit_code(expected)) == ("not conformant", 1)
    for number in (1, 2):
        found = sweep(**asked, shard=f"{number}/2", out=tmp_path / str(number)).record
        assert found["swept"] == {1: 3, 2: 4}[number] * CALL
    merged = sweep(**asked, resume=[tmp_path / "1", tmp_path / "2"], out=tmp_path / "all").record
    assert told(merged) == told(expected)
    assert told(sweep(**{**asked, "workers": 2}).record) == told(expected)


def test_within_a_block_too_a_backend_is_given_up():
    """The last call of the block may hang as the third; nothing is left then."""
    asked = {"op": "abs", "backend": f"{PLANTED}Hangs", "timeout_s": 1.0, "workers": 1}
    found = sweep(**asked, codes=FROM_PLACE).record
    ended = [(lost["inputs"], lost["status"], lost["reason"].partition(" (in run,")[0]) for lost in found["lost"]]
    hung = (CALL, "timeout", "no answer for 1 s")
    assert ended == [hung, hung, hung, (4 * CALL, "not_run", "not asked, for the backend hung on 3 calls before")]
    assert (found["swept"], found["summary"]["compared"], found["stopped"]) == (9 * CALL, 2 * CALL, None)


def test_what_ends_a_sweep_keeps_what_was_done(tmp_path, small_blocks):
    asked = {"op": "abs", "backend": "cpu", "codes": AROUND, "workers": 1}

    def interrupting(done: int, found: int, of: int) -> None:
        assert (found, of) == (0, 4 * CALL)
        if done == 2 * CALL:
            raise KeyboardInterrupt

    ended = sweep(**asked, out=tmp_path, on_block=interrupting)
    assert isinstance(ended.reason, KeyboardInterrupt)
    assert (ended.record["stopped"], ended.record["swept"]) == ("interrupted", 2 * CALL)
    assert record.word(ended.record) == "partial"
    path = tmp_path / "blocks.jsonl"
    path.write_bytes(path.read_bytes() + b'{"codes":[1,')  # a line that was being written
    done = []
    found = sweep(**asked, resume=[tmp_path], on_block=lambda *counts: done.append(counts)).record
    assert (found["summary"]["correctly_rounded"], found["swept"], found["stopped"]) == (4 * CALL, 4 * CALL, None)
    assert done == [(3 * CALL, 2 * CALL, 4 * CALL), (4 * CALL, 2 * CALL, 4 * CALL)]
    assert len(path.read_text().splitlines()) == 1 + 4


def test_a_killed_sweep_goes_on(tmp_path):
    """kill -9 of the command; the journal has the blocks that were done."""
    command = [sys.executable, "-m", "conform", "sweep", "neg", "--backend", "cpu", "--range", "0x3f800000:0x40ffffff"]
    begun = [*command, "--out", str(tmp_path), "--workers", "2"]
    running = subprocess.Popen(begun, cwd=ROOT, stdout=subprocess.DEVNULL)
    path = tmp_path / "blocks.jsonl"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and (not path.exists() or path.read_bytes().count(b"\n") < 2):
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.wait()
    lines = path.read_bytes().count(b"\n")
    assert 2 <= lines < 7
    resumed = subprocess.run(
        [*command, "--resume", str(tmp_path), "--workers", "1", "--quiet"], cwd=ROOT, capture_output=True, text=True
    )
    assert (resumed.returncode, resumed.stderr) == (0, "")
    assert resumed.stdout == "conformant: 25,165,824 of 25,165,824 inputs, 25,165,824 compared, 0 failed\n"
    found = json.loads((tmp_path / "sweep.json").read_text())
    assert found["environment"]["timings"]["inputs"] == 25_165_824 - (lines - 1) * 2**22
    assert (found["max_error_ulp"], found["summary"]["correctly_rounded"]) == (0.0, 25_165_824)


def test_a_process_of_the_kit_that_ends_is_told(small_blocks, monkeypatch):
    """The journal keeps the blocks before; here it ends with the first."""
    monkeypatch.setattr("conform.sweep.pool._serve", _ends)
    ended = sweep("abs", "cpu", codes=AROUND, workers=2)
    assert (ended.record["swept"], ended.reason.exit_code) == (0, 70)
    assert "a process of the kit ended on the inputs 0x3f9" in ended.record["stopped"]
    assert "exited with code 3" in ended.record["stopped"]


def _ends(*_: object) -> None:
    os._exit(3)


THIS = b'{"schema":"conform.sweep.blocks/1","dtype":"float32","operands":["self"]}\n'


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "no line of it is whole"),
        (b'{"schema": "conform.run/1"}\n', ":1: not a line of a sweep's journal: ValueError: its schema is"),
        (b"[]\n", ":1: not a line"),
        (b"\xff\n", ":1: not a line"),
        (THIS + b'{"codes":[1,2]}\n', ":2: not a line"),
        (b"[" * 100_000 + b"\n", ":1: not a line"),
        (THIS, "the journal of another sweep: op: found null"),
    ],
)
def test_what_is_no_journal_of_this_sweep(tmp_path, content, problem):
    (tmp_path / "blocks.jsonl").write_bytes(content)
    with pytest.raises(UsageError, match=problem):
        sweep("abs", "cpu", codes=AROUND, resume=[tmp_path])
    assert (tmp_path / "blocks.jsonl").read_bytes() == content


def test_the_files_of_a_sweep_before_are_set_aside(tmp_path):
    for name in ("blocks.jsonl", "sweep.json"):
        (tmp_path / name).write_text("of an earlier sweep")
    sweep("abs", "cpu", codes=AROUND, out=tmp_path, workers=1)
    assert {path.name for path in tmp_path.iterdir()} == {"blocks.jsonl", "blocks.jsonl~", "sweep.json", "sweep.json~"}
    assert (tmp_path / "sweep.json~").read_text() == "of an earlier sweep"


def test_a_journal_is_written_by_one_sweep_alone(tmp_path):
    with Journal(tmp_path, {"op": "aten::abs"}):
        with pytest.raises(UsageError, match="another sweep is writing there"):
            Journal(tmp_path, {"op": "aten::abs"})
        assert (tmp_path / "blocks.jsonl").read_text() == '{"schema":"conform.sweep.blocks/1","op":"aten::abs"}\n'


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([*arguments])
    shown = capsys.readouterr()
    return ended.value.code, shown.out, shown.err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["sum"], "does not work element by element"),
        (["exp", "--range", "5"], "expected two codes"),
        (["exp", "--range", "9:5"], "--range: found the codes 0x9 to 0x5"),
        (["exp", "--dtype", "float16", "--range", "0:0x10000"], "within 0x0 to 0xffff"),
        (["exp", "--shard", "3/2"], "shard: expected I/N with 1 <= I <= N, got '3/2'"),
        (["exp", "--timeout", "0"], "timeout: expected seconds > 0"),
        (["exp", "--arg", "base"], "--arg 'base'"),
        (["exp", "--contract", "opencI"], "did you mean 'opencl'"),
        (["exp", "--resume", "nowhere"], "no sweep's journal there"),
        (["exp", "--resume", "a", "--resume", "b"], "expected --out DIR"),
        (["exp", "--known", "nowhere"], "--known nowhere: no sweep's journal there"),
        (["clamp", "--dtype", "float16"], "max is None"),
        (["clamp", "--dtype", "float16"], "--arg NAME=VALUE gives an argument that is no tensor"),
        (["exp", "--backend", "cuda"], "2 names given"),
    ],
)
def test_usage(capsys, arguments, problem):
    code, shown, error = run(capsys, "sweep", "--backend", "cpu", *arguments)
    assert (code, shown) == (2, "")
    assert problem in error


def test_what_a_person_reads(capsys):
    asked = ["sweep", "exp", "--backend", f"{PLANTED}OneWrong", "--range", f"{PLACE - 3}:{PLACE + 4}"]
    code, shown, error = run(capsys, *asked)
    assert (code, error) == (1, "")
    lines = shown.splitlines()
    assert "sweep of aten::exp float32 on one_wrong 1" in lines[0]
    assert lines[1] == "contract opencl, codes 0x3f9d70a1 to 0x3f9d70a8"
    assert lines[3].startswith("largest error: 7.997324 ulp")
    assert lines[3].endswith("at self = 1.23 = 0x1.3ae148p+0")
    assert lines[-1] == "not conformant: 8 of 8 inputs, 8 compared, 1 failed"
