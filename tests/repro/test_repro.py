"""`conform repro`: its scripts show the difference when they run; and what it says when there is nothing to show."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from conform.cli import main

pytestmark = pytest.mark.one_in(6)

BACKEND = """
import os

import torch

from conform.backends import TorchDevice


class Wrong(TorchDevice):
    name, views_share_memory = "wrong", True

    def __init__(self):
        super().__init__("cpu")

    def run(self, op, args, kwargs):
        return getattr(self, op.removeprefix("aten::").partition(".")[0])(op, args, kwargs)

    def add(self, op, args, kwargs):  # ignores alpha
        return super().run(op, args, {})

    def mul(self, op, args, kwargs):  # ignores strides
        return super().run(op, [one.as_strided(one.shape, torch.empty(one.shape).stride()) for one in args], {})

    def maximum(self, op, args, kwargs):  # crashes on nothing
        if args[0].numel() == 0:
            os._exit(3)
        return super().run(op, args, kwargs)

    def cumsum(self, op, args, kwargs):  # crashes on a dim out of range
        if args[1] > 1:
            os._exit(4)
        return super().run(op, args, kwargs)

    def div(self, op, args, kwargs):  # overwrites
        args[0].zero_()
        return super().run(op, args, kwargs)

    def remainder(self, op, args, kwargs):  # takes anything
        return torch.zeros(2)

    def t(self, op, args, kwargs):  # copies
        return super().run(op, args, kwargs).clone()

    def neg(self, op, args, kwargs):  # returns the very numbers that it got
        return args[0]

    def batch_norm(self, op, args, kwargs):  # moves no statistics
        return super().run(op, [*args[:3], args[3].clone(), args[4].clone(), *args[5:]], kwargs)

    def exp(self, op, args, kwargs):  # gives the wrong dtype
        return super().run(op, args, kwargs).double()
"""

SUITE = """
presets:
  x: {type: tensor, shape: [3, 5], dtype: float32, init: normal}
  nothing: {type: tensor, shape: [0, 3], dtype: float32}
  three: {type: tensor, shape: [3], dtype: float32}
  five: {type: tensor, shape: [5], dtype: float32, low: 1.0, high: 2.0}
  none: {type: const, value: null}
  near_a_tie: {type: const_tensor, shape: [3], dtype: float64, value: [2.5, 1.0039062500000002, -7.0]}
tests:
  - {id: alpha, op: aten::add, in: [{ref: x}, {ref: x}], kwargs: {alpha: {type: const, value: 2}}}
  - {id: strides, op: aten::mul, in: [{ref: x}, {ref: x}]}
  - {id: empty, op: aten::maximum, in: [{ref: nothing}, {ref: three}]}
  - {id: overwrites, op: aten::div, in: [{ref: x}, {ref: x}]}
  - {id: misfit, op: aten::remainder, in: [{ref: x}, {ref: nothing}]}
  - {id: refused, op: aten::cumsum, in: [{ref: x}, {type: const, value: 2}]}
  - {id: dtype, op: aten::exp, in: [{ref: x}]}
  - {id: right, op: aten::maximum, in: [{ref: x}, {ref: x}]}
  - {id: copied, op: aten::t, in: [{ref: x}]}
  - {id: returned, op: aten::neg, in: [{ref: x}]}
  - {id: unmoved, op: aten::batch_norm, in: [{ref: x}, {ref: none}, {ref: none}, {ref: five}, {ref: five},
     {type: const, value: true}, {type: const, value: 0.5}, {type: const, value: 0.25}, {type: const, value: false}]}
"""
CAST = """
tests:
  - id: cast
    op: aten::_to_copy
    in: [{type: const_tensor, shape: [3], dtype: float64, value: [2.5, 1.0039062500000002, -7.0]}]
    kwargs: {dtype: {type: const, value: bfloat16}}
