"""The command line: what it prints where, its exit codes, how soon help answers. The run itself is a fake here."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from conform.backends.names import BUILT_IN
from conform.backends.spelling import spelt
from conform.cli import main
from conform.errors import ConformError, Unjudged, UsageError
from conform.explain.case import find_case
from conform.report.record import Interrupted, Run
from conform.suites import load
from tests.report.verdicts import CRASHED, FAILED, PASSED, UNSPECIFIED, run_of

Fake = Callable[..., Run]


@pytest.fixture
def fake_check(monkeypatch: pytest.MonkeyPatch) -> Callable[[Fake], None]:
    """Puts a function in the place of `conform.straight_line.check`."""

    def put(function: Fake) -> None:
        module = ModuleType("conform.straight_line")
        module.check = function  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "conform.straight_line", module)

    return put


def conform(*words: str) -> Result:
    return CliRunner().invoke(main, words, catch_exceptions=False)


def test_the_words_of_the_command_reach_the_run(fake_check: Callable[[Fake], None], tmp_path: Path) -> None:
    asked: dict[str, Any] = {}

    def record(suites: tuple[str, ...], **selection: object) -> Run:
        asked.update(selection, suites=suites)
        return run_of(PASSED)

    fake_check(record)
    words = (
        "check smoke mine.yaml --backend cpu --backend-option n=3 --op aten::add --op aten::mul* --dtype float16 "
        "--id *special* --seed 7 "
        "--exclude aten::mul.Scalar --exclude */float64/* --checks accuracy --checks special,layout "
        "--samples 3 --values all --layouts as-written --contract cr --timeout 2.5 --jail "
        "--golden-timeout 9 --min-coverage 0.75 --shard 2/3 --workers 4 --budget 60 "
        "--args in.npz --import spyre --waivers known.yaml --manifest mine.manifest --oracle refs --determinism 5 "
        "--gradients --fail-fast --full-record --no-progress --known judged --threads 6"
    )
    assert conform(*words.split(), "--out", str(tmp_path)).exit_code == 0
    assert callable(asked.pop("on_verdict"))
    assert callable(asked.pop("on_end"))
    assert asked == {
        "suites": ("smoke", "mine.yaml"), "backend": "cpu(n=3)", "ops": ("aten::add", "aten::mul*"),
        "dtypes": ("float16",), "ids": ("*special*",), "exclude": ("aten::mul.Scalar", "*/float64/*"),
        "gradients": True, "checks": "accuracy,special,layout", "seed": 7, "samples": 3, "values": "all",
        "layouts": "as-written", "arguments": Path("in.npz"), "contract": "cr", "timeout_s": 2.5,
        "waivers": "known.yaml",
        "manifest": "mine.manifest", "oracle": "refs",
        "golden_timeout_s": 9.0, "min_coverage": 0.75, "jail": True, "out": tmp_path,
        "resume": None, "shard": "2/3", "workers": 4, "budget_s": 60.0, "imports": ("spyre",),
        "fail_fast": True, "full_record": True, "determinism": 5, "known": Path("judged"), "threads": 6,
    }  # fmt: skip


def test_defaults(fake_check: Callable[[Fake], None]) -> None:
    asked: dict[str, Any] = {}

    def record(suites: tuple[str, ...], **selection: object) -> Run:
        asked.update(selection, suites=suites)
        return run_of(PASSED)

    fake_check(record)
    assert conform("check", "--backend", "cpu").exit_code == 0
    del asked["on_verdict"], asked["on_end"]
    assert asked == {
        "suites": ("core",), "backend": "cpu", "ops": (), "dtypes": (), "ids": (), "exclude": (), "checks": None,
        "seed": 0, "samples": 1,
        "values": None, "layouts": None, "arguments": None, "contract": "opencl",
        "timeout_s": 30.0, "golden_timeout_s": 60.0,
        "min_coverage": 0.5, "jail": False, "out": None, "resume": None, "shard": None, "workers": None,
        "budget_s": None, "imports": (), "waivers": None, "manifest": None, "oracle": "interp",
        "fail_fast": False, "full_record": False, "determinism": 3, "gradients": False, "known": None, "threads": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("run", "expected"),
    [(run_of(PASSED), 0), (run_of(PASSED, FAILED), 1), (run_of(CRASHED), 1), (run_of(UNSPECIFIED), 3)],
)
def test_exit_code_is_the_runs(fake_check: Callable[[Fake], None], run: Run, expected: int) -> None:
    fake_check(lambda *_, **__: run)
    assert conform("check", "--backend", "cpu").exit_code == expected


@pytest.mark.parametrize(
    ("error", "expected"), [(UsageError("no op is like 'aten::ad'"), 2), (Unjudged("no device"), 3)]
)
def test_a_users_mistake_is_a_message_on_stderr(
    fake_check: Callable[[Fake], None], error: ConformError, expected: int
) -> None:
    def refuse(*_: object, **__: object) -> Run:
        raise error

    fake_check(refuse)
    result = conform("check", "--backend", "cpu")
    assert (result.exit_code, result.stdout, result.stderr) == (expected, "", f"conform: {error}\n")


def test_quiet_prints_one_line(fake_check: Callable[[Fake], None]) -> None:
    fake_check(lambda *_, **__: run_of(PASSED, FAILED))
    result = conform("check", "--backend", "cpu", "--quiet")
    assert result.stdout == (
        "not conformant: conformance 50.00 % (1 of 2 judged cases pass), coverage 100 % (2 of 2 asked are judged); "
        "48 elements compared\n"
    )


def test_out_holds_the_four_files_and_they_are_named(fake_check: Callable[[Fake], None], tmp_path: Path) -> None:
    fake_check(lambda *_, **__: run_of(PASSED))
    result = conform("check", "--backend", "cpu", "--out", str(tmp_path))
    names = ("run.json", "junit.xml", "report.md", "report.html")
    assert result.stdout.splitlines()[-1] == "written: " + " ".join(str(tmp_path / name) for name in names)
    assert all((tmp_path / name).is_file() for name in names)


def test_full_record_reaches_the_file(fake_check: Callable[[Fake], None], tmp_path: Path) -> None:
    fake_check(lambda *_, **__: run_of(PASSED))
    assert conform("check", "--backend", "cpu", "--out", str(tmp_path), "--full-record").exit_code == 0
    assert json.loads((tmp_path / "run.json").read_text())["cases"][0]["checks"] == 3


def test_version() -> None:
    result = conform("--version")
    assert (result.exit_code, result.stdout) == (0, f"conform {metadata.version('conform')}\n")


def test_interrupted_keeps_what_ran(fake_check: Callable[[Fake], None], tmp_path: Path) -> None:
    def interrupt(*_: object, **__: object) -> Run:
        raise Interrupted(run_of(PASSED, asked=10))

    fake_check(interrupt)
    result = conform("check", "--backend", "cpu", "--out", str(tmp_path))
    assert (result.exit_code, result.stderr) == (130, "conform: interrupted; this is what ran\n")
    record = json.loads((tmp_path / "run.json").read_text())
    assert (record["summary"]["asked"], record["summary"]["pass"], record["not_run"]) == (10, 1, 9)
    assert "not judged: not run 9" in result.stdout


def test_interrupted_before_anything_ran(fake_check: Callable[[Fake], None]) -> None:
    def interrupt(*_: object, **__: object) -> Run:
        raise KeyboardInterrupt

    fake_check(interrupt)
    result = conform("check", "--backend", "cpu")
    assert (result.exit_code, result.stderr) == (130, "conform: interrupted\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("check",), "Missing option '--backend'"),
        (("check", "--backend", "cpu", "--backend", "cpu"), "cpu is named twice"),
        (("check", "--backend", "cpu", "--samples", "0"), "0 is not in the range x>=1"),
        (("check", "--backend", "cpu", "--timeout", "0"), "timeout: expected seconds > 0 and <= 86400, got 0.0"),
        (("check", "--backend", "cpu", "--timeout", "nan"), "timeout: expected seconds > 0 and <= 86400, got nan"),
        (("check", "--backend", "cpu", "--timeout", "inf"), "timeout: expected seconds > 0 and <= 86400, got inf"),
        (("check", "--backend", "cpu", "--timeout", "1e10"), "timeout: expected seconds > 0 and <= 86400, got 1000"),
        (("check", "--backend", "cpu", "--values", "some"), "'some' is not one of"),
        (("validate",), "Missing argument 'SUITE ...'"),
        (("chek",), "No such command 'chek'"),
    ],
)
def test_bad_usage_exits_2(words: tuple[str, ...], message: str) -> None:
    result = conform(*words)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("words", [("list", "smoke"), ("schema",), ("--help",), ("list", "--help")])
def test_output_that_cannot_be_written_is_one_line_and_exits_2(words: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "conform", *words], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == "conform: the output cannot be written: No space left on device\n"


def test_a_report_that_cannot_be_written_does_not_lose_the_run(
    fake_check: Callable[[Fake], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_check(lambda *_, **__: run_of(PASSED, FAILED))
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
    result = conform("check", "--backend", "cpu", "--out", str(tmp_path))
    assert result.exit_code == 2
    assert "not conformant: conformance 50.00 %" in result.stdout
    assert result.stderr == f"conform: {tmp_path / 'run.json'} cannot be written: Permission denied\n"


def test_interrupted_while_it_loads_is_one_line_whoever_swallows_exceptions() -> None:
    code = (
        "import contextlib, os, signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background ignores it
        "from conform.__main__ import main\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *_):\n"
        "        with contextlib.suppress(KeyboardInterrupt):\n"
        "            if name == 'click': os.kill(os.getpid(), signal.SIGINT); time.sleep(5)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "sys.argv = ['conform', 'list', 'smoke']\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "conform: interrupted\n")


def test_colour_is_for_terminals_alone(fake_check: Callable[[Fake], None], monkeypatch: pytest.MonkeyPatch) -> None:
    fake_check(lambda *_, **__: run_of(FAILED))
    words = ("check", "--backend", "cpu")
    assert "\x1b[" not in conform(*words).stdout
    assert "\x1b[" in CliRunner().invoke(main, words, color=True).stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in CliRunner().invoke(main, words, color=True).stdout


def test_help_imports_nothing_heavy() -> None:
    """So that it answers at once: benchmarks/startup.py says how fast."""
    heavy = "{'numpy', 'torch', 'mpmath', 'yaml', 'pydantic', 'tabulate', 'tqdm'}"
    code = f"import sys, conform.cli; sys.exit(str(sorted({heavy} & set(sys.modules))))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert loaded.stderr.strip() == "[]"


def test_without_docstrings_nothing_is_run() -> None:
    command = [sys.executable, "-OO", "-m", "conform", "check", "smoke", "--backend", "cpu"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("conform: Python runs with -OO or PYTHONOPTIMIZE=2, without docstrings")


def test_too_little_memory_is_told(fake_check: Callable[[Fake], None]) -> None:
    def fails(*_: Any, **__: Any) -> Run:
        raise MemoryError

    fake_check(fails)
    result = CliRunner().invoke(main, ["check", "--backend", "cpu"])
    assert (result.exit_code, result.stderr.startswith("conform: there is not enough memory")) == (2, True)


def helps() -> str:
    """The help texts of all verbs."""
    context = click.Context(main)
    verbs = [main.get_command(context, name) for name in main.list_commands(context)]
    return "\n".join(verb.get_help(click.Context(verb)) for verb in verbs)


def test_the_backends_in_the_examples_of_help_texts_are_spelt_right() -> None:
    names = set(re.findall(r"conform \w+ .*--backend (\S+)", helps()))
    assert {"cpu", "mine.py::Mine", "folder:kernels"} <= names
    others = {name for name in names if spelt(name).path is None} - {"cpu", "cuda", "mps", *BUILT_IN}
    assert others == set()


def examples() -> dict[str, str]:
    """The case ids in the examples of help texts, and the built-in suite that has them."""
    lines = [line for line in helps().splitlines() if "--suite" not in line and "--run" not in line]
    found = re.findall(r"conform (\w+) ([\w.]+/\w+/\w+/[\w.]+)", "\n".join(lines))
    return {case_id: "modules" if verb == "bisect" else "core" for verb, case_id in found}


def test_the_cases_in_the_examples_of_help_texts_are_there() -> None:
    found = examples()
    assert len(found) >= 3
    for case_id, suite in found.items():
        assert find_case(case_id, load((suite,), ids=(case_id,)), 0).id == case_id
