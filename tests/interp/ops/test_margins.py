"""Losses of margins and counts, and distances: hand-computed values, special ones, and what is open."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.errors import InvalidArguments
from tests.interp.ops.literal import bf16, check, check_open, f32, f64, goldens, i64

NONE, MEAN, SUM = range(3)


def test_soft_margin() -> None:
    """log(1 + e^0) = log 2 = 0.693147180559945309...; a margin beyond all range costs its size, or nothing."""
    check("aten::soft_margin_loss", f32([0.0, 2.0, inf, -inf, inf]), f32([1.0, 0.0, 1.0, 1.0, 0.0]), NONE,
          gives=f32([0.6931471824645996, 0.6931471824645996, 0.0, inf, nan]))  # fmt: skip
    check("aten::soft_margin_loss", f64([-1e4, 1e308]), f64([1.0, 1e10]), NONE, gives=f64([1e4, 0.0]))
    check("aten::soft_margin_loss", f64([-1e4, 1e308]), f64([1.0, 1e10]), SUM, gives=f64(1e4))


def test_hinge_embedding() -> None:
    check("aten::hinge_embedding_loss", f32([3.0, 0.25, 3.0, inf]), f32([1.0, -1.0, -1.0, -1.0]), 1.0, NONE,
          gives=f32([3.0, 0.75, 0.0, 0.0]))  # fmt: skip
    check("aten::hinge_embedding_loss", bf16([3.0, 0.25]), bf16([1.0, -1.0]), 1.0, MEAN, gives=bf16(1.875))


def test_margin_ranking() -> None:
    x1, x2, y = f32([1.0, 1.0, nan, inf]), f32([3.0, 3.0, 1.0, 1.0]), f32([1.0, -1.0, 1.0, 0.0])
    check("aten::margin_ranking_loss", x1, x2, y, 0.5, NONE, gives=f32([2.5, 0.0, nan, nan]))
    check("aten::margin_ranking_loss", f32([inf, 0.0]), f32([0.0, inf]), f32(1.0), 0.5, NONE, gives=f32([0.0, inf]))


def test_poisson() -> None:
    """e^0 - 3 * 0; 1/2 - 3 log 1; log 2! is about 2 log 2 - 2 + log(4 pi) / 2 = 0.651806484604536..."""
    check("aten::poisson_nll_loss", f32([0.0, nan]), f32([3.0, 1.0]), True, False, 1e-8, NONE, gives=f32([1.0, nan]))
    check("aten::poisson_nll_loss", f32([0.5, -0.5, 0.75, -1.0]), f32([3.0, 3.0, 0.0, 1.0]), False, False, 0.5, NONE,
          gives=f32([0.5, inf, 0.75, nan]))  # fmt: skip
    check("aten::poisson_nll_loss", f64([0.0]), f64([2.0]), True, True, 0.0, NONE, gives=f64([1.651806484604536]))
    check_open("aten::poisson_nll_loss", f32([inf, 0.0]), f32([1.0, 1.0]), True, False, 0.0, NONE,
               gives=f32([0.0, 1.0]), where_open=[True, False], rule="P66")  # fmt: skip


def test_multi_margin() -> None:
    """torch.nn.MultiMarginLoss: of [0.1, 0.2, 0.4, 0.8] with target 3 the sum of 0.3, 0.4 and 0.6 over 4; here in
    eighths."""
    row = f32([[0.125, 0.25, 0.5, 0.75]])
    check("aten::multi_margin_loss", row, i64([3]), gives=f32(0.40625))
    check("aten::multi_margin_loss", row, i64([3]), 2, gives=f32((0.375**2 + 0.5**2 + 0.75**2) / 4))
    check("aten::multi_margin_loss", row, i64([3]), 1, 0.5, f32([0.0, 0.0, 0.0, 2.0]), SUM, gives=f32(0.125))
    check_open("aten::multi_margin_loss", f32([[inf, 1.0], [1.0, 1.0]]), i64([0, 0]), reduction=NONE,
               gives=f32([0.0, 0.5]), where_open=[True, False], rule="P147")  # fmt: skip
    with pytest.raises(InvalidArguments, match="target"):
        goldens("aten::multi_margin_loss", row, i64([4]))


def test_multilabel_margin() -> None:
    """torch.nn.MultiLabelMarginLoss's example: targets 3 and 0, what is behind -1 does not count; 0.85 there."""
    x, y = f64([[0.125, 0.25, 0.5, 0.75]]), i64([[3, 0, -1, 1]])
    expected = 0.25 * ((1 - 0.5) + (1 - 0.25) + (1 - (0.125 - 0.25)) + (1 - (0.125 - 0.5)))
    check("aten::multilabel_margin_loss", x, y, gives=f64(expected))
    check("aten::multilabel_margin_loss", x, i64([[-1, 0, 1, 2]]), gives=f64(0.0))
    check("aten::multilabel_margin_loss", x, i64([[3, 3, -1, 0]]), SUM,
          gives=f64(0.25 * 2 * ((1 - 0.625) + (1 - 0.5) + (1 - 0.25))))  # fmt: skip


def test_negative_log_likelihood_of_images() -> None:
    image, target = f32([[[[1.0, 2.0]], [[4.0, 8.0]]]]), i64([[[1, 0]]])
    check("aten::nll_loss2d", image, target, None, NONE, gives=f32([[[-4.0, -2.0]]]))
    check("aten::nll_loss2d", image, target, f32([1.0, 3.0]), MEAN, gives=f32(-3.5))
    check("aten::nll_loss2d_forward", image, target, f32([1.0, 3.0]), SUM, 0, gives=(f32(-12.0), f32(3.0)))


