"""Arithmetic and real functions: torch's documented example, then what the definitions say of special values."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.errors import InvalidArguments, Unjudged
from tests.interp.ops.literal import (
    bf16,
    boolean,
    c64,
    check,
    check_open,
    codes,
    f16,
    f32,
    f64,
    goldens,
    i8,
    i16,
    i32,
    i64,
    u8,
)

LARGEST = 3.4028234663852886e38  # of float32
TINY = 1.401298464324817e-45  # the smallest subnormal of float32

# ---- add, mul ----------------------------------------------------------------------------------------------------


def test_add() -> None:
    check("aten::add", f32([0.5, -1.5]), f32([[1.0], [10.0]]), alpha=2, gives=f32([[2.5, 0.5], [20.5, 18.5]]))


def test_add_of_zeros_infinities_and_overflow() -> None:
    lhs = f32([0.0, -0.0, -0.0, inf, inf, LARGEST, 1.0, TINY, nan])
    rhs = f32([-0.0, -0.0, 0.0, 1.0, -inf, LARGEST, 2**-24, TINY, 1.0])
    check("aten::add", lhs, rhs, gives=f32([0.0, -0.0, 0.0, inf, nan, inf, 1.0, 2 * TINY, nan]))


def test_add_rounds_once() -> None:
    check("aten::add", f16([2048.0, 2050.0]), f16([1.0, 1.0]), gives=f16([2048.0, 2052.0]))  # ties, to even
    # 3 * (11184811 * 2^-25) is 1 + 2^-25: the sum lies just above the tie 1 + 2^-24; with a rounded product, below.
    third, rest = f32([11184811 * 2.0**-25]), f32([2.0**-25 + 2.0**-48])
    check("aten::add", rest, third, alpha=3, gives=f32([1 + 2.0**-23]))


def test_add_of_integers_wraps_and_of_bools_is_or() -> None:
    check("aten::add", i8([127, -128]), i8([1, -1]), gives=i8([-128, 127]))
    check("aten::add", u8([200, 3]), 100, gives=u8([44, 103]))
    check("aten::add", i8([100]), 300, gives=i8([-112]))
    check("aten::add", i64([2**62]), i64([2**62]), alpha=2, gives=i64([-(2**62)]))
    check(
        "aten::add",
        boolean([True, True, False, False]),
        boolean([True, False, True, False]),
        gives=boolean([True, True, True, False]),
    )
    check("aten::add", boolean([True, False]), boolean([True, True]), alpha=False, gives=boolean([True, False]))


@pytest.mark.parametrize(
    ("lhs", "rhs", "expected"),
    [
        (u8([1]), i8([2]), i16([3])),
        (i32([1]), i64(2), i32([3])),
        (i32(1), i8([2]), i8([3])),
        (i64([1]), f16([2.0]), f16([3.0])),
        (f16([1.0]), bf16([2.0]), f32([3.0])),
        (f16([1.0]), f64(2.0), f16([3.0])),
        (i8([1]), 2.0, f32([3.0])),
        (boolean([True]), 2, i64([3])),
        (bf16([1.0]), 1j, c64([1 + 1j])),
        (c64([1j]), f64([2.0]), np.array([2 + 1j])),
    ],
)
def test_add_promotes_the_category_first_then_dimensions_then_scalars(
    lhs: object, rhs: object, expected: object
) -> None:
    check("aten::add", lhs, rhs, gives=expected)


def test_add_reads_a_python_number_and_a_wider_0d_operand_as_its_own_value() -> None:
    third = 6004799503160661 * 2.0**-54  # the double next to 1/3; 11184811 * 2^-25 is the float32
    gap = (
        -11184811 * 2.0**-50
    )  # their difference is -178956971 * 2^-54, which float32 rounds to a multiple of 16 * 2^-54
    check("aten::add", f32([-11184811 * 2.0**-25]), third, gives=f32([gap]))
    check("aten::add", f32([-11184811 * 2.0**-25]), f64(third), gives=f32([gap]))
    (golden,) = goldens("aten::add", f32([-0.3333333432674408]), third)
    assert [other.value.tolist() for other in golden.alternatives] == [[0.0]]  # P30: read in the element type


def test_add_of_complex_numbers_is_by_parts() -> None:
    check("aten::add", c64([1 + 2j, 0j]), c64([0.5 - 1j, 2 - 1j]), gives=c64([1.5 + 1j, 2 - 1j]))
    check("aten::add", c64([1 + 2j]), c64([1 + 1j]), alpha=1j, gives=c64([0 + 3j]))
    check_open(
        "aten::add", c64([complex(inf, 1), 1j]), c64([1j, 1j]), gives=c64([0, 2j]), where_open=[True, False], rule="P8"
    )
    check_open(
        "aten::add",
        c64([1j, 1j]),
        c64([2.0**127, 1]),
        alpha=2,
        gives=c64([0, 2 + 1j]),
        where_open=[True, False],
        rule="P8",
    )


def test_add_refuses() -> None:
    for lhs, rhs, keywords in (
        (i32([1]), i32([1]), {"alpha": 0.5}),
        (f32([1.0]), f32([1.0]), {"alpha": 1j}),
        (f32([1.0]), f32([1.0]), {"alpha": True}),
        (i8([1]), i8([1]), {"alpha": 300}),
        (f32([1.0, 2.0]), f32([1.0, 2.0, 3.0]), {}),
    ):
        with pytest.raises(InvalidArguments):
            goldens("aten::add", lhs, rhs, **keywords)


def test_mul() -> None:
    lhs = f32([1.5, -2.0, 0.0, inf, TINY, 2.0**127, nan])
    rhs = f32([-2.0, 0.0, -inf, -1.0, 0.5, 2.0, 0.0])
    check("aten::mul", lhs, rhs, gives=f32([-3.0, -0.0, nan, -inf, 0.0, inf, nan]))
    check("aten::mul", i8([16, -128]), i8([16, -1]), gives=i8([0, -128]))
    check("aten::mul", boolean([True, True]), boolean([True, False]), gives=boolean([True, False]))
    check("aten::mul", i64([3]), 0.5, gives=f32([1.5]))


def test_mul_of_complex_numbers() -> None:
    check("aten::mul", c64([1 + 2j]), c64([3 - 1j]), gives=c64([5 + 5j]))
    lhs, rhs = c64([1 + 2j, inf + 0j, 2.0**100]), c64([1j, 1j, 2.0**100])
    check_open("aten::mul", lhs, rhs, gives=c64([-2 + 1j, 0, 0]), where_open=[False, True, True], rule="P8")


# ---- div, remainder ----------------------------------------------------------------------------------------------

DIVIDEND = [[-0.3711, -1.9353, -0.4605, -0.2917], [0.1815, -1.0111, 0.9805, -1.5923],
            [0.1062, 1.4581, 0.7759, -1.2344], [-0.1830, -0.0313, 1.1908, -1.4757]]  # fmt: skip
DIVISOR = [0.8032, 0.2930, -0.8113, -0.2308]


def test_div_with_rounding_modes() -> None:
    """torch.div's example."""
    dividend, divisor = np.float32(DIVIDEND), np.float32(DIVISOR)
    truncated = [[-0.0, -6.0, 0.0, 1.0], [0.0, -3.0, -1.0, 6.0], [0.0, 4.0, -0.0, 5.0], [-0.0, -0.0, -1.0, 6.0]]
    floored = [[-1.0, -7.0, 0.0, 1.0], [0.0, -4.0, -2.0, 6.0], [0.0, 4.0, -1.0, 5.0], [-1.0, -1.0, -2.0, 6.0]]
    check("aten::div", dividend, divisor, rounding_mode="trunc", gives=f32(truncated))
    check("aten::div", dividend, divisor, rounding_mode="floor", gives=f32(floored))


