"""`conform repro` of a case of a StableHLO program: the op that fails by itself, as a file that checks itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.cli import main

pytestmark = pytest.mark.one_in(6)

PROGRAM = """module {
  func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
    %one = stablehlo.constant dense<1.0> : tensor<4xf32>
    %a = stablehlo.add %x, %one : tensor<4xf32>
    %b = func.call @inner(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %c = stablehlo.multiply %b, %y : tensor<4xf32>
    %d = stablehlo.compare LT, %c, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    return %c, %d : tensor<4xf32>, tensor<4xi1>
  }
  func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
    %a = stablehlo.tanh %x : tensor<4xf32>
    %b = stablehlo.negate %a : tensor<4xf32>
    return %b : tensor<4xf32>
  }
}
"""
WRONG = """from conform.backends.interpreter import Interpreter
from conform.errors import Unsupported


class Wrong(Interpreter):
    name = "wrong"

    def run_program(self, text, args):
        DEFECT
        return super().run_program(text, args)
"""
SINE = 'text = text.replace("stablehlo.tanh", "stablehlo.sine")'
PATH = "program.mlir"


def conform(*args: object) -> Result:
    return CliRunner().invoke(main, [*map(str, args)])


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / PATH).write_text(PROGRAM)
    return tmp_path


CASE = "program.mlir@main/float32/typical/contiguous"
BACKEND = ("--backend", "wrong.py::Wrong")


def reduced(where: Path, defect: str, *options: object, case: str = CASE) -> Result:
    (where / "wrong.py").write_text(WRONG.replace("DEFECT", defect))
    conform("check", PATH, *BACKEND, "--determinism", 1, "--out", "run", "--workers", 1, *options)
    return conform("repro", case, "--run", "run", *BACKEND)


def wrong_elements(where: Path, text: str) -> list[str]:
    (where / "found.mlir").write_text(text)
    return conform("interpret", "found.mlir").stdout.splitlines()


def test_the_op_that_fails_checks_itself(where: Path) -> None:
    found = reduced(where, SINE)
    assert found.exit_code == 0, found.output
    lines = found.stdout.splitlines()
    assert lines[0].startswith("// program.mlir@main on wrong: ")
    assert lines[1].startswith("// Cut down to stablehlo.tanh in func.call (program.mlir:5), on what it has there")
    assert "stablehlo.negate" not in found.stdout
    assert wrong_elements(where, found.stdout) == ["main.0 = dense<0> : tensor<i32>"]
    assert wrong_elements(where, found.stdout.replace("stablehlo.tanh %", "stablehlo.sine %")) != [
        "main.0 = dense<0> : tensor<i32>"
    ]


def test_the_report_has_the_command(where: Path) -> None:
    reduced(where, SINE, "--layouts", "all")
    told = (where / "run" / "report.md").read_text()
    assert f"conform repro {CASE} --run run --backend wrong.py::Wrong" in told
    assert f"conform repro {CASE.replace('contiguous', 'constants')}" not in told


def test_where_no_op_fails_by_itself_the_whole_is_written(where: Path) -> None:
    found = reduced(where, 'if "tanh" in text and "multiply" in text: args = [-args[0], args[1]]')
    assert found.stdout.splitlines()[1] == "// No op of it fails by itself."
    assert wrong_elements(where, found.stdout) == ["main.0 = dense<0> : tensor<i32>", "main.1 = dense<0> : tensor<i32>"]


def test_an_op_that_an_engine_does_not_take(where: Path) -> None:
    found = reduced(where, 'if "stablehlo.compare" in text: raise ValueError("no comparisons")')
    assert "// Cut down to stablehlo.compare (program.mlir:7)" in found.stdout
    assert "no comparisons" in found.stdout.splitlines()[0]


def test_given_arguments_are_those_of_the_run(where: Path) -> None:
    np.savez(where / "args.npz", np.full(4, 0.25, np.float32), np.ones(4, np.float32))
    found = reduced(where, SINE, "--args", "args.npz", case="program.mlir@main/float32/given/contiguous")
    assert "stablehlo.constant dense<1.25> : tensor<4xf32>" in found.stdout
    np.savez(where / "args.npz", np.full(4, 0.5, np.float32), np.ones(4, np.float32))
    changed = conform("repro", CASE.replace("typical", "given"), "--run", "run", *BACKEND)
    assert (changed.exit_code, "changed since run" in changed.output) == (2, True)


def test_what_has_no_file(where: Path) -> None:
    found = reduced(where, SINE, "--layouts", "all", case="program.mlir@main/float32/typical/constants")
    assert (found.exit_code, "its inputs stand in the program" in found.output) == (2, True), found.output
    found = conform("repro", CASE, "--run", "run", *BACKEND, "--yaml")
    assert (found.exit_code, "leave out --yaml" in found.output) == (2, True), found.output


def test_complex_numbers_are_called_without_a_range(where: Path) -> None:
    (where / PATH).write_text("""func.func @main(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = stablehlo.tanh %x : tensor<2xcomplex<f32>>
  %1 = stablehlo.negate %0 : tensor<2xcomplex<f32>>
  return %1 : tensor<2xcomplex<f32>>
}
""")
    found = reduced(where, SINE, case="program.mlir@main/complex64/typical/contiguous")
    assert found.exit_code == 0, found.output
    assert "// Cut down to stablehlo.tanh (program.mlir:2)" in found.stdout
    assert "What it should give is not in it: complex numbers are no range" in found.stdout
    assert conform("interpret", where / PATH).exit_code == 2
    (text,) = wrong_elements(where, found.stdout)
    assert text.startswith("main.0 = dense<[(")
