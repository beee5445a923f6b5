"""`conform repro` of modules: a script that constructs the module, with its parameters as data."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conform.cli import main

pytestmark = pytest.mark.one_in(6)

OWN = """
import torch


class Inner:
    def __init__(self, by, shifts):
        self.by, self.shifts = by, shifts


class Outer:
    class Normed(torch.nn.Module):
        def __init__(self, inner, options, eps=1e-5):
            super().__init__()
            self.inner, self.by, self.shifts = inner, options.by, options.shifts
            self.norm = torch.nn.LayerNorm(4, eps=eps)
            self.register_buffer("count", torch.tensor(3))

        def forward(self, x, *, extra):
            return {"b": self.norm(self.inner(x)) * self.by, "a": [extra + self.shifts]}
"""

SUITE = """
tests:
- id: own
  op:
    type: module
    path: file:own.py::Outer.Normed
    args:
    - {type: construct, path: torch.nn.Linear, args: [6, 4]}
    - type: construct
      path: file:own.py::Inner
      args: [-0.5]
      kwargs: {shifts: {type: tensor, shape: [2], kind: float}}
    kwargs: {eps: 0.01}
  in: [{type: tensor, shape: [5, 3, 6], kind: float, init: normal}]
  kwargs: {extra: {type: tensor, shape: [2], kind: float}}
- id: wide
  op: {type: module, path: torch.nn.LayerNorm, args: [3000], kwargs: {eps: 0.5}}
  in: [{type: tensor, shape: [2, 3000], kind: float}]
- id: keeps
  op: {type: module, path: torch.nn.LayerNorm, args: [8], kwargs: {eps: 0.5}}
  in: [{type: tensor, shape: [2, 8], kind: float}]
- id: unmoved
  op:
    type: module
    path: conform.backends.in_training.InTraining
    args: [{type: construct, path: torch.nn.BatchNorm1d, args: [2]}]
  in: [{type: tensor, shape: [3, 2], kind: float, init: normal}]
- {id: written, op: {type: module, path: torch.nn.ReLU}, in: [{type: tensor, shape: [3], kind: float, init: normal}]}
"""

BACKEND = """
from conform.backends import TorchDevice


class Wrong(TorchDevice):
    name = "wrong"

    def run_module(self, module, args, kwargs):
        if type(module).__name__ == "ReLU":
            args[0].add_(1)
        if type(module).__name__ == "InTraining":
            result = super().run_module(module, args, kwargs)
            module.module.running_mean.zero_()
            return result
        for part in module.modules():
            if hasattr(part, "eps"):
                part.eps = part.eps * 10
        return super().run_module(module, args, kwargs)


class Keeps(TorchDevice):
    name, keeps_intermediates = "keeps", True

    def run(self, op, args, kwargs):
        is_whole = getattr(self, "is_whole", False)
        if op == "aten::native_layer_norm" and not is_whole:
            args = [*args[:4], args[4] * 1.25]
        return super().run(op, args, kwargs)

    def run_module(self, module, args, kwargs):
        self.is_whole = type(module).__name__ != "Steps"
        return super().run_module(module, args, kwargs)
"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("repro")
    for name, text in (("own.py", OWN), ("suite.yaml", SUITE), ("backend.py", BACKEND)):
        (path / name).write_text(text)
    for name, ids in (("Wrong", ["own/*", "wide/*", "written/*", "keeps/*", "unmoved/*"]), ("Keeps", ["keeps/*"])):
        told = path / name
        told.mkdir()
        words = ["check", path / "suite.yaml", "--backend", f"{path / 'backend.py'}::{name}", "--layouts", "all",
                 "--out", told, "--workers", 1]  # fmt: skip
        for one in ids:
            words += ["--id", one]
        assert CliRunner().invoke(main, list(map(str, words))).exit_code == 1
    return path


def repro(directory: Path, case: str, run: str = "Wrong", *more: object) -> Result:
    words = ["repro", case, "--run", directory / run, "--backend", f"{directory / 'backend.py'}::{run}", *more]
    return CliRunner().invoke(main, list(map(str, words)))


def ends(script: Path) -> tuple[int, str]:
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout


