"""`conform.golden`: the correctly rounded result of one call, and how far another array is from the exact one."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

import conform
from conform.errors import InvalidArguments, Unjudged, UsageError

ULP_OF_1 = 2.0**-23  # in float32


def test_the_value_is_the_correctly_rounded_result() -> None:
    truth = conform.golden("aten::exp", np.float32([0.0, 1.0, -np.inf]))
    assert truth.value.dtype == np.float32
    assert truth.value.tolist() == [1.0, 2.7182817459106445, 0.0]


def test_the_error_is_taken_from_the_exact_number() -> None:
    truth = conform.golden("aten::exp", np.float32([0.0, 1.0]))
    rounded = float(truth.value[1])
    errors = truth.error_ulp(np.float32([1 - ULP_OF_1, rounded]))
    # ulp(e) is 2^-22, as e lies between 2 and 4; math.e is near enough to e.
    assert errors.tolist() == pytest.approx([1.0, abs(rounded - math.e) * 2**22], abs=1e-8)
    assert 0 < errors[1] < 0.5
    assert truth.error_ulp(np.float32([np.nan, np.inf])).tolist()[0] == np.inf


def test_integers_and_bools_are_right_or_infinitely_wrong() -> None:
    total = conform.golden("aten::add", np.int64([2**62, 1]), np.int64([2**62, 1]))
    assert total.value.tolist() == [-(2**63), 2]
    assert total.error_ulp(np.int64([-(2**63), 3])).tolist() == [0.0, math.inf]
    equal = conform.golden("aten::eq", np.float32([1.0, np.nan]), np.float32([1.0, np.nan]))
    assert equal.value.tolist() == [True, False]
    assert equal.error_ulp(np.array([True, True])).tolist() == [0.0, math.inf]


def test_complex_numbers_have_an_error_a_part() -> None:
    truth = conform.golden("aten::add", np.complex64([1 + 2j]), np.complex64([1j]))
    assert truth.value.tolist() == [1 + 3j]
    assert truth.error_ulp(np.complex64([complex(1 + ULP_OF_1, 3)])).tolist() == [[1.0, 0.0]]


def test_several_outputs_are_tuples() -> None:
    truth = conform.golden("aten::sort", np.float32([3.0, 1.0, 2.0]))
    values, indices = truth.value
    assert (values.tolist(), indices.tolist()) == ([1.0, 2.0, 3.0], [1, 2, 0])
    errors = truth.error_ulp((values, np.int64([1, 0, 2])))
    assert [error.tolist() for error in errors] == [[0.0] * 3, [0.0, math.inf, math.inf]]


def test_bfloat16_is_ml_dtypes() -> None:
    truth = conform.golden("aten::sum", np.array([256.0, 1.0, 1.0], ml_dtypes.bfloat16))
    assert truth.value.dtype == ml_dtypes.bfloat16
    assert float(truth.value) == 258.0
    assert float(truth.error_ulp(np.array(256.0, ml_dtypes.bfloat16))) == 1.0


def test_dtypes_go_by_name_and_where_a_result_lives_is_ignored() -> None:
    places = {"device": "cuda", "layout": "strided", "pin_memory": True}
    truth = conform.golden("aten::arange", 3, dtype="float64", **places)
    assert (truth.value.dtype, truth.value.tolist()) == (np.float64, [0.0, 1.0, 2.0])


def test_numpy_scalars_are_0d_tensors_and_python_numbers_are_not() -> None:
    x = np.float16([1.0])
    assert conform.golden("aten::add", np.float32(2.0), 1).value.dtype == np.float32
    assert conform.golden("aten::add", x, np.float64(0.5)).value.dtype == np.float16  # x has dimensions
    assert conform.golden("aten::mul", np.int32([3]), 0.5).value.dtype == np.float32


def test_an_overload_may_be_named() -> None:
    x = np.float32([[1.0, 2.0]])
    assert conform.golden("aten::sum.dim_IntList", x, [1]).value.tolist() == [3.0]
    assert conform.golden("aten::sum", x).value.tolist() == 3.0


@pytest.mark.parametrize(
    ("actual", "message"),
    [
        (np.float32([1.0]), r"expected float32 of shape \[2\], got float32 of shape \[1\]"),
        (np.float64([1.0, 1.0]), r"expected float32 of shape \[2\], got float64 of shape \[2\]"),
    ],
)
def test_what_is_measured_must_have_the_values_shape_and_dtype(actual: np.ndarray, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        conform.golden("aten::exp", np.float32([1.0, 1.0])).error_ulp(actual)


def test_there_must_be_an_array_for_every_output() -> None:
    with pytest.raises(UsageError, match="expected 2 arrays, one an output, got 1"):
        conform.golden("aten::sort", np.float32([1.0])).error_ulp((np.float32([1.0]),))


def test_errors() -> None:
    x = np.float32([1.0])
    with pytest.raises(UsageError, match=r"aten::epx.*did you mean"):
        conform.golden("aten::epx", x)
    with pytest.raises(UsageError):
        conform.golden("aten::exp", x, sideways=True)
    with pytest.raises(InvalidArguments, match=r"found float32\[3\], expected size\(other, d\) in {1, size\("):
        conform.golden("aten::add", np.float32([[1.0, 2.0]]), np.float32([1.0, 2.0, 3.0]))
    with pytest.raises(Unjudged, match="no semantics for aten::linalg_svd"):
        conform.golden("aten::linalg_svd", np.float32([[1.0]]))
