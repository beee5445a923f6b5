"""Resizing of images and sampling at the places of a grid, by hand."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.interp.ops.windows.cells import cubic_roundings
from tests.interp.ops.literal import check, f32, goldens

ROW = [[[1.0, 3.0, 7.0]]]


def test_the_roundings_of_cubic_weights_are_those_of_float32_and_no_more() -> None:
    """Horner's rule in float32 stays within them, and comes to half of each."""
    t = np.random.default_rng(0).random(1 << 20).astype(np.float32)
    one, a = np.float32(1), np.float32(-0.75)

    def weights(t: np.ndarray, one: np.ndarray, a: np.ndarray) -> np.ndarray:
        inner = [((a + 2 * one) * x - (a + 3 * one)) * x * x + one for x in (t, one - t)]
        outer = [((a * x - 5 * a) * x + 8 * a) * x - 4 * a for x in (t + one, 2 * one - t)]
        return np.stack([outer[0], *inner, outer[1]]).astype(np.float64)

    lost = np.abs(weights(t, one, a) - weights(t.astype(np.float64), np.float64(1), np.float64(a))) * 2**24
    share = lost / cubic_roundings(t.astype(np.float64))
    assert (share.max(axis=1) > 0.5).all()
    assert share.max() <= 1


@pytest.mark.parametrize(
    ("op", "keywords", "expected"),
    [
        ("nearest1d.vec", {"output_size": [6], "scale_factors": None}, [[[1.0, 1.0, 3.0, 3.0, 7.0, 7.0]]]),
        ("nearest1d.vec", {"output_size": None, "scale_factors": [0.5]}, [[[1.0]]]),
        ("nearest1d.vec", {"output_size": [2], "scale_factors": None}, [[[1.0, 3.0]]]),
        ("linear1d.vec", {"output_size": [5], "scale_factors": None, "align_corners": True}, [[[1, 2, 3, 5, 7]]]),
        ("linear1d.vec", {"output_size": [1], "scale_factors": None, "align_corners": True}, [[[1.0]]]),
        ("linear1d.vec", {"output_size": None, "scale_factors": [2.0], "align_corners": False},
         [[[1.0, 1.5, 2.5, 4.0, 6.0, 7.0]]]),
    ],
)  # fmt: skip
def test_resized(op: str, keywords: dict, expected: list) -> None:
    check(f"aten::upsample_{op}", f32(ROW), **keywords, gives=f32(expected))


def test_an_element_whose_place_float32_rounds_to_the_other_side_may_be_the_next() -> None:
    """8 * 7 / 56 is 1; float32's 7 / 56 is exact, but 49 / 147 is not: 3 * 0.33333334 is above, and may be below."""
    image = f32(np.arange(49.0).reshape(1, 1, 49))
    (golden,) = goldens("aten::upsample_nearest1d", image, [147], None)
    assert golden.value[0, 0, 3] == 1.0
    assert {float(one.value[0, 0, 3]) for one in golden.alternatives} == {0.0}


def test_what_has_no_weight_is_open_if_it_is_no_number() -> None:
    (golden,) = goldens("aten::upsample_linear1d", f32([[[1.0, inf]]]), [3], True)
    assert golden.open.tolist() == [[[True, False, True]]]  # the last one meets itself with weight 0
    assert golden.value[0, 0, 1] == inf


def test_nan_is_as_right_as_an_infinity_that_is_interpolated_linearly() -> None:
    """1 + t (inf - 1) is infinite, but inf + t (2 - inf) is NaN; beside finite elements neither is right."""
    (golden,) = goldens("aten::upsample_linear1d", f32([[[1.0, inf, 2.0, 4.0]]]), [8], False)
    accepted = [{str(one.value[0, 0, at]) for one in (golden, *golden.alternatives)} for at in (2, 3, 4, 6)]
    assert accepted == [{"inf", "nan"}, {"inf", "nan"}, {"inf", "nan"}, {"3.5"}]


IMAGE = [[[[1.0, 2.0], [3.0, 4.0]]]]
BILINEAR, NEAREST, BICUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)


