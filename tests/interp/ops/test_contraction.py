"""Sums of products: matrix products and convolution."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.errors import InvalidArguments, Unjudged
from tests.interp.ops.literal import boolean, check, check_open, f16, f32, f64, goldens, i8, i64


def test_mm() -> None:
    check("aten::mm", f32([[1.0, 2.0], [3.0, 4.0]]), f32([[5.0], [-6.0]]), gives=f32([[-7.0], [-9.0]]))
    check("aten::mm", i8([[100, 2]]), i8([[2], [50]]), gives=i8([[44]]))
    check("aten::mm", f32([[], []]), f32([[]]).reshape(0, 1), gives=f32([[0.0], [0.0]]))


def test_mm_is_the_real_sum_rounded_once() -> None:
    big = 2.0**12 + 1
    check("aten::mm", f32([[big, big]]), f32([[big], [-(2.0**12) - 2]]), gives=f32([[-big]]))
    check("aten::mm", f16([[1.0, 2.0**-11, 2.0**-20]]), f16([[1.0], [1.0], [1.0]]), gives=f16([[1 + 2.0**-10]]))
    check("aten::mm", f64([[2.0**600, 1.0, 2.0**600]]), f64([[2.0**400], [3.0], [-(2.0**400)]]), gives=f64([[3.0]]))


def test_mm_of_infinities() -> None:
    check("aten::mm", f32([[inf, 1.0], [inf, 1.0], [0.0, nan]]), f32([[1.0, 0.0], [2.0, 2.0]]),
          gives=f32([[inf, nan], [inf, nan], [nan, nan]]))  # fmt: skip


def test_mm_refuses() -> None:
    for lhs, rhs in (
        (f32([[1.0, 2.0]]), f32([[1.0, 2.0]])),
        (f32([1.0]), f32([[1.0]])),
        (f32([[1.0]]), f64([[1.0]])),
        (boolean([[True]]), boolean([[True]])),
    ):
        with pytest.raises(InvalidArguments):
            goldens("aten::mm", lhs, rhs)


def test_addmm() -> None:
    mat1, mat2 = f32([[1.0, 2.0], [3.0, 4.0]]), f32([[1.0, 0.0], [0.0, 1.0]])
    check("aten::addmm", f32([10.0, 20.0]), mat1, mat2, gives=f32([[11.0, 22.0], [13.0, 24.0]]))
    check("aten::addmm", f32([[10.0], [20.0]]), mat1, mat2, beta=0.5, alpha=-1, gives=f32([[4.0, 3.0], [7.0, 6.0]]))
    check("aten::addmm", f32([nan, inf]), mat1, mat2, beta=0, gives=mat1)
    check("aten::addmm", f32([nan, inf]), mat1, mat2, alpha=0, gives=f32([[nan, inf], [nan, inf]]))
    check("aten::addmm", i64([1]), i64([[2]]), i64([[3]]), beta=10, alpha=-1, gives=i64([[4]]))


@pytest.mark.parametrize(
    ("alpha", "mat1", "mat2"),
    [
        (2.0**127, [[0.125]], [[2.0]]),  # alpha * 2, though the result is 2^125
        (2.0**127, [[-2.0]], [[0.125]]),
        (0.0625, [[2.0**127]], [[2.0]]),  # the product without alpha
    ],
)
def test_addmm_is_open_where_a_step_overflows(alpha: float, mat1: object, mat2: object) -> None:
    (golden,) = goldens("aten::addmm", f32([0.0]), f32(mat1), f32(mat2), alpha=alpha)
    assert (golden.open.tolist(), golden.open_rule) == ([[True]], "P35")


@pytest.mark.parametrize(
    ("alpha", "mat1", "mat2", "is_open"),
    [
        (0.5, [[2.0**-149]], [[inf]], True),  # alpha * 2^-149 is a tie that goes to 0, and 0 * inf is NaN
        (-0.5, [[inf, 1.0]], [[2.0**-149], [1.0]], True),
        (0.75, [[2.0**-149]], [[inf]], False),  # alpha * 2^-149 is 2^-149 again
        (0.5, [[2.0**-149, 1.0]], [[1.0], [inf]], False),  # of another term
        (0.5, [[2.0**-149, nan]], [[inf], [1.0]], False),  # NaN in any order
        (1.0, [[2.0**-149]], [[inf]], False),
    ],
)
def test_addmm_is_open_where_alpha_makes_zero_of_a_factor_of_infinity(
    alpha: float, mat1: object, mat2: object, is_open: bool
) -> None:
    (golden,) = goldens("aten::addmm", f32([0.0]), f32(mat1), f32(mat2), alpha=alpha)
    assert (golden.open is not None and golden.open.any()) == is_open


def test_addmm_refuses() -> None:
    one = i64([[1]])
    for self, keywords in ((one, {"beta": 2j}), (i64([1, 2]), {}), (i8([1]), {})):
        with pytest.raises(InvalidArguments):
            goldens("aten::addmm", self, one, one, **keywords)


PLAIN = {"stride": [1], "padding": [0], "dilation": [1], "transposed": False, "output_padding": [0], "groups": 1}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, [[[-1.0, -1.0, -1.0]]]),  # x[i] - x[i + 1]
        ({"stride": [2]}, [[[-1.0, -1.0]]]),
        ({"padding": [1]}, [[[-1.0, -1.0, -1.0, -1.0, 4.0]]]),
        ({"dilation": [3]}, [[[-3.0]]]),
        ({"transposed": True}, [[[1.0, 1.0, 1.0, 1.0, -4.0]]]),  # spreads x[i] * [1, -1] at i
        ({"transposed": True, "stride": [2]}, [[[1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 4.0, -4.0]]]),
        (
            {"transposed": True, "stride": [2], "padding": [1], "output_padding": [1]},
            [[[-1.0, 2.0, -2.0, 3.0, -3.0, 4.0, -4.0]]],
        ),
    ],
)
def test_convolution(changes: dict, expected: list) -> None:
    input_, weight = f32([[[1.0, 2.0, 3.0, 4.0]]]), f32([[[1.0, -1.0]]])
    check("aten::convolution", input_, weight, None, **{**PLAIN, **changes}, gives=f32(expected))


def test_convolution_of_channels_groups_and_bias() -> None:
    input_ = i64([[[1, 2], [3, 4]]])
    check("aten::convolution", input_, i64([[[1], [10]]]), i64([100]), **PLAIN, gives=i64([[[131, 142]]]))
    check(
        "aten::convolution",
        input_,
        i64([[[2]], [[3]]]),
        i64([0, 1]),
        **{**PLAIN, "groups": 2},
        gives=i64([[[2, 4], [10, 13]]]),
    )
    check(
        "aten::convolution",
        input_,
        i64([[[1], [5]], [[2], [7]]]),
        None,
        **{**PLAIN, "transposed": True},
        gives=i64([[[7, 10], [26, 38]]]),
    )


def test_convolution_in_two_dimensions() -> None:
    input_ = f32([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]])
    check("aten::convolution", input_, f32([[[[1.0, 0.0], [0.0, 10.0]]]]), None, **PLAIN, gives=f32([[[[51.0, 62.0]]]]))
    changes = {"padding": [1, 0], "stride": [2, 1]}
    check("aten::convolution", input_, f32([[[[1.0], [10.0]]]]), None, **{**PLAIN, **changes},
          gives=f32([[[[10.0, 20.0, 30.0], [4.0, 5.0, 6.0]]]]))  # fmt: skip


def test_padding_beside_an_infinite_weight_is_open() -> None:
    check_open("aten::convolution", f32([[[1.0]]]), f32([[[inf, 1.0]]]), None, **{**PLAIN, "padding": [1]},
               gives=f32([[[nan, inf]]]), where_open=[[[True, False]]], rule="P39")  # fmt: skip


def test_an_infinite_weight_is_open_where_a_transposed_window_meets_no_input() -> None:
    """Zeros inserted between the inputs, and around them, make 0 * inf of it."""
    check_open("aten::convolution", f32([[[1.0, 2.0]]]), f32([[[inf, 1.0]]]), None,
               **{**PLAIN, "transposed": True, "stride": [2]},
               gives=f32([[[inf, nan, inf, nan]]]), where_open=[[[False, True, False, True]]], rule="P39")  # fmt: skip


@pytest.mark.parametrize(
    ("weight", "changes"),
    [
        ([[[1, 1, 1, 1, 1]]], {}),
        ([[[1], [1]]], {}),
        ([[[1]]], {"groups": 2}),
        ([[[1]]], {"stride": [0]}),
        ([[[1]]], {"padding": [-1]}),
        ([[[1]]], {"padding": [0, 0]}),
        ([[[1]]], {"output_padding": [0, 0]}),
        ([[[1]]], {"output_padding": [-1]}),
        ([[[]]], {}),
        (np.ones((1, 0, 1)), {"transposed": True}),
        ([[[1]]], {"transposed": True, "output_padding": [1]}),
        ([[1]], {}),
    ],
)
def test_convolution_refuses(weight: list, changes: dict) -> None:
    with pytest.raises(InvalidArguments):
        goldens("aten::convolution", i64([[[1, 2, 3]]]), i64(weight), None, **{**PLAIN, **changes})


def test_convolution_refuses_images_without_pixels() -> None:
    with pytest.raises(InvalidArguments, match=r"float64\[1, 1, 0\], expected 1 <= size\(input, d\) where d > 0$"):
        goldens("aten::convolution", np.ones((1, 1, 0)), np.ones((1, 1, 1)), None, **{**PLAIN, "padding": [1]})


def test_convolution_with_padding_that_leaves_no_result() -> None:
    """Less than nothing is refused; nothing some of torch's kernels give."""
    changes = {"transposed": True, "padding": [1]}
    with pytest.raises(InvalidArguments, match=r"padding: found \[1\], expected padding\[i\] <= \(stride"):
        goldens("aten::convolution", np.ones((1, 1, 1)), np.ones((1, 1, 1)), None, **{**PLAIN, **changes})
    with pytest.raises(Unjudged, match="some of torch's kernels give results without elements"):
        goldens("aten::convolution", np.ones((1, 1, 2)), np.ones((1, 1, 1)), None, **{**PLAIN, **changes})


