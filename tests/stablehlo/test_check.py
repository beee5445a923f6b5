"""`conform check FILE.mlir`: programs as cases, from the outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.cli import main

pytestmark = pytest.mark.one_in(6)

ROOT = Path(__file__).parents[2]

LAYER = """func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) -> tensor<4x3xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.tanh %0 : tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}
"""  # noqa: E501
CHECKS = """func.func @main() -> tensor<2xf32> {
  %a = stablehlo.constant dense<[1.0, 0.1]> : tensor<2xf32>
  %b = stablehlo.exponential %a : tensor<2xf32>
  check.expect_close %b, %b, max_ulp_difference = LIMIT : tensor<2xf32>, tensor<2xf32>
  %c = stablehlo.tanh %a : tensor<2xf32>
  check.expect_almost_eq %c, %c : tensor<2xf32>
  return %a : tensor<2xf32>
}
"""
BACKEND = '''import conform
from conform.backends.interpreter import Interpreter


class Wrong(Interpreter):
    """The interpreter, but for one op."""

    name = "wrong"

    def run_program(self, text, args):
        return super().run_program(text.replace({old!r}, {new!r}), args)
'''


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "layer.mlir"
    path.write_text(LAYER)
    return path


def check(*words: object) -> Result:
    return CliRunner().invoke(main, ["check", *map(str, words), "--no-progress", "--workers", "1"])


def cases(out: Path) -> list[dict[str, Any]]:
    return json.loads((out / "run.json").read_text())["cases"]


def wrong(tmp_path: Path, old: str, new: str) -> str:
    path = tmp_path / "wrong.py"
    path.write_text(BACKEND.format(old=old, new=new))
    return f"{path}::Wrong"


def test_a_program_passes(file: Path, tmp_path: Path) -> None:
    found = check(file, "--backend", "self", "--determinism", 1, "--out", tmp_path / "out")
    assert found.exit_code == 0, found.output
    (case,) = cases(tmp_path / "out")
    assert (case["id"], case["op"], case["status"]) == (
        "layer.mlir@main/float32/typical/contiguous", "layer.mlir@main", "pass"
    )  # fmt: skip
    assert "12 elements compared" in found.output


def test_xla_passes(file: Path) -> None:
    found = check(file, "--backend", "xla")
    assert found.exit_code == 0, found.output


def test_a_wrong_engine_fails(file: Path, tmp_path: Path) -> None:
    found = check(file, "--backend", wrong(tmp_path, "stablehlo.tanh", "stablehlo.sine"))
    assert found.exit_code == 1
    assert f"repeat    conform check {file} --backend" in found.output
    assert "error above the bound" in found.output


def test_what_an_engine_leaves_out_fails(file: Path, tmp_path: Path) -> None:
    file.write_text(LAYER.replace("return %1 :", "return %0, %1 : tensor<4x3xf32>,").replace(
        "-> tensor<4x3xf32> {", "-> (tensor<4x3xf32>, tensor<4x3xf32>) {", 1))
    found = check(file, "--backend", wrong(tmp_path, "return %0, %1 : tensor<4x3xf32>,", "return %1 :"))
    assert found.exit_code == 1


def test_an_engine_that_has_no_programs_is_unsupported(file: Path) -> None:
    found = check(file, "--backend", "cpu")
    assert found.exit_code == 3
    assert "unsupported, 1 of 1 ops: layer.mlir@main" in found.output


# --- What a program gets ----------------------------------------------------------------------------------------------


def saved(path: Path, *arrays: np.ndarray) -> Path:
    np.savez(path, *arrays)
    return path


def test_arguments_are_given(file: Path, tmp_path: Path) -> None:
    x, w = np.full((4, 8), np.nan, np.float32), np.ones((8, 3), np.float32)
    given = saved(tmp_path / "in.npz", x, w)
    found = check(file, "--args", given, "--backend", wrong(tmp_path, "tanh", "abs"), "--out", tmp_path / "out")
    assert found.exit_code == 0, found.output  # NaN both
    given = saved(tmp_path / "in.npz", np.ones((4, 8), np.float32), w)
    found = check(file, "--args", given, "--backend", wrong(tmp_path, "tanh", "abs"))
    assert found.exit_code == 1
    assert f"--args {given}" in found.output
    assert "layer.mlir@main/float32/given/contiguous" in found.output


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ([np.ones((4, 8), np.float32)], r"takes 2 arguments (float32[4, 8], float32[8, 3]), --args has 1"),
        ([np.ones((4, 8)), np.ones((8, 3))], "argument 0 of @main: found float64[4, 8], expected float32[4, 8]"),
    ],
)
def test_arguments_that_do_not_fit(file: Path, tmp_path: Path, arrays: list[np.ndarray], message: str) -> None:
    found = check(file, "--args", saved(tmp_path / "in.npz", *arrays), "--backend", "self")
    assert found.exit_code == 2
    assert message in found.output


OF_OPEN_SIZE = "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n  return %x : tensor<?xf32>\n}\n"
OF_INT4 = "func.func @main(%x: tensor<3xi4>) -> tensor<3xi4> {\n  return %x : tensor<3xi4>\n}\n"
TWO = "func.func @f() -> tensor<1xf32> {{\n{0}}}\nfunc.func @g() -> tensor<1xf32> {{\n{0}}}\n".format(
    "  %0 = stablehlo.constant dense<1.0> : tensor<1xf32>\n  return %0 : tensor<1xf32>\n"
)
CHECK_WITHIN = """func.func @main(%p: tensor<i1>, %x: tensor<3xf32>) -> tensor<3xf32> {
  %q = "stablehlo.if"(%p) ({
    check.expect_eq %x, %x : tensor<3xf32>
    stablehlo.return %x : tensor<3xf32>
  }, {
    stablehlo.return %x : tensor<3xf32>
  }) : (tensor<i1>) -> tensor<3xf32>
  return %q : tensor<3xf32>
}
"""


@pytest.mark.parametrize(
    ("text", "words", "code", "message"),
    [
        (OF_OPEN_SIZE, [], 2, "argument 0 of @main: found float32[?], of an open size; --args FILE.npz gives one"),
        (OF_INT4, [], 3, "argument 0 of x.mlir@main is int4: to and from backends go tensors of the dtypes"),
        ("func.func @main() {\n  return\n}\n", [], 2, "x.mlir:1: function @main returns and checks nothing"),
        (CHECK_WITHIN, [], 2, "x.mlir:3: a check within stablehlo.if"),
        (LAYER.replace("tanh", "tan_h"), [], 2, "x.mlir:3: "),
        (LAYER, ["--contract", "checks"], 2, "function @main checks nothing, by which it could be judged"),
        (CHECKS.replace("max_ulp", "min_ulp").replace("LIMIT", "1"), ["--contract", "checks"], 2,
         "x.mlir:4: check.expect_close bounds no error, so it is no contract"),
        (LAYER, ["smoke"], 2, "StableHLO programs make a run of their own: found smoke beside them"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_told(tmp_path: Path, text: str, words: list[str], code: int, message: str) -> None:
    path = tmp_path / "x.mlir"
    path.write_text(text)
    found = check(path, *words, "--backend", "self")
    assert (found.exit_code, message in found.output) == (code, True), found.output


def test_arguments_of_no_program() -> None:
    found = check("smoke", "--backend", "self", "--args", "in.npz")
    assert (found.exit_code, "there is no .mlir file among the suites" in found.output) == (2, True)


def test_checks_of_no_program() -> None:
    found = check("smoke", "--backend", "self", "--contract", "checks")
    assert (found.exit_code, "is about the checks of StableHLO programs" in found.output) == (2, True)


def test_a_case_is_explained(file: Path) -> None:
    words = ["explain", "layer.mlir@main/float32/typical/contiguous", "--suite", str(file)]
    found = CliRunner().invoke(main, words)
    assert found.exit_code == 0, found.output
    for told in ("arg0: float32 [4, 8]\n", "arg1: float32 [8, 3]\n", "expected output 0: float32 [4, 3]\n",
                 "contract: derived (of a module"):  # fmt: skip
        assert told in found.output


@pytest.mark.parametrize(("verb", "told"), [("list", "layer.mlir@main\n"), ("validate", "ok {file}: 1 test\n")])
def test_programs_are_listed_and_validated(file: Path, verb: str, told: str) -> None:
    found = CliRunner().invoke(main, [verb, str(file)])
    assert (found.exit_code, found.stdout) == (0, told.format(file=file))
    file.write_text(LAYER.replace("tanh", "tan_h"))
    assert CliRunner().invoke(main, [verb, str(file)]).exit_code == 2


def test_what_takes_no_programs_says_who_runs_them(file: Path) -> None:
    found = CliRunner().invoke(main, ["list", str(file), "smoke"])
    assert (found.exit_code, "conform check runs it" in found.output) == (2, True)


def test_special_values_and_constants(file: Path, tmp_path: Path) -> None:
    words = ["--backend", "self", "--determinism", 1, "--values", "all", "--layouts", "all"]
    found = check(file, *words, "--out", tmp_path / "out")
    assert found.exit_code == 0, found.output
    axes = {case["id"].removeprefix("layer.mlir@main/float32/") for case in cases(tmp_path / "out")}
    assert {"special/contiguous", "special.0/contiguous", "special.1/contiguous", "typical/constants"} <= axes


FOLDING = '''from conform.backends.interpreter import Interpreter


class Wrong(Interpreter):
    """Wrong where it can compute before it runs."""

    name = "folding"

    def run_program(self, text, args):
        return super().run_program(text if args else text.replace("stablehlo.tanh", "stablehlo.sine"), args)
'''


def test_an_engine_that_folds_wrongly_is_found(file: Path, tmp_path: Path) -> None:
    (tmp_path / "folding.py").write_text(FOLDING)
    backend = f"{tmp_path / 'folding.py'}::Wrong"
    assert check(file, "--backend", backend).exit_code == 0
    found = check(file, "--backend", backend, "--layouts", "all", "--determinism", 1, "--out", tmp_path / "out")
    assert found.exit_code == 1
    failed = [case for case in cases(tmp_path / "out") if case["status"] == "fail"]
    assert [(case["layout"], case["check"]) for case in failed] == [("constants", "layout")]


def test_integers_are_as_drawn_whatever_the_values(tmp_path: Path) -> None:
    """They may be places, or how often a loop runs."""
    path = tmp_path / "loop.mlir"
    path.write_text("func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {\n  return %x : tensor<4xi32>\n}\n")
    check(path, "--backend", "self", "--values", "all", "--determinism", 1, "--out", tmp_path / "out")
    assert [case["values"] for case in cases(tmp_path / "out")] == ["typical"]


# --- What flushes -----------------------------------------------------------------------------------------------------

FLUSHING = '''import torch
from conform.backends.base import Backend


class Flushing(Backend):
    """Compares as if subnormals were zeros: an order that is there already stays."""

    name = "flushing"
    flushes_subnormals = {declared}

    def run_program(self, text, args):
        (x,) = args
        order = torch.where(x.abs() < 2.0**-126, 0.0, x).sort(stable=True).indices
        return [x[order]]
'''
SORT = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.sort"(%x) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %less = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


@pytest.mark.parametrize(("declared", "exit_code"), [(True, 0), (False, 1)])
def test_a_program_may_compare_flushed_numbers(tmp_path: Path, declared: bool, exit_code: int) -> None:
    path, backend = tmp_path / "sort.mlir", tmp_path / "flushing.py"
    path.write_text(SORT)
    backend.write_text(FLUSHING.format(declared=declared))
    given = saved(tmp_path / "in.npz", np.array([1.0, 1e-40, -1e-40, -1.0], np.float32))
    found = check(path, "--args", given, "--backend", f"{backend}::Flushing", "--determinism", 1)
    assert found.exit_code == exit_code, found.output


# --- Functions, checks and contracts ----------------------------------------------------------------------------------


def test_every_function_without_arguments_is_a_case(tmp_path: Path) -> None:
    path = tmp_path / "two.mlir"
    path.write_text(f"{TWO}// -----\n{TWO}")
    check(path, "--backend", "self", "--determinism", 1, "--out", tmp_path / "out")
    assert [case["op"] for case in cases(tmp_path / "out")] == [
        "two.mlir@f", "two.mlir@g", "two.mlir@f#2", "two.mlir@g#2"
    ]  # fmt: skip


def test_checked_values_are_results(tmp_path: Path) -> None:
    path = tmp_path / "checks.mlir"
    path.write_text(CHECKS.replace("LIMIT", "1"))
    assert check(path, "--backend", "self").exit_code == 0
    found = check(path, "--backend", wrong(tmp_path, "stablehlo.tanh", "stablehlo.sine"))
    assert (found.exit_code, "output 2" in found.output) == (1, True)


@pytest.mark.parametrize(("limit", "statuses"), [(0, ["fail", "pass"]), (1, ["pass", "pass"])])
def test_the_checks_of_a_program_are_a_contract(tmp_path: Path, limit: int, statuses: list[str]) -> None:
    """e^x one number off is within 1 ulp, and not within 0; tanh so is within 1e-4."""
    path = tmp_path / "checks.mlir"
    path.write_text(CHECKS.replace("LIMIT", str(limit)))
    backend = tmp_path / "off.py"
    backend.write_text(BACKEND_ONE_OFF)
    check(path, "--backend", f"{backend}::Wrong", "--contract", "checks", "--determinism", 1, "--out", tmp_path / "out")
    found = cases(tmp_path / "out")
    assert [case["op"] for case in found] == ["checks.mlir@main:4", "checks.mlir@main:6"]
    assert [case["status"] for case in found] == statuses
    kinds = [case["contract"]["source"] for case in found if case["status"] == "fail"]
    assert all(f"check.expect_close at {path}:4" in one for one in kinds)


BACKEND_ONE_OFF = '''import torch
from conform.backends.interpreter import Interpreter


class Wrong(Interpreter):
    """Every number the next one up."""

    name = "wrong"

    def run_program(self, text, args):
        return [torch.nextafter(one, one + 1) for one in super().run_program(text, args)]
'''


BACKEND_FUSED = '''import torch
from conform.backends.base import Backend


class Wrong(Backend):
    """What a program means, rounded once."""

    name = "fused"

    def run_program(self, text, args):
        return [torch.tensor([3.0], dtype=torch.float16)]
'''


def test_the_contract_of_the_interpreter_is_about_its_steps(tmp_path: Path) -> None:
    """2051 is 2052 in float16, and 2052 - 2048 is 4: an engine that rounds once, to 3, is honest, no interpreter."""
    path, backend = tmp_path / "half.mlir", tmp_path / "fused.py"
    path.write_text("""func.func @main() -> tensor<1xf16> {
  %a = stablehlo.constant dense<2048.0> : tensor<1xf16>
  %b = stablehlo.constant dense<3.0> : tensor<1xf16>
  %c = stablehlo.add %a, %b : tensor<1xf16>
  %d = stablehlo.subtract %c, %a : tensor<1xf16>
  return %d : tensor<1xf16>
}
""")
    backend.write_text(BACKEND_FUSED)
    contract = ["--contract", "stablehlo"]
    assert check(path, "--backend", "self", *contract).exit_code == 0
    found = check(path, "--backend", f"{backend}::Wrong", *contract)
    assert (found.exit_code, "expected  4.0" in found.output) == (1, True), found.output
    assert check(path, "--backend", f"{backend}::Wrong").exit_code == 3  # within a bound that says nothing


def test_the_page_shows_what_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("iree.compiler", reason="backend iree needs it")
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "stablehlo.md").read_text(encoding="utf-8")
    words, _, shown = page.partition("\n$ conform check ")[2].partition("```")[0].partition(" | sed")
    printed = CliRunner().invoke(main, ["check", *words.split(), "--workers", "1"]).output
    table = shown.partition("\n")[2]
    assert table in printed