def test_div_is_true_division_in_the_default_dtype_for_integers() -> None:
    check("aten::div", i32([1, -7, 0]), i32([3, 2, -5]), gives=f32([0.3333333432674408, -3.5, -0.0]))
    check("aten::div", f64([1.0]), 3, gives=f64([0.3333333333333333]))
    check("aten::div", boolean([True]), boolean([True]), rounding_mode=None, gives=f32([1.0]))


def test_div_of_special_values() -> None:
    lhs, rhs = f32([1.0, -1.0, 0.0, inf, inf, 1.0, TINY]), f32([0.0, 0.0, 0.0, inf, -2.0, -inf, 2.0])
    check("aten::div", lhs, rhs, gives=f32([inf, -inf, nan, nan, -inf, -0.0, 0.0]))
    check("aten::div", lhs, rhs, rounding_mode="floor", gives=f32([inf, -inf, nan, nan, -inf, -0.0, 0.0]))


def test_div_floor_is_of_the_real_quotient_and_of_the_rounded_one_as_well() -> None:
    # 1 / 0.1 in double: 0.1 is above a tenth, so the real quotient is below 10; rounded it is 10 (P32).
    (golden,) = goldens("aten::div", f64([1.0]), f64([0.1]), rounding_mode="floor")
    assert golden.value.tolist() == [9.0]
    assert 10.0 in [other.value.tolist()[0] for other in golden.alternatives]


