"""Complex numbers judged in norm: the difference's magnitude, in ulps of the result's."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest

from conform.contracts.judge import judge
from conform.contracts.tables import Row
from conform.interp.golden import Golden
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real

C64 = FORMATS["complex64"]
U = 2.0**-23  # the ulp of numbers in [1, 2)
ULPS_5 = Row("ulp", 5.0, None, "a test")
DERIVED = Row("derived", None, None, "a test")


def golden(number: complex, budget: tuple[float, float] = (0.0, 0.0)) -> Golden:
    value = np.array([number], np.complex64)
    parts = np.array([[value[0].real, value[0].imag]], np.float64)
    return Golden(C64, value, Real.exact(parts), budget=np.array([budget]), zero_sign_free=True, normwise=True)


def test_a_small_part_may_be_off_by_ulps_of_the_large_one() -> None:
    expected = golden(1 + 1e-6j)
    actual = np.array([1 + (1e-6 + 4 * U) * 1j], np.complex64)
    elements = judge(expected, actual, ULPS_5)
    assert elements.ok.tolist() == [[True, True]]
    assert 3.9 < elements.error_ulp[0, 0] == elements.error_ulp[0, 1] < 4.1
    assert not judge(replace(expected, normwise=False), actual, ULPS_5).ok.all()


def test_the_error_is_the_magnitude_of_both_parts_errors() -> None:
    for steps, ok in ((3, True), (4, False)):  # hypot(3, 4) is 5, hypot(4, 4) is more
        actual = np.array([complex(1 + steps * U, 4 * U)], np.complex64)
        elements = judge(golden(1 + 0j), actual, ULPS_5)
        assert elements.ok.tolist() == [[ok, ok]]
    assert elements.error_ulp.tolist() == [[32**0.5, 32**0.5]]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_a_part_that_should_be_0_may_be_off_by_ulps_of_the_other(dtype: str) -> None:
    """In ulps of 0, or of a subnormal number, that is more than float64 has."""
    fmt = FORMATS[dtype]
    ulp_of_1 = 2.0**-fmt.component.mantissa_bits
    for small in (0.0, 2.0**-1074 if dtype == "complex128" else 2.0**-149):
        parts = np.array([[-1.0, small]])
        expected = Golden(fmt, (parts @ [1, 1j]).astype(fmt.storage), Real.exact(parts), normwise=True)
        for steps, ok in ((4, True), (6, False)):
            actual = np.array([complex(-1.0, steps * ulp_of_1)], fmt.storage)
            elements = judge(expected, actual, ULPS_5)
            assert elements.error_ulp.tolist() == [[steps, steps]]
            assert elements.ok.all() == ok
        assert not judge(expected, np.array([complex(-1.0, nan)], fmt.storage), ULPS_5).ok.all()
        assert not judge(expected, np.array([complex(-1.0, inf)], fmt.storage), ULPS_5).ok.all()


def test_the_budgets_of_both_parts_make_one_bound() -> None:
    expected = golden(1 + 0j, budget=(3 * U, 4 * U))
    inside, outside = (np.array([complex(1, steps * U)], np.complex64) for steps in (5, 6))
    assert judge(expected, inside, DERIVED).bound_ulp.tolist() == [[5.0, 5.0]]
    assert judge(expected, inside, DERIVED).ok.all()
    assert judge(expected, outside, DERIVED).ok.tolist() == [[True, False]]  # the real part is as right as can be
    part_by_part = judge(replace(expected, normwise=False), inside, DERIVED)
    assert part_by_part.ok.tolist() == [[True, False]]


def test_half_an_ulp_means_both_parts_correctly_rounded() -> None:
    row = Row("ulp", 0.5, None, "a test")
    assert judge(golden(1 + 1e-6j), np.array([1 + 1e-6j], np.complex64), row).ok.all()
    assert judge(golden(1 + 1e-6j), np.array([1 + 1.000001e-6j], np.complex64), row).ok.tolist() == [[True, False]]


def test_nan_and_infinity_are_never_near() -> None:
    for wrong in (complex(nan, 0), complex(1, nan), complex(inf, 0), complex(1, -inf)):
        assert not judge(golden(1 + 0j), np.array([wrong], np.complex64), ULPS_5).ok.all()


def test_without_a_bound_of_one_part_nothing_is_compared() -> None:
    elements = judge(golden(1 + 0j, budget=(inf, U)), np.array([2 + 0j], np.complex64), DERIVED)
    assert elements.vacuous.tolist() == [[True, True]]
    assert not elements.compared.any()
