"""Where kernels give up, which sign they take and what they know exactly, at numbers on either side."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from conform.numerics.formats import FORMATS
from conform.numerics.functions import complex_kernels, complex_parts, complex_table, dd, exact, range_ends
from conform.numerics.real import Real

FLOAT32 = FORMATS["float32"]


def test_odd_powers_of_negative_numbers_are_negative() -> None:
    x, y = np.full(6, -1.5e-100), np.array([1.0, 2.0, 3.0, 4.0, 5.0, -7.0])
    assert np.sign(range_ends.pow(x, y).hi).tolist() == [-1, 1, -1, 1, -1, -1]
    assert np.sign(range_ends.pow(-x, y).hi).tolist() == [1] * 6


def test_where_a_pole_is() -> None:
    at = complex_table._at(1j)
    assert at(np.array([0.0, 0.0, -0.0, 2.0, 0.0]), np.array([1.0, -1.0, 1.0, 1.0, 2.0])).tolist() == [
        True, True, True, False, False
    ]  # fmt: skip
    beyond = complex_table._at(-1 + 0j)
    assert beyond(np.array([-1.0, 1.0]), np.array([0.0, 0.0])).tolist() == [True, False]


@pytest.mark.parametrize(
    ("x", "root"), [(4.0, Fraction(1, 2)), (0.25, Fraction(2)), (2.0, None), (3.0, None), (9.0, None)]
)
def test_reciprocal_roots_that_are_rational(x: float, root: Fraction | None) -> None:
    assert exact.rsqrt(x) == root


def test_a_complex_number_overflows_from_halfway_to_the_next_number_on() -> None:
    """Of float32: 2^128 - 2^103."""
    threshold = 2.0**128 - 2.0**103
    sizes = np.array([[threshold, 0.0], [np.nextafter(threshold, 0.0), 0.0], [0.0, -threshold], [1.0, 1.0]])
    assert complex_parts._overflows(FLOAT32, Real.exact(sizes)).tolist() == [True, False, True, False]


@pytest.mark.parametrize("kernel", [complex_kernels.sigmoid_real, complex_kernels.sigmoid_imag])
def test_a_complex_sigmoid_is_left_to_others_far_from_0(kernel: object) -> None:
    x, y = dd.of(np.array([1.0, -20.0, 599.0, 601.0, -800.0])), dd.of(np.ones(5))
    with np.errstate(all="ignore"):
        _, error = kernel(x, y)
    assert (error[:3] < 2.0**-90).all()
    assert np.isinf(error[3:]).all()
