"""Conversion between dtypes."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.interp.evaluate import evaluate
from tests.interp.ops.literal import (
    bf16,
    boolean,
    c64,
    c128,
    check,
    check_open,
    f16,
    f32,
    f64,
    i8,
    i32,
    i64,
    tensor,
    u8,
)


def cast(source: np.ndarray, gives: np.ndarray) -> None:
    check("aten::_to_copy", source, dtype=gives.dtype.name, gives=gives)


def test_no_dtype_is_a_copy() -> None:
    check("aten::_to_copy", f32([1.5, -0.0]), gives=f32([1.5, -0.0]))


@pytest.mark.parametrize(
    ("number", "dtype", "expected"),
    [
        (1 + 2.0**-11, "float16", 1.0),  # a tie, to even
        (1 + 3 * 2.0**-11, "float16", 1 + 2.0**-9),
        (1 + 2.0**-11 + 2.0**-40, "float16", 1 + 2.0**-10),  # through float32 it would be the tie
        (1 + 2.0**-8 + 2.0**-50, "bfloat16", 1 + 2.0**-7),
        (65519.99, "float16", 65504.0),
        (65520.0, "float16", inf),
        (-(2.0**-25), "float16", -0.0),  # half of the smallest subnormal
        (2.0**-25 * (1 + 2.0**-30), "float16", 2.0**-24),
        (1e300, "float32", inf),
        (nan, "bfloat16", nan),
        (-inf, "float32", -inf),
    ],
)
def test_floats_round_once_to_nearest_even(number: float, dtype: str, expected: float) -> None:
    cast(f64([number]), tensor(dtype, [expected]))


def test_integers_round_once_to_floats() -> None:
    cast(i64([2**53 + 1, 2**53 + 3, -(2**63)]), f64([2.0**53, 2.0**53 + 4, -(2.0**63)]))
    cast(
        i64([2**24 + 1, 2**60 + 2**36 + 1]), f32([2.0**24, 2.0**60 + 2.0**37])
    )  # through float64 the second were a tie
    cast(i32([65519, 65520, 2049]), f16([65504.0, inf, 2048.0]))


def test_integers_wrap() -> None:
    cast(i32([300, -1, 255]), u8([44, 255, 255]))
    cast(i64([2**31, -129]), i32([-(2**31), -129]))
    cast(u8([200]), i8([-56]))


def test_floats_go_toward_zero_to_integers() -> None:
    cast(f64([1.9, -1.9, -0.5, 127.99]), i8([1, -1, 0, 127]))
    check_open("aten::_to_copy", f64([128.0, -128.9, nan, inf, -129.0]), dtype="int8", gives=i8([0, -128, 0, 0, 0]),
               where_open=[True, False, True, True, True], rule="P13")  # fmt: skip
    check_open("aten::_to_copy", f32([2.0**63, -(2.0**63)]), dtype="int64", gives=i64([0, -(2**63)]),
               where_open=[True, False], rule="P13")  # fmt: skip


def test_bool_is_not_zero() -> None:
    cast(f32([0.0, -0.0, 2.0**-149, nan, -inf]), boolean([False, False, True, True, True]))
    cast(i8([0, -1]), boolean([False, True]))
    cast(boolean([True, False]), bf16([1.0, 0.0]))


def test_complex() -> None:
    cast(c128([1.5 - 2j]), f64([1.5]))  # P16
    cast(f64([0.5]), c64([0.5 + 0j]))
    cast(c128([2.0**-25 * (1 + 0.5j)]), c64([2.0**-25 * (1 + 0.5j)]))
    cast(c64([0j, 1j]), boolean([False, True]))


@pytest.mark.parametrize(
    ("number", "dtype", "expected", "other"),
    [
        (1.0625, "float8_e4m3fn", 1.0, 1.0),  # a tie, to even
        (1.0625 + 2.0**-40, "float8_e4m3fn", 1.125, 1.125),  # through float32 it would be the tie
        (464.0, "float8_e4m3fn", 448.0, 448.0),
        (465.0, "float8_e4m3fn", 448.0, nan),
        (-inf, "float8_e4m3fn", -448.0, nan),
        (inf, "float8_e5m2", inf, 57344.0),
        (61440.0, "float8_e5m2", inf, 57344.0),
        (1e9, "float8_e4m3fnuz", nan, 240.0),
        (-0.0, "float8_e5m2fnuz", 0.0, 0.0),
        (nan, "float8_e4m3fn", nan, nan),
    ],
)
def test_small_floats_saturate_or_not(number: float, dtype: str, expected: float, other: float) -> None:
    """P80: expected first, the other way is as right."""
    (golden,) = evaluate("aten::_to_copy", [f64([number])], {"dtype": dtype}).goldens
    np.testing.assert_array_equal(golden.value.astype(np.float64), [expected])
    assert [alternative.value.astype(np.float64).tolist() for alternative in golden.alternatives] == [
        pytest.approx([other], rel=0, nan_ok=True)
    ]


def test_small_floats_from_integers() -> None:
    (golden,) = evaluate("aten::_to_copy", [i64([17, -3, 2**40])], {"dtype": "float8_e4m3fn"}).goldens
    np.testing.assert_array_equal(golden.value.astype(np.float64), [16, -3, 448])


def test_ties_of_powers_of_two_go_up() -> None:
    """P82: 1.5 * 2^k lies halfway between 2^k and 2^(k + 1), and neither has an even significand."""
    ties = f64([1.5, 3.0, 0.75, 1.5 * 2.0**-127, 1.5 * 2.0**126])
    (golden,) = evaluate("aten::_to_copy", [ties], {"dtype": "float8_e8m0fnu"}).goldens
    np.testing.assert_array_equal(golden.value.astype(np.float64), [2.0, 4.0, 1.0, 2.0**-126, 2.0**127])


def test_a_format_without_sign_and_zero() -> None:
    """P81, and what lies below the smallest number of float8_e8m0fnu rounds up to it."""
    numbers = f64([3.0, 2.9, 1e-300, inf, nan, 0.0, -2.0])
    (golden,) = evaluate("aten::_to_copy", [numbers], {"dtype": "float8_e8m0fnu"}).goldens
    assert golden.open is not None
    assert golden.open.tolist() == [False, False, False, False, False, True, True]
    assert (golden.open_rule, golden.alternatives) == ("P81", ())
    np.testing.assert_array_equal(golden.value.astype(np.float64)[:5], [4.0, 2.0, 2.0**-127, nan, nan])