@pytest.mark.parametrize(
    ("place", "mode", "padding", "align_corners", "expected"),
    [
        ((0.0, 0.0), BILINEAR, ZEROS, True, 2.5),
        ((-1.0, 1.0), BILINEAR, ZEROS, True, 3.0),
        ((-1.0, -1.0), BILINEAR, ZEROS, False, 0.25),  # the corner of the image: a quarter of the first element
        ((-1.0, -1.0), BILINEAR, BORDER, False, 1.0),
        ((3.0, -0.5), BILINEAR, ZEROS, False, 0.0),
        ((3.0, -0.5), BILINEAR, BORDER, False, 2.0),
        ((2.0, -1.0), BILINEAR, REFLECTION, True, 1.5),  # x 1.5 is reflected to 0.5
        ((inf, -inf), BILINEAR, BORDER, True, 2.0),
        ((2.0**127, -(2.0**127)), BILINEAR, BORDER, True, 2.0),
        ((2.0**126, -1.0), BICUBIC, ZEROS, True, 0.0),
        ((nan, nan), BILINEAR, BORDER, True, 1.0),
        ((0.75, -0.25), NEAREST, ZEROS, True, 2.0),
        ((5.0, 0.25), NEAREST, ZEROS, False, 0.0),
        ((-1.0, 1.0), BICUBIC, BORDER, True, 3.0),
        ((0.0, 0.0), BICUBIC, BORDER, True, 2.5),
    ],
)
def test_sampled(place: tuple, mode: int, padding: int, align_corners: bool, expected: float) -> None:
    (golden,) = goldens("aten::grid_sampler_2d", f32(IMAGE), f32([[[place]]]), mode, padding, align_corners)
    assert golden.open is None
    assert golden.value.tolist() == [[[[expected]]]]


def test_the_sign_of_a_zero_beside_the_image_is_free() -> None:
    for dims in (2, 3):
        image = f32(np.zeros((1, 1, *[2] * dims)))
        places = f32([[-1.0] * dims, [5.0] * dims]).reshape(1, 2, *[1] * (dims - 1), dims)
        (golden,) = goldens(f"aten::grid_sampler_{dims}d", image, places, NEAREST, ZEROS, True)
        assert np.ravel(golden.zero_sign_free).tolist() == [False, True]


@pytest.mark.parametrize("far", [2.0, -2.5, 1e5, 2.0**100, inf])
@pytest.mark.parametrize("mode", [BILINEAR, NEAREST])
def test_far_beyond_the_border_a_coordinate_has_no_error(far: float, mode: int) -> None:
    """What is moved to the last element is there, however it was rounded: the bound is that of the border itself."""
    image = f32([[[[1.0, 2.0, 4.0]], [[1.0, 3.0, 9.0]]]])
    for flag in (True, False):
        at, end = (
            goldens("aten::grid_sampler_2d", image, f32([[[(x, 0.0)]]]), mode, BORDER, flag)[0]
            for x in (far, np.copysign(2.0, far))
        )
        assert at.value.tolist() == end.value.tolist()
        budgets = [0.0 if one.budget is None else one.budget for one in (at, end)]
        assert np.all(budgets[0] <= budgets[1])
        assert np.all(budgets[0] <= 32 * 2.0**-24 * np.abs(end.value))


@pytest.mark.parametrize(
    ("size", "scale", "count"),
    [(5, 0.6, 3), (6, 1 / 3, 2), (10, 0.7, 7), (10, 0.3, 3), (7, 0.3, 2), (3, 1.5, 4)],
)
def test_the_size_by_a_scale_is_the_floor_of_a_product_in_float64(size: int, scale: float, count: int) -> None:
    """0.6, 1/3 and 0.7 are below their decimals; the product with the size is rounded, to 3, 2 and 7."""
    row = f32(np.zeros((1, 1, size)))
    for op, flag in (("nearest1d", ()), ("_nearest_exact1d", ()), ("linear1d", (False,))):
        name = f"aten::{'_' * op.startswith('_')}upsample_{op.removeprefix('_')}.vec"
        (golden,) = goldens(name, row, None, *flag, [scale])
        assert golden.value.shape == (1, 1, count)


@pytest.mark.parametrize(
    ("place", "mode", "padding"),
    [((inf, 0.0), BILINEAR, ZEROS), ((inf, 0.0), BICUBIC, BORDER), ((0.0, 0.25), NEAREST, ZEROS),
     ((2.0**127, 0.0), BICUBIC, BORDER), ((0.0, -(2.0**127)), BILINEAR, ZEROS)],  # 2^127 times 2 elements overflows
)  # fmt: skip
def test_places_that_are_open(place: tuple, mode: int, padding: int) -> None:
    (golden,) = goldens("aten::grid_sampler_2d", f32(IMAGE), f32([[[place]]]), mode, padding, True)
    assert golden.open.all()


def test_bicubic_is_exact_at_elements_and_repeats_the_ends() -> None:
    image = f32([[[[1.0, 2.0, 4.0, 8.0]]]])
    for flag in (True, False):
        check("aten::upsample_bicubic2d", image, [1, 4], flag, gives=image)
    # Half way between the elements the weights are -3/32, 19/32, 19/32, -3/32.
    check("aten::upsample_bicubic2d", image, [1, 2], False, gives=f32([[[[1.3125, 6.1875]]]]))
    check("aten::upsample_bicubic2d", image, [1, 7], True,
          gives=f32([[[[1.0, 1.3125, 2.0, 2.71875, 4.0, 6.1875, 8.0]]]]))  # fmt: skip
    check("aten::upsample_bicubic2d.vec", image, None, False, [1.5, 0.5], gives=f32([[[[1.3125, 6.1875]]]]))


