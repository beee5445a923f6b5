"""The last rung: formulas at rising precision until the rounding is decided, or Unjudged."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from conform.errors import Unjudged
from conform.numerics import escalate
from conform.numerics import multiprecision as mp
from conform.numerics.escalate import as_fraction, decided, resolved, root
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real

F32, F64 = FORMATS["float32"], FORMATS["float64"]


def test_only_the_wanted_elements_are_decided_with_the_number_behind_them() -> None:
    wanted = np.array([False, True, True])
    value, numbers = decided(F32, lambda: mp.exp(mp.of_float(np.array([0.0, 1.0, -1.0]))), wanted)
    assert value.dtype == np.float32
    assert value.tolist() == [2.7182817459106445, 0.3678794503211975]  # e and 1/e, rounded to 24 bits
    assert [number.hi for number in numbers] == [2.718281828459045, 0.36787944117144233]
    with mpmath.workprec(200):
        for number, x in zip(numbers, (1, -1), strict=True):
            error = abs(mpmath.mpf(number.hi) + mpmath.mpf(number.lo) - mpmath.exp(x))
            assert 0 < error <= number.radius < 2.0**-105


def test_a_number_near_a_midpoint_is_decided_at_a_higher_precision() -> None:
    # 1 + 2^-24 + 2^-300 lies above the midpoint of 1 and 1 + 2^-23; at 160 bits it is the midpoint.
    def formula() -> np.ndarray:
        return np.array([1 + mpmath.ldexp(1, -24) + mpmath.ldexp(1, -300)])

    value, _ = decided(F32, formula, np.array([True]))
    assert value.tolist() == [1 + 2.0**-23]


def test_what_cancels_below_a_precision_is_no_zero() -> None:
    """1 - e^-x lies between x - x^2 / 2 and x; at 160 and 320 bits, and at 480 and 960, it is 0."""
    value, _ = decided(F64, lambda: 1 - mp.exp(mp.of_float(np.array([-(2.0**-1000)]))), np.array([True]))
    assert value.tolist() == [2.0**-1000]


def test_an_exact_midpoint_is_never_guessed() -> None:
    square = np.array([(1 + mpmath.mpf(2) ** -24) ** 2])
    with pytest.raises(Unjudged, match=r"a result of float32 lies within 2\^-4320 of a rounding boundary"):
        decided(F32, lambda: mp.sqrt(square), np.array([True]))


def test_numbers_far_beyond_the_format_round_like_any_other() -> None:
    value, numbers = decided(F64, lambda: mp.exp(mp.of_float(np.array([-1e38, 1e38]))), np.array([True, True]))
    assert value.tolist() == [number.hi for number in numbers] == [0.0, np.inf]
    assert [number.radius for number in numbers] == [2.0**-1074, np.inf]
    value, _ = decided(F64, lambda: -mp.exp(mp.of_float(np.array([-1e38, 1e38]))), np.array([True, True]))
    assert value.tolist() == [-0.0, -np.inf]
    assert np.signbit(value[0])


def test_special_values_pass() -> None:
    with np.errstate(invalid="ignore"):  # numpy flags the NaN
        value, numbers = decided(F32, lambda: mp.of_float(np.array([np.nan, np.inf, 0.0])), np.array([True] * 3))
    np.testing.assert_array_equal(value, np.float32([np.nan, np.inf, 0.0]))
    np.testing.assert_array_equal([number.hi for number in numbers], [np.nan, np.inf, 0.0])
    assert [(number.lo, number.radius) for number in numbers] == [(0.0, 0.0)] * 3


def test_the_working_precision_of_the_caller_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(escalate, "PRECISIONS", (70,))

    def formula() -> np.ndarray:
        seen.append(mpmath.mp.prec)
        return mp.exp(mp.of_float(np.array([1.0])))

    with mpmath.workprec(77):
        decided(F32, formula, np.array([True]))
        assert mpmath.mp.prec == 77
    assert seen == [70, 140]


def test_as_fraction_is_exact() -> None:
    assert as_fraction(mpmath.mpf(-0.1)) == Fraction(-0.1)
    assert as_fraction(mpmath.mpf(0)) == 0
    with mpmath.workprec(300):
        assert as_fraction(1 + mpmath.ldexp(1, -250)) == 1 + Fraction(1, 2**250)


def test_a_rational_root_is_exact() -> None:
    assert root(Fraction(9, 4), 2) == Fraction(3, 2)
    assert root(Fraction(27 * 2**300), 3) == 3 * 2**100
    assert root(Fraction(1, 10**40), 5) == Fraction(1, 10**8)
    assert root(Fraction(0), 7) == 0


@pytest.mark.parametrize("degree", [2, 3, 7])
@pytest.mark.parametrize("number", [Fraction(2), Fraction(1, 3), Fraction(10**300 + 1), Fraction(1, 10**300 + 1)])
def test_an_irrational_root_lies_beside_its_stand_in(number: Fraction, degree: int) -> None:
    stand_in = root(number, degree)
    unit = stand_in / 2**127
    assert (stand_in - unit) ** degree < number < (stand_in + unit) ** degree
    assert stand_in**degree != number


def test_a_midpoint_is_decided_where_the_result_is_known_to_be_rational() -> None:
    midpoint = Real(np.array([[1 + 2.0**-24]]), np.zeros((1, 1)), np.array([[1e-30]]))
    value, real = resolved(F32, midpoint, lambda rows: pytest.fail("not asked"), lambda index: 1 + Fraction(1, 2**24))
    assert value.tolist() == [[1.0]]
    assert (real.hi.tolist(), real.radius.tolist()) == ([[1 + 2.0**-24]], [[0.0]])