"""


def run(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, words)
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of the wrong backend."""
    folder = tmp_path_factory.mktemp("repro")
    (folder / "backend.py").write_text(BACKEND)
    (folder / "suite.yaml").write_text(SUITE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run("check", "suite.yaml", "--backend", "backend.py::Wrong", "--layouts", "all", "--out", "out")[0] == 1
    return folder


def test_torch_alone_shows_its_double_rounding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("suite.yaml").write_text(CAST)
    assert run("check", "suite.yaml", "--backend", "cpu", "--out", "out")[0] == 1
    code, text, _ = run("repro", "cast/float64/typical/contiguous", "--run", "out")
    assert code == 0
    assert "conform" not in text.partition("import sys")[2]
    assert "self = torch.tensor([1.0039062500000002], dtype=torch.float64)" in text
    assert "actual = torch.ops.aten._to_copy.default(self, dtype=torch.bfloat16)" in text
    Path("script.py").write_text(text)
    ended = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, timeout=60)
    assert "[0]  expected 0x1.0200000000000p+0  actual 0x1.0000000000000p+0  differs" in ended.stdout
    assert (ended.returncode, ended.stderr) == (1, "")


@pytest.mark.parametrize(
    ("case_id", "part", "shown"),
    [
        ("alpha/float32/typical/contiguous", "[self, other], {'alpha': 0})", "differs"),
        ("strides/float32/typical/transposed.1", ".as_strided([2, 2], [1, 2], 0)", "differs"),
        ("empty/float32/typical/contiguous", "# crash: exited with code 3", None),
        ("overwrites/float32/typical/contiguous", "before =", "self before [1.0] after [0.0]"),
        ("misfit/float32/typical/contiguous", "# must raise: ", "tensor([0., 0.])"),
        ("refused/float32/typical/contiguous", "# must raise: aten::cumsum: argument dim: found 2, expected dim", None),
        ("dtype/float32/typical/contiguous", "dtype=torch.float32", "actual torch.float64"),
        ("copied/float32/typical/contiguous", "output = ", "in the memory of an argument: False expected: True"),
        ("returned/float32/typical/contiguous", "output = ", "in the memory of an argument: True expected: False"),
        ("unmoved/float32/typical/contiguous", "actual = running_", "differs"),
    ],
)
def test_a_wrong_backend(
    checked: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, case_id: str, part: str, shown: str
) -> None:
    """The script for the case, and what it shows when it runs (the crash would end this process)."""
    monkeypatch.chdir(checked)
    code, text, told = run("repro", case_id, "--run", "out", "--backend", "backend.py::Wrong")
    assert code == 0, told
    assert "load('backend.py::Wrong')" in text
    assert part in text
    if shown is not None:
        with pytest.raises(SystemExit) as ended:
            exec(compile(text, "script.py", "exec"), {})
        assert ended.value.code in (1, True)
        assert shown in capsys.readouterr().out


@pytest.mark.parametrize(
    ("case_id", "entry", "options"),
    [
        (
            "alpha/float32/typical/contiguous",
            ["    op: aten::add.Tensor", "    in:", "      - {type: scalar_tensor, dtype: float32, value: 1.0}",
             "      - {type: scalar_tensor, dtype: float32, value: 1.0}", "    kwargs:",
             "      alpha: {type: const, value: 0}"],
            "",
        ),
        (
            "strides/float32/typical/transposed.1",
            ["    op: aten::mul.Tensor", "    in:",
             "      - {type: scalar_tensor, dtype: float32, value: 1.0}"],
            " --layouts all --id 'repro/*/transposed.1'",
        ),
        (
            "empty/float32/typical/contiguous",
            ["    op: aten::maximum", "    in:"],
            "",
        ),
        (
            "refused/float32/typical/contiguous",
            ["    op: aten::cumsum", "    in:", "      - {type: scalar_tensor, dtype: float32, value: 1.0}"],
            " --checks refusal",  # which does not count of a class in a file
        ),
    ],
)  # fmt: skip
def test_the_case_as_a_suite_file_fails_as_it_did(
    checked: Path, monkeypatch: pytest.MonkeyPatch, case_id: str, entry: list[str], options: str
) -> None:
    monkeypatch.chdir(checked)
    code, text, told = run("repro", case_id, "--run", "out", "--backend", "backend.py::Wrong", "--yaml")
    assert code == 0, told
    lines = text.splitlines()
    assert lines[1] == f"# Found by conform 0.1.0, case {case_id}, seed 0."
    assert lines[2] == f"# conform check repro.yaml --backend backend.py::Wrong{options}"
    assert lines[3:5] == ["tests:", "  - id: repro"]
    assert lines[5 : 5 + len(entry)] == entry
    Path("repro.yaml").write_text(text)
    assert run(*shlex.split(lines[2].removeprefix("# conform ")), "--out", "again")[0] == 1
    before, after = (json.loads(Path(folder, "run.json").read_text()) for folder in ("out", "again"))
    before, after = ([*record["cases"], *record["not_counted"]] for record in (before, after))
    (was,) = [case for case in before if case["id"] == case_id]
    after = [case for case in after if case["check"] != "determinism"]
    assert {(case["status"], kind(case["reason"])) for case in after} == {(was["status"], kind(was["reason"]))}


