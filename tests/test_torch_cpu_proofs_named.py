"""One element of each row of docs/torch-cpu.md on names that people write kernels for: what is right, by exact
arithmetic alone, whatever this machine's torch returns."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import mpmath
import numpy as np
import pytest

import conform

NONE = 0


def bf16(*numbers: float) -> np.ndarray:
    return np.array(numbers).astype(ml_dtypes.bfloat16)


def test_a_margin_is_added_before_the_one_rounding() -> None:
    exact = Fraction(256) - Fraction(3, 2) + Fraction(1, 2)
    assert exact == 255  # of eight bits, as bfloat16 has; 254.5 is none of its numbers
    golden = conform.golden("aten::margin_ranking_loss", bf16(256.0), bf16(1.5), bf16(-1.0), 0.5, NONE)
    assert golden.value.tolist() == [255.0]
    hinge = conform.golden("aten::hinge_embedding_loss", bf16(1.5), bf16(-1.0), 256.0, NONE)
    assert hinge.value.tolist() == [float(bf16(254.5)[0])] == [254.0]  # a tie


def test_distances_are_added_before_the_one_rounding() -> None:
    exact = abs(Fraction(256) - Fraction(3, 2) + Fraction(1, 4)) + Fraction(1, 4)
    assert exact == 255
    golden = conform.golden("aten::pairwise_distance", bf16(256.0, 0.0)[None], bf16(1.5, 0.0)[None], 1.0, 0.25)
    assert golden.value.tolist() == [255.0]


def test_a_line_of_zeros_has_the_cosine_0() -> None:
    """0 / (max(0, eps) max(|x|, eps)), of reals: eps is no number of float16."""
    zeros, ones = np.zeros((1, 2), np.float16), np.ones((1, 2), np.float16)
    assert conform.golden("aten::cosine_similarity", zeros, ones).value.tolist() == [0.0]


@pytest.mark.parametrize(("op", "target"), [("multi_margin_loss", (0,)), ("multilabel_margin_loss", (0, 7))])
def test_the_mean_over_no_samples_is_no_number(op: str, target: tuple[int, ...]) -> None:
    golden = conform.golden(f"aten::{op}", np.zeros((0, 7), np.float32), np.zeros(target, np.int64))
    assert np.isnan(golden.value)


def test_a_number_that_stands_twice_beside_a_nan_is_the_mode() -> None:
    line = [1.0, float("nan"), 1.0, 0.0]
    assert [line.count(number) for number in line] == [2, 1, 2, 1]  # the NaN is counted as the object that it is
    golden = conform.golden("aten::mode", np.array(line, np.float32))
    assert golden.value[0].tolist() == 1.0


def test_infinity_is_beyond_the_upper_end_of_a_grid() -> None:
    """min(quant_max, max(quant_min, inf)) is quant_max, and so it is of any number above it."""
    assert [min(127, max(-128, number)) for number in (float("inf"), 1e30)] == [127, 127]
    scale, zero_point = np.ones(1, np.float32), np.zeros(1, np.int32)
    x = np.array([np.inf, 1e30, -np.inf], np.float32)[:, None]
    golden = conform.golden("aten::fake_quantize_per_channel_affine", x, scale, zero_point, 1, -128, 127)
    assert golden.value.ravel().tolist() == [127.0, 127.0, -128.0]


def test_an_integer_is_shifted_and_scaled_before_it_is_a_half() -> None:
    """17500 lies between the float16 numbers 17488 and 17504, nearer to the second; 257 - 256 is 1."""
    op, told = "quantized_decomposed::dequantize_per_tensor", (-128, 127, "int32")
    assert Fraction(70000) * Fraction(1, 4) == 17500
    assert conform.golden(op, np.int32([70000]), 0.25, 0, *told, out_dtype="float16").value.tolist() == [17504.0]
    assert conform.golden(op, np.int32([257]), 1.0, 256, *told, out_dtype="bfloat16").value.tolist() == [1.0]


def test_the_last_of_the_numbers_in_order_is_a_quantile() -> None:
    numbers = sorted([float("inf"), 1.0])
    golden = conform.golden("aten::quantile.scalar", np.array(numbers, np.float32), 1.0)
    assert golden.value.tolist() == numbers[int(1.0 * (len(numbers) - 1))]


def test_scales_are_those_of_the_rows_wherever_they_lie() -> None:
    """Of ones and ones, 32 times the scale of each row."""
    scales = np.array([0.5, 9.0, 0.25, 9.0], np.float32)[::2]
    ones = np.ones((1, 32), np.float32), np.ones((2, 32), np.int8)
    golden = conform.golden("aten::_weight_int8pack_mm", *ones, scales)
    assert golden.value.tolist() == [[32 * 0.5, 32 * 0.25]]


def test_a_product_of_three_is_added_up_before_the_one_rounding() -> None:
    """256.5, one of the products of the first two, is no number of bfloat16."""
    exact = Fraction(3, 2) * 171 * 1 + 1 * -256 * 1
    assert exact == Fraction(1, 2)
    rows = bf16(1.5, 1.0), bf16(171.0, -256.0), bf16(1.0, 1.0)
    golden = conform.golden("aten::einsum", "i,i,i->", list(rows))
    assert golden.value.tolist() == 0.5


def test_the_cosine_next_to_a_multiple_of_half_a_turn() -> None:
    with mpmath.workprec(2000):
        expected = float(mpmath.cos(mpmath.mpf(6381956970095103) * 2**797))
    angle = np.array([6381956970095103 * 2.0**797])
    assert conform.golden("aten::polar", np.ones(1), angle).value.real.tolist() == [expected]


def test_rows_of_one_column_differ() -> None:
    """Weights 3, 3, 1 and 1, 3, 3 of 7, and the mean of 0, 1 and 2 more than the first of each row."""
    image = np.arange(12.0).reshape(1, 1, 4, 3)
    columns = [Fraction(1), Fraction(4), Fraction(7), Fraction(10)]
    shares = ([3, 3, 1, 0], [0, 1, 3, 3])
    exact = [sum(w * x for w, x in zip(row, columns, strict=True)) / 7 for row in shares]
    assert exact == [Fraction(22, 7), Fraction(55, 7)]
    golden = conform.golden("aten::_upsample_bilinear2d_aa", image, [2, 1], False)
    assert golden.value.ravel().tolist() == [float(number) for number in exact]


def test_the_first_query_of_a_causal_attention_is_the_first_value() -> None:
    """It has one key, of weight 1, whatever the scale; and what lies between the numbers is none of them."""
    draw = np.random.default_rng(0)
    query, key, value = (draw.normal(size=(1, 1, 3, 4)).astype(np.float32) for _ in range(3))
    op = "aten::_scaled_dot_product_flash_attention_for_cpu"
    golden = conform.golden(op, query, key, value, 0.0, True, scale=-1.5)
    assert golden.value[0][0, 0, 0].tolist() == value[0, 0, 0].tolist()
    spread = np.zeros((1, 1, 3, 8), np.float32)
    spread[..., ::2] = value
    with_gaps = conform.golden(op, query, key, spread[..., ::2], 0.0, True, scale=-1.5)
    assert with_gaps.value[0].tolist() == golden.value[0].tolist()


def test_an_infinite_score_is_no_masked_one() -> None:
    query = np.full((1, 1, 1, 1), np.inf, np.float32)
    ones = np.ones((1, 1, 2, 1), np.float32)
    golden = conform.golden("aten::_scaled_dot_product_flash_attention_for_cpu", query, ones, ones)
    assert np.isnan(golden.value[0]).all()  # e^(inf - inf)
