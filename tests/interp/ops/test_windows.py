"""Pooling."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.errors import InvalidArguments
from tests.interp.ops.literal import check, f16, f32, goldens, i64

IMAGE = [[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        ({"kernel_size": [2, 2]}, [[[3.0]]]),
        ({"kernel_size": [2, 2], "stride": [1]}, [[[3.0, 4.0], [6.0, 7.0]]]),
        ({"kernel_size": [1, 2], "stride": [2, 1]}, [[[1.5, 2.5], [7.5, 8.5]]]),
        ({"kernel_size": [2], "padding": [1]}, [[[0.25, 1.25], [2.75, 7.0]]]),
        ({"kernel_size": [2], "padding": [1], "count_include_pad": False}, [[[1.0, 2.5], [5.5, 7.0]]]),
        ({"kernel_size": [2], "ceil_mode": True}, [[[3.0, 4.5], [7.5, 9.0]]]),
        ({"kernel_size": [2], "divisor_override": -2}, [[[-6.0]]]),
        (
            {"kernel_size": [3], "stride": [2], "padding": [1], "ceil_mode": True},
            [[[12 / 9, 16 / 9], [24 / 9, 28 / 9]]],
        ),
    ],
)
def test_avg_pool2d(keywords: dict, expected: list) -> None:
    check("aten::avg_pool2d", f32(IMAGE), **keywords, gives=np.float32(expected))  # ninths round alike through double


def test_the_last_window_of_ceil_mode_starts_inside_the_input_or_its_left_padding() -> None:
    # Places 0 and 2 of a padded row of 4; a third window, at 4, would lie in the right padding alone.
    check("aten::avg_pool2d", f32([[[1.0, 3.0]]]), [1, 2], [1, 2], [0, 1], True, gives=f32([[[0.5, 1.5]]]))


def test_avg_pool2d_of_infinities_and_of_halves() -> None:
    check("aten::avg_pool2d", f32([[[inf, 1.0], [nan, 1.0]]]), [1, 2], gives=f32([[[inf], [nan]]]))
    check(
        "aten::avg_pool2d", f16([[[2048.0, 1.0, 1.0, 1.0]]]), [1, 4], divisor_override=1, gives=f16([[[2052.0]]])
    )  # a tie
    check("aten::avg_pool2d", i64([[[-3, -4], [3, 4]]]), [1, 2], gives=i64([[[-3], [3]]]))  # integers go toward zero


@pytest.mark.parametrize(
    "keywords",
    [
        {"kernel_size": [4, 4]},
        {"kernel_size": [2, 2], "padding": [2, 0]},
        {"kernel_size": [2, 2], "stride": [0, 1]},
        {"kernel_size": [2, 2], "divisor_override": 0},
        {"kernel_size": []},
        {"kernel_size": [1, 1, 1]},
        {"kernel_size": [1], "stride": [1, 1, 1]},
        {"kernel_size": [1], "padding": [0, 0, 0]},
    ],
)
def test_avg_pool2d_refuses(keywords: dict) -> None:
    with pytest.raises(InvalidArguments):
        goldens("aten::avg_pool2d", f32(IMAGE), **keywords)
    with pytest.raises(InvalidArguments):
        goldens("aten::avg_pool2d", f32(IMAGE[0]), [2, 2])
    with pytest.raises(InvalidArguments, match=r"found int32\[1, 3, 3\], expected dtype\(self\) in "):
        goldens("aten::avg_pool2d", np.int32(IMAGE), [2, 2])
