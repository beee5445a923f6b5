"""`conform interpret`: what it prints of files and folders, and how it ends."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner, Result

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.cli import main

TWICE = """func.func @main() -> tensor<2xf32> {
  %a = stablehlo.constant dense<[1.0, 0.1]> : tensor<2xf32>
  %b = stablehlo.add %a, %a : tensor<2xf32>
  check.expect_eq_const %b, dense<[2.0, EXPECTED]> : tensor<2xf32>
  return %b : tensor<2xf32>
}
"""
RIGHT, WRONG = TWICE.replace("EXPECTED", "0.2"), TWICE.replace("EXPECTED", "0.3")
UNKNOWN = """func.func @main(%token: !stablehlo.token) {
  %a = stablehlo.custom_call @mine(%token) : (!stablehlo.token) -> tensor<f32>
  return
}
"""


def run(*args: object) -> Result:
    return CliRunner().invoke(main, ["interpret", *map(str, args)])


def body(*lines: str) -> str:
    """A function of these lines, the first of which is line 2."""
    return "\n".join(["func.func @main() {", *(f"  {line}" for line in lines), "  return", "}"])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "x.mlir"


def test_results_are_printed(file: Path) -> None:
    file.write_text(RIGHT)
    found = run(file)
    assert (found.exit_code, found.stdout) == (0, "main.0 = dense<[2.0, 0.2]> : tensor<2xf32>\n")


def test_a_failing_check_is_told(file: Path) -> None:
    file.write_text(WRONG)
    found = run(file)
    assert found.exit_code == 1
    assert found.stdout == (
        "main.0 = dense<[2.0, 0.2]> : tensor<2xf32>\n"
        f"FAIL {file}:4: check.expect_eq_const\n"
        "  index     [1]\n  expected  0.3\n  actual    0.2\n  error     3.35544e+06 ulp\n  elements  1 of 2\n"
    )


def test_several_programs_keep_their_lines(file: Path) -> None:
    file.write_text(f"{RIGHT}// -----\n{WRONG}")
    found = run(file)
    assert found.exit_code == 1
    assert f"FAIL {file}:11: check.expect_eq_const" in found.stdout


ERRORS = (
    ("func.func @main() {", 2, "x.mlir:1: "),
    ("", 2, "there is no program in it"),
    (body("%a = stablehlo.ad %b : tensor<f32>"), 2, "x.mlir:2: "),
    (body("call @main() : () -> ()"), 2, "function @main calls itself"),
    ("func.func @main(%a: tensor<f32>) {\n  return\n}", 2, "takes 1 arguments (float32[]), 0 are given"),
    (body("check.expect_eq_const %a : tensor<f32>"), 2, "x.mlir:2: check.expect_eq_const without a constant"),
    (body("check.expect_eq_const %a, dense<1.0"), 2, "x.mlir:2: a bracket or string of a check is not closed"),
    (body("%r = stablehlo.custom_call @mine() : () -> tensor<f32>"), 3, "no meaning for its target 'mine' (FILE:2)"),
    (body("%a = stablehlo.constant dense<[(0x7F800000, 0.0)]> : tensor<1xcomplex<f32>>",
          "%r = stablehlo.fft %a, type = FFT, length = [1] : (tensor<1xcomplex<f32>>) -> tensor<1xcomplex<f32>>"),
     3, "transforms finite numbers alone (FILE:3)"),
    (body('%r = "other.op"() : () -> tensor<f32>'), 3, "no meaning for other.op (FILE:2)"),
    (body('%r = "other.op"() : () -> vector<2xf32>'), 3, "no meaning for values of the type vector<2xf32>"),
    (body('%r = "other.op"() : () -> tensor<2xi7>'), 3, "no meaning for elements of the type i7"),
    (body('%r = "other.op"() : () -> tensor<2x!quant.uniform<i7:f32, 1.0>>'), 3, "FILE:2: no meaning for the storage"),
    (body('%r = "other.op"() : () -> tensor<2x!quant.uniform<i8:f32, 1.0:200>>'), 2, "against constraint (C7) of"),
    (body('%t = "stablehlo.create_token"() : () -> !stablehlo.token',
          '%r:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)'),
     2, "stablehlo.infeed: the infeed has run dry: it had 0 functions (FILE:3)"),
    (body('%s = "stablehlo.constant"() {value = dense<[0, 1]> : tensor<2xui64>} : () -> tensor<2xui64>',
          '%r:2 = "stablehlo.rng_bit_generator"(%s) {rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>} : '
          '(tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)'),
     3, "the bits of the algorithm THREE_FRY are left to the implementation (FILE:3)"),
    (body("%b = stablehlo.constant dense<[1]> : tensor<1xi64>",
          "%c = stablehlo.dynamic_reshape %b, %b : (tensor<1xi64>, tensor<1xi64>) -> tensor<?x?xi64>"),
     2, "x.mlir:3: "),
)  # fmt: skip


@pytest.mark.parametrize(("text", "code", "told"), ERRORS)
def test_errors_name_the_place(file: Path, text: str, code: int, told: str) -> None:
    file.write_text(text)
    found = run(file)
    assert found.exit_code == code
    assert told.replace("FILE", str(file)) in found.stderr
    assert "Traceback" not in found.stderr


def test_what_is_no_check_is_no_verdict(file: Path) -> None:
    constant = "%a = stablehlo.constant dense<1> : tensor<i32>"
    file.write_text(body(constant, "check.expect_nothing %a, %a : tensor<i32>"))
    found = run(file)
    assert found.exit_code == 3
    assert "no meaning for check.expect_nothing" in found.stderr


@pytest.mark.parametrize(("least", "most", "code"), [(0, 0, 1), (0, 2, 0), (2, 2, 0), (3, 9, 1)])
def test_close_is_between_two_distances(file: Path, least: int, most: int, code: int) -> None:
    """1.00000024 is two numbers of float32 above 1."""
    file.write_text(body(
        "%a = stablehlo.constant dense<1.00000024> : tensor<f32>",
        "%b = stablehlo.constant dense<1.0> : tensor<f32>",
        f"check.expect_close %a, %b, max_ulp_difference = {most}, min_ulp_difference = {least}"
        " : tensor<f32>, tensor<f32>",
        "%c = stablehlo.constant dense<0.0> : tensor<f32>",
        "%d = stablehlo.constant dense<-0.0> : tensor<f32>",
        "check.expect_close %c, %d, max_ulp_difference = 0, min_ulp_difference = 0 : tensor<f32>, tensor<f32>",
    ))  # fmt: skip
    assert run(file).exit_code == code


def test_a_folder_gives_a_table(tmp_path: Path) -> None:
    for name, text in (("right", RIGHT), ("wrong", WRONG), ("bad", "func")):
        (tmp_path / f"{name}.mlir").write_text(text)
    found = run(tmp_path)
    assert found.exit_code == 1
    rows = [line.split() for line in found.stdout.splitlines() if line.startswith(str(tmp_path))]
    assert [(Path(row[0]).stem, *row[1:]) for row in rows] == [
        ("bad", "0", "0", "0", "invalid"), ("right", "1", "1", "0", "ok"), ("wrong", "1", "1", "1", "FAIL"),
    ]  # fmt: skip
    assert found.stdout.endswith("3 files: 1 ok, 1 FAIL, 1 invalid\n")


def test_arguments_and_results_are_files(file: Path, tmp_path: Path) -> None:
    types = "(tensor<2xbf16>, tensor<?xi32>)"
    file.write_text(
        f"func.func @twice(%a: tensor<2xbf16>, %b: tensor<?xi32>) -> {types} {{\n"
        "  %c = stablehlo.add %a, %a : tensor<2xbf16>\n  return %c, %b : tensor<2xbf16>, tensor<?xi32>\n}"
    )
    given, out = tmp_path / "in.npz", tmp_path / "out.npz"
    np.savez(given, np.array([1.5, -0.0], ml_dtypes.bfloat16), np.arange(3, dtype=np.int32))
    found = run(file, "--function", "twice", "--args", given, "--out", out)
    assert found.exit_code == 0, found.stderr
    with np.load(out) as results:
        assert results["twice.0"].view(ml_dtypes.bfloat16).tolist() == [3.0, 0.0]
        assert results["twice.1"].tolist() == [0, 1, 2]
    assert run(file, "--function", "thrice").exit_code == 2
    np.savez(given, np.array([1.5, -0.0], np.float32), np.arange(3, dtype=np.int32))
    found = run(file, "--args", given)
    assert (found.exit_code, "found float32[2], expected bfloat16[2]" in found.stderr) == (2, True)


def test_of_what_cannot_be_read_nothing_is_written(tmp_path: Path) -> None:
    file, out = tmp_path / "a.mlir", tmp_path / "out.npz"
    file.write_text("func.func @main( {")
    found = run(file, "--out", out)
    assert (found.exit_code, "written" in found.output, out.exists()) == (2, False, False)
