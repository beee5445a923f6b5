"""One element of each row of docs/torch-cpu.md about windows, and products of stacks and vectors: what is right."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

import conform


def nearest_bfloat16(exact: Fraction, step: Fraction) -> Fraction:
    """The multiple of the step, that of bfloat16 around the number, that is nearest to the number."""
    return round(exact / step) * step


def test_weights_of_resizing_are_not_rounded_to_bfloat16() -> None:
    # Of 7 elements of a line of 2, the fifth stands at (4 + 1/2) 2/7 - 1/2 = 11/14 of the way; torch says -57.
    share = Fraction(9, 2) * Fraction(2, 7) - Fraction(1, 2)
    exact = 100 * (1 - share) - 100 * share
    expected = nearest_bfloat16(exact, Fraction(1, 4))  # 32 to 64: 2^5 * 2^-7
    assert (exact, expected) == (Fraction(-400, 7), Fraction(-229, 4))
    line = np.array([[[100.0, -100.0]]]).astype(ml_dtypes.bfloat16)
    assert conform.golden("aten::upsample_linear1d", line, [7], False).value[0, 0, 4] == -57.25
    space = line[:, :, None, None]
    assert conform.golden("aten::upsample_trilinear3d", space, [1, 1, 7], False).value[0, 0, 0, 0, 4] == -57.25


def test_alpha_scales_the_product_of_two_vectors_and_rounds_no_factor() -> None:
    lhs, rhs = np.float32([2.0**-126]), np.float32([np.finfo(np.float32).max])
    exact = Fraction(0.3) * Fraction(1, 2**126) * (2**128 - 2**104)  # torch says 1.1999997
    found = conform.golden("aten::addr", np.zeros((1, 1), np.float32), lhs, rhs, beta=0.0, alpha=0.3).value[0, 0]
    assert abs(Fraction(float(found)) - exact) < Fraction(1, 2**24)


def test_pairs_of_products_of_int8_do_not_saturate() -> None:
    lhs, rhs = np.full((17, 16), -128, np.int8), np.full((16, 16), -128, np.int8)
    assert (conform.golden("aten::_int_mm", lhs, rhs).value == 16 * 128 * 128).all()


def test_expanded_operands_of_int8_are_read_by_their_strides() -> None:
    lhs = np.broadcast_to(np.arange(16, dtype=np.int8), (17, 16))
    found = conform.golden("aten::_int_mm", lhs, np.ones((16, 16), np.int8)).value
    assert (found == sum(range(16))).all()


def test_sums_of_products_of_int8_are_exact_whatever_the_strides() -> None:
    lhs, rhs = np.full((17, 2 * 8328), 127, np.int8)[:, ::2], np.full((8328, 16), 127, np.int8)
    assert 8328 * 127 * 127 == 134322312  # torch says 134322304, the next number of float32
    assert (conform.golden("aten::_int_mm", lhs, rhs).value == 134322312).all()


@pytest.mark.parametrize(("op", "shapes"), [("addbmm", ([1, 1, 1], [1, 1, 1])), ("addmv", ([1, 1], [1]))])
def test_zero_times_an_infinite_product_is_nan(op: str, shapes: tuple[list[int], list[int]]) -> None:
    lhs, rhs = (np.full(shape, np.inf, np.float32) for shape in shapes)  # beta=0 alone is documented to ignore
    addend = np.zeros([1] * (len(shapes[0]) - 1 if op == "addbmm" else 1), np.float32)
    assert np.isnan(conform.golden(f"aten::{op}", addend, lhs, rhs, alpha=0).value).all()


def half(shape: list[int], *numbers: float) -> np.ndarray:
    return np.array(numbers).astype(ml_dtypes.bfloat16).reshape(shape)


TERMS = (256, 1, 1, 2)  # 260; added up in bfloat16 from the left, where 257 is a tie that goes to 256, they make 258
GRADS = half([1, 1, 1, 5], 0, *TERMS)  # of windows of 4 that begin 2 before the line: the last four have element 2


@pytest.mark.parametrize(
    ("op", "args", "place", "expected"),
    [
        ("addbmm", (half([1, 1], 0), half([4, 1, 1], *TERMS), half([4, 1, 1], 1, 1, 1, 1)), 0, 260.0),
        ("addmv", (half([1], 0), half([1, 4], *TERMS), half([4], 1, 1, 1, 1)), 0, 260.0),
        ("addr", (half([1, 1], -1), half([1], 1 + 3 * 2**-7), half([1], 1 + 3 * 2**-7)), 0, 194 * 2**-12),
        ("conv_transpose1d", (half([1, 4, 1], *TERMS), half([4, 1, 1], 1, 1, 1, 1)), 0, 260.0),
        ("conv_transpose2d.input", (half([1, 4, 1, 1], *TERMS), half([4, 1, 1, 1], 1, 1, 1, 1)), 0, 260.0),
        ("conv_transpose3d.input", (half([1, 4, 1, 1, 1], *TERMS), half([4, 1, 1, 1, 1], 1, 1, 1, 1)), 0, 260.0),
        ("_adaptive_avg_pool3d", (half([1, 1, 1, 4], *TERMS), [1, 1, 1]), 0, 65.0),
        ("_adaptive_avg_pool2d_backward", (half([1, 1, 1, 4], *TERMS), half([1, 1, 1, 1], 0)), 0, 260.0),
        ("avg_pool2d_backward",
         (GRADS, half([1, 1, 1, 4], 0, 0, 0, 0), [1, 4], [1, 1], [0, 2], False, True, None), 2, 65.0),
        ("max_pool2d_with_indices_backward",
         (GRADS, half([1, 1, 1, 4], 0, 0, 0, 0), [1, 4], [1, 1], [0, 2], [1, 1], False,
          np.array([[[[0, 2, 2, 2, 2]]]])), 2, 260.0),
        ("_adaptive_avg_pool3d_backward", (half([1, 1, 1, 4], *TERMS), half([1, 1, 1, 1], 0)), 0, 260.0),
        ("max_pool3d_with_indices_backward",
         (GRADS.reshape(1, 1, 1, 5), half([1, 1, 1, 4], 0, 0, 0, 0), [1, 1, 4], [1, 1, 1], [0, 0, 2], [1, 1, 1], False,
          np.array([[[[0, 2, 2, 2, 2]]]])), 2, 260.0),
        ("adaptive_max_pool2d_backward",
         (half([1, 1, 4], *TERMS), half([1, 1, 1], 0), np.array([[[0, 0, 0, 0]]])), 0, 260.0),
        ("adaptive_max_pool3d_backward",
         (half([1, 1, 1, 4], *TERMS), half([1, 1, 1, 1], 0), np.array([[[[0, 0, 0, 0]]]])), 0, 260.0),
        *((f"replication_pad{dims}d_backward",
           (half([1] * dims + [4], *TERMS), half([1] * (dims + 1), 0), [3, *[0] * (2 * dims - 1)]), 0, 260.0)
          for dims in (1, 2, 3)),
        ("unfold_backward", (half([4, 4], *np.fliplr(np.diag(TERMS[::-1])).ravel()), [7], 0, 4, 1), 3, 260.0),
        ("col2im",
         (half([1, 4, 4], *np.fliplr(np.diag(TERMS[::-1])).ravel()), [1, 1], [1, 4], [1, 1], [0, 3], [1, 1]),
         0, 260.0),
    ],
)  # fmt: skip
def test_sums_of_bfloat16_are_rounded_once(op: str, args: tuple, place: int, expected: float) -> None:
    assert float(conform.golden(f"aten::{op}", *args).value.ravel()[place]) == expected


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_sums_of_reflections_are_rounded_once(dims: int) -> None:
    """Of three elements the second is there three times: 256, 1 and 1 are 258, and 256 where bfloat16 adds them up."""
    grad = half([1] * dims + [7], 0, 1, 0, 256, 0, 1, 0)
    self, padding = half([1] * dims + [3], 0, 0, 0), [2, 2, *[0] * (2 * dims - 2)]
    found = conform.golden(f"aten::reflection_pad{dims}d_backward", grad, self, padding).value
    assert found.astype(np.float32).ravel().tolist() == [0, 258, 0]


def test_indices_are_read_by_their_strides() -> None:
    indices = np.array([[[[0, 1, 3, 2]]]])[..., ::2]  # torch says (1, 2, 0, 0)
    found = conform.golden("aten::adaptive_max_pool3d_backward", np.float32([[[[1, 2]]]]), np.zeros((1, 1, 1, 4), "f4"),
                           indices).value
    assert found.ravel().tolist() == [1, 0, 0, 2]


def test_places_of_a_grid_are_not_rounded_to_bfloat16() -> None:
    # ((1/2 + 1) * 600 - 1) / 2 = 449.5; the bfloat16 numbers there are 448 and 450.
    image = half([1, 1, 1, 600], *(float(i in (449, 450)) for i in range(600)))
    found = conform.golden("aten::grid_sampler_2d", image, half([1, 1, 1, 2], 0.5, 0.0), 0, 0, False).value
    assert found.ravel().tolist() == [1.0]


def test_strided_operands_are_read_as_any_others() -> None:
    lhs, rhs = np.float32([[1, 3], [2, 4]]).T, np.float32([[1, 10]])
    assert conform.golden("aten::kron", lhs, rhs).value.tolist() == [[1, 10, 2, 20], [3, 30, 4, 40]]
    space = np.moveaxis(np.arange(16, dtype=np.float32).reshape(2, 2, 2, 2), -1, 0)  # (C, D, H, W) in channels_last
    assert conform.golden("aten::max_pool3d", space, [2]).value.ravel().tolist() == [14.0, 15.0]
    assert conform.golden("aten::max_pool3d_with_indices", space, [2]).value[1].ravel().tolist() == [7, 7]


def test_a_0d_operand_promotes_and_expands_as_everywhere() -> None:
    # A 0-d tensor of the same kind of dtype changes no dtype (torch.result_type); self expands to [rows].
    number = np.float64(2.0)
    assert conform.golden("aten::kron", np.float32([1.0]), np.asarray(number)).value.dtype == np.float32
    matrix, vector = np.float32([[1.0, 2.0]]), np.float32([3.0, 4.0])
    assert conform.golden("aten::addmv", np.asarray(np.float32(5.0)), matrix, vector).value.tolist() == [16.0]


def test_cubic_weights_of_halves_are_those_of_the_real_place():
    place = Fraction(9, 2) * Fraction(5, 11) - Fraction(1, 2)  # of result 4, between the elements 1 and 2
    t, a = place - 1, Fraction(-3, 4)
    inner = [(a + 2) * x**3 - (a + 3) * x**2 + 1 for x in (t, 1 - t)]
    outer = [a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a for x in (1 + t, 2 - t)]
    weights = (outer[0], *inner, outer[1])
    assert sum(weights) == 1
    numbers = (1, -3, Fraction(5, 2), 0)
    exact = sum(weight * x for weight, x in zip(weights, numbers, strict=True))
    image = np.array([[[[1, -3, 2.5, 0, 7]]]])
    for dtype, bits in ((np.float16, 10), (ml_dtypes.bfloat16, 7)):
        value = conform.golden("aten::upsample_bicubic2d", image.astype(dtype), [1, 11], False).value[0, 0, 0, 4]
        assert abs(Fraction(float(value)) - exact) <= abs(exact) / 2**bits / 2


def test_nan_in_a_grid_of_two_coordinates_is_minus_1():
    # As of three: -1 is the first centre with align_corners, without it the edge, where a bilinear weight is 1/2.
    for dtype in (np.float32, np.float64):
        image, nan, first = np.ones((1, 1, 1, 1), dtype), np.nan, np.array([[[[-1.0, -1.0]]]], dtype)
        for mode, align_corners, expected in ((1, True, 1.0), (0, False, 0.25), (0, True, 1.0)):
            for grid in (first, np.array([[[[nan, -1.0]]]], dtype), np.array([[[[-1.0, nan]]]], dtype)):
                value = conform.golden("aten::grid_sampler_2d", image, grid, mode, 0, align_corners).value
                assert value.tolist() == [[[[expected]]]]


def test_nan_in_a_grid_of_three_coordinates_is_minus_1():
    # torch.nn.functional.grid_sample: "NaN values in grid would be interpreted as -1".
    image = np.arange(1.0, 9.0, dtype=np.float32).reshape(1, 1, 2, 2, 2)
    for padding in (0, 1, 2):
        grids = [np.array([[[[[x, -1.0, 1.0]]]]], np.float32) for x in (np.nan, -1.0)]
        of_nan, of_minus_1 = (conform.golden("aten::grid_sampler_3d", image, g, 0, padding, True).value for g in grids)
        assert of_nan.tolist() == of_minus_1.tolist() == [[[[[5.0]]]]]  # x 0, y 0, z 1
