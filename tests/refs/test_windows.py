"""Pooling, columns, interpolation and grids: literal results by hand, then the special ones."""

import math
from typing import Any

import pytest

from conform.refs import UNSPECIFIED, RefTensor
from tests.refs.helpers import call, same, tensor

inf, nan = math.inf, math.nan
LINE = [[[1.0, 2.0, 4.0, 8.0]]]
PLANE = [[[[1.0, 2.0], [3.0, 5.0]]]]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"kernel_size": [2]}, [1.5, 6.0]),
        ({"kernel_size": [2], "stride": [1]}, [1.5, 3.0, 6.0]),
        ({"kernel_size": [3], "stride": [3], "padding": [1]}, [1.0, 4.0]),
        ({"kernel_size": [3], "stride": [3], "padding": [1], "count_include_pad": False}, [1.5, 6.0]),
        ({"kernel_size": [3], "ceil_mode": True}, [7.0 / 3, 8.0]),
    ],
)
def test_avg_pool1d(arguments: dict[str, Any], expected: list[float]) -> None:
    same(call("avg_pool1d", self=tensor("float64", LINE), **arguments), "float64", [[expected]])


def test_avg_pool3d_and_gradients() -> None:
    cube = tensor("float32", [[PLANE[0][0], PLANE[0][0]]])
    same(call("avg_pool3d", self=cube, kernel_size=[2]), "float32", [[[[2.75]]]])
    same(call("avg_pool3d", self=cube, kernel_size=[2], divisor_override=-1), "float32", [[[[-22.0]]]])
    grad = {"kernel_size": [2], "stride": [1], "padding": [0], "ceil_mode": False, "count_include_pad": True}
    result = call("avg_pool2d_backward", grad_output=tensor("float32", [[[4.0, 8.0]]]),
                  self=RefTensor("float32", (1, 2, 3), [0.0] * 6), divisor_override=None, **grad)  # fmt: skip
    same(result, "float32", [[[1.0, 3.0, 2.0], [1.0, 3.0, 2.0]]])
    back = call("_adaptive_avg_pool2d_backward", grad_output=tensor("float32", [[[6.0, 4.0]]]),
                self=RefTensor("float32", (1, 1, 3), [0.0] * 3))  # fmt: skip
    same(back, "float32", [[[3.0, 5.0, 2.0]]])


def test_max_pools() -> None:
    x = tensor("float32", [[1.0, 5.0, 5.0, nan, nan, -1.0]])
    same(call("max_pool1d", self=x, kernel_size=[2]), "float32", [[5.0, nan, nan]])
    plane = RefTensor("float32", (1, *x.shape), x.data)
    values, indices = call("max_pool2d_with_indices", self=plane, kernel_size=[1, 2], stride=[1, 1])
    same(values, "float32", [[[5.0, 5.0, nan, nan, nan]]])
    same(indices, "int64", [[[1, UNSPECIFIED, 3, UNSPECIFIED, 4]]])
    values, indices = call("max_pool2d_with_indices", self=tensor("int8", [[[1, -2, 3]]]), kernel_size=[1, 2],
                           stride=[1, 2], padding=[0, 1], dilation=[1, 2])  # fmt: skip
    same(values, "int8", [[[-2, -2]]])
    same(indices, "int64", [[[1, 1]]])
    outside = call("max_pool1d", self=tensor("float32", [[1.0, 2.0]]), kernel_size=[2], padding=[1], dilation=[3])
    same(outside, "float32", [[-inf]])
    cube = RefTensor("int64", (1, 2, 2, 2), list(range(8)))
    for result, expected in zip(call("max_pool3d_with_indices", self=cube, kernel_size=[2]), (7, 7), strict=True):
        same(result, "int64", [[[[expected]]]])
    values, indices = call("adaptive_max_pool2d", self=tensor("float16", PLANE), output_size=[1, 2])
    same(values, "float16", [[[[3.0, 5.0]]]])
    same(indices, "int64", [[[[2, 3]]]])


def test_max_pool_gradient_adds_up_where_windows_share_an_element() -> None:
    arguments = {"kernel_size": [1, 3], "stride": [1, 1], "padding": [0], "dilation": [1], "ceil_mode": False}
    grad, x = tensor("float32", [[[2.0**24, 1.0, 1.0]]]), RefTensor("float32", (1, 1, 5), [0.0] * 5)
    result = call("max_pool2d_with_indices_backward", grad_output=grad, self=x,
                  indices=tensor("int64", [[[2, 2, 2]]]), **arguments)  # fmt: skip
    same(result, "float32", [[[0.0, 0.0, 2.0**24 + 2, 0.0, 0.0]]])
    result = call("max_pool2d_with_indices_backward", grad_output=grad, self=x,
                  indices=tensor("int64", [[[2, 0, 4]]]), **arguments)  # fmt: skip
    assert result.data == [UNSPECIFIED, 0.0, 2.0**24, 0.0, 1.0]  # the second window begins behind element 0