def test_div_of_integers_with_rounding_modes() -> None:
    check("aten::div", i32([7, -7, 7, -7]), i32([2, 2, -2, -2]), rounding_mode="floor", gives=i32([3, -4, -4, 3]))
    check("aten::div", i32([7, -7, 7, -7]), i32([2, 2, -2, -2]), rounding_mode="trunc", gives=i32([3, -3, -3, 3]))
    check_open(
        "aten::div",
        i8([5, -128]),
        i8([0, 3]),
        rounding_mode="floor",
        gives=i8([0, -43]),
        where_open=[True, False],
        rule="P11",
    )
    check_open(
        "aten::div",
        i8([-128, 127]),
        i8([-1, -1]),
        rounding_mode="trunc",
        gives=i8([0, -127]),
        where_open=[True, False],
        rule="P12",
    )


def test_div_refuses() -> None:
    with pytest.raises(InvalidArguments):
        goldens("aten::div", f32([1.0]), f32([1.0]), rounding_mode="ceil")
    with pytest.raises(InvalidArguments):
        goldens("aten::div", boolean([True]), boolean([True]), rounding_mode="floor")


def test_remainder() -> None:
    """torch.remainder's examples."""
    check("aten::remainder", f32([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]), 2, gives=f32([1.0, 0.0, 1.0, 1.0, 0.0, 1.0]))
    check("aten::remainder", i64([1, 2, 3, 4, 5]), -1.5, gives=f32([-0.5, -1.0, -0.0, -0.5, -1.0]))
    check("aten::remainder", 7, i64([4, -4]), gives=i64([3, -1]))


def test_remainder_of_special_values() -> None:
    lhs = f32([inf, 1.0, nan, 3.0, -3.0, -3.0, 5.5, -TINY])
    rhs = f32([2.0, 0.0, 1.0, inf, inf, -inf, nan, 2.0])
    check("aten::remainder", lhs, rhs, gives=f32([nan, nan, nan, 3.0, inf, -3.0, nan, 2.0]))
    check_open(
        "aten::remainder", i32([5, -(2**31)]), i32([0, -1]), gives=i32([0, 0]), where_open=[True, False], rule="P11"
    )
    with pytest.raises(InvalidArguments):
        goldens("aten::remainder", boolean([True]), boolean([True]))


def test_the_sign_of_a_zero_remainder_is_free() -> None:
    (golden,) = goldens("aten::remainder", f32([4.0]), f32([-2.0]))
    assert golden.value == 0
    assert golden.zero_sign_free


# ---- maximum, bitwise_and, one operand -------------------------------------------------------------------------


def test_maximum() -> None:
    """torch.maximum's example."""
    check("aten::maximum", i64([1, 2, -1]), i64([3, 0, 4]), gives=i64([3, 2, 4]))
    check("aten::maximum", f16([nan, 1.0, -inf, 2.0]), f16([1.0, nan, -5.0, inf]), gives=f16([nan, nan, -5.0, inf]))
    check("aten::maximum", boolean([True, False]), boolean([False, False]), gives=boolean([True, False]))
    check("aten::maximum", u8([200]), i8([-1]), gives=i16([200]))
    (golden,) = goldens("aten::maximum", f32([0.0]), f32([-0.0]))
    assert golden.zero_sign_free  # P4


