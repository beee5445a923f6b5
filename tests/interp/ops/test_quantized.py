"""Quantization to plain integer tensors and back: the documented formulas by literals."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.errors import InvalidArguments, Unjudged
from conform.interp.evaluate import evaluate
from tests.interp.ops.literal import bf16, check, check_open, f16, f32, f64, goldens, i8, i16, i32, i64, u8

QUANTIZE, DEQUANTIZE = "quantized_decomposed::quantize_per_tensor", "quantized_decomposed::dequantize_per_tensor"
CHANNELS = "quantized_decomposed::quantize_per_channel", "quantized_decomposed::dequantize_per_channel"
TOKENS = "quantized_decomposed::quantize_per_token", "quantized_decomposed::dequantize_per_token"


def test_a_quotient_is_rounded_shifted_and_kept_between_the_ends() -> None:
    x = f32([0.0, -0.0, 0.5, 0.625, -63.875, 2.0**100, -(2.0**100), inf, -inf])
    check(QUANTIZE, x, 0.5, 3, -128, 127, "int8", gives=i8([3, 3, 4, 4, -125, 127, -128, 127, -128]))
    check(QUANTIZE, f16([1.0, -1.0]), 0.5, 128, 0, 255, "uint8", gives=u8([130, 126]))
    check(QUANTIZE, bf16([1.0, -9.0]), 1.0, 0, -4, 4, "int16", gives=i16([1, -4]))
    check(QUANTIZE, f32([]), 1.0, 0, 0, 1, "int32", gives=i32([]))
    check_open(QUANTIZE, f32([nan, 1.0]), 1.0, 0, 0, 9, "uint8", gives=u8([0, 1]), where_open=[True, False],
               rule="P157")  # fmt: skip


def _accepted(x: float, scale: float, zero_point: int) -> set[int]:
    (golden,) = goldens(QUANTIZE, f32([x]), scale, zero_point, -128, 127, "int8")
    return {int(one.value[0]) for one in (golden, *golden.alternatives)}


def test_of_a_tie_the_even_quotient_or_the_even_sum() -> None:
    """5.5 is 6, and 6 + 3 is 9; but 5.5 + 3 = 8.5 is 8: which is rounded, documentation leaves open."""
    assert goldens(QUANTIZE, f32([5.5]), 1.0, 3, -128, 127, "int8")[0].value.tolist() == [9]
    assert _accepted(5.5, 1.0, 3) == {8, 9}
    assert _accepted(5.375, 1.0, 3) == {8}
    assert _accepted(5.5, 1.0, 2) == _accepted(5.5 + 2.0**-21, 1.0, 2) == {8}
    assert _accepted(4.5, 1.0, 2) == {6}  # 7 would be C's round
    assert _accepted(4.5 + 2.0**-21, 1.0, 2) == {7}
    assert _accepted(4.5 + 2.0**-21, 1.0, 120) == {124, 125}  # float32 has no 124.5 + 2^-21


def test_what_three_roundings_decide_is_left_open() -> None:
    """The float32 next to 0.35, divided by 0.1: times 10 it is 3.5."""
    assert _accepted(float(np.float32(0.35)), 0.1, 0) == {3, 4}
    assert _accepted(float(np.float32(0.3501)), 0.1, 0) == {4}


def test_tensors_hold_scale_zero_point_and_ends() -> None:
    x, scale, point = f32([2.0, 200.0]), f64([0.5]), i64([1])
    check(f"{QUANTIZE}.tensor", x, scale, point, 0, 100, "uint8", gives=u8([5, 100]))
    check(f"{QUANTIZE}.tensor2", x, scale, point, i64(-3), i64([100]), "int8", gives=i8([5, 100]))
    check(f"{DEQUANTIZE}.tensor", u8([5]), f32(0.5), i32(1), 0, 100, "uint8", gives=f32([2.0]))
    check(f"{DEQUANTIZE}.tensor2", i8([5]), f32([0.5]), i32([1]), i64(0), i64(9), "int8", gives=f32([2.0]))


def test_channels_and_tokens_have_their_own() -> None:
    x, scales, points = f32([[1.0, 1.0], [2.0, 2.0]]), f32([1.0, 0.5]), i64([0, 10])
    check(CHANNELS[0], x, scales, points, 0, -128, 127, "int8", gives=i8([[1, 1], [14, 14]]))
    check(CHANNELS[0], x, scales, points, 1, -128, 127, "int8", gives=i8([[1, 12], [2, 14]]))
    check(TOKENS[0], x, f32([[1.0], [0.5]]), i64([[0], [10]]), -128, 127, "int8", gives=i8([[1, 1], [14, 14]]))
    whole = i8([[1, 12], [2, 14]])
    check(CHANNELS[1], whole, scales, points, 1, -128, 127, "int8", gives=f32(x))
    check(CHANNELS[1], whole, scales, None, 0, -128, 127, "int8", gives=f32([[1.0, 12.0], [1.0, 7.0]]))
    check(TOKENS[1], i8([[1, 1], [14, 14]]), f64([[1.0], [0.5]]), i64([[0], [10]]), 0, 0, "int8", "float16",
          gives=f16(x))  # fmt: skip


def test_an_integer_is_shifted_and_scaled_and_rounded_once() -> None:
    check(DEQUANTIZE, u8([0, 255]), 0.5, 128, 0, 255, "uint8", gives=f32([-64.0, 63.5]))
    check(DEQUANTIZE, i8([-128]), 0.1, 127, -128, 127, "int8", gives=f32([np.float32(-25.5)]))
    check(DEQUANTIZE, i32([2**23]), 1.0, -1, 0, 1, "int32", gives=f32([2.0**23 + 1]))
    check(DEQUANTIZE, i16([1000]), 100.0, 0, 0, 1, "int16", out_dtype="float16", gives=f16([inf]))
    check(DEQUANTIZE, i16([257]), 1.0, 0, 0, 1, "int16", out_dtype="bfloat16", gives=bf16([256.0]))


def test_what_float32_loses_of_large_integers_may_be_lost() -> None:
    """2^24 + 1, or 2^30 + 1 without 2^15: the even one beside it; of a difference beyond int32 nothing is said."""
    (large,) = goldens(DEQUANTIZE, i32([2**24 + 1, 2**24, 2**30 + 1]), 1.0, 0, 0, 9, "int32")
    assert large.value.tolist() == [2.0**24, 2.0**24, 2.0**30]
    assert large.budget[0] > 1.0 > 0.99 * large.budget[1]
    assert large.budget[2] > 64.0
    check_open(DEQUANTIZE, i32([-(2**31), -(2**31) + 1]), 1.0, 1, 0, 9, "int32",
               gives=f32([0.0, -(2.0**31)]), where_open=[True, False], rule="P157")  # fmt: skip


def test_a_scale_that_float32_does_not_hold_is_worth_its_rounding_and_one_of_float32_nothing() -> None:
    (rounded,) = goldens(DEQUANTIZE, u8([3]), 0.1, 0, 0, 255, "uint8")
    (exact,) = goldens(DEQUANTIZE, u8([3]), float(np.float32(0.1)), 0, 0, 255, "uint8")
    assert 2.0**-24 * 0.6 > rounded.budget[0] > 1.0001 * exact.budget[0] > 2.0**-24 * 0.3


@pytest.mark.parametrize(
    ("op", "arguments", "error", "named"),
    [
        (QUANTIZE, (f64([1.0]), 1.0, 0, 0, 255, "uint8"), InvalidArguments, "input"),
        (QUANTIZE, (f32([1.0]), 1.0, 0, -1, 255, "uint8"), InvalidArguments, "quant_min"),
        (QUANTIZE, (f32([1.0]), 1.0, 0, 0, 256, "uint8"), InvalidArguments, "quant_max"),
        (QUANTIZE, (f32([1.0]), 1.0, 0, 0, 255, "int64"), Unjudged, "dtype"),
        (QUANTIZE, (f32([1.0]), 1.0, 0, 0, 255, "uint16"), Unjudged, "uint16"),
        (QUANTIZE, (f32([1.0]), 1.0, 0, 0, 255, "float8_e4m3fn"), Unjudged, "dtype"),
        (QUANTIZE, (f32([1.0]), 1.0, 2**20, 0, 255, "uint8"), Unjudged, "zero_point"),
        (f"{QUANTIZE}.tensor", (f32([1.0]), f32([1.0, 2.0]), i64([0]), 0, 255, "uint8"), InvalidArguments, "scale"),
        (DEQUANTIZE, (u8([1]), 1.0, 0, 0, 255, "int8"), InvalidArguments, "dtype"),
        (CHANNELS[0], (f32([1.0]), f32([1.0]), i64([0]), 1, 0, 255, "uint8"), InvalidArguments, "axis"),
    ],
)  # fmt: skip
def test_what_is_refused_or_not_judged_is_named(op: str, arguments: tuple, error: type, named: str) -> None:
    with pytest.raises(error, match=named):
        evaluate(op, arguments, {})
