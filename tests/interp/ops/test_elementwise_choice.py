"""Bounds, fills, bits, classes of numbers and pieces: literal inputs and outputs of the definitions."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.errors import InvalidArguments
from tests.interp.ops.literal import (
    bf16,
    boolean,
    c64,
    check,
    check_open,
    f16,
    f32,
    f64,
    goldens,
    i8,
    i32,
    i64,
    u8,
)

LARGEST = 3.4028234663852886e38  # of float32


def test_sub() -> None:
    check("aten::sub", f32([1.0, inf]), f32([0.5, inf]), gives=f32([0.5, nan]))
    check("aten::sub", f32([-0.0]), f32([-0.5]), alpha=0, gives=f32([0.0]))  # -0 - (-0)
    check("aten::sub", u8([3]), u8([5]), alpha=2, gives=u8([249]))
    check("aten::sub", i64([-(2**63)]), 1, gives=i64([2**63 - 1]))
    with pytest.raises(InvalidArguments):
        goldens("aten::sub", boolean([True]), i8([1]))


def test_fmod() -> None:
    """torch.fmod's examples, then C99's special cases."""
    check("aten::fmod", f32([-3.0, -2.0, 1.0, 3.0]), 2, gives=f32([-1.0, -0.0, 1.0, 1.0]))
    check("aten::fmod", i64([1, 2, 3, 4, 5]), -1.5, gives=f32([1.0, 0.5, 0.0, 1.0, 0.5]))
    check("aten::fmod", f32([inf, 1.0, 1.0]), f32([1.0, 0.0, -inf]), gives=f32([nan, nan, 1.0]))
    check("aten::fmod", i8([-128, -7]), i8([-1, 2]), gives=i8([0, -1]))
    check("aten::fmod", f64([1e300]), 0.7, gives=f64([float(np.fmod(1e300, 0.7))]))


def test_integer_parts() -> None:
    x = f32([-1.5, -0.5, 0.5, inf, nan])
    check("aten::ceil", x, gives=f32([-1.0, -0.0, 1.0, inf, nan]))
    check("aten::floor", x, gives=f32([-2.0, -1.0, 0.0, inf, nan]))
    check("aten::trunc", x, gives=f32([-1.0, -0.0, 0.0, inf, nan]))
    check("aten::ceil", i8([3]), gives=i8([3]))


def test_sign() -> None:
    check("aten::sign", i8([-5, 0, 5]), gives=i8([-1, 0, 1]))
    check("aten::sign", boolean([True, False]), gives=boolean([True, False]))
    check_open("aten::sign", f16([-inf, nan]), gives=f16([-1.0, 0.0]), where_open=[False, True], rule="P91")


def test_bits_and_shifts() -> None:
    check("aten::bitwise_or", i8([-1, 4]), 3, gives=i8([-1, 7]))
    check("aten::bitwise_xor", boolean([True, True]), boolean([True, False]), gives=boolean([False, True]))
    check("aten::bitwise_not", u8([0, 5]), gives=u8([255, 250]))
    check("aten::bitwise_left_shift", i8([1, 96]), i8([6, 1]), gives=i8([64, -64]))
    check("aten::bitwise_right_shift", i8([-128, 5]), 1, gives=i8([-64, 2]))
    open_ = [True, True, False]
    check_open("aten::bitwise_left_shift", i8([1, 1, 1]), i8([-1, 8, 7]), gives=i8([1, 1, -128]), where_open=open_,
               rule="P92")  # fmt: skip


def test_logic() -> None:
    check("aten::logical_and", f32([nan, -0.0]), i8([2, 2]), gives=boolean([True, False]))
    check("aten::logical_or", c64([0, 1j]), c64([0, 0]), gives=boolean([False, True]))
    check("aten::logical_xor", i8([2, 0]), boolean([True, True]), gives=boolean([False, True]))
    check("aten::logical_not", bf16([0.0, nan]), gives=boolean([True, False]))


def test_comparisons() -> None:
    lhs, rhs = f32([1.0, nan, 0.0]), f32([2.0, nan, -0.0])
    for op, expected in (
        ("ne", [True, True, False]), ("lt", [True, False, False]), ("le", [True, False, True]),
        ("gt", [False, False, False]), ("ge", [False, False, True]),
    ):  # fmt: skip
        check(f"aten::{op}", lhs, rhs, gives=boolean(expected))
    with pytest.raises(InvalidArguments):
        goldens("aten::lt", c64([1j]), 1)


def test_classes_of_numbers() -> None:
    z = c64([complex(nan, inf), complex(1, -inf), 1j])
    check("aten::isnan", z, gives=boolean([True, False, False]))
    check("aten::isinf", z, gives=boolean([True, True, False]))
    check("aten::isfinite", z, gives=boolean([False, False, True]))
    check("aten::isfinite", i8([1]), gives=boolean([True]))
    check_open("aten::signbit", f32([-0.0, nan]), gives=boolean([True, False]), where_open=[False, True], rule="P1")


def test_clamp() -> None:
    check("aten::clamp", f32([-2.0, nan, inf]), min=-0.5, max=0.5, gives=f32([-0.5, nan, 0.5]))
    check("aten::clamp", i8([-2, 7]), min=0.5, gives=f32([0.5, 7.0]))
    check("aten::clamp", f32([1.0]), min=3, max=2, gives=f32([2.0]))
    check("aten::clamp.Tensor", f32([1.0, 5.0]), None, f32([nan, 2.0]), gives=f32([nan, 2.0]))
    check("aten::clamp_min", i8([1, 5]), 2, gives=i8([2, 5]))
    check("aten::clamp_max.Tensor", i8([1, 5]), i32([[2]]), gives=i32([[1, 2]]))
    check("aten::relu", f32([-1.0, nan, 2.0]), gives=f32([0.0, nan, 2.0]))
    check("aten::relu6", i8([-1, 7]), gives=i8([0, 6]))
    check("aten::hardtanh", f16([-inf, 0.5, nan]), gives=f16([-1.0, 0.5, nan]))
    with pytest.raises(InvalidArguments):
        goldens("aten::clamp", f32([1.0]))


def test_copies_and_fills() -> None:
    check("aten::copy", i8([[0], [0]]), f32([2.75]), gives=i8([[2], [2]]))
    check("aten::copy", f32([0.0]), c64([1 - 2j]), gives=f32([1.0]))
    check("aten::fill.Scalar", u8([0, 0]), -1, gives=u8([255, 255]))
    check("aten::fill.Scalar", f32([0.0]), -inf, gives=f32([-inf]))
    check("aten::fill.Tensor", i8([0, 0]), np.array(2.5), gives=i8([2, 2]))
    check("aten::masked_fill", f16([1.0, 2.0]), boolean([[True, False]]), -inf, gives=f16([[-inf, 2.0]]))
    check("aten::clone", f32([nan, -0.0]), gives=f32([nan, -0.0]))
    with pytest.raises(InvalidArguments):
        goldens("aten::fill.Scalar", i8([0]), 300)


def test_pieces() -> None:
    check("aten::threshold", f32([1.0, 0.5, nan]), 0.5, 7, gives=f32([1.0, 7.0, nan]))
    check("aten::hardshrink", f32([0.5, 0.75, nan]), gives=f32([0.0, 0.75, nan]))
    check("aten::softshrink", f32([2.0, -2.0, 0.25]), gives=f32([1.5, -1.5, 0.0]))
    check("aten::leaky_relu", f32([4.0, -4.0, -inf]), 0.5, gives=f32([4.0, -2.0, -inf]))
    check("aten::prelu", f32([[-1.0, -1.0], [3.0, nan]]), f32([2.0, 4.0]), gives=f32([[-2.0, -4.0], [3.0, nan]]))
    check("aten::hardswish", f32([-4.0, -3.0, 1.5, 3.0, inf]), gives=f32([0.0, 0.0, 1.125, 3.0, inf]))
    check("aten::hardsigmoid", f32([-inf, 1.5, 9.0]), gives=f32([0.0, 0.75, 1.0]))
    check_open("aten::heaviside", f32([-1.0, 0.0, 2.0, nan]), f32([0.5]), gives=f32([0.0, 0.5, 1.0, 0.0]),
               where_open=[False, False, False, True], rule="P91")  # fmt: skip
    check("aten::nan_to_num", f32([nan, inf, -inf]), posinf=1.5, gives=f32([0.0, 1.5, -LARGEST]))


def test_exponential_pieces() -> None:
    """e - 1 is 1.71828182845904523..., so e^-1 - 1 is -0.63212055882855767...; selu(-inf) is -alpha scale."""
    check("aten::elu", f64([1.0, -1.0, -inf]), 2, gives=f64([1.0, -1.2642411176571153, -2.0]))
    check("aten::elu", f64([3.0]), 1, 0.5, gives=f64([1.5]))
    check("aten::celu", f64([1.0, -1.0, -2.0]), 2, gives=f64([1.0, -0.7869386805747332, -1.2642411176571153]))
    check("aten::selu", f64([1.0, -inf]), gives=f64([1.0507009873554805, -1.7580993408473768]))
    check("aten::log_sigmoid", f64([0.0, -inf, -1000.0]), gives=f64([-0.6931471805599453, -inf, -1000.0]))


def test_combinations() -> None:
    check("aten::addcmul", f32([1.0]), f32([2.0]), f32([[3.0], [inf]]), value=0.5, gives=f32([[4.0], [inf]]))
    check("aten::addcmul", i8([1]), i8([100]), i8([3]), value=2, gives=i8([89]))  # 601 mod 256
    check("aten::addcdiv", f32([1.0, 1.0, 1.0]), f32([1.0, 1.0, 0.0]), f32([4.0, -0.0, 0.0]), value=2,
          gives=f32([1.5, -inf, nan]))  # fmt: skip
    check("aten::lerp", f32([1.0, 2.0]), f32([3.0, nan]), 0.25, gives=f32([1.5, nan]))
    check_open("aten::lerp", f32([inf, 0.0]), f32([1.0, 4.0]), f32([0.5, 2.0]), gives=f32([0.0, 8.0]),
               where_open=[True, False], rule="P96")  # fmt: skip


def test_parts_of_numbers() -> None:
    check("aten::conj_physical", c64([1 + 2j]), gives=c64([1 - 2j]))
    check("aten::real", c64([1 + 2j]), gives=f32([1.0]))
    check("aten::imag", c64([1 + 2j]), gives=f32([2.0]))
    check("aten::copysign", i8([3, -3]), -0.0, gives=f32([-3.0, -3.0]))
    check("aten::nextafter", f16([1.0, 0.0, 65504.0]), f16([2.0, -1.0, inf]),
          gives=f16([1.0009765625, -5.960464477539063e-08, inf]))  # fmt: skip
    check("aten::ldexp", f32([1.5, 1.0]), i32([2, -149]), gives=f32([6.0, 1.401298464324817e-45]))
    mantissa, exponent = goldens("aten::frexp.Tensor", f32([-6.0, 0.0, 1.401298464324817e-45]))
    assert (mantissa.value.tolist(), exponent.value.tolist()) == ([-0.75, 0.0, 0.5], [3, 0, -148])


def test_integer_functions() -> None:
    check("aten::gcd", i8([5, 10, -15, 0]), i8([3, 4, 5, 0]), gives=i8([1, 2, 5, 0]))
    check("aten::lcm", i64([5, 10, 15]), i64([3, -4, 0]), gives=i64([15, 20, 0]))
    check_open("aten::lcm", i8([127]), i8([126]), gives=i8([0]), where_open=[True], rule="P98")
    check_open("aten::gcd", i8([-128, -128]), i8([0, 3]), gives=i8([0, 0]), where_open=[True, True], rule="P98")
    check("aten::gcd", i8([-128]), u8([6]), gives=np.array([2], np.int16))
    check("aten::floor_divide", i8([-7, 7]), 2, gives=i8([-4, 3]))
    check("aten::square", boolean([True]), gives=i64([1]))


# ---- numbers before NaN, fractions, units ------------------------------------------------------------------------


def test_fmax_and_fmin_take_the_number_beside_nan() -> None:
    x, y = f32([nan, 1.0, nan, -inf, 2.0]), f32([2.0, nan, nan, nan, 3.0])
    check("aten::fmax", x, y, gives=f32([2.0, 1.0, nan, -inf, 3.0]))
    check("aten::fmin", x, y, gives=f32([2.0, 1.0, nan, -inf, 2.0]))
    check("aten::fmin", i8([3, -3]), i8([5, -5]), gives=i8([3, -5]))
    check("aten::fmax", boolean([True, False]), boolean([False, False]), gives=boolean([True, False]))


def test_frac_is_what_trunc_leaves() -> None:
    check_open("aten::frac", f32([2.5, -2.5, -3.0, nan, 2.0**-149, inf, -inf]),
               gives=f32([0.5, -0.5, -0.0, nan, 2.0**-149, 0.0, 0.0]), where_open=[False] * 5 + [True] * 2, rule="P207")


def test_sgn_of_complex_numbers_has_their_angle() -> None:
    check("aten::sgn", np.array([3 + 4j, 0, -2j, 5e-324]), gives=np.array([0.6 + 0.8j, 0, -1j, 1]))
    check_open("aten::sgn", c64([complex(LARGEST, LARGEST)]), gives=c64([0]), where_open=[True], rule="P207")
    check_open("aten::sgn", f32([-2.5, 0.0, nan]), gives=f32([-1.0, 0.0, 0.0]), where_open=[False, False, True],
               rule="P91")  # fmt: skip
    check("aten::sgn", c64([complex(1.0, 2.0**-140)]), gives=c64([complex(1.0, 2.0**-140)]))


def test_sgn_of_a_part_that_lies_by_a_midpoint_of_subnormals() -> None:
    """3 * 2^-1074 / |2 + 3 * 2^-1074 i| is a hair less than 1.5 * 2^-1074, the midpoint, whose even neighbour is 2."""
    (golden,) = goldens("aten::sgn", np.array([complex(2.0, 3 * 2.0**-1074)]))
    assert golden.value.imag.tolist() == [2.0**-1074]
    assert golden.value.real.tolist() == [1.0]


def test_infinities_of_one_sign() -> None:
    check("aten::isposinf", f32([inf, -inf, nan, 3.0]), gives=boolean([True, False, False, False]))
    check("aten::isneginf", f16([inf, -inf, nan, 3.0]), gives=boolean([False, True, False, False]))
    check("aten::isposinf", u8([255]), gives=boolean([False]))


def test_rsub_subtracts_self() -> None:
    check("aten::rsub", f32([1.0, 2.0]), f32([3.0, 4.0]), alpha=2, gives=f32([1.0, 0.0]))
    check("aten::rsub", u8([1]), 0, gives=u8([255]))
    check("aten::rsub", f32([0.0]), -0.0, gives=f32([-0.0]))
