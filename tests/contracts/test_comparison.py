"""What a comparison knows without computing: of an output that is its golden, and of one that is the exact number."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from conform.contracts.comparison import Comparison
from conform.interp.golden import Golden
from conform.numerics.formats import FORMATS, format_of
from conform.numerics.real import Real
from conform.numerics.ulp import error_ulp

NAN, INF = np.nan, np.inf


def compared(expected: np.ndarray, actual: np.ndarray, real: Real | None = None) -> Comparison:
    return Comparison(Golden(format_of(expected), expected, real), actual)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn])
@pytest.mark.parametrize(
    ("expected", "actual", "is_it"),
    [
        ([1.0, -0.0], [1.0, -0.0], True),
        ([1.0, -0.0], [1.0, 0.0], False),
        ([1.0, 2.0], [1.0, 2.5], False),
        ([1.0, NAN], [1.0, -NAN], True),
        ([1.0, NAN], [1.5, -NAN], False),
        ([1.0, NAN], [NAN, 1.0], False),
        ([1.0, 2.0], [1.0, NAN], False),
        ([0.0, NAN], [-0.0, -NAN], False),
        ([], [], True),
    ],
)
def test_golden_but_for_what_nans_carry(dtype: type, expected: list, actual: list, is_it: bool) -> None:
    comparison = compared(np.array(expected, dtype), np.array(actual, dtype))
    assert comparison.is_the_golden is is_it


@pytest.mark.parametrize(
    ("actual", "is_it"),
    [(complex(-NAN, 1.0), True), (complex(NAN, -1.0), False), (complex(1.0, NAN), False), (complex(NAN, NAN), False)],
)
def test_each_part_of_a_complex_number_is_the_goldens(actual: complex, is_it: bool) -> None:
    comparison = compared(np.array([complex(NAN, 1.0)]), np.array([actual]))
    assert comparison.is_the_golden is is_it


def test_integers_are_the_golden_where_they_are_equal() -> None:
    assert compared(np.array([1, -1]), np.array([1, -1])).is_the_golden
    assert not compared(np.array([1, -1]), np.array([1, 1])).is_the_golden


def test_large_outputs_differ_in_their_last_element() -> None:
    expected = np.zeros(1 << 17, np.float32)
    actual = expected.copy()
    actual[-1] = -0.0
    assert compared(expected, expected.copy()).is_the_golden
    assert not compared(expected, actual).is_the_golden


@pytest.mark.parametrize("name", ["float64", "float32", "float16", "bfloat16", "float8_e5m2", "float8_e4m3fn"])
def test_the_errors_of_exact_numbers_are_those_that_are_computed(name: str) -> None:
    fmt = FORMATS[name]
    codes = np.arange(256, dtype=np.int64) * ((1 << fmt.bits) // 256)
    value = codes.astype(fmt.code_storage).view(fmt.storage)
    real = Real.exact(value.astype(np.float64))
    assert np.array_equal(compared(value, value, real).error_ulp, np.zeros(256))
    assert np.array_equal(error_ulp(fmt, value, real), np.zeros(256))


@pytest.mark.parametrize(
    ("real", "error"),
    [
        (Real(np.array([1.0]), np.array([2.0**-25]), np.zeros(1)), 0.25),  # not the number itself
        (Real(np.array([1.0 + 2.0**-23]), np.zeros(1), np.zeros(1)), 1.0),
        (Real(np.array([NAN]), np.zeros(1), np.zeros(1)), INF),
        (Real(np.array([1.0]), np.zeros(1), np.array([INF])), NAN),  # nothing is known
    ],
)
def test_other_numbers_have_errors(real: Real, error: float) -> None:
    one = np.array([1.0], np.float32)
    np.testing.assert_array_equal(compared(one, one, real).error_ulp, [error])


def test_an_infinity_that_stands_for_a_number_is_not_exact() -> None:
    """A finite number beyond float64, which float64 rounds to infinity: as far off as the overflow is, and no more."""
    infinite = np.array([INF])
    real = Real(infinite, np.zeros(1), np.array([INF]))
    comparison = compared(infinite, infinite, real)
    np.testing.assert_array_equal(comparison.error_ulp, error_ulp(FORMATS["float64"], infinite, real))
