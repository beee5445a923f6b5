"""Quantized types: literal programs, constraints of types and ops by name, all codes of a type against fractions."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.errors import ConformError, Unjudged
from conform.frontends.stablehlo import parse
from conform.frontends.stablehlo_fold import fold
from conform.interp.stablehlo.dequantized import dequantize, quantize
from conform.interp.stablehlo.quantization import quantization_of
from conform.interp.stablehlo.values import Tensor
from conform.numerics.formats import format_named
from conform.numerics.rounding import round_fraction, round_to
from conform.stablehlo.run import run_file
from tests.interp.stablehlo.test_violations import refusal
from tests.interp.stablehlo.violations import Violation
from tests.interp.stablehlo.violations.quantized import EXPRESSED, OTHER, STORAGE, Q, axis
from tests.interp.stablehlo.violations.violation import types

PROGRAMS = sorted((Path(__file__).parent / "quantized").glob("*.mlir"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_checks_of_a_program_hold(path: Path) -> None:
    file = run_file(path, None, [])
    assert not file.errors()
    assert [check for check in file.checks() if check.failure] == []
    assert all(ran.checks for ran in file.ran)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_folded_program_has_the_same_results(path: Path, tmp_path: Path) -> None:
    folded = tmp_path / "folded.mlir"
    folded.write_text(fold(path).text)
    file = run_file(folded, None, [])
    assert not file.errors()
    assert [check for check in file.checks() if check.failure] == []


def test_a_check_that_fails_shows_the_integers(tmp_path: Path) -> None:
    path = tmp_path / "x.mlir"
    path.write_text("""!q = !quant.uniform<u8:f32, 0.5:3>
