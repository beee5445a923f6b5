"""Softmax and layer normalization."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.errors import InvalidArguments
from tests.interp.ops.literal import bf16, check, f16, f32, f64, goldens, i64, shown

# e / (1 + e) and 1 / (1 + e), rounded from their decimal expansions.
SHARES = {
    "float16": [0.26904296875, 0.73095703125],
    "bfloat16": [0.26953125, 0.73046875],
    "float32": [0.2689414322376251, 0.7310585975646973],
    "float64": [0.2689414213699951, 0.7310585786300049],
}


@pytest.mark.parametrize(
    ("tensor", "dtype"), [(f16, "float16"), (bf16, "bfloat16"), (f32, "float32"), (f64, "float64")]
)
def test_softmax(tensor: object, dtype: str) -> None:
    check("aten::_softmax", tensor([[0.0, 1.0]]), 1, False, gives=tensor([SHARES[dtype]]))


def test_softmax_dims_and_dtypes() -> None:
    check("aten::_softmax", f32([[1.0, 2.0], [1.0, 2.0]]), 0, False, gives=f32([[0.5, 0.5], [0.5, 0.5]]))
    check("aten::_softmax", f32([[1.0, 2.0]]), -2, False, gives=f32([[1.0, 1.0]]))
    check("aten::_softmax", f32(7.0), 0, False, gives=f32(1.0))
    check("aten::_softmax", f32([[], []]), 1, False, gives=f32([[], []]))
    check("aten::_softmax", f16([0.0, 1.0]), 0, True, gives=f32(SHARES["float32"]))


def test_softmax_of_special_values() -> None:
    check("aten::_softmax", f32([-inf, 0.0, 0.0]), 0, False, gives=f32([0.0, 0.5, 0.5]))
    check("aten::_softmax", f64([1e308, -1e308]), 0, False, gives=f64([1.0, 0.0]))  # no overflow of the difference
    for row in ([-inf, -inf], [inf, 0.0], [nan, 0.0]):
        check("aten::_softmax", f32(row), 0, False, gives=f32([nan, nan]))


def test_softmax_refuses() -> None:
    for operand, dim, half_to_float in ((i64([1]), 0, False), (f32([1.0]), 0, True), (f32([1.0]), 1, False)):
        with pytest.raises(InvalidArguments):
            goldens("aten::_softmax", operand, dim, half_to_float)


def test_native_layer_norm() -> None:
    # Rows of mean 2 and 10, biased variance 1 and 4.
    operand, weight, bias = f32([[1.0, 3.0], [8.0, 12.0]]), f32([2.0, 10.0]), f32([0.5, -1.0])
    check("aten::native_layer_norm", operand, [2], None, None, 0.0,
          gives=(f32([[-1.0, 1.0], [-1.0, 1.0]]), f32([[2.0], [10.0]]), f32([[1.0], [0.5]])))  # fmt: skip
    check("aten::native_layer_norm", operand, [2], weight, bias, 0.0,
          gives=(f32([[-1.5, 9.0], [-1.5, 9.0]]), f32([[2.0], [10.0]]), f32([[1.0], [0.5]])))  # fmt: skip
    # Over both dims mean 6 and variance 18.5: with eps 17.5 the root is 6.
    check("aten::native_layer_norm", operand, [2, 2], None, None, 17.5,
          gives=(np.float32([[-5 / 6, -0.5], [1 / 3, 1.0]]), f32([[6.0]]), np.float32([[1 / 6]])))  # fmt: skip


def test_native_layer_norm_adds_eps_to_the_variance() -> None:
    check(
        "aten::native_layer_norm",
        f64([[1.0, 3.0]]),
        [2],
        None,
        None,
        3.0,
        gives=(f64([[-0.5, 0.5]]), f64([[2.0]]), f64([[0.5]])),
    )


def test_native_layer_norm_of_special_rows() -> None:
    check("aten::native_layer_norm", f32([[5.0, 5.0]]), [2], None, f32([1.0, -0.5]), 0.25,
          gives=(f32([[1.0, -0.5]]), f32([[5.0]]), f32([[2.0]])))  # fmt: skip
    check(
        "aten::native_layer_norm",
        f32([[5.0, 5.0]]),
        [2],
        None,
        None,
        0.0,
        gives=(f32([[nan, nan]]), f32([[5.0]]), f32([[inf]])),
    )
    output, *statistics = goldens("aten::native_layer_norm", f32([[inf, 0.0], [nan, 0.0]]), [2], None, None, 1.0)
    assert shown(output.value) == shown(f32([[nan, nan], [nan, nan]]))
    for statistic in statistics:
        assert statistic.open.tolist() == [[True], [False]]  # P40
        assert np.isnan(statistic.value[1, 0])
    check("aten::native_layer_norm", f32([]).reshape(0, 2), [2], None, None, 1.0,
          gives=(f32([]).reshape(0, 2), f32([]).reshape(0, 1), f32([]).reshape(0, 1)))  # fmt: skip
    for statistic in goldens("aten::native_layer_norm", f32([[], []]), [0], None, None, 1.0)[1:]:
        assert statistic.open.tolist() == [[True], [True]]  # P40


@pytest.mark.parametrize(("size", "has_root"), [(1e-300, False), (1.0, False), (2e264, True), (1e308, True)])
def test_less_than_eps_below_zero_has_no_root_however_large_the_numbers_are(size: float, has_root: bool) -> None:
    """A constant row has no variance; that of the other row is about a quarter of size^2, which may be beyond float64.
    """
    rows = size * np.float64([[1.0, 1.0, 1.0, 1.0], [2.0**-50, 2.0**-50, 1.0, 1.0]])
    output, mean, rstd = goldens("aten::native_layer_norm", rows, [4], None, None, -1e300)
    for golden in (output, rstd):
        assert np.isnan(golden.value).all(axis=1).tolist() == [True, not has_root]
        assert np.isnan(golden.value).any(axis=1).tolist() == [True, not has_root]
    assert np.isfinite(mean.value).all()
    (of_squares,) = goldens("aten::rms_norm", rows[:1], [4], None, -1e300)
    assert np.isfinite(of_squares.value).all() == has_root


def test_statistics_of_halves_are_float32_or_half() -> None:
    output, mean, rstd = goldens("aten::native_layer_norm", f16([[1.0, 2.0]]), [2], None, None, 0.0)
    assert output.value.tolist() == [[-1.0, 1.0]]
    assert (mean.format.name, mean.value.tolist(), rstd.value.tolist()) == ("float32", [[1.5]], [[2.0]])
    assert [other.format.name for other in mean.alternatives] == ["float16"]  # P36


@pytest.mark.parametrize(
    ("shape", "weight", "bias"),
    [
        ([3], None, None),
        ([], None, None),
        ([2, 1], None, None),
        ([2], f32([1.0]), None),
        ([2], None, f32([[1.0, 1.0]])),
    ],
)
def test_native_layer_norm_refuses(shape: list[int], weight: object, bias: object) -> None:
    with pytest.raises(InvalidArguments):
        goldens("aten::native_layer_norm", f32([[1.0, 2.0]]), shape, weight, bias, 0.0)
    with pytest.raises(InvalidArguments):
        goldens("aten::native_layer_norm", i64([[1, 2]]), [2], None, None, 0.0)


def test_safe_softmax_of_what_is_masked_whole() -> None:
    rows = f32([[-inf, -inf], [0, -inf], [inf, 0]])
    check("aten::_safe_softmax", rows, -1, gives=f32([[0, 0], [1, 0], [nan, nan]]))
    check("aten::_safe_softmax", rows[:1], 0, gives=f32([[0, 0]]))
    check("aten::_safe_softmax", f32(-inf), 0, gives=f32(0.0))
    check("aten::_safe_softmax", f32([-1e10]), 0, dtype="float16", gives=f16([nan]))  # P216
