"""Constants of `dense_resource`, whose bytes stand behind the program; and what shards a value."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner, Result

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.cli import main
from conform.frontends.stablehlo import parse
from conform.frontends.stablehlo_engine import for_engines
from conform.interp.program.evaluation import evaluate
from conform.interp.program.form import Program
from conform.interp.stablehlo.op_set import StableHLO
from conform.numerics.formats import FORMATS

FILE = """func.func @main() -> TYPE {
  // dense_resource<none> : tensor<2xf32>
  %0 = stablehlo.constant dense_resource<NAME> : TYPE
  return %0 : TYPE
}

{-#
  dialect_resources: {
    builtin: {
      other: "0x04000000",
      w: "0x04000000DIGITS"
    }
  },
  external_resources: {}
#-}
"""


def file_of(type_: str, digits: str, name: str = "w") -> str:
    return FILE.replace("TYPE", type_).replace("DIGITS", digits).replace("NAME", name)


def result(text: str) -> np.ndarray:
    (found,) = evaluate(Program(parse(text, "x.mlir").functions["main"]), StableHLO(), [])
    return found.array


ARRAYS = [
    np.array([[1.5, -0.0], [np.inf, 5.0], [1e-45, -2.0]], np.float32), np.array([True, False, True]),
    np.array(7, np.int64),
    np.array([1, 0.1, -3], ml_dtypes.bfloat16), np.arange(-4, 4, dtype=np.int8).reshape(2, 2, 2),
    np.array([1 + 2j, -1j], np.complex64), np.zeros((0, 3), np.float32), np.array([-8, 7, 1], ml_dtypes.int4),
    np.array([0.5, -448], ml_dtypes.float8_e4m3fn), np.arange(5, dtype=np.uint16), np.array(True),
    np.zeros((2, 0), np.bool_),
]  # fmt: skip


@pytest.mark.parametrize("array", ARRAYS, ids=lambda one: f"{one.dtype}{list(one.shape)}")
def test_bytes_are_elements(array: np.ndarray) -> None:
    """Little endian, a byte at least for each element."""
    fmt = next(one for one in FORMATS.values() if one.storage == array.dtype)
    element = fmt.stablehlo_name.replace("si", "i")
    type_ = f"tensor<{''.join(f'{size}x' for size in array.shape)}{element}>"
    found = result(file_of(type_, array.tobytes().hex().upper()))
    assert (found.dtype, found.shape, found.tobytes()) == (array.dtype, array.shape, array.tobytes())


def conform(*args: object) -> Result:
    return CliRunner().invoke(main, [*map(str, args)])


@pytest.mark.parametrize(("text", "code", "message"), [
    (file_of("tensor<2xf32>", "00" * 8, "v"), 2, "x.mlir:3: dense_resource<v>: expected a blob of this name in"),
    (file_of("tensor<2xf32>", "00" * 8, "__elided__"), 2,
     "x.mlir:3: dense_resource<__elided__>, which was left out when the file was printed"),
    (file_of("tensor<2xf32>", "00" * 7), 2, "x.mlir:3: dense_resource<w> has 7 bytes, expected 8, those of tensor<2x"),
    (file_of("tensor<2xf32>", "00" * 4), 2, "has 4 bytes, expected 8"),
    (file_of("tensor<2xf32>", "", "other"), 2, "has 0 bytes, expected 8"),
    (file_of("tensor<?xf32>", "00" * 8), 2, "expected a tensor of a static shape"),
    (file_of("tensor<2xf32>", "00" * 8).replace("{-#", "{-"), 2, "dense_resource<w>: expected a blob"),
    (file_of("tensor<2xf31>", "00" * 8), 3, "no meaning for elements of the type f31"),
])  # fmt: skip
def test_what_is_no_constant_is_told(tmp_path: Path, text: str, code: int, message: str) -> None:
    path = tmp_path / "x.mlir"
    path.write_text(text)
    found = conform("interpret", path)
    assert (found.exit_code, message in found.output) == (code, True), found.output


def test_two_programs_of_a_file_have_blobs_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "x.mlir"
    path.write_text("// -----\n".join(file_of("tensor<1xi8>", digits) for digits in ("05", "06")))
    assert conform("interpret", path).stdout == (
        "main.0 = dense<[5]> : tensor<1xi8>\nmain.0 = dense<[6]> : tensor<1xi8>\n"
    )  # fmt: skip


def test_engines_and_folded_files_get_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "x.mlir"
    path.write_text(file_of("tensor<3xf32>", np.array([1, 2.5, -3], np.float32).tobytes().hex()))
    found = conform("fold", path)
    assert "dense<[1.000000e+00, 2.500000e+00, -3.000000e+00]> : tensor<3xf32>" in found.stdout
    found = conform("check", path, "--backend", "xla", "--workers", 1)
    assert found.exit_code == 0, found.output


SHARDED = """module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
    %0 = sdy.sharding_constraint %x <@mesh, [{}]> : tensor<4xf32>
    %1 = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> tensor<4xf32>
    %2 = stablehlo.negate %1 : tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}
"""


def test_what_shards_a_value_does_nothing_to_it(tmp_path: Path) -> None:
    path = tmp_path / "x.mlir"
    path.write_text(SHARDED)
    np.savez(tmp_path / "in.npz", np.arange(4, dtype=np.float32))
    found = conform("interpret", path, "--args", tmp_path / "in.npz")
    assert found.stdout == "main.0 = dense<[-0.0, -1.0, -2.0, -3.0]> : tensor<4xf32>\n"
    assert conform("check", path, "--backend", "xla", "--workers", 1).exit_code == 0
    text = SHARDED.replace("@Sharding(%0)", "@Sharding(%0, %0)")
    path.write_text(text.replace(" : (tensor<4xf32>) ->", " : (tensor<4xf32>, tensor<4xf32>) ->"))
    found = conform("interpret", path, "--args", tmp_path / "in.npz")
    assert (found.exit_code, "2 operands and 1 results, expected one of each" in found.output) == (2, True)


def test_places_are_those_of_the_file() -> None:
    """What an engine gets is another text; what is told of it is not."""
    text = """

// A function that is called.
func.func @called(%x: tensor<4xf32>) -> tensor<4xf32> {

  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
    alone, source = for_engines(text, "x.mlir", "called")
    assert alone.count("\n", 0, alone.index("stablehlo.negate")) != 5
    assert [op.location for op in source.functions["main"].ops] == ["x.mlir:6"]