func.func @main() -> tensor<2x!q> {
  %x = stablehlo.constant() {value = dense<[1, 200]> : tensor<2xi8>} : () -> tensor<2x!q>
  check.expect_eq_const %x, dense<[1, 201]> : tensor<2x!q>
  return %x : tensor<2x!q>
}
""")
    (ran,) = run_file(path, None, []).ran
    (check,) = ran.checks
    assert (check.failure.index, check.failure.expected, check.failure.actual) == ((1,), "201", "200")
    assert str(ran.results[0]) == "tensor<2x!quant.uniform<u8:f32, 5.000000e-01:3>>"


@pytest.mark.parametrize(("constraint", "type_", "shape"), [
    ("C3", "i8<5:5>:f32, 0.5:5", "2x"), ("C3", "i8<-129:5>:f32, 0.5", "2x"), ("C3", "u8<-1:5>:f32, 0.5", "2x"),
    ("C5", "i8:f32, 0.0", "2x"), ("C5", "i8:f32, -0.5", "2x"), ("C5", "i8:f32:0, {0.5,-0.5}", "2x"),
    ("C5", "i8:f16, 1.0e-9", "2x"), ("C6", "i8:f32, 0x7FF0000000000000", "2x"), ("C6", "i8:f16, 1.0e+9", "2x"),
    ("C6", "i8:f32, 0x7FF8000000000000", "2x"), ("C7", "i8:f32, 0.5:128", "2x"), ("C7", "i8<-5:5>:f32, 0.5:6", "2x"),
    ("C7", "i8:f32:0, {0.5:1,0.5:-129}", "2x"), ("C12", "i8:f32:1, {0.5,0.5}", "2x"), ("C12", "i8:f32:0, {0.5}", ""),
    ("C13", "i8:f32:0, {0.5}", "2x"), ("C13", "i8:f32:1, {0.5,0.5}", "2x3x"),
])  # fmt: skip
@pytest.mark.parametrize("of_a_result", [False, True])
def test_a_constraint_of_a_type_is_named(constraint: str, type_: str, shape: str, of_a_result: bool) -> None:
    tensor = f"tensor<{shape}!quant.uniform<{type_}>>"
    line = f'%y = "other.op"() : () -> {tensor}' if of_a_result else ""
    argument = "" if of_a_result else f"%x: {tensor}"
    with pytest.raises(ConformError) as found:
        parse(f"func.func @main({argument}) {{\n  {line}\n  return\n}}", "x.mlir")
    assert f"against constraint ({constraint}) of quantized types in the specification" in str(found.value)
    assert f"x.mlir:{2 if of_a_result else 1}" in str(found.value)
    assert found.value.exit_code == 2


@pytest.mark.parametrize("type_", ["i3:f32, 0.5", "f8E4M3FN:f32, 0.5", "i8:f32:{0:1}, {0.5, 0.5}"])
def test_a_type_that_the_specification_has_not(type_: str) -> None:
    with pytest.raises(Unjudged, match=r"x\.mlir:1: no meaning for"):
        parse(f"func.func @main(%x: tensor<2x!quant.uniform<{type_}>>) {{\n  return\n}}", "x.mlir")


UNARY = "cbrt ceil cosine exponential exponential_minus_one floor log log_plus_one logistic negate round_nearest_afz \
round_nearest_even rsqrt sign sine sqrt tan tanh"
BINARY = "atan2 divide maximum minimum multiply power remainder subtract"
NONE = "not popcnt count_leading_zeros"
_LT = "comparison_direction = #stablehlo<comparison_direction LT>"
_BN = "epsilon = 0.0 : f32, feature_index = 1 : i64"
_SLICE = "start_indices = array<i64: 0>, limit_indices = array<i64: 2>, strides = array<i64: 1>"
REFUSED = [
    *((op, "C1", f"2x{Q}", "", f"2x{STORAGE}") for op in UNARY.split()),
    *((op, "I1", f"2x{axis(0)}", "", f"2x{axis(0)}") for op in (*UNARY.split(), "abs")),
    *((op, "C1", f"2x{Q} 2x{EXPRESSED}", "", f"2x{Q}") for op in BINARY.split()),
    *((op, "C1", f"2x{Q} 2xf32", "", f"2x{Q}") for op in BINARY.split()),
    *((op, "I2", f"2x{Q} 2x{axis(0)}", "", f"2x{Q}") for op in BINARY.split()),
    *((op, "I1", f"2x{Q}", "", f"2x{Q}") for op in NONE.split()),
    ("convert", "I1", f"2x{Q}", "", "2xf32"), ("real", "I1", f"2x{Q}", "", f"2x{Q}"),
    ("and", "I1", f"2x{Q} 2x{Q}", "", f"2x{Q}"), ("shift_left", "I1", f"2x{Q} 2x{Q}", "", f"2x{Q}"),
    ("abs", "C2", f"2x{Q}", "", f"2x{STORAGE}"), ("is_finite", "I1", f"2x{axis(0)}", "", "2xi1"),
    ("compare", "C1", f"2x{Q} 2x{STORAGE}", _LT, "2xi1"), ("select", "C2", f"2xi1 2x{Q} 2x{Q}", "", f"2x{STORAGE}"),
    ("clamp", "C3", f"{Q} 2x{STORAGE} {Q}", "", f"2x{Q}"), ("clamp", "C4", f"{Q} 2x{Q} {Q}", "", f"2x{STORAGE}"),
    ("cholesky", "C1", f"2x2x{Q}", "lower = true", f"2x2x{STORAGE}"),
    ("batch_norm_inference", "C2", f"2x1x{Q} 1x{Q} 1x{Q} 1x{STORAGE} 1x{Q}", _BN, f"2x1x{Q}"),
    ("slice", "C1", f"3x{Q}", _SLICE, f"2x{OTHER}"), ("slice", "I1", f"3x{axis(0, 3)}", _SLICE, f"2x{axis(0)}"),
    ("reverse", "C1", f"2x{Q}", "dimensions = array<i64: 0>", f"2x{OTHER}"),
    ("concatenate", "C1", f"2x{Q} 2x{OTHER}", "dimension = 0 : i64", f"4x{Q}"),
    ("concatenate", "I1", f"2x{axis(0)} 2x{axis(0)}", "dimension = 0 : i64", f"4x{axis(0, 4)}"),
    ("reshape", "C1", f"2x{Q}", "", f"1x2x{OTHER}"), ("reshape", "C1", f"2x{axis(0)}", "", f"1x2x{axis(1, scale=1.0)}"),
    ("broadcast_in_dim", "C1", f"2x{Q}", "broadcast_dimensions = array<i64: 0>", f"2x2x{OTHER}"),
    ("bitcast_convert", "C1", f"2x{Q}", "", "2xi16"), ("bitcast_convert", "C1", f"2x{Q}", "", "3xi8"),
    ("constant", "C1", "", "value = dense<1> : tensor<2xi16>", f"2x{Q}"),
]  # fmt: skip


@pytest.mark.parametrize("given", REFUSED, ids=lambda one: f"{one[0]}-{one[1]}")
def test_a_constraint_of_an_op_is_named(given: tuple[str, str, str, str, str]) -> None:
    op, constraint, operands, attributes, results = given
    told = refusal(Violation(op, constraint, types(operands), attributes, types(results), "").program())
    assert f"stablehlo.{op}: " in told
    assert f"({constraint}) of its specification" in told


# All codes of a type, and numbers around all of their ties, one by one

TYPES = (
    "i8:f32, 0.1:-30", "u8:f32, 0.3:200", "i4:f16, 0.7:1", "i8<-100:90>:bf16, 0.3:5", "i8:f64, 0.1", "u4:f32, 3.0:7",
    "i8:f8E5M2, 0.5:3", "i16:f16, 0.1:7", "i8:f32, 1.0e+37", "i8:f32, 1.0e-45:1",
)  # fmt: skip


@pytest.mark.parametrize("text", TYPES)
def test_every_code_and_every_tie(text: str) -> None:
    type_ = quantization_of(f"!quant.uniform<{text}>")
    fmt, (scale,), (point,) = type_.expressed, type_.scales, type_.zero_points
    codes = np.arange(max(type_.storage_min, -300), min(type_.storage_max, 300) + 1)
    numbers = dequantize(Tensor(codes.astype(type_.storage.storage), type_)).array
    assert [float(one) for one in numbers] == [_number(int(code) - point, scale, fmt.name) for code in codes]
    ties = round_to(fmt, (codes - point + 0.5) * scale)
    near = [np.nextafter(ties, ties.dtype.type(end)) for end in (-inf, inf)] if fmt.bits > 16 else []
    x = np.concatenate([numbers, ties, *near, np.array([0, -0.0, inf, -inf]).astype(fmt.storage)])
    stored = quantize(x, type_).array
    assert [int(one) for one in stored] == [_stored(float(one), text) for one in x]


def _rounded(fraction: Fraction, name: str) -> float:
    return float(round_fraction(format_named(name), fraction))


def _number(difference: int, scale: float, name: str) -> float:
    """(i - zero_point) * scale, the difference and the product rounded."""
    wide = _rounded(Fraction(difference), name)
    return wide * scale if not isfinite(wide) else _rounded(Fraction(wide) * Fraction(scale), name)


def _stored(x: float, text: str) -> int:
    """By fractions, each step rounded; `round` is to the even one of two."""
    type_ = quantization_of(f"!quant.uniform<{text}>")
    name = type_.expressed.name
    low, high = (_rounded(Fraction(end), name) for end in (type_.storage_min, type_.storage_max))
    scaled = _rounded(Fraction(x) / Fraction(type_.scales[0]), name) if isfinite(x) else x
    point = _rounded(Fraction(type_.zero_points[0]), name)
    shifted = _rounded(Fraction(scaled) + Fraction(point), name) if isfinite(scaled) else scaled
    clamped = min(max(shifted, low), high)
    whole = round(Fraction(clamped)) if isfinite(clamped) else clamped
    whole = _rounded(Fraction(whole), name) if isfinite(clamped) else whole
    return int(min(max(whole, type_.storage.min_value), type_.storage.max_value))
