"""Quantized tensors on real numbers: what hangs on no rounding is judged, and what may be two integers is not."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.errors import Unjudged
from conform.interp.stablehlo.quantization import quantization_of
from conform.numerics.rounding import round_to
from tests.interp.stablehlo.on_reals import goldens, judged, stepwise

F32 = np.float32
STORAGE = {"f16": np.float16, "f32": F32, "f64": np.float64}
ROUND_TRIP = """func.func @main(%x: tensor<NxTYPE>) -> tensor<NxTYPE> {
  %q = stablehlo.uniform_quantize %x : (tensor<NxTYPE>) -> tensor<Nx!quant.uniform<QUANTIZED>>
  %y = stablehlo.uniform_dequantize %q : (tensor<Nx!quant.uniform<QUANTIZED>>) -> tensor<NxTYPE>
  return %y : tensor<NxTYPE>
}
"""


def round_trip(count: int, quantized: str, type_: str = "f32") -> str:
    return ROUND_TRIP.replace("QUANTIZED", quantized).replace("Nx", f"{count}x").replace("TYPE", type_)


def test_numbers_of_a_grid() -> None:
    """-128 and 127 stand for -65.5 and 62; the middle of two numbers of the grid may be either, NaN anything."""
    x = np.array([0.9, -1.4, 1000, -1000, 0.25, np.nan], F32)
    (golden,) = goldens(round_trip(6, "i8:f32, 0.5:3"), x)
    assert golden.value[:4].tolist() == [1, -1.5, 62, -65.5]
    assert (golden.budget[:4] < 1e-4).all()
    assert golden.value[4] - golden.budget[4] <= 0 < 0.5 <= golden.value[4] + golden.budget[4]
    assert np.isinf(golden.budget[5])


@pytest.mark.parametrize(("quantized", "low", "high"), [
    ("i8<-10:10>:f32, 0.5:3", -6.5, 3.5), ("u8:f32, 0.25:128", -32, 31.75), ("i4:f32, 0.3", -2.4, 2.1),
    ("i32:f32, 1.0e-3:-7", -1e9, 1e9),
])  # fmt: skip
def test_other_storage(quantized: str, low: float, high: float) -> None:
    x = np.linspace(-40, 40, 97).astype(F32)
    step = float(quantized.split(", ")[1].split(":")[0])
    expected = np.clip(np.rint(x.astype(np.float64) / step) * step, low, high)
    (found,) = judged(round_trip(97, quantized), [expected.astype(F32)], x)
    assert found.ok.all()
    assert found.compared.mean() > 0.9
    for wrong in (expected + step, np.where(x < 0, -expected, expected)):
        (found,) = judged(round_trip(97, quantized), [wrong.astype(F32)], x)
        assert not found.ok.all()


def test_ties_of_powers_of_two_are_even() -> None:
    """x / 0.5 is exact in every engine; away from zero is wrong."""
    x = np.array([0.25, 0.75, 1.25, -0.25, -0.75], F32)
    even, away = np.array([0, 1, 1, 0, -1], F32), np.array([0.5, 1, 1.5, -0.5, -1], F32)
    (found,), (wrong,) = (judged(round_trip(5, "i8:f32, 0.5:4"), [answer], x) for answer in (even, away))
    assert found.compared.all()
    assert found.ok.all()
    assert wrong.ok.tolist() == [False, True, False, False, True]


@pytest.mark.parametrize(("answer", "ok"), [([0.5, 0.5], True), ([0, 1], True), ([1.5, -0.5], False)])
def test_an_odd_zero_point_may_be_added_behind_the_rounding(answer: list[float], ok: bool) -> None:
    """0.5 + 3 and 1.5 + 3 both become 4, or else 0 + 3 and 2 + 3; within one of 4 are both."""
    x, rest = np.array([0.25, 0.75, 60, 60], F32), [60, 60]
    (found,) = judged(round_trip(4, "i8:f32, 0.5:3"), [np.array([*answer, *rest], F32)], x)
    assert found.ok.tolist() == [ok, ok, True, True]


@pytest.mark.parametrize(("type_", "quantized", "large"), [
    ("f32", "i8:f32, 1.0e-3:5", [np.inf, 3e38, 1e30, 1.0]), ("f16", "i8:f16, 0.01:5", [np.inf, 65504, 1000, 2]),
    ("f64", "i32<-9:9>:f64, 1.0e-3:5", [np.inf, 1e308, 1e30, 1.0]),
])  # fmt: skip
def test_what_lies_beyond_the_range_is_at_its_end(type_: str, quantized: str, large: list[float]) -> None:
    """Also where the quotient overflows."""
    x = np.array([*large, *(-one for one in large)]).astype(STORAGE[type_])
    (golden,) = goldens(round_trip(8, quantized, type_), x)
    type_of = quantization_of(f"!quant.uniform<{quantized}>")
    ends = [(end - 5) * type_of.scales[0] for end in (type_of.storage_max, type_of.storage_min)]
    assert golden.value.astype(np.float64).tolist() == pytest.approx(np.repeat(ends, 4).tolist(), rel=1e-3)
    assert (golden.budget < type_of.scales[0] / 2).all()


@pytest.mark.parametrize("quantized", [
    "i16<-1000:1001>:bf16, 1.0:1001", "u16:f16, 0.007:65501", "i16:bf16, 0.3:-10856", "u16:f16, 0.5:51739",
    "i32:f32, 0.1:16777217", "i32<-576607254:824114571>:f32, 3.0:-576607254", "i8:bf16, 0.1:-77",
])  # fmt: skip
def test_integers_that_the_expressed_type_does_not_hold(quantized: str) -> None:
    """An engine that rounds a zero point or an end of the range to the expressed type, as the specification has it,
    and one that adds and clamps integers."""
    type_of = quantization_of(f"!quant.uniform<{quantized}>")
    (scale,), (point,), low, high = type_of.scales, type_of.zero_points, type_of.storage_min, type_of.storage_max
    rng = np.random.default_rng(0)
    ends, near = [low, high, low - 9, high + 9], point + np.arange(-50, 50)
    places = np.concatenate([ends, near, rng.integers(low, high, 100)])
    x = round_to(type_of.expressed, (places - point) * scale)
    text = round_trip(len(x), quantized, type_of.expressed.stablehlo_name)
    whole = np.clip(np.rint(x.astype(np.float64) / scale) + point, low, high)
    of_integers = round_to(type_of.expressed, (whole - point) * scale)
    for answer in (*stepwise(text, x), of_integers):
        (found,) = judged(text, [answer], x)
        assert found.ok.all()
        assert found.compared.mean() > 0.5


MATRICES = """!a = !quant.uniform<i8:f32, 0.05:-3>
!b = !quant.uniform<i8:f32:1, {0.02, 0.03, 0.01}>
!c = !quant.uniform<i32:f32, 1.0e-4:5>
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) -> tensor<4x3xf32> {
  %qx = stablehlo.uniform_quantize %x : (tensor<4x8xf32>) -> tensor<4x8x!a>
  %qw = stablehlo.uniform_quantize %w : (tensor<8x3xf32>) -> tensor<8x3x!b>
  %q = stablehlo.dot_general %qx, %qw, contracting_dims = [1] x [0] : (tensor<4x8x!a>, tensor<8x3x!b>) -> tensor<4x3x!c>
  %y = stablehlo.uniform_dequantize %q : (tensor<4x3x!c>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}
"""


def test_a_product_of_matrices_by_integers() -> None:
    """As engines do it: a sum of products of integers, times one rounded factor."""
    rng = np.random.default_rng(0)
    x, w = rng.uniform(-3, 3, (4, 8)).astype(F32), rng.uniform(-1, 1, (8, 3)).astype(F32)
    scales = np.array([0.02, 0.03, 0.01], F32)
    whole = np.rint(x / F32(0.05)) @ np.rint(w / scales)
    factor = F32(0.05) * scales / F32(1e-4)
    answer = np.rint(whole.astype(F32) * factor) * F32(1e-4)
    (found,) = judged(MATRICES, [answer.astype(F32)], x, w)
    assert found.ok.all()
    assert found.compared.any()
    for wrong in (answer * F32(1.01), answer[::-1], (np.rint(x / F32(0.05)) + 1) @ np.rint(w / scales) * factor * 1e-4):
        (found,) = judged(MATRICES, [np.asarray(wrong, F32)], x, w)
        assert not found.ok.all()


def test_what_moves_moves_integers() -> None:
    text = """!q = !quant.uniform<i8:f32, 0.1:-3>
    func.func @main(%x: tensor<2x3xf32>) -> tensor<3x3xf32> {
      %c = stablehlo.constant() {value = dense<7> : tensor<1x3xi8>} : () -> tensor<1x3x!q>
      %q = stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> tensor<2x3x!q>
      %t = stablehlo.transpose %q, dims = [1, 0] : (tensor<2x3x!q>) -> tensor<3x2x!q>
      %r = stablehlo.reshape %t : (tensor<3x2x!q>) -> tensor<2x3x!q>
      %w = stablehlo.concatenate %r, %c, dim = 0 : (tensor<2x3x!q>, tensor<1x3x!q>) -> tensor<3x3x!q>
      %y = stablehlo.uniform_dequantize %w : (tensor<3x3x!q>) -> tensor<3x3xf32>
      return %y : tensor<3x3xf32>
    }""".replace("stablehlo.constant()", '"stablehlo.constant"()')
    x = np.array([[0.11, 0.22, 0.33], [0.41, 0.52, -0.63]], F32)
    (golden,) = goldens(text, x)
    assert golden.value.ravel().tolist() == pytest.approx([0.1, 0.4, 0.2, 0.5, 0.3, -0.6, 1, 1, 1])
    assert (golden.budget < 1e-6).all()


def test_a_region_of_quantized_numbers_is_not_known() -> None:
    text = """!q = !quant.uniform<i8:f32, 0.1:-3>
    func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
      %c = "stablehlo.constant"() {value = dense<-3> : tensor<i8>} : () -> tensor<!q>
      %q = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!q>
      %r = stablehlo.reduce(%q init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4x!q>, tensor<!q>) -> tensor<!q>
      %y = stablehlo.uniform_dequantize %r : (tensor<!q>) -> tensor<f32>
      return %y : tensor<f32>
    }"""  # noqa: E501
    with pytest.raises(Unjudged, match=r"stablehlo\.reduce: no rule tells what becomes of the integers of quantized"):
        goldens(text, np.ones(4, F32))
