"""However the program ends, the record is written, and says how it ended."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conform.report.header import variant
from tests.endings.fake import SUITE

pytestmark = pytest.mark.one_in(6)

ROOT = Path(__file__).parents[2]

BACKEND = """
import os, pathlib, time
import torch, conform

class Slow(conform.Backend):
    name = "cpu"
    compute = "f16acc"
    def run(self, op, args, kwargs):
        pathlib.Path("started").touch()
        pathlib.Path(__file__).unlink(missing_ok=True)  # what is gone by the end of the run was there at its beginning
        time.sleep(0.3)
        return -args[0]

class Once(conform.Backend):
    name = "once"
    def __init__(self):
        if os.path.exists("created"):
            raise OSError("the device is gone")
        open("created", "w").close()
        self.calls = 0
    def run(self, op, args, kwargs):
        self.calls += 1
        if self.calls == 3:
            print("the last words", flush=True)
            os.abort()
        return -args[0]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kernels.py").write_text(BACKEND)
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "run.json").write_text("of an earlier run")
    return tmp_path


def started(folder: Path, *words: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "conform", "check", "suite.yaml", "--out", "out", "--no-progress", *words]
    command += ["--determinism", "1"]  # no case beside the suite's
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.parametrize(
    ("signals", "exit_code", "told"),
    [
        ([signal.SIGINT, signal.SIGINT, signal.SIGINT], 130, "interrupted"),
        ([signal.SIGHUP, signal.SIGTERM], 143, "terminated"),
    ],
)
def test_a_signal_ends_the_run_and_what_ran_is_kept(
    folder: Path, signals: list[int], exit_code: int, told: str
) -> None:
    process = started(folder, "--backend", "kernels.py::Slow")
    while not (folder / "started").exists():
        time.sleep(0.05)
    time.sleep(0.4)  # until the first case is done
    for number in signals:
        process.send_signal(number)
        time.sleep(0.01)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (exit_code, f"conform: {told}; this is what ran\n")
    record = json.loads((folder / "out" / "run.json").read_text())
    assert record["stopped"] == "interrupted"
    assert record["not_run"] == 4 - len(record["cases"]) > 0


def test_a_backend_that_cannot_be_created_again_ends_the_run_and_keeps_it(folder: Path) -> None:
    process = started(folder, "--backend", "kernels.py::Once")
    told, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert errors.startswith("conform: backend 'kernels.py::Once' is not available: OSError: the device is gone")
    record = json.loads((folder / "out" / "run.json").read_text())
    assert [case["status"] for case in record["cases"]] == ["pass", "pass", "crash"]
    assert record["not_run"] == 1
    printed = [line.removeprefix("  printed").strip() for line in told.splitlines() if line.startswith("  printed ")]
    assert [line for line in printed if line] == [
        "the last words", "Fatal Python error: Aborted", "Current thread 0x... (most recent call first):",
        f'File "{folder / "kernels.py"}", line {1 + BACKEND[: BACKEND.index("os.abort")].count(chr(10))} in run',
    ]  # fmt: skip
    assert (folder / "out" / "run.json~").read_text() == "of an earlier run"


@pytest.mark.parametrize(
    ("words", "exit_code", "left"),
    [
        (("nowhere.yaml", "--backend", "cpu"), 2, "run.json"),
        (("smoke", "--backend", "cpu", "--dtype", "floot32"), 2, "run.json"),
        (("smoke", "--backend", "cpi"), 2, "run.json"),
        (("smoke", "--backend", "mps"), 3, "run.json~"),
    ],
)
def test_what_is_no_run_changes_nothing_and_a_run_without_a_device_is_not_taken_for_an_earlier_one(
    folder: Path, words: tuple[str, ...], exit_code: int, left: str
) -> None:
    process = started(folder, *words)
    process.communicate(timeout=120)
    assert process.returncode == exit_code
    assert [path.name for path in (folder / "out").iterdir()] == [left]
    assert (folder / "out" / left).read_text() == "of an earlier run"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no files of such names")
def test_every_report_names_the_file_and_what_is_declared_and_paths_need_not_be_utf_8(folder: Path) -> None:
    (folder / "kernels.py").rename(folder / f"{os.fsdecode(bytes([255]))}.py")
    process = started(folder, "--backend", f"{os.fsdecode(bytes([255]))}.py::Slow")
    told, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (0, "")
    digest = hashlib.sha256(BACKEND.encode()).hexdigest()
    record = json.loads((folder / "out" / "run.json").read_text())
    numerics = ", ".join(variant(record["environment"]["numerics"]))
    lines = [
        "conform 0.1.0, suite suite.yaml, backend \\udcff.py::Slow, contract opencl, seed 0, checks all but refusal",
        f"backend: calls itself 'cpu', file sha256:{digest}, {numerics}, declares compute f16acc",
    ]
    (truth,) = [line for line in told.splitlines() if line.startswith("truth: ")]
    assert truth.startswith(f"truth: the interpreter, {record['truth']['digest']}; I8 ")
    lines.append(truth)
    assert told.splitlines()[:3] == lines
    assert "\n\n".join(f"`{line}`" for line in lines) in (folder / "out" / "report.md").read_text()
    properties = ElementTree.parse(folder / "out" / "junit.xml").getroot().iter("property")
    assert [one.get("value") for one in properties] == lines
    backend = record["backend"]
    assert (backend["name"], backend["source"]) == ("cpu", "\\udcff.py::Slow")
    assert backend["digest"] == f"sha256:{digest}"


@pytest.mark.parametrize(
    ("redirected", "exit_code", "said"),
    [
        ("2>&-", 0, ""),
        (">&- 2>told", 2, "conform: the output cannot be written: stdout is closed\n"),
        ("<&- 2>told", 0, ""),
    ],
)
def test_closed_streams(folder: Path, redirected: str, exit_code: int, said: str) -> None:
    command = f"{sys.executable} -m conform list smoke {redirected}"
    done = subprocess.run(command, shell=True, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)
    assert done.returncode == exit_code
    assert (folder / "told").read_text() == said if "told" in redirected else True


def test_too_few_files_are_told() -> None:
    command = f"ulimit -n 8; {sys.executable} -m conform check smoke --backend cpu"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "conform: only 8 files may be open (ulimit -n); 64 are needed\n"
