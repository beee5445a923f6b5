"""almost_eq: literal pairs on both sides of the tolerance, and the classes of numbers."""

from __future__ import annotations

import numpy as np
import pytest

from conform.contracts.almost_eq import Tolerance, almost_eq
from conform.contracts.judge import judge
from conform.contracts.tables import Row
from conform.interp.golden import Golden
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real
from conform.numerics.rounding import round_to

INF, NAN = np.inf, np.nan
LOOSE = Tolerance(rtol=0.25, atol=0.5)
ABSOLUTE = Tolerance(rtol=0.0, atol=0.5, same_sign=True)


@pytest.mark.parametrize(
    ("expected", "actual", "near"),
    [
        (2.0, 3.0, True), (2.0, 3.0001, False), (2.0, 1.0, True), (2.0, 0.9999, False),
        (0.0, 0.5, True), (0.0, -0.5, True), (0.0, -0.0, True), (-2.0, -3.0, True),
        (NAN, NAN, True), (NAN, 1.0, False), (1.0, NAN, False),
        (INF, INF, True), (INF, -INF, False), (INF, 1e308, False), (1e308, INF, False),
    ],
)  # fmt: skip
def test_within_atol_and_rtol_of_the_expected_number(expected: float, actual: float, near: bool) -> None:
    assert almost_eq(np.array([expected]), np.array([actual]), LOOSE).tolist() == [near]


@pytest.mark.parametrize(
    ("expected", "actual", "near"), [(0.25, -0.125, False), (0.0, -0.25, False), (0.0, -0.0, True)]
)
def test_numbers_that_differ_may_have_to_agree_in_sign(expected: float, actual: float, near: bool) -> None:
    assert almost_eq(np.array([expected]), np.array([actual]), ABSOLUTE).tolist() == [near]


def complex_golden(value: complex) -> Golden:
    parts = np.array([[value.real, value.imag]])
    return Golden(FORMATS["complex64"], np.array([value], np.complex64), Real.exact(parts))


@pytest.mark.parametrize(("modulus", "accepted"), [(True, [True, True]), (False, [True, False])])
def test_complex_numbers_by_their_modulus_or_part_by_part(modulus: bool, accepted: list[bool]) -> None:
    row = Row("almost_eq", None, None, "test", Tolerance(0.01, 0.0, modulus=modulus))
    elements = judge(complex_golden(100 + 1j), np.array([100 + 1.5j], np.complex64), row)
    assert elements.ok.tolist() == [accepted]


def test_a_rounded_overflow_is_an_infinity_that_no_number_is_near() -> None:
    real = np.array([1e39, 1e39, 3e38])
    golden = Golden(FORMATS["float32"], round_to(FORMATS["float32"], real), Real.exact(real))
    row = Row("almost_eq", None, None, "test", Tolerance(0.5, 1e38))
    assert judge(golden, np.float32([INF, 3.4e38, INF]), row).ok.tolist() == [True, False, False]


def test_exact_results_have_the_tolerance_too() -> None:
    golden = Golden(FORMATS["float32"], np.float32([1.0, 1.0]))  # of data movement: no real number behind it
    row = Row("almost_eq", None, None, "test", Tolerance(0.0, 1e-4))
    assert judge(golden, np.float32([1.00005, 1.001]), row).ok.tolist() == [True, False]


def test_the_bound_told_is_that_of_the_distance_from_the_exact_result() -> None:
    """1 + 2^-11 is halfway between two numbers of float16; the lower one is the expected value."""
    golden = Golden(FORMATS["float16"], np.float16([1.0, 1.0]), Real.exact(np.full(2, 1 + 2.0**-11)))
    row = Row("almost_eq", None, None, "test", Tolerance(0.0, 2.0**-12))
    elements = judge(golden, np.float16([1.0, 1 + 2.0**-10]), row)
    assert elements.ok.tolist() == [True, False]
    assert elements.error_ulp.tolist() == [0.5, 0.5]
    assert elements.bound_ulp.tolist() == [0.75, 0.75]  # 2^-12 is a quarter of an ulp
