"""Gradients that are adjoints: by hand, and <forward(x), g> == <x, backward(g)> of small integers, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf, nan, prod
from typing import Any

import numpy as np
import pytest

from conform.interp.golden import Golden
from tests.interp.ops.literal import check, f32, goldens, i64


def test_gradients_of_nearest_elements() -> None:
    """2 elements as 4, each twice; 3 as 2 of which the places are 0 and 3/2, so the last one is not read."""
    grad = f32([[[1.0, 2.0, 4.0, 8.0]]])
    check("aten::upsample_nearest1d_backward", grad, [4], [1, 1, 2], gives=f32([[[3.0, 12.0]]]))
    check("aten::upsample_nearest1d_backward", f32([[[1.0, 2.0]]]), [2], [1, 1, 3], gives=f32([[[1.0, 2.0, 0.0]]]))
    check("aten::_upsample_nearest_exact1d_backward", f32([[[1.0, 2.0]]]), [2], [1, 1, 3],
          gives=f32([[[1.0, 0.0, 2.0]]]))  # fmt: skip
    check("aten::upsample_nearest2d_backward", f32([[[[1.0, 2.0], [4.0, 8.0]]]]), [2, 2], [1, 1, 1, 2],
          gives=f32([[[[5.0, 10.0]]]]))  # fmt: skip
    check("aten::upsample_nearest3d_backward", f32([[[[[1.0, 2.0]], [[4.0, 8.0]]]]]), [2, 1, 2], [1, 1, 1, 1, 1],
          gives=f32([[[[[15.0]]]]]))  # fmt: skip


def test_where_float32_may_take_the_element_beside_its_gradient_may_be_either() -> None:
    """Result 3 of 7 lies at 3 * 7/3 of a scale of 3/7, which is 7 or a little less."""
    (golden,) = goldens("aten::upsample_nearest1d_backward", np.float32(2.0) ** np.arange(9).reshape(1, 1, 9), [9],
                        [1, 1, 3], None)  # fmt: skip
    own = golden.value.ravel().tolist()
    assert own == [7.0, 56.0, 448.0]
    allowed = {tuple(other.value.ravel().tolist()) for other in golden.alternatives}
    assert allowed == {(15.0, 48.0, 448.0), (7.0, 120.0, 384.0), (15.0, 112.0, 384.0)}


def test_gradients_of_linear_interpolation() -> None:
    """2 elements as 4, at -1/4 (that is 0), 1/4, 3/4 and 5/4 (that is 1); as 3 with aligned corners at 0, 1/2 and 1."""
    grad = f32([[[4.0, 8.0, 16.0, 32.0]]])
    check("aten::upsample_linear1d_backward", grad, [4], [1, 1, 2], False, gives=f32([[[14.0, 46.0]]]))
    grad = f32([[[1.0, 2.0, 4.0]]])
    check("aten::upsample_linear1d_backward", grad, [3], [1, 1, 2], True, gives=f32([[[2.0, 5.0]]]))
    check("aten::upsample_bilinear2d_backward", f32([[[[1.0, 2.0, 4.0]] * 2]]), [2, 3], [1, 1, 1, 2], True,
          gives=f32([[[[4.0, 10.0]]]]))  # fmt: skip
    check("aten::upsample_trilinear3d_backward", f32([[[[[1.0, 2.0, 4.0]]]]]), [1, 1, 3], [1, 1, 1, 1, 2], True,
          gives=f32([[[[[2.0, 5.0]]]]]))  # fmt: skip


def test_gradients_of_cubic_interpolation() -> None:
    """Halfway between the second and the third of four elements the weights are -3/32, 19/32, 19/32 and -3/32."""
    check("aten::upsample_bicubic2d_backward", f32([[[[0.0, 32.0, 0.0]]]]), [1, 3], [1, 1, 1, 4], True,
          gives=f32([[[[-3.0, 19.0, 19.0, -3.0]]]]))  # fmt: skip


def test_gradients_of_filters() -> None:
    """4 elements as 2: the weights of 1 - |d| / 2 at d of 1.5, .5, .5, 1.5, over 7/4 where one is cut off."""
    check("aten::_upsample_bilinear2d_aa_backward", f32([[[[7.0, 14.0]]]]), [1, 2], [1, 1, 1, 4], False,
          gives=f32([[[[3.0, 5.0, 7.0, 6.0]]]]))  # fmt: skip
    check("aten::_upsample_bicubic2d_aa_backward", f32([[[[7.0, 14.0]]]]), [1, 2], [1, 1, 1, 2], False,
          gives=f32([[[[7.0, 14.0]]]]))  # fmt: skip


def test_infinite_gradients() -> None:
    """The third result lies on the second element, and what it has for the third one is 0 times infinity."""
    (golden,) = goldens("aten::upsample_linear1d_backward", f32([[[0.0, 0.0, inf, 0.0, 0.0]]]), [5], [1, 1, 3], True)
    assert golden.value.ravel().tolist()[:2] == [0.0, inf]
    assert golden.open.ravel().tolist() == [True, False, True]
    assert [np.isnan(other.value).ravel().tolist() for other in golden.alternatives] == [[False, True, False]]
    (golden,) = goldens("aten::upsample_linear1d_backward", f32([[[inf, nan, 0.0, -1.0]]]), [4], [1, 1, 2], False)
    assert np.isnan(golden.value).all()
    (golden,) = goldens("aten::upsample_nearest1d_backward", f32([[[inf, 1.0, inf, -inf]]]), [4], [1, 1, 2])
    assert golden.value.ravel()[0] == inf
    assert np.isnan(golden.value.ravel()[1])


def test_gradients_of_padding() -> None:
    check("aten::reflection_pad1d_backward", f32([[1.0, 2.0, 4.0, 8.0, 16.0]]), f32([[0.0] * 3]), [1, 1],
          gives=f32([[2.0, 21.0, 8.0]]))  # fmt: skip
    check("aten::replication_pad1d_backward", f32([[1.0, 2.0, 4.0, 8.0, 16.0]]), f32([[0.0] * 2]), [2, 1],
          gives=f32([[7.0, 24.0]]))  # fmt: skip
    grad = f32([[[1.0, 2.0], [4.0, 8.0], [16.0, 32.0]]])
    check("aten::reflection_pad2d_backward", grad, f32([[[0.0, 0.0]] * 2]), [0, 0, 1, 0],
          gives=f32([[[4.0, 8.0], [17.0, 34.0]]]))  # fmt: skip
    check("aten::replication_pad2d_backward", grad, f32([[[0.0]] * 2]), [0, 1, 1, 0], gives=f32([[[15.0], [48.0]]]))
    check("aten::reflection_pad3d_backward", f32([[[[1.0, 2.0, 4.0]]]]), f32([[[[0.0, 0.0]]]]), [0, 1, 0, 0, 0, 0],
          gives=f32([[[[5.0, 2.0]]]]))  # fmt: skip
    check("aten::replication_pad3d_backward", f32([[[[1.0, 2.0, 4.0]]]]), f32([[[[0.0]]]]), [1, 1, 0, 0, 0, 0],
          gives=f32([[[[7.0]]]]))  # fmt: skip


def test_gradients_of_pooled_volumes() -> None:
    volume = f32([[[[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0]]]])
    grad = f32([[[[4.0, 8.0]]]])
    check("aten::avg_pool3d_backward", grad, volume, [2, 1, 2], [1, 1, 1], [0, 0, 0], False, True, None,
          gives=f32([[[[1.0, 3.0, 2.0]], [[1.0, 3.0, 2.0]]]]))  # fmt: skip
    check("aten::_adaptive_avg_pool3d_backward", f32([[[[4.0, 8.0]]]]), volume,
          gives=f32([[[[1.0, 3.0, 2.0]], [[1.0, 3.0, 2.0]]]]))  # fmt: skip
    check("aten::max_pool3d_with_indices_backward", f32([[[[4.0, 8.0]]]]), volume, [2, 1, 2], [1, 1, 1], [0, 0, 0],
          [1, 1, 1], False, i64([[[[4, 4]]]]), gives=f32([[[[0.0, 0.0, 0.0]], [[0.0, 12.0, 0.0]]]]))  # fmt: skip


def test_gradients_of_adaptive_maxima() -> None:
    """Of 3 elements in 2 windows the second lies in both."""
    check("aten::adaptive_max_pool2d_backward", f32([[[4.0, 8.0]]]), f32([[[0.0, 0.0, 0.0]]]), i64([[[1, 1]]]),
          gives=f32([[[0.0, 12.0, 0.0]]]))  # fmt: skip
    check("aten::adaptive_max_pool3d_backward", f32([[[[4.0, 8.0]]]]), f32([[[[0.0, 0.0, 0.0]]]]), i64([[[[0, 2]]]]),
          gives=f32([[[[4.0, 0.0, 8.0]]]]))  # fmt: skip
    grad, image = f32([[[4.0, 8.0]]]), f32([[[0.0, 0.0, 0.0]]])
    (stray,) = goldens("aten::adaptive_max_pool2d_backward", grad, image, i64([[[2, 1]]]))
    assert stray.open.ravel().tolist() == [False, False, True]
    assert stray.open_rule == "P125"


def test_gradients_of_parts() -> None:
    check("aten::select_backward", f32([1.0, 2.0]), [2, 3], 1, -1, gives=f32([[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]]))
    check("aten::select_backward", np.array(2 + 3j, np.complex64), [2], 0, 1, gives=np.array([0, 2 + 3j], np.complex64))
    check("aten::slice_backward", f32([1.0, 2.0]), [5], 0, 1, 2**62, 3, gives=f32([0.0, 1.0, 0.0, 0.0, 2.0]))
    check("aten::slice_backward", f32([[1.0], [2.0]]), [2, 3], -1, -2, -1, 1,
          gives=f32([[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]]))  # fmt: skip
    check("aten::slice_backward", f32([]), [3], 0, 2, 1, 1, gives=f32([0.0, 0.0, 0.0]))
    check("aten::diagonal_backward", i64([1, 2]), [2, 3], 1, 0, 1, gives=i64([[0, 1, 0], [0, 0, 2]]))
    check("aten::diagonal_backward", i64([1]), [2, 3], 1, -1, 0, gives=i64([[0, 0, 0], [1, 0, 0]]))
    check("aten::unfold_backward", f32([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]]), [6], 0, 3, 2,
          gives=f32([1.0, 2.0, 12.0, 16.0, 32.0, 0.0]))  # fmt: skip
    check("aten::unfold_backward", f32([[[1.0, 2.0]], [[4.0, 8.0]]]), [2, 2], 1, 2, 1,
          gives=f32([[1.0, 2.0], [4.0, 8.0]]))  # fmt: skip


# --- The adjoint ------------------------------------------------------------------------------------------------------


def fractions(golden: Golden) -> list[Fraction]:
    """The numbers before rounding, which hi and lo hold of sums of small integers times such weights as these."""
    if golden.real is None:
        return [Fraction(int(x)) for x in golden.value.ravel()]
    return [Fraction(float(hi)) + Fraction(float(lo)) for hi, lo in zip(golden.real.hi.ravel(), golden.real.lo.ravel(),
                                                                       strict=True)]  # fmt: skip


def small_integers(shape: Sequence[int], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(np.float64)


def assert_adjoint(forward: str, arguments: Sequence[Any], x: np.ndarray, backward: Any) -> None:
    """backward: of g, the name and the arguments of the other op."""
    made = goldens(f"aten::{forward}", x, *arguments)[0]
    g = small_integers(made.value.shape, 2)
    name, own = backward(g)
    back = goldens(f"aten::{name}", *own)[0]
    assert back.value.shape == x.shape
    lhs = sum((a * Fraction(int(b)) for a, b in zip(fractions(made), g.ravel(), strict=True)), Fraction(0))
    rhs = sum((Fraction(int(a)) * b for a, b in zip(x.ravel(), fractions(back), strict=True)), Fraction(0))
    assert abs(lhs - rhs) <= Fraction(1, 2**80) * x.size * g.size, (forward, arguments)


SIZES = [([5], [4]), ([4], [7]), ([8], [4]), ([3], [3]), ([1], [6])]  # results of elements


@pytest.mark.parametrize("op", ["upsample_nearest", "_upsample_nearest_exact"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_nearest_elements(op: str, rank: int) -> None:
    for (count,), (size,) in SIZES:
        counts, sizes = [count, 3, 2][:rank], [2, 2, size, 2, 3][: rank + 2]
        x = small_integers(sizes, 1)
        assert_adjoint(f"{op}{rank}d", [counts], x, lambda g: (f"{op}{rank}d_backward", [g, counts, sizes]))  # noqa: B023


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize(
    ("op", "rank"),
    [("upsample_linear1d", 1), ("upsample_bilinear2d", 2), ("upsample_trilinear3d", 3), ("upsample_bicubic2d", 2)],
)
def test_weighted_means(op: str, rank: int, align_corners: bool) -> None:
    for (count,), (size,) in SIZES:
        counts, sizes = [count, 3, 2][:rank], [2, 2, size, 2, 3][: rank + 2]
        x = small_integers(sizes, 1)
        own = lambda g: (f"{op}_backward", [g, counts, sizes, align_corners])  # noqa: B023, E731
        assert_adjoint(op, [counts, align_corners], x, own)


@pytest.mark.parametrize("op", ["_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa"])
def test_filters(op: str) -> None:
    for (count,), (size,) in SIZES:
        counts, sizes = [count, 3], [2, 2, size, 5]
        x = small_integers(sizes, 1)
        assert_adjoint(op, [counts, False], x, lambda g: (f"{op}_backward", [g, counts, sizes, False]))  # noqa: B023


@pytest.mark.parametrize("mode", ["reflection", "replication"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_padding(mode: str, rank: int) -> None:
    x, padding = small_integers([2, 4, 5, 6][: rank + 1], 1), [2, 1, 1, 3, 0, 3][: 2 * rank]
    own = lambda g: (f"{mode}_pad{rank}d_backward", [g, x, padding])  # noqa: E731
    assert_adjoint(f"{mode}_pad{rank}d", [padding], x, own)


@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("options", [(False, True, None), (True, False, None), (True, True, 3)])
def test_averages(rank: int, options: tuple[bool, bool, int | None]) -> None:
    x, windows = small_integers([2, 5, 4, 6][: rank + 1], 1), ([3, 2, 2][:rank], [2, 1, 3][:rank], [1, 1, 0][:rank])
    own = lambda g: (f"avg_pool{rank}d_backward", [g, x, *windows, *options])  # noqa: E731
    assert_adjoint(f"avg_pool{rank}d", [*windows, *options], x, own)


@pytest.mark.parametrize("rank", [2, 3])
def test_adaptive_averages(rank: int) -> None:
    x = small_integers([2, 5, 4, 6][: rank + 1], 1)
    own = lambda g: (f"_adaptive_avg_pool{rank}d_backward", [g, x])  # noqa: E731
    assert_adjoint(f"_adaptive_avg_pool{rank}d", [[3, 4, 2][:rank]], x, own)


@pytest.mark.parametrize(
    ("op", "arguments"),
    [("max_pool2d_with_indices", [[2, 3], [1, 2], [1, 1], [1, 2], True]), ("adaptive_max_pool2d", [[3, 2]]),
     ("max_pool3d_with_indices", [[2, 3, 1], [1, 2, 1], [1, 1, 0], [2, 1, 1], False]),
     ("adaptive_max_pool3d", [[3, 2, 2]])],
)  # fmt: skip
def test_maxima(op: str, arguments: list[Any]) -> None:
    """What the indices name are the largest elements."""
    rank = 2 if "2d" in op else 3
    x = np.random.default_rng(1).permutation(prod(shape := [2, 6, 5, 4][: rank + 1])).reshape(shape).astype(np.float64)
    indices = goldens(f"aten::{op}", x, *arguments)[1].value
    own = [indices] if op.startswith("adaptive") else [*arguments, indices]
    assert_adjoint(op, arguments, x, lambda g: (f"{op}_backward", [g, x, *own]))


@pytest.mark.parametrize(
    ("op", "arguments"),
    [("select", [1, -2]), ("slice", [-2, -3, 4, 2]), ("diagonal", [-1, 2, 0]), ("diagonal", [2, 0, 1]),
     ("unfold", [2, 3, 1]), ("unfold", [-3, 2, 3])],
)  # fmt: skip
def test_parts(op: str, arguments: list[Any]) -> None:
    x, overload = small_integers([3, 4, 5], 1), {"select": ".int", "slice": ".Tensor"}.get(op, "")
    own = lambda g: (f"{op}_backward", [g, list(x.shape), *arguments])  # noqa: E731
    assert_adjoint(f"{op}{overload}", arguments, x, own)
