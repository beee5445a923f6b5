"""The last rung: formulas at rising precision until the rounding is decided, or Unjudged."""

from __future__ import annotations

from fractions import Fraction

import gmpy2
import mpmath
import numpy as np
import pytest

from conform.errors import Unjudged
from conform.numerics import multiprecision as mp
from conform.numerics.escalate import decided, resolved, root
from conform.numerics.formats import FORMATS, Format
from conform.numerics.real import Real
from conform.numerics.rounding import round_fraction

F32, F64 = FORMATS["float32"], FORMATS["float64"]
ROW, ONE = np.array([0]), np.array([[True]])


def test_only_the_wanted_elements_are_decided_with_the_number_behind_them() -> None:
    wanted = np.array([[False, True, True]])
    value, numbers = decided(F32, lambda _: mp.exp(mp.of_float(np.array([[0.0, 1.0, -1.0]]))), ROW, wanted)
    assert value.dtype == np.float32
    assert value.tolist() == [2.7182817459106445, 0.3678794503211975]  # e and 1/e, rounded to 24 bits
    assert [number.hi for number in numbers] == [2.718281828459045, 0.36787944117144233]
    with mpmath.workprec(200):
        for number, x in zip(numbers, (1, -1), strict=True):
            error = abs(mpmath.mpf(number.hi) + mpmath.mpf(number.lo) - mpmath.exp(x))
            assert 0 < error <= number.radius < 2.0**-105


def test_formulas_are_asked_again_for_the_rows_alone_that_are_left() -> None:
    asked = []

    def formula(rows: np.ndarray) -> np.ndarray:
        """e^-1, and 1 + 2^-24 - 2^-300, which is a midpoint of float32 up to 300 bits."""
        asked.append((rows.tolist(), gmpy2.get_context().precision))
        numbers = {5: mp.exp(mp.of_float(-1.0)), 7: 1 + mp.power_of_two(-24) - mp.power_of_two(-300)}
        return np.array([[numbers[row]] for row in rows.tolist()])

    value, _ = decided(F32, formula, np.array([5, 7]), np.full((2, 1), True))
    assert value.tolist() == [0.3678794503211975, 1.0]
    assert asked == [([5, 7], 135), ([5, 7], 270), ([7], 540), ([7], 1080)]


def test_a_number_near_a_midpoint_is_decided_at_a_higher_precision() -> None:
    # 1 + 2^-24 + 2^-300 lies above the midpoint of 1 and 1 + 2^-23; at 270 bits it is the midpoint.
    def formula(_: np.ndarray) -> np.ndarray:
        return np.array([[1 + mp.power_of_two(-24) + mp.power_of_two(-300)]])

    value, _ = decided(F32, formula, ROW, ONE)
    assert value.tolist() == [1 + 2.0**-23]


def test_what_cancels_below_a_precision_is_no_zero() -> None:
    """1 - e^-x lies between x - x^2 / 2 and x; at 135 and 270 bits, and at 270 and 540, it is 0."""
    value, _ = decided(F64, lambda _: 1 - mp.exp(mp.of_float(np.array([[-(2.0**-1000)]]))), ROW, ONE)
    assert value.tolist() == [2.0**-1000]


def test_an_exact_midpoint_is_never_guessed() -> None:
    square = mp.of_float(np.array([[(1 + 2.0**-24) ** 2]]))
    with pytest.raises(Unjudged, match=r"a result of float32 lies within 2\^-4320 of a rounding boundary"):
        decided(F32, lambda _: mp.sqrt(square), ROW, ONE)


def test_an_int_is_a_zero_at_once() -> None:
    asked = []

    def formula(rows: np.ndarray) -> np.ndarray:
        asked.append(gmpy2.get_context().precision)
        return np.array([[mp.total_or_zero(mp.of_float(np.array([1.0, -2.0])))]], dtype=object)

    value, numbers = decided(F64, formula, ROW, ONE)
    assert (value.tolist(), numbers) == ([0.0], [(0.0, 0.0, 0.0, None)])
    assert asked == [135, 270]


def test_a_zero_that_cancels_is_0_at_the_highest_precision() -> None:
    value, numbers = decided(F64, lambda _: mp.of_float(np.array([[0.0, -0.0]])), ROW, np.full((1, 2), True))
    assert [str(zero) for zero in value.tolist()] == ["0.0", "0.0"]
    assert [str(number.hi) for number in numbers] == ["0.0", "0.0"]


def test_numbers_far_beyond_the_format_round_like_any_other() -> None:
    both = np.full((1, 2), True)
    value, numbers = decided(F64, lambda _: mp.exp(mp.of_float(np.array([[-1e38, 1e38]]))), ROW, both)
    assert value.tolist() == [number.hi for number in numbers] == [0.0, np.inf]
    assert [number.radius for number in numbers] == [2.0**-1074, np.inf]
    value, _ = decided(F64, lambda _: -mp.exp(mp.of_float(np.array([[-1e38, 1e38]]))), ROW, both)
    assert value.tolist() == [-0.0, -np.inf]
    assert np.signbit(value[0])


def test_special_values_pass() -> None:
    with np.errstate(invalid="ignore"):  # numpy flags the NaN
        special = mp.of_float(np.array([[np.nan, np.inf, 0.0]]))
        value, numbers = decided(F32, lambda _: special, ROW, np.full((1, 3), True))
    np.testing.assert_array_equal(value, np.float32([np.nan, np.inf, 0.0]))
    np.testing.assert_array_equal([number.hi for number in numbers], [np.nan, np.inf, 0.0])
    assert [(number.lo, number.radius) for number in numbers] == [(0.0, 0.0)] * 3


def test_the_working_precision_of_the_caller_is_left_alone() -> None:
    with gmpy2.context(precision=77):
        decided(F32, lambda _: mp.exp(mp.of_float(np.array([[1.0]]))), ROW, ONE)
        assert gmpy2.get_context().precision == 77


@pytest.mark.parametrize("fmt", [F32, F64], ids=lambda fmt: fmt.name)
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize(
    "midpoint", [1 + Fraction(1, 2**24), 1 + Fraction(1, 2**53), 3 * Fraction(1, 2**150), 3 * Fraction(1, 2**1075),
                 Fraction(1, 2**150), Fraction(1, 2**1075), 2**128 - Fraction(2**103), 2**1024 - Fraction(2**970)],
    ids=["ulp of float32", "ulp of float64", "subnormal of float32", "subnormal of float64", "least of float32",
         "least of float64", "largest of float32", "largest of float64"],
)  # fmt: skip
def test_numbers_beside_midpoints_round_as_their_fractions_do(fmt: Format, side: int, midpoint: Fraction) -> None:
    number = side * midpoint * (1 - side * Fraction(1, 2**100))
    value, (parts,) = decided(fmt, lambda _: np.array([[mp.of_fraction(number)]]), ROW, ONE)
    assert value.tolist() == [round_fraction(fmt, number).item()]
    error = abs(Fraction(parts.hi) + Fraction(parts.lo) - number)
    assert error <= Fraction(parts.radius)
    assert Fraction(parts.radius) <= abs(number) / 2**100 + Fraction(1, 2**1074)


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