def test_adaptive_avg_pools() -> None:
    same(call("adaptive_avg_pool1d", self=tensor("float64", LINE), output_size=[3]), "float64", [[[1.5, 3.0, 6.0]]])
    same(call("_adaptive_avg_pool2d", self=tensor("float64", PLANE), output_size=[1, 3]), "float64",
         [[[[2.0, 2.75, 3.5]]]])  # fmt: skip
    assert call("_adaptive_avg_pool3d", self=tensor("float64", PLANE), output_size=[1, 0, 1]).shape == (1, 1, 0, 1)


def test_columns() -> None:
    window = {"kernel_size": [2], "dilation": [1], "padding": [0, 1], "stride": [1]}
    columns = [[0, 1, 2], [1, 2, 0], [0, 3, 5], [3, 5, 0]]
    same(call("im2col", self=tensor("int64", [[[1, 2], [3, 5]]]), **window), "int64", columns)
    result = call("col2im", self=tensor("int64", columns), output_size=[2, 2], **window)
    same(result, "int64", [[[2, 4], [6, 10]]])


RESIZED = [
    ("upsample_nearest1d", {"output_size": [6]}, [1.0, 1.0, 2.0, 4.0, 4.0, 8.0]),
    ("upsample_nearest1d", {"output_size": [3], "scales": 0.5}, [1.0, 4.0, 8.0]),
    ("upsample_linear1d", {"output_size": [2], "align_corners": False}, [1.5, 6.0]),
    ("upsample_linear1d", {"output_size": [8], "align_corners": False},
     [1.0, 1.25, 1.75, 2.5, 3.5, 5.0, 7.0, 8.0]),
    ("upsample_linear1d", {"output_size": [7], "align_corners": True}, [1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0]),
    ("upsample_linear1d", {"output_size": [1], "align_corners": True}, [1.0]),
    ("upsample_linear1d.vec", {"output_size": None, "align_corners": False, "scale_factors": [0.5]}, [1.5, 6.0]),
]  # fmt: skip


@pytest.mark.parametrize(("op", "arguments", "expected"), RESIZED)
def test_resized_lines(op: str, arguments: dict[str, Any], expected: list[float]) -> None:
    same(call(op, **{"input" if ".vec" in op else "self": tensor("float64", LINE)}, **arguments),
         "float64", [[expected]])  # fmt: skip


def test_resized_planes() -> None:
    x = tensor("float64", PLANE)
    same(call("upsample_nearest2d.vec", input=x, output_size=None, scale_factors=[1.0, 2.0]), "float64",
         [[[[1.0, 1.0, 2.0, 2.0], [3.0, 3.0, 5.0, 5.0]]]])  # fmt: skip
    same(call("upsample_bilinear2d", self=x, output_size=[3, 1], align_corners=False), "float64",
         [[[[1.5], [2.75], [4.0]]]])  # fmt: skip
    line = tensor("float64", [LINE])
    cubic = call("upsample_bicubic2d", self=line, output_size=[1, 7], align_corners=True)
    same(cubic, "float64", [[[[1.0, 1.3125, 2.0, 2.71875, 4.0, 6.1875, 8.0]]]])  # -3/32, 19/32, 19/32, -3/32 between
    linear = call("_upsample_bilinear2d_aa", self=line, output_size=[1, 2], align_corners=False)
    same(linear, "float64", [[[[(1 * 3 + 2 * 3 + 4) / 7, (2 + 4 * 3 + 8 * 3) / 7]]]])  # 3/4, 3/4, 1/4 about the centre
    same(call("_upsample_bicubic2d_aa.vec", input=line, output_size=[1, 4], align_corners=False, scale_factors=None),
         "float64", [LINE])  # fmt: skip
    special = tensor("float32", [[[inf, 1.0, -inf]]])
    same(call("upsample_linear1d", self=special, output_size=[3], align_corners=True), "float32",
         [[[inf, UNSPECIFIED, UNSPECIFIED]]])  # fmt: skip
    same(call("upsample_linear1d", self=special, output_size=[2], align_corners=False), "float32", [[[inf, -inf]]])


