"""The scale of gradients: literal numbers of what torch.amp.GradScaler documents."""

from __future__ import annotations

import math

import numpy as np
import pytest

from conform.interp.evaluate import evaluate
from tests.interp.ops.literal import check, f16, f32, f64, goldens

NAN, INF = math.nan, math.inf
UNSCALE, UPDATE = "aten::_amp_foreach_non_finite_check_and_unscale", "aten::_amp_update_scale"


def steps(count: int) -> np.ndarray:
    return np.array(count, np.int32)


def test_gradients_are_multiplied_by_the_inverse_of_the_scale() -> None:
    found = (f32([1.0, -0.0]), f32([[0.25]]), f32(0.0))
    check(UNSCALE, [f32([4.0, -0.0]), f32([[1.0]])], f32(0.0), f32(0.25), gives=found)


@pytest.mark.parametrize("gradient", [INF, -INF, NAN])
def test_what_is_no_finite_number_is_found_in_any_tensor(gradient: float) -> None:
    found = (f32([1.0]), f32([4.0, gradient]), f32(1.0))
    check(UNSCALE, [f32([2.0]), f32([8.0, gradient])], f32(0.0), f32(0.5), gives=found)


def test_what_was_found_before_stays() -> None:
    check(UNSCALE, [f32([2.0])], f32(1.0), f32(0.5), gives=(f32([1.0]), f32(1.0)))
    check(f"{UNSCALE}_", [f64([2.0]), f64([])], f32(1.0), f32(0.5), gives=(f64([1.0]), f64([]), f32(1.0)))


def test_a_product_that_overflows_is_infinite_and_nothing_found() -> None:
    """65504 * 2 is no float16, and was a finite gradient."""
    check(UNSCALE, [f16([65504.0])], f32(0.0), f32(2.0), gives=(f16([INF]), f32(0.0)))


def test_half_types_may_round_the_product_twice() -> None:
    """(1 + 2^-10) * 0x1.ffc01p-2 is 2^-32 above 1/2 + 2^-12, a tie of float16, and float32 has the tie."""
    golden, _ = goldens(UNSCALE, [f16([1 + 2.0**-10])], f32(0.0), f32(float.fromhex("0x1.ffc01p-2")))
    assert [float(each.value[0]) for each in (golden, *golden.alternatives)] == [0.5 + 2.0**-11, 0.5]


def test_the_scale_backs_off_after_an_infinity() -> None:
    check(UPDATE, f32(8.0), steps(5), f32(1.0), 2.0, 0.25, 6, gives=(f32(2.0), steps(0)))


def test_the_scale_grows_with_the_last_of_so_many_steps() -> None:
    check(UPDATE, f32(8.0), steps(4), f32(0.0), 2.0, 0.5, 6, gives=(f32(8.0), steps(5)))
    check(UPDATE, f32(8.0), steps(5), f32(0.0), 2.0, 0.5, 6, gives=(f32(16.0), steps(0)))
    check(f"{UPDATE}_", f32(8.0), steps(0), f32(0.0), 4.0, 0.5, 1, gives=(f32(32.0), steps(0)))


def test_a_scale_beyond_float32_is_left_open() -> None:
    outcome = evaluate(UPDATE, [f32(2.0**127), steps(0), f32(0.0), 2.0, 0.5, 1], {})
    assert (outcome.goldens[0].open.tolist(), outcome.goldens[0].open_rule) == (True, "P226")
