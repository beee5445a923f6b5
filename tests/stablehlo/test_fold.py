"""`conform fold`: what becomes a constant, what is left, and that no program gives anything else afterwards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

import conform
from conform.cli import main
from conform.errors import UsageError
from conform.stablehlo.run import run_file

PROGRAMS = sorted((Path(__file__).parents[1] / "interp" / "stablehlo" / "programs").glob("*.mlir"))
TWICE = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = stablehlo.constant dense<[1.0, 0.1]> : tensor<2xf32>
  %b = stablehlo.add %a, %a : tensor<2xf32>
  %c = stablehlo.multiply %b, %x : tensor<2xf32>
  return %c : tensor<2xf32>
}
"""


def body(*lines: str, results: str = "") -> str:
    """A function of these lines; `results`: `%a : tensor<f32>`."""
    types = results.partition(":")[2].strip() or "()"
    return "\n".join([f"func.func @main() -> {types} {{", *(f"  {one}" for one in lines), f"  return {results}", "}"])


def run(*words: object) -> Result:
    return CliRunner().invoke(main, ["fold", *map(str, words)])


def test_the_sum_of_constants_is_one_and_nothing_is_left_of_them() -> None:
    assert conform.fold(TWICE) == (
        "module {\n"
        "  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {\n"
        "    %cst = stablehlo.constant dense<[2.000000e+00, 2.000000e-01]> : tensor<2xf32>\n"
        "    %0 = stablehlo.multiply %cst, %arg0 : tensor<2xf32>\n"
        "    return %0 : tensor<2xf32>\n"
        "  }\n"
        "}\n"
    )


def test_a_chain_a_region_and_a_called_function_fold_to_one_constant() -> None:
    text = """func.func private @half(%x: tensor<f32>) -> tensor<f32> {
      %h = stablehlo.constant dense<0.5> : tensor<f32>
      %y = stablehlo.multiply %x, %h : tensor<f32>
      return %y : tensor<f32>
    }
    func.func @main() -> tensor<f32> {
      %i = stablehlo.iota dim = 0 : tensor<5xf32>
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %s = stablehlo.reduce(%i init: %z) applies stablehlo.add across dimensions = [0]
             : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
      %r = func.call @half(%s) : (tensor<f32>) -> tensor<f32>
      return %r : tensor<f32>
    }"""
    folded = conform.fold(text)
    assert "stablehlo.constant dense<5.000000e+00> : tensor<f32>" in folded
    assert "reduce" not in folded
    assert "call" not in folded


def test_constants_inside_of_a_region_that_stays_are_folded_too() -> None:
    text = """func.func @main(%p: tensor<i1>) -> tensor<f32> {
      %a = stablehlo.constant dense<2.0> : tensor<f32>
      %r = "stablehlo.if"(%p) ({
        %b = stablehlo.sqrt %a : tensor<f32>
        stablehlo.return %b : tensor<f32>
      }, {
        stablehlo.return %a : tensor<f32>
      }) : (tensor<i1>) -> tensor<f32>
      return %r : tensor<f32>
    }"""
    folded = conform.fold(text)
    assert "stablehlo.sqrt" not in folded
    assert "dense<1.41421354> : tensor<f32>" in folded


@pytest.mark.parametrize(
    ("line", "result"),
    [
        ("%r = stablehlo.optimization_barrier %a : tensor<2xf32>", "%r : tensor<2xf32>"),
        ("%r = stablehlo.custom_call @mine(%a) : (tensor<2xf32>) -> tensor<2xf32>", "%r : tensor<2xf32>"),
    ],
    ids=["optimization_barrier", "custom_call"],
)
def test_what_has_an_effect_is_left(line: str, result: str) -> None:
    text = body("%a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>", line, results=result)
    assert line.split("stablehlo.")[1].split()[0] in conform.fold(text)


def test_large_results_are_left_and_told(tmp_path: Path) -> None:
    path = tmp_path / "long.mlir"
    path.write_text(body("%r = stablehlo.iota dim = 0 : tensor<100xi32>", results="%r : tensor<100xi32>"))
    result = run(path, "--most-elements", "99")
    assert result.exit_code == 0
    assert "stablehlo.iota" in result.stdout
    assert result.stderr.splitlines() == [
        f"{path}:2: stablehlo.iota is left: a result of more than 99 elements, or of a size that is not stated",
        "0 ops folded, 1 left",
    ]
    assert "stablehlo.iota" not in run(path, "--most-elements", "100").stdout


