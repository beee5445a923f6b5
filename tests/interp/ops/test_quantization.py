"""Fake quantization: numbers put on a grid of integers, and back."""

from __future__ import annotations

from math import inf, nan

import pytest

from conform.errors import InvalidArguments
from tests.interp.ops.literal import boolean, check, f32, goldens, i32, shown

TENSOR = "aten::fake_quantize_per_tensor_affine"
CHANNEL = "aten::fake_quantize_per_channel_affine"


def test_ties_go_to_even_integers_and_ends_bound_them() -> None:
    x = f32([0.25, 0.75, -0.25, 1.0, 9.0, inf, -inf])
    gives = f32([0.0, 1.0, -0.0, 1.0, 1.5, 1.5, -0.5])
    check(TENSOR, x, 0.5, 1, 0, 4, gives=gives)
    check(f"{TENSOR}_cachemask", x, 0.5, 1, 0, 4, gives=(gives, boolean([1, 1, 1, 1, 0, 0, 0])))
    check(f"{TENSOR}.tensor_qparams", x, f32([0.5]), i32([1]), 0, 4, gives=gives)


def test_channels_have_scales_of_their_own() -> None:
    x, scales = f32([[0.75, 0.75], [3.0, 200.0]]), f32([0.5, 0.25])
    check(CHANNEL, x, scales, i32([0, 0]), 1, -128, 127, gives=f32([[1.0, 0.75], [3.0, 31.75]]))
    mask = goldens(f"{CHANNEL}_cachemask", x, scales, i32([0, 0]), 1, -128, 127)[1]
    assert shown(mask.value) == "bool[2, 2] [[True, True], [True, False]]"


def test_a_quotient_within_the_error_of_float32_may_be_rounded_either_way() -> None:
    """7.5 + 2^-21, divided by 3, is above a tie by less than three roundings; NaN is open."""
    x = f32([7.5 + 2.0**-21, 6.75, nan])
    golden = goldens(TENSOR, x, 3.0, 0, 0, 9)[0]
    assert golden.value[:2].tolist() == [9.0, 6.0]
    assert {float(other.value[0]) for other in golden.alternatives} == {6.0, 9.0}
    assert {float(other.value[1]) for other in golden.alternatives} == {6.0}
    assert (golden.open.tolist(), golden.open_rule) == ([False, False, True], "P153")


@pytest.mark.parametrize("scale", [2.0**-99, 0.5, 1.0, 2.0**99])
def test_of_a_power_of_two_no_step_is_rounded_and_a_tie_stays_one(scale: float) -> None:
    """Not 1 for 0.5, as C's round has it, and not 0 for 1.5 + 1 = 2.5, were the zero point added first."""
    golden = goldens(TENSOR, f32([0.5, 1.5, 2.5, -0.5, 2.5 + 2.0**-22]) * f32(scale), scale, 1, 0, 9)[0]
    for one in (golden, *golden.alternatives):
        assert (one.value / scale).tolist() == [0.0, 2.0, 2.0, 0.0, 3.0]


def test_a_zero_point_lies_between_the_ends() -> None:
    with pytest.raises(InvalidArguments, match="zero_point"):
        goldens(TENSOR, f32([1.0]), 0.5, 9, 0, 4)
    with pytest.raises(InvalidArguments, match="quant_max"):
        goldens(TENSOR, f32([1.0]), 0.5, 0, 4, 0)