def test_cosine_similarity() -> None:
    """3-4-5 triangles; a line shorter than eps is divided by eps; what squares cannot hold."""
    check("aten::cosine_similarity", f32([[3.0, 4.0], [0.0, 0.0]]), f32([[4.0, 3.0], [1.0, 1.0]]),
          gives=f32([0.9599999785423279, 0.0]))  # fmt: skip
    check("aten::cosine_similarity", f32([[0.0, 0.5]]), f32([[0.0, 2.0]]), 1, 4.0, gives=f32([0.0625]))
    check("aten::cosine_similarity", f64([3e300, 4e300]), f64([-4e-300, -3e-300]), 0, 1e-320, gives=f64(-0.96))
    check("aten::cosine_similarity", f32([nan, inf]), f32([1.0, 1.0]), 0, gives=f32(nan))
    check_open("aten::cosine_similarity", f32([[inf, 1.0]]), f32([[1.0, 1.0]]), gives=f32([0.0]), where_open=[True],
               rule="P148")  # fmt: skip


def test_pairwise_distance() -> None:
    x, y = f32([[3.0, 4.0], [inf, inf]]), f32([[0.0, 0.0], [inf, 1.0]])
    check("aten::pairwise_distance", x, y, 2.0, 0.0, gives=f32([5.0, nan]))
    check("aten::pairwise_distance", x[:1], y[:1], 1.0, 0.5, True, gives=f32([[8.0]]))
    check("aten::pairwise_distance", x[:1], f32([0.0, 8.0]), inf, 0.0, gives=f32([4.0]))
    check("aten::pairwise_distance", f64([3e300, 4e300]), f64([0.0, 0.0]), gives=f64(5e300))


def test_polar() -> None:
    """cos and sin of the float32 next to pi / 2: -4.37113883e-08 and 1 - 9.6e-16."""
    (golden,) = goldens("aten::polar", f32([1.0, 2.0, 0.0]), f32([1.5707963705062866, 0.0, 3.0]))
    assert golden.value.tolist() == [complex(-4.371138828673793e-08, 1.0), 2 + 0j, 0j]


def nearest(numbers: object) -> np.ndarray:
    """In float32."""
    return np.array(numbers, np.float32)


def test_triplet_margin() -> None:
    """Distances 5, 10 and 5: max(5 - 10 + 7, 0), with swap max(5 - 5 + 7, 0)."""
    anchor, near, far = f32([[0.0, 0.0]]), f32([[3.0, 4.0]]), f32([[6.0, 8.0]])
    check("aten::triplet_margin_loss", anchor, near, far, 7.0, 2.0, 0.0, False, NONE, gives=f32([2.0]))
    check("aten::triplet_margin_loss", anchor, near, far, 7.0, 2.0, 0.0, True, NONE, gives=f32([7.0]))
    check("aten::triplet_margin_loss", anchor, near, far, 1.0, 2.0, 0.0, gives=f32(0.0))
    check("aten::triplet_margin_loss", anchor, near, far, 8.0, inf, 0.0, False, SUM, gives=f32(4.0))
    check("aten::triplet_margin_loss", anchor, near, far, 8.0, 1.0, 1.0, False, NONE, gives=f32([1.0]))
    special = f32([[inf, 0.0], [nan, 0.0], [3.0, 4.0]])
    check("aten::triplet_margin_loss", f32([[0.0, 0.0]] * 3), special, f32([[6.0, 8.0], [1.0, 1.0], [inf, 0.0]]), 1.0,
          2.0, 0.0, False, NONE, gives=f32([inf, nan, 0.0]))  # fmt: skip


def test_a_difference_of_far_points_is_known_behind_their_digits() -> None:
    """Both are 2^1000 away, but for 1/4: all digits of float64 cancel."""
    far, x = f64([[2.0**1000, 0.0]]), f64([[0.25, 0.0]])
    check("aten::triplet_margin_loss", far, f64([[0.0, 0.0]]), x, 0.5, 2.0, 0.0, False, NONE, gives=f64([0.75]))


def test_cosine_embedding() -> None:
    """cos = 24/25 of (3, 4) and (4, 3); parallel lines in float64 differ by nothing."""
    x, y = f32([[3.0, 4.0], [3.0, 4.0], [1.0, 0.0]]), f32([[4.0, 3.0], [4.0, 3.0], [-1.0, 0.0]])
    check("aten::cosine_embedding_loss", x, y, f32([1.0, -1.0, -1.0]), 0.5, NONE, gives=nearest([0.04, 0.46, 0.0]))
    check("aten::cosine_embedding_loss", f64([0.1, 0.7]), f64([0.2, 1.4]), f64(1.0), gives=f64(0.0))
    check("aten::cosine_embedding_loss", f32([nan, 1.0]), f32([1.0, 1.0]), f32(1.0), gives=f32(nan))
    x, y = f32([[0.0, 0.0], [inf, 1.0], [1.0, 1.0]]), f32([[1.0, 1.0]] * 3)
    check_open("aten::cosine_embedding_loss", x, y, f32([1.0] * 3), 0.0, NONE, gives=f32([0.0, 0.0, 0.0]),
               where_open=[True, True, False], rule="P154")  # fmt: skip


def test_nll_loss_of_any_places() -> None:
    x = f32([[1.0, 2.0], [3.0, 5.0]])
    check("aten::nll_loss_nd", x, i64([1, 0]), None, NONE, gives=f32([-2.0, -3.0]))
    check("aten::nll_loss_nd", x[0], i64(1), None, NONE, gives=f32(-2.0))
    check("aten::nll_loss_nd", x[None], i64([[1, 0]]), f32([2.0, 1.0]), MEAN, gives=nearest(-7 / 3))
    check("aten::nll_loss_nd", x[None, ..., None, None], i64([[[[1]], [[0]]]]), None, SUM, 0, gives=f32(-3.0))