def test_it_is_written_and_a_mistake_is_told_with_its_place(tmp_path: Path) -> None:
    path, out = tmp_path / "twice.mlir", tmp_path / "folded.mlir"
    path.write_text(f"{TWICE}\n// -----\n\n{TWICE}")
    result = run(path, "--out", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"2 ops folded, 0 left; written: {out}\n"
    assert out.read_text().count("// -----") == 1
    path.write_text(TWICE.replace("%a, %a", "%a, %none"))
    result = run(path)
    assert result.exit_code == 2
    assert f"{path}:3: use of undeclared SSA value name" in result.stderr
    with pytest.raises(UsageError, match="program"):
        conform.fold("func.func @main(")
    path.write_text("// nothing\n")
    for nothing in (path, "// nothing"):
        with pytest.raises(UsageError, match="no program"):
            conform.fold(nothing)


def outcome(path: Path) -> list:
    """What a file's functions give, bit for bit, and how their checks end."""
    file = run_file(path, None, [])
    assert not file.errors()
    return [
        (one.name, [(str(value), _bytes(value)) for value in one.results], [check.failure for check in one.checks])
        for one in file.ran
    ]


def _bytes(value: object) -> object:
    return np.ascontiguousarray(value.array).tobytes() if hasattr(value, "array") else None


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_folded_and_unfolded_programs_give_equal_results(path: Path, tmp_path: Path) -> None:
    folded = tmp_path / path.name
    folded.write_text(conform.fold(path))
    assert outcome(folded) == outcome(path)
    assert conform.fold(folded) == folded.read_text()  # there is nothing left to fold


def test_every_element_type_comes_through_the_text_bit_for_bit(tmp_path: Path) -> None:
    """NaN with its payload, -0, subnormal numbers, the ends, made by `bitcast_convert`."""
    lines, results = [], []
    codes = {
        "f16": ("i16", "0x7E01, 0x8000, 0x0001, 0x7BFF"), "bf16": ("i16", "0x7FC1, 0x8000, 0x0001, 0x7F7F"),
        "f32": ("i32", "0x7FC00001, 0x80000000, 0x00000001, 0x7F7FFFFF"),
        "f64": ("i64", "0x7FF8000000000001, 0x8000000000000000, 0x0000000000000001, 0x7FEFFFFFFFFFFFFF"),
        "f8E4M3FN": ("i8", "0x7F, 0x80, 0x01, 0x7E"), "f8E5M2": ("i8", "0x7E, 0x80, 0x01, 0x7B"),
        "f8E4M3FNUZ": ("i8", "0x80, 0x00, 0x01, 0x7F"), "i4": ("i4", "-8, 7, 0, -1"), "ui8": ("i8", "-1, 0, 1, -128"),
    }  # fmt: skip
    for name, (of, numbers) in codes.items():
        lines.append(f"%c{name} = stablehlo.constant dense<[{numbers}]> : tensor<4x{of}>")
        cast = f"stablehlo.bitcast_convert %c{name} : (tensor<4x{of}>) -> tensor<4x{name}>"
        lines.append(f"%{name} = {cast}" if name != of else f"%{name} = stablehlo.not %c{name} : tensor<4x{of}>")
        results.append((f"%{name}", f"tensor<4x{name}>"))
    lines.append("%z = stablehlo.complex %f32, %f32 : tensor<4xcomplex<f32>>")
    results.append(("%z", "tensor<4xcomplex<f32>>"))
    types, names = ", ".join(one for _, one in results), ", ".join(one for one, _ in results)
    path, folded = tmp_path / "types.mlir", tmp_path / "folded.mlir"
    path.write_text("\n".join([f"func.func @main() -> ({types}) {{", *lines, f"return {names} : {types}", "}"]))
    folded.write_text(conform.fold(path))
    assert "bitcast" not in folded.read_text()
    assert outcome(folded) == outcome(path)