def test_an_infinity_whose_cubic_weight_is_zero_is_open() -> None:
    (golden,) = goldens("aten::upsample_bicubic2d", f32([[[[1.0, inf, 4.0, 8.0, 1.0]]]]), [1, 5], True)
    # It stands in four rows, of which three have weight 0; the fourth result reads the elements 2 and 3, and 4 twice,
    # but element 1 where its place comes out below 3.
    assert golden.open.tolist() == [[[[True, True, True, True, False]]]]
    assert golden.open_rule == "P123, P126"


@pytest.mark.parametrize(
    ("special", "at", "expected"),
    [(inf, 5, inf), (inf, 4, None), (inf, 6, None), (nan, 6, None), (inf, 3, 6.0), (nan, 7, 6.0)],
)
def test_an_infinity_beside_an_element_at_which_the_place_may_lie_is_open(
    special: float, at: int, expected: float | None
) -> None:
    """The double next to 1/11 puts the middle of 11 elements 10^-15 beside the sixth, which float32 cannot tell."""
    numbers = [float(number) for number in range(1, 12)]
    numbers[at] = special
    (golden,) = goldens("aten::upsample_linear1d", f32([[numbers]]), [1], False, 1 / 11)
    assert golden.open_rule == (None if expected else "P126")
    assert expected is None or golden.value.item() == expected


def test_a_nan_that_counts_is_nan_beside_whatever_is_in_doubt() -> None:
    (golden,) = goldens("aten::upsample_linear1d", f32([[[1.0, inf, nan, 1.0]]]), [4], True)
    assert (golden.open_rule, golden.open.tolist()) == ("P123, P126", [[[True, True, False, True]]])


def test_grid_sampler_3d() -> None:
    """(x, y, z) stand for the last, the second and the first dim; -1 and 1 are the centres of the ends."""
    image = np.arange(1.0, 9.0, dtype=np.float32).reshape(1, 1, 2, 2, 2)
    points = np.float32([[-1, -1, -1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1], [0, 0, 0], [0.5, -1, -1], [3, 1, 1]])
    grid = points.reshape(1, 7, 1, 1, 3)
    for padding, last in ((0, 0.0), (1, 8.0), (2, 7.0)):
        linear = [1.0, 2.0, 3.0, 5.0, 4.5, 1.75, last]
        check("aten::grid_sampler_3d", image, grid, 0, padding, True, gives=f32(linear).reshape(1, 1, 7, 1, 1))
    (golden,) = goldens("aten::grid_sampler_3d", image, grid, 1, 0, True)
    assert golden.value.ravel()[[0, 1, 2, 3, 5, 6]].tolist() == [1.0, 2.0, 3.0, 5.0, 2.0, 0.0]
    assert golden.open.ravel().tolist() == [False] * 4 + [True, False, False]  # the middle is as near to all


@pytest.mark.parametrize("exponent", [-1000, -600, 900])
def test_powers_of_two_move_interpolations_to_the_ends_of_the_range(exponent: int) -> None:
    image = np.arange(1.0, 21.0).reshape(1, 1, 4, 5) / 7
    for op in ("bicubic2d", "bilinear2d"):
        (near,) = goldens(f"aten::upsample_{op}", image, [7, 3], False)
        (far,) = goldens(f"aten::upsample_{op}", np.ldexp(image, exponent), [7, 3], False)
        np.testing.assert_array_equal(far.value, np.ldexp(near.value, exponent))


@pytest.mark.parametrize(
    ("elements", "expected"),  # the second result: three quarters of the first element, one of the last
    [
        ([5e-324, 5e-324], 5e-324),
        ([5e-324, 0.0], 5e-324),
        ([0.0, 5e-324], 0.0),
        ([1e-323, 0.0], 1e-323),  # 1.5 units, a tie, to the even 2
        ([0.0, 1e-323], 0.0),  # half a unit, a tie
        ([0.0, 1.5e-323], 5e-324),  # three quarters of a unit
        ([2.0**1023, 5e-324], 1.5 * 2.0**1022),
        ([2.0**1023 * (1 + 2.0**-52), 0.0], float.fromhex("0x1.8000000000002p+1022")),  # 1.5 units, a tie
        ([2.0**1023 * (1 + 2.0**-52), 5e-324], float.fromhex("0x1.8000000000002p+1022")),
        ([2.0**1023 * (1 + 2.0**-52), -5e-324], float.fromhex("0x1.8000000000001p+1022")),  # which 5e-324 decides
    ],
)
def test_linear_interpolation_at_the_ends_of_the_range(elements: list[float], expected: float) -> None:
    (golden,) = goldens("aten::upsample_linear1d", np.array([[elements]]), [4], False)
    assert golden.value[0, 0, 1] == expected
