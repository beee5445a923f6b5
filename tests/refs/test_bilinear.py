"""Bilinear maps and sums of products of three tensors: literal results, and what is refused."""

from math import inf, nan

import pytest

from conform.refs.exact.tensor import UNSPECIFIED
from tests.refs.helpers import call, same, tensor

X, Y = tensor("float32", [[1.0, 2.0]]), tensor("float32", [[3.0, 4.0]])
A = tensor("float32", [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [2.0, 0.0]]])


def test_bilinear() -> None:
    same(call("bilinear", input1=X, input2=Y, weight=A), "float32", [[11.0, 16.0]])
    bias = tensor("float32", [nan, -1.0])
    same(call("bilinear", input1=X, input2=Y, weight=A, bias=bias), "float32", [[nan, 15.0]])


def test_an_infinity_is_open() -> None:
    infinite = tensor("float32", [[1.0, inf]])
    assert call("bilinear", input1=infinite, input2=Y, weight=A).data == [UNSPECIFIED, UNSPECIFIED]


def test_trilinear() -> None:
    dims = {"expand1": [1, 3], "expand2": [0], "expand3": [1, 2], "sumdim": [2, 3]}
    same(call("_trilinear", i1=X, i2=A, i3=Y, **dims), "float32", [[11.0, 16.0]])


@pytest.mark.parametrize("changed", [{"sumdim": [4]}, {"expand2": [0, 0]}, {"expand3": [1]}, {"unroll_dim": -1}])
def test_dims_that_do_not_go_together(changed: dict) -> None:
    dims = {"expand1": [1, 3], "expand2": [0], "expand3": [1, 2], "sumdim": [2, 3]}
    with pytest.raises(ValueError, match=r"dims|_trilinear"):
        call("_trilinear", i1=X, i2=A, i3=Y, **dims | changed)