def test_bitwise_and() -> None:
    """torch.bitwise_and's examples."""
    check("aten::bitwise_and", i8([-1, -2, 3]), i8([1, 0, 3]), gives=i8([1, 0, 3]))
    check(
        "aten::bitwise_and",
        boolean([True, True, False]),
        boolean([False, True, False]),
        gives=boolean([False, True, False]),
    )
    check("aten::bitwise_and", 6, i32([3, -1]), gives=i32([2, 6]))
    with pytest.raises(InvalidArguments):
        goldens("aten::bitwise_and", f32([1.0]), 1)


def test_neg() -> None:
    check("aten::neg", f32([0.0, -0.0, 1.5, inf, nan]), gives=f32([-0.0, 0.0, -1.5, -inf, nan]))
    check("aten::neg", i8([-128, 5]), gives=i8([-128, -5]))
    check("aten::neg", u8([0, 1]), gives=u8([0, 255]))
    with pytest.raises(InvalidArguments):
        goldens("aten::neg", boolean([True]))


def test_abs() -> None:
    """torch.abs's example."""
    check("aten::abs", i64([-1, -2, 3]), gives=i64([1, 2, 3]))
    check("aten::abs", f32([-0.0, -inf, -TINY, nan]), gives=f32([0.0, inf, TINY, nan]))
    check("aten::abs", i8([-128]), gives=i8([-128]))
    check("aten::abs", u8([200]), gives=u8([200]))
    with pytest.raises(Unjudged):  # kernels differ
        goldens("aten::abs", boolean([True]))


def test_round() -> None:
    """torch.round's examples."""
    check("aten::round", np.float32([4.7, -2.3, 9.1, -7.7]), gives=f32([5.0, -2.0, 9.0, -8.0]))
    check("aten::round", f32([-0.5, 0.5, 1.5, 2.5]), gives=f32([-0.0, 0.0, 2.0, 2.0]))
    check("aten::round", i8([-3]), gives=i8([-3]))


def test_round_of_special_values() -> None:
    below_half = 0.5 - 2.0**-25
    check("aten::round", f32([-0.0, inf, nan, 2.0**23 + 1, below_half]), gives=f32([-0.0, inf, nan, 2.0**23 + 1, 0.0]))
    with pytest.raises(InvalidArguments):
        goldens("aten::round", boolean([True]))


def test_round_with_decimals() -> None:
    """torch.round's examples: 0.123 and 1000."""
    check("aten::round", np.float32([0.1234567]), decimals=3, gives=np.float32([0.123]))
    check("aten::round", np.float32([1200.1234567]), decimals=-3, gives=f32([1000.0]))
    check(
        "aten::round", f32([-0.25, 0.75, -0.03125, nan, inf]), decimals=1, gives=np.float32([-0.2, 0.8, -0.0, nan, inf])
    )
    check("aten::round", f64([2.675]), decimals=2, gives=f64([2.67]))  # the double lies below the tie
    with pytest.raises(InvalidArguments):
        goldens("aten::round", i32([1]), decimals=1)


@pytest.mark.parametrize("decimals", [309, 323, 324, 1074, 1075, 2**31, 2**63 - 1, 10**30])
def test_round_with_more_decimals_than_a_number_has(decimals: int) -> None:
    x = f64([0.1, -0.0, -(2.0**-200), 1.7976931348623157e308, nan, -inf])
    check("aten::round", x, decimals=decimals, gives=x)
    check("aten::round", np.float32([0.1, 3.4e38]), decimals=decimals, gives=np.float32([0.1, 3.4e38]))


def test_round_with_almost_as_many_decimals_as_a_number_has() -> None:
    """4.9e-324 and 1.48e-323 to multiples of 1e-323, which is nearest to two units of 2^-1074."""
    check("aten::round", f64([2.0**-1074, 3.0 * 2.0**-1074]), decimals=323, gives=f64([0.0, 2.0**-1073]))


@pytest.mark.parametrize("decimals", [-309, -310, -400, -(2**31), -(2**63), -(10**30)])
def test_round_to_multiples_larger_than_a_number(decimals: int) -> None:
    x = f64([1.7976931348623157e308, -0.1, -0.0, 0.0, nan, -inf])
    check("aten::round", x, decimals=decimals, gives=f64([0.0, -0.0, -0.0, 0.0, nan, -inf]))