def mended(text: str) -> str:
    """The script with eager torch in the place of the backend: it needs torch alone, and is not wrong."""
    loading, call = "from conform.backends.names import load\n", "load("
    assert text.count("conform.") == 1
    head, _, rest = text.replace(loading, "").partition(f"    result = {call}")
    arguments = rest.partition(".run_module(module, ")[2].partition("\n")
    return f"{head}    result = (lambda args, kwargs: module(*args, **kwargs))({arguments[0]}\n{arguments[2]}"


def test_a_module_of_a_file_with_objects_within_is_constructed(directory: Path, tmp_path: Path) -> None:
    found = repro(directory, "own/float32/typical/transposed.0")
    assert found.exit_code == 0, found.output
    assert "class_in(" in found.output
    assert "input_0 = torch.tensor([" in found.output
    assert "reshape([5, 3, 6])" not in found.output  # of the rows one is enough
    (tmp_path / "repro.py").write_text(found.output)
    code, told = ends(tmp_path / "repro.py")
    assert code == 1
    assert "  wrong" in told
    assert "expected [('torch.float32', [2]), ('torch.float32'" in told
    (tmp_path / "mended.py").write_text(mended(found.output))
    assert ends(tmp_path / "mended.py")[0] == 0


def test_what_a_module_leaves_in_its_buffers_is_shown(directory: Path, tmp_path: Path) -> None:
    found = repro(directory, "unmoved/float32/typical/contiguous")
    assert found.exit_code == 0, found.output
    assert "updated = ['module.running_mean', 'module.running_var', 'module.num_batches_tracked']" in found.output
    (tmp_path / "repro.py").write_text(found.output)
    code, told = ends(tmp_path / "repro.py")
    assert code == 1
    assert "output 1 [0]" in told
    (tmp_path / "right.py").write_text(re.sub(r"load\('[^']*'\)", "load('self')", found.output))
    assert ends(tmp_path / "right.py")[0] == 0


def test_many_parameters_stand_in_a_file_beside_the_script(directory: Path, tmp_path: Path) -> None:
    refused = repro(directory, "wide/float32/typical/contiguous")
    assert refused.exit_code == 2
    assert "are too many for a script (the limit is 4,096): --out FILE.py" in refused.output
    out = tmp_path / "repro.py"
    for _ in range(2):  # a second one takes the place of the first
        found = repro(directory, "wide/float32/typical/contiguous", "Wrong", "--out", out)
        assert (found.exit_code, found.output) == (0, f"written: {out} {out.with_suffix('.safetensors')}\n")
    assert (tmp_path / "repro.safetensors").stat().st_size > 2 * 3000 * 4
    assert ends(out)[0] == 1
    out.write_text(mended(out.read_text()))
    assert ends(out)[0] == 0


@pytest.mark.parametrize(
    ("case", "run", "more", "told"),
    [
        ("own/float32/typical/contiguous", "Wrong", ["--yaml"], "cannot be written as YAML, which has no parameters"),
        ("keeps/float32/typical/constants", "Wrong", [], "cannot be reduced: its module holds its inputs"),
        ("written/float32/typical/contiguous", "Wrong", [], "cannot be reduced: its finding is one of mutation"),
        ("keeps/float32/typical/contiguous", "Keeps", [], "cannot be reduced: an operator of its module is wrong"),
    ],
)
def test_what_no_script_of_the_whole_module_shows(
    directory: Path, case: str, run: str, more: list[str], told: str
) -> None:
    found = repro(directory, case, run, *more)
    assert found.exit_code == 2
    assert told in found.output
    assert f"conform bisect {case} --backend NAME --out DIR makes a test" in found.output


def test_the_arguments_that_were_drawn_are_those_of_the_module(directory: Path) -> None:
    """A script has them from the tree of constructors; the module is constructed of the same."""
    from conform.frontends.construction import constructor_of, module_of
    from conform.suites import load
    from conform.suites.cases import Selection, draws

    (test,) = (one for one in load([str(directory / "suite.yaml")]).tests if one.id == "own")
    draw = next(draws(test, Selection()))
    linear, options = constructor_of(draw).args
    assert (linear.path.text, linear.args, options.args) == ("torch.nn.Linear", [6, 4], [-0.5])
    assert options.kwargs["shifts"].tolist() == module_of(draw).module.shifts.tolist()
