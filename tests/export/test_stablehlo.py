"""Cases as StableHLO programs: 0 wrong elements of the interpreter, and more of wrong programs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.cli import main
from conform.errors import Unjudged, UsageError
from conform.export import stablehlo_ops
from conform.export.case import Exported, exported
from conform.export.stablehlo import text
from conform.frontends.stablehlo import parse
from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Program
from conform.interp.stablehlo.op_set import StableHLO
from conform.suites import load
from conform.suites.cases import Selection
from conform.suites.select import select

pytestmark = pytest.mark.one_in(6)

SUITE = """tests:
- {id: exp, op: aten::exp, in: [{type: tensor, shape: [2, 3], dtype: float32}]}
- {id: gelu, op: aten::gelu, in: [{type: tensor, shape: [2, 3], dtype: float32}]}
- {id: complex, op: aten::exp, in: [{type: tensor, shape: [2], dtype: complex64}]}
- {id: large, op: aten::exp, in: [{type: tensor, shape: [300, 300], dtype: float32}]}
- {id: alpha, op: aten::add.Tensor, in: [{type: tensor, shape: [2], dtype: float32}, {type: tensor, shape: [2],
   dtype: float32}], kwargs: {alpha: {type: const, value: 2}}}
- {id: module, op: {type: module, path: torch.nn.ReLU}, in: [{type: tensor, shape: [2], dtype: float32}]}
"""
LAYER = """func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xi1>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  %1 = func.call @half(%0) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %2 = stablehlo.compare GT, %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  %3 = stablehlo.slice %2 [0:4, 0:3] : (tensor<4x8xi1>) -> tensor<4x3xi1>
  return %1, %3 : tensor<4x3xf32>, tensor<4x3xi1>
}
func.func @half(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %half = stablehlo.constant dense<0.5> : tensor<4x3xf32>
  %0 = stablehlo.multiply %x, %half : tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
"""  # noqa: E501


def counts(program: str) -> list[int]:
    results = evaluate(Program(parse(program, "x.mlir").functions["main"]), StableHLO(), [])
    return [int(one.array) for one in results]


def core(case_id: str) -> Exported:
    return exported(case_id, ["core"], 0, "opencl")


# Of every operator that has a form a case of core, with special values where they are ordinary.
CASES = {
    "abs": "float32/special", "add.Scalar": "float32/typical", "add.Tensor": "float16/special",
    "amax": "bfloat16/special", "amin": "float32/special", "atan2": "float32/special", "bmm": "bfloat16/typical",
    "cat": "float32/special", "ceil": "float32/special", "cos": "bfloat16/special", "div.Scalar": "float32/special",
    "div.Tensor": "bfloat16/special", "dot": "float32/special", "eq.Tensor": "float32/special",
    "exp": "float16/special", "expm1": "float32/special", "flip": "float32/special", "floor": "float32/special",
    "ge.Tensor": "float32/special", "gt.Tensor": "float32/special", "le.Tensor": "int64/special",
    "log": "float64/special", "log1p": "float32/special", "lt.Tensor": "float32/special",
    "maximum": "float32/special", "minimum": "int8/special", "mm": "float16/special", "mul.Scalar": "float32/special",
    "mul.Tensor": "bfloat16/special", "mv": "float32/special", "ne.Tensor": "float32/special", "neg": "int8/special",
    "permute": "float32/special", "relu": "float32/special", "round": "float32/special", "rsqrt": "float32/special",
    "sigmoid": "float32/typical", "sin": "float32/special", "sqrt": "float16/special", "sub.Tensor": "uint8/special",
    "sum": "bfloat16/special", "sum.dim_IntList": "float16/typical", "t": "float32/special", "tan": "float32/typical",
    "tanh": "float32/special", "transpose.int": "float32/special", "where.self": "float32/bool/special",
}  # fmt: skip


@pytest.mark.rotating(130)
@pytest.mark.parametrize("op", CASES)
def test_the_interpreter_has_nothing_wrong(op: str) -> None:
    of_test, *of_first, values = CASES[op].split("/")  # the dtype of the test, and perhaps another of its first tensor
    found = core(f"{op}/dtype_{of_test}/{(of_first or [of_test])[0]}/{values}/contiguous")
    program = text(found)
    assert counts(program) == [0]


def test_every_operator_with_a_form_is_tried() -> None:
    assert {name.removeprefix("aten::") for name in stablehlo_ops._table} - {"sub.Scalar"} == set(CASES)


def exp_program() -> str:
    return text(core("exp/dtype_float32/float32/special/contiguous"))


def test_wrong_results_are_counted() -> None:
    """Of another function nearly all, of one that loses the last digits some, of one that gives NaN all."""
    program = exp_program()
    elements = int(np.prod(core("exp/dtype_float32/float32/special/contiguous").outputs[0].low.shape))
    assert counts(program.replace("stablehlo.exponential\"", "stablehlo.sine\""))[0] > elements / 2
    lossy = re.sub(
        r'  %(\d+) = "stablehlo.exponential"\((%\d+)\) : (.*) -> \((.*)\)',
        r'  %e\1 = "stablehlo.exponential"(\2) : \3 -> (\4)'
        "\n"
        r'  %\1 = "stablehlo.reduce_precision"(%e\1) {exponent_bits = 8 : i32, mantissa_bits = 10 : i32} : '
        r"(\4) -> (\4)",
        program,
    )
    assert 0 < counts(lossy)[0] < elements
    assert counts(program)[0] == 0


def test_a_zero_of_the_wrong_sign_is_counted() -> None:
    program = text(core("floor/dtype_float32/float32/special/contiguous"))
    assert counts(program) == [0]
    positive = re.sub(
        r'  %(\d+) = "stablehlo.floor"\((%\d+)\) : (.*) -> \((.*)\)',
        r'  %f\1 = "stablehlo.floor"(\2) : \3 -> (\4)'
        "\n"
        r"  %z\1 = stablehlo.constant dense<0.0> : \4"
        "\n"
        r"  %\1 = stablehlo.add %f\1, %z\1 : \4",
        program,
    )  # -0 + 0 is +0
    assert counts(positive)[0] > 0


def test_nothing_is_computed_before_it_runs() -> None:
    assert exp_program().count("optimization_barrier") == 1


@pytest.fixture
def suite(tmp_path: Path) -> str:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    return str(path)


@pytest.mark.parametrize(
    ("case_id", "error", "message"),
    [
        ("gelu/float32/typical/contiguous", UsageError, "aten::gelu has no form in StableHLO here; these have: abs, "),
        ("complex/complex64/typical/contiguous", Unjudged, "complex numbers are no range"),
        ("large/float32/typical/contiguous", UsageError, "270000 numbers would stand in the file, expected at most"),
        ("alpha/float32/typical/contiguous", UsageError, "aten::add.Tensor with alpha=2"),
        ("module/float32/typical/contiguous", UsageError, "a module of torch is no single op; conform bisect"),
        ("none/float32/typical/contiguous", UsageError, "no test of"),
    ],
)
def test_what_has_no_form_is_told(suite: str, case_id: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        text(exported(case_id, [suite], 0, "opencl"))


def test_a_refused_call_is_no_case_to_export() -> None:
    selection = Selection(ops=("aten::mm",))
    refused = select(load(["negative"], ops=selection.ops), selection)[0][0].id
    with pytest.raises(UsageError, match="a backend must refuse it, so nothing comes out"):
        exported(refused, ["negative"], 0, "opencl")


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [*map(str, words)])


def test_a_program_with_its_inputs(tmp_path: Path) -> None:
    path, out = tmp_path / "layer.mlir", tmp_path / "case.mlir"
    path.write_text(LAYER)
    case = "layer.mlir@main/float32/typical/contiguous"
    assert run("export", case, "--suite", path, "--to", "stablehlo", "--out", out).stdout == f"written: {out}\n"
    assert run("interpret", out).stdout == "main.0 = dense<0> : tensor<i32>\nmain.1 = dense<0> : tensor<i32>\n"
    out.write_text(out.read_text().replace("dense<5.000000e-01>", "dense<5.001000e-01>"))
    assert run("interpret", out).stdout.startswith("main.0 = dense<12>")


def test_text_goes_to_stdout(suite: str) -> None:
    found = run("export", "exp/float32/typical/contiguous", "--suite", suite, "--to", "stablehlo", "--seed", 3)
    assert found.stdout.startswith("// exp/float32/typical/contiguous: aten::exp, contract opencl, seed 3\n")
    assert counts(found.stdout) == [0]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--to", "onnx"], 2, "--to onnx writes no text: name a file with --out"),
        (["--to", "stablehlo", "--contract", "none"], 2, "no contract table 'none'"),
        (["--to", "stablehlo", "--out", "/nowhere/x.mlir"], 2, "/nowhere/x.mlir: cannot be written"),
    ],
)
def test_bad_words(suite: str, words: list[str], code: int, message: str) -> None:
    found = run("export", "exp/float32/typical/contiguous", "--suite", suite, *words)
    assert (found.exit_code, message in found.output) == (code, True), found.output


def test_given_arguments_stand_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "twice.mlir"
    path.write_text("""func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
""")
    np.savez(tmp_path / "in.npz", np.array([1.5, 0.1], np.float32))
    words = ["export", "twice.mlir@main/float32/given/contiguous", "--suite", str(path), "--to", "stablehlo"]
    found = CliRunner().invoke(main, [*words, "--args", str(tmp_path / "in.npz")])
    assert found.exit_code == 0, found.output
    assert "stablehlo.constant dense<[1.5, 0.1]> : tensor<2xf32>" in found.stdout
    words[3] = "smoke"
    found = CliRunner().invoke(main, [*words, "--args", str(tmp_path / "in.npz")])
    assert (found.exit_code, "there is no .mlir file among the suites" in found.output) == (2, True)