# ---- Real functions: the expected values are the decimal expansions of e, sin 1, ... rounded by hand --------------


def test_exp() -> None:
    check(
        "aten::exp",
        f64([0.0, 1.0, -1.0, 0.5]),
        gives=f64([1.0, 2.718281828459045, 0.36787944117144233, 1.6487212707001282]),
    )
    check("aten::exp", f32([1.0, -100.0]), gives=f32([2.7182817459106445, 27 * TINY]))  # e^-100 is subnormal in float32
    check("aten::exp", f16([1.0]), gives=f16([2.71875]))
    check("aten::exp", bf16([-1.0]), gives=bf16([0.3671875]))
    check("aten::exp", f32([-inf, inf, nan, 89.0, -104.0, -0.0]), gives=f32([0.0, inf, nan, inf, 0.0, 1.0]))
    check("aten::exp", i64([0, 1]), gives=f32([1.0, 2.7182817459106445]))
    check("aten::exp", boolean([True]), gives=f32([2.7182817459106445]))


def test_sqrt() -> None:
    check(
        "aten::sqrt",
        f32([4.0, 2.0, -0.0, -1.0, inf, -inf, nan]),
        gives=f32([2.0, 1.4142135381698608, -0.0, nan, inf, nan, nan]),
    )
    check("aten::sqrt", f64([2.0]), gives=f64([1.4142135623730951]))
    check("aten::sqrt", f64([5e-324]), gives=f64([2.0**-537]))
    check("aten::sqrt", i32([16, 2]), gives=f32([4.0, 1.4142135381698608]))


def test_sin() -> None:
    check("aten::sin", f64([0.0, -0.0, 1.0, 1e22]), gives=f64([0.0, -0.0, 0.8414709848078965, -0.8522008497671888]))
    check("aten::sin", f32([0.5, inf, -inf, nan, TINY]), gives=f32([0.4794255495071411, nan, nan, nan, TINY]))
    check("aten::sin", f16([1.0]), gives=f16([0.84130859375]))
    check("aten::sin", i8([1]), gives=f32([0.8414709568023682]))


def test_gelu() -> None:
    check(
        "aten::gelu",
        f64([1.0, -1.0, 0.0, -0.0, inf, nan]),
        gives=f64([0.8413447460685429, -0.15865525393145705, 0.0, -0.0, inf, nan]),
    )
    check("aten::gelu", f32([-5.0, -40.0]), gives=f32([-1.433257807548216e-06, -0.0]))
    check("aten::gelu", bf16([-1.0]), gives=bf16([-0.158203125]))
    check_open("aten::gelu", f16([-inf, 1.0]), gives=f16([nan, 0.84130859375]), where_open=[True, False], rule="P38")


def test_gelu_with_tanh() -> None:
    check(
        "aten::gelu",
        f64([1.0, -1.0, -0.0]),
        approximate="tanh",
        gives=f64([0.8411919906082767, -0.1588080093917233, -0.0]),
    )
    check("aten::gelu", f32([1.0]), approximate="tanh", gives=f32([0.8411920070648193]))


def test_gelu_refuses() -> None:
    with pytest.raises(InvalidArguments):
        goldens("aten::gelu", f32([1.0]), approximate="erf")
    with pytest.raises(InvalidArguments):
        goldens("aten::gelu", i32([1]))


def test_a_signalling_nan_is_a_nan() -> None:
    check("aten::exp", codes("float32", [0x7F800001]), gives=f32([nan]))


def test_0d_and_empty() -> None:
    check("aten::exp", f32(0.0), gives=f32(1.0))
    check("aten::add", f32([[], []]), f32(1.0), gives=f32([[], []]))


def test_a_sum_of_0_d_tensors_is_decided_where_what_is_added_is_tiny() -> None:
    large, small = np.array(-7.5e32, np.float32), np.array(2.0**-40, np.float32)
    (golden,) = goldens("aten::add.Tensor", large, small, alpha=5e-324)
    assert golden.value.shape == ()
    assert golden.value == large