def test_max_unpool() -> None:
    x, places = tensor("float32", [[[5.0, -0.0]], [[nan, 7.0]]]), tensor("int64", [[[3, 0]], [[1, 2]]])
    same(call("max_unpool2d", self=x, indices=places, output_size=[2, 2]), "float32",
         [[[-0.0, 0.0], [0.0, 5.0]], [[0.0, nan], [7.0, 0.0]]])  # fmt: skip
    twice = {"self": tensor("float16", [[[1.0, 1.0]]]), "indices": tensor("int64", [[[1, 1]]])}
    same(call("max_unpool2d", output_size=[1, 3], **twice), "float16", [[[0.0, UNSPECIFIED, 0.0]]])
    cube = {"self": tensor("float64", [[[[2.0]]]]), "indices": tensor("int64", [[[[3]]]])}
    same(call("max_unpool3d", output_size=[2, 1, 2], stride=[2, 1, 2], padding=[0, 0, 0], **cube), "float64",
         [[[[0.0, 0.0]], [[0.0, 2.0]]]])  # fmt: skip


GRID = [  # x, interpolation, padding, align_corners: of 1, 2, 4, 8
    (-1.0, 0, 0, True, 1.0), (0.0, 0, 0, True, 3.0), (-1.0, 0, 0, False, 0.5), (nan, 0, 0, True, 1.0),
    (-1.0, 0, 1, False, 1.0), (9.0, 0, 0, False, 0.0), (9.0, 0, 1, True, 8.0), (inf, 0, 1, True, 8.0),
    (inf, 0, 0, True, UNSPECIFIED), (5.0 / 3, 0, 2, True, 4.0), (1.5, 0, 2, False, 6.0), (0.25, 1, 0, False, 4.0),
    (0.0, 1, 0, True, UNSPECIFIED), (0.0, 2, 0, True, 2.71875), (-1.75, 1, 0, False, 0.0), (-5.0, 1, 2, False, 1.0),
]  # fmt: skip


@pytest.mark.parametrize(("x", "mode", "padding", "corners", "expected"), GRID)
def test_grid_sampler(x: float, mode: int, padding: int, corners: bool, expected: object) -> None:
    grid = RefTensor("float64", (1, 1, 1, 2), [x, 0.0])
    result = call("grid_sampler_2d", input=tensor("float64", [LINE]), grid=grid, interpolation_mode=mode,
                  padding_mode=padding, align_corners=corners)  # fmt: skip
    if isinstance(expected, float) and not math.isnan(expected):
        assert result.data[0] == pytest.approx(expected, abs=1e-15)
    else:
        assert result.data == [expected]


def test_grid_sampler_takes_the_last_dim_first() -> None:
    cube = RefTensor("float32", (1, 1, 2, 1, 2), [1.0, 2.0, 3.0, 5.0])
    grid = RefTensor("float32", (1, 1, 1, 1, 3), [1.0, 0.0, -1.0])
    modes = {"interpolation_mode": 0, "padding_mode": 0, "align_corners": True}
    same(call("grid_sampler_3d", input=cube, grid=grid, **modes), "float32", [[[[[2.0]]]]])


REFUSED = [
    ("max_unpool2d", {"self": [[[1.0]]], "indices": tensor("int64", [[[4]]]), "output_size": [2, 2]}),
    ("max_unpool3d", {"self": [[[1.0]]], "indices": tensor("int64", [[[0]]]), "output_size": [1, 1, 1],
                      "stride": [1, 1, 1], "padding": [0, 0, 0]}),
    ("avg_pool1d", {"self": LINE, "kernel_size": [5]}),
    ("avg_pool1d", {"self": LINE, "kernel_size": [2], "padding": [2]}),
    ("max_pool1d", {"self": LINE, "kernel_size": [2], "dilation": [0]}),
    ("adaptive_avg_pool1d", {"self": LINE, "output_size": [-1]}),
    ("im2col", {"self": PLANE, "kernel_size": [3], "dilation": [1], "padding": [0], "stride": [1]}),
    ("upsample_nearest1d", {"self": LINE, "output_size": [0]}),
    ("upsample_linear1d", {"self": PLANE, "output_size": [2], "align_corners": True}),
    ("upsample_nearest1d.vec", {"input": LINE, "output_size": [4], "scale_factors": [1.0]}),
    ("grid_sampler_3d", {"input": PLANE, "grid": PLANE, "interpolation_mode": 2, "padding_mode": 0,
                         "align_corners": True}),
]  # fmt: skip


@pytest.mark.parametrize(("op", "arguments"), REFUSED)
def test_refused(op: str, arguments: dict[str, Any]) -> None:
    tensors = {"self", "input", "grid"}
    with pytest.raises(ValueError, match=r"."):
        call(op, **{name: tensor("float32", x) if name in tensors else x for name, x in arguments.items()})