def test_convolution_refuses_bools() -> None:
    mask = np.ones((1, 1, 1), bool)
    with pytest.raises(InvalidArguments, match=r"found bool\[1, 1, 1\], expected dtype\(input\) not in {bool, "):
        goldens("aten::convolution", mask, mask, None, **PLAIN)


def test_sums_of_products_over_named_dims() -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(3, 2)
    check("aten::tensordot", a, b, [1], [0], gives=f64([[10.0, 13.0], [28.0, 40.0]]))
    check("aten::tensordot", a, b, [0, 1], [1, 0], gives=f64(50.0))  # 1 2 + 2 4 + 3 1 + 4 3 + 5 5
    check("aten::tensordot", i8([100, 3]), i8([2]), [], [], gives=i8([[-56], [6]]))
    check("aten::tensordot", f32([[]]), f32([[]]), [1], [1], gives=f32([[0.0]]))


def test_vecdot() -> None:
    x, y = f32([[1.0, 2.0], [3.0, 4.0]]), f32([[5.0, 6.0]])
    check("aten::linalg_vecdot", x, y, gives=f32([17.0, 39.0]))
    check("aten::linalg_vecdot", x, f32([[5.0], [6.0]]), dim=0, gives=f32([23.0, 34.0]))
    big = 2.0**12 + 1
    check("aten::linalg_vecdot", f32([big, big]), f32([big, -(2.0**12) - 2]), gives=f32(-big))  # rounded once
    check("aten::linalg_vecdot", f32([inf, 1.0]), f32([0.0, 1.0]), gives=f32(nan))


def test_a_convolution_by_any_algorithm() -> None:
    image, kernel = f32([[[1.0, 2.0, 3.0]]]), f32([[[1.0, -1.0]]])
    options = [[1], [0], [1], False, [0], 1]
    for choices in ([False, False, True], [True, True, False]):
        check("aten::_convolution.deprecated", image, kernel, None, *options, *choices, gives=f32([[[-1.0, -1.0]]]))
        check("aten::_convolution", image, kernel, f32([1.0]), *options, *choices, False, gives=f32([[[0.0, 0.0]]]))


def test_a_convolution_that_may_round_to_tf32_is_not_judged() -> None:
    image, kernel = f32([[[1.0, 2.0, 3.0]]]), f32([[[1.0, -1.0]]])
    with pytest.raises(Unjudged, match="TF32"):
        goldens("aten::_convolution", image, kernel, None, [1], [0], [1], False, [0], 1, False, False, True, True)
