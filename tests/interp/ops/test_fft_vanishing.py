"""Transforms of nearly equal numbers: elements that are 0 are known to be, and the others are those of exact sums."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from conform.interp.evaluate import evaluate
from conform.interp.formulas.fourier import Exactly
from conform.interp.formulas.vanishing import vanishing
from conform.interp.golden import Golden
from conform.numerics.escalate import Irrational
from conform.numerics.real import Real
from conform.numerics.rounding import nearest_of

STEP = 2.0**-52  # between numbers from 1 to 2


def _transform(rows: np.ndarray, normalization: int = 0) -> Golden:
    arguments = (rows, list(range(1, rows.ndim)), normalization, True)
    (golden,) = evaluate("aten::_fft_c2c", arguments, {}).goldens
    return golden


def _is_held(golden: Golden, rows: np.ndarray, square: int) -> None:
    """Values and reals beside exact sums, element by element."""
    exactly = Exactly(rows, rows.shape[1:], -1, square)
    for index in np.ndindex(rows.shape):
        for part, value in enumerate((golden.value[index].real, golden.value[index].imag)):
            exact, place = exactly.at(index, part), (*index, part)
            assert value == nearest_of(golden.format.component, exact), place
            hi, lo, radius = (float(each[place]) for each in (golden.real.hi, golden.real.lo, golden.real.radius))
            spread = abs(exact) / 2**119 if isinstance(exact, Irrational) else 0
            rest = 0.0 if golden.real.rest is None else float(golden.real.rest[place])
            found = Fraction(hi) + Fraction(lo)
            assert abs(found - exact) <= Fraction(radius) + spread, place
            assert radius or isinstance(exact, Irrational) or found == exact, place
            assert abs(rest) < 1


def test_one_number_that_differs_shows_alone() -> None:
    """1, 1, 1 + 4 steps of 2^-52: the step and its cubic roots; and (1, 0, 0, 1) of each frequency but the first."""
    golden = _transform(np.array([[1.0, 1, 1 + 4 * STEP, 1, 1, 1]]) + 0j)
    assert golden.value[0].real.tolist() == [6 + 4 * STEP, -2 * STEP, -2 * STEP, 4 * STEP, -2 * STEP, -2 * STEP]
    assert golden.value[0].imag[[0, 3]].tolist() == [0, 0]
    assert golden.value[0].imag[1] == -golden.value[0].imag[5] == -2 * STEP * float(np.sqrt(3))
    two = _transform(np.array([[1.0, 1, 1 + STEP, 1, 1, 1 + STEP]]) + 0j)
    assert two.value[0].real.tolist() == [6 + 2 * STEP, 0, -STEP, 0, -STEP, 0]
    assert two.real.radius[0, [1, 3, 5]].tolist() == [[0, 0]] * 3


def test_elements_that_are_0_though_their_terms_are_not() -> None:
    """Third roots of unity that cancel: cos(2 pi / 3) + cos(4 pi / 3) + 1 of numbers that change along another dim."""
    rows = np.array([[[1.0, 1, 1], [1 + STEP, 1 + STEP, 1 + STEP], [1 - STEP, 1 - STEP, 1 - STEP]]]) + 0j
    golden = _transform(rows)
    assert golden.value[0, :, 1:].tolist() == [[0, 0]] * 3
    assert not golden.real.radius[0, :, 1:].any()
    assert golden.value[0, 1, 0].imag == -3 * STEP * float(np.sqrt(3))


@pytest.mark.parametrize("sizes", [(7,), (12,), (15,), (4, 6), (3, 2, 5)])
@pytest.mark.parametrize("exponent", [-1074, -1022, -40, 0, 900])
@pytest.mark.parametrize("normalization", [0, 1, 2])
def test_numbers_a_few_steps_apart_are_those_of_exact_sums(
    sizes: tuple[int, ...], exponent: int, normalization: int
) -> None:
    """Near a number anywhere in the range, on both sides of its binade; few of them differ, so that sums vanish."""
    random = np.random.default_rng((*sizes, exponent + 2000, normalization))
    steps = random.integers(-2, 3, (2, 2, *sizes)) * (random.random((2, 2, *sizes)) < 0.3)
    unit = 2.0**exponent
    numbers = unit + steps * max(np.spacing(unit), 2.0**-1074)
    count = int(np.prod(sizes))
    rows = numbers[0] + 1j * numbers[1]
    _is_held(_transform(rows, normalization), rows, {0: 1, 1: count}.get(normalization, count**2))


@pytest.mark.parametrize("seed", range(4))
def test_numbers_over_the_whole_range_are_those_of_exact_sums(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = np.ldexp(random.integers(-3, 4, (3, 2, 6)), random.integers(-1074, 1010, (3, 2, 6)))
    _is_held(_transform(rows + 0j), rows + 0j, 1)


def test_a_number_that_is_small_is_not_taken_for_0() -> None:
    """sqrt 5 - 2 = 0.236 is less than 1, and so is twice that, but its conjugate is -4.236: of the transform of
    5 numbers what the places 1 and 4 have is what their conjugates at 2 and 3 must have too."""
    sums = Real.exact(np.array([[0.0, 0.25, 4.0, 4.0, 0.25]]))
    asked = np.ones((1, 5), bool)
    assert vanishing(sums, np.array([1.0]), asked).tolist() == [[True, False, False, False, False]]
    assert vanishing(sums, np.array([16.0]), asked).all()
    assert not vanishing(sums, np.array([0.0]), asked).any()  # of a unit that is not held nothing is known
    unknown = Real(np.zeros((1, 5)), np.zeros((1, 5)), np.array([[0.0, np.inf, 0.1, 0.1, 0.5]]))
    assert vanishing(unknown, np.array([1.0]), asked).tolist() == [[True, False, False, False, False]]


def test_halves_of_a_spectrum_of_equal_numbers() -> None:
    """What lies in the first place of a transform of halves is their sum; elsewhere the steps show."""
    half = np.array([1.0, 1.0, 1 + STEP, 1.0]) + 1j * np.array([0.0, STEP, 0.0, 0.0])
    (golden,) = evaluate("aten::_fft_c2r", (half, [0], 0, 6), {}).goldens
    whole = np.concatenate([half, np.conj(half[2:0:-1])])
    exactly = Exactly(whole[None], (6,), 1, 1)
    assert golden.value.tolist() == [nearest_of(golden.format, exactly.at((0, j), 0)) for j in range(6)]