def kind(reason: str) -> str:
    """A reason without the numbers of its call."""
    return re.sub(r"\d+|:.*", "", reason)


def test_what_cannot_be_repeated(checked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(checked, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for words, message in [
        (("alpha", "--run", "nowhere"), "nowhere/run.json: No such file or directory; name a directory that"),
        (("alpha/float32/typicl", "--run", "out"), "has no case 'alpha/float32/typicl'; did you mean 'alpha/float32/"),
        (("right/float32/typical/contiguous", "--run", "out"), "did not fail in out: its status is pass"),
    ]:
        code, text, told = run("repro", *words)
        assert (code, text) == (2, ""), words
        assert message in told
    Path("suite.yaml").write_text(SUITE + "\n# changed\n")
    words = ("repro", "alpha/float32/typical/contiguous", "--run", "out", "--backend", "backend.py::Wrong")
    assert run(*words)[2] == (
        "conform: suite.yaml changed since out: run `conform check` again\n"
    )
    Path("out/run.json").write_text("{")
    assert "out/run.json: not JSON" in run("repro", "alpha", "--run", "out")[2]
    Path("out/run.json").write_text(json.dumps({"schema": "conform.run/0"}))
    assert run("repro", "alpha", "--run", "out")[2] == (
        "conform: out/run.json: written in the schema 'conform.run/0'; conform 0.1.0 reads conform.run/2: run `conform "
        "check` again, or read it with the version that wrote it\n"
    )
    Path("out/run.json").write_text(json.dumps({"schema": "conform.run/1", "kit": {"version": "0.0.9\n\x1b[2J"}}))
    told = run("repro", "alpha", "--run", "out")[2]
    assert told.startswith("conform: out/run.json: written by conform 0.0.9 \\x1b[2J in the schema 'conform.run/1'; ")


IN_HALVES = """
import torch

from conform.backends import TorchDevice


class InHalves(TorchDevice):  # of several threads the last does nothing
    name = "in halves"

    def __init__(self):
        super().__init__("cpu")

    def run(self, op, args, kwargs):
        result = super().run(op, args, kwargs)
        if torch.get_num_threads() > 1:
            result.flatten()[result.numel() // 2:] = 0.0
        return result
"""


def test_threads_are_those_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kernels.py").write_text(IN_HALVES)
    Path("suite.yaml").write_text("tests: [{id: t, op: aten::exp, in: [{type: tensor, shape: [6], dtype: float32}]}]")
    words, case_id = ("suite.yaml", "--backend", "kernels.py::InHalves"), "t/float32/typical/contiguous"
    assert run("check", *words)[0] == 0
    assert run("check", *words, "--threads", "3", "--out", "out")[0] == 1
    code, text, told = run("repro", case_id, "--run", "out", "--backend", "kernels.py::InHalves")
    assert code == 0, told
    assert "\ntorch.set_num_threads(3)\n" in text
    _, text, _ = run("repro", case_id, "--run", "out", "--backend", "kernels.py::InHalves", "--yaml")
    assert "# conform check repro.yaml --backend kernels.py::InHalves --threads 3" in text.splitlines()


def test_a_failure_that_is_gone_is_said_so(checked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(checked, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    Path("backend.py").write_text(BACKEND.replace("args, {})", "args, kwargs)", 1))
    code, _, told = run("repro", "alpha/float32/typical/contiguous", "--run", "out", "--backend", "backend.py::Wrong")
    assert (code, told) == (
        2, "conform: case 'alpha/float32/typical/contiguous' gave fail in the run, and pass now\n",
    )  # fmt: skip
