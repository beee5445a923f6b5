"""Results that are doubles by themselves: known as they are, where a check by fractions would be slow."""

from __future__ import annotations

import numpy as np
import pytest

from conform.numerics import functions
from conform.numerics.formats import FORMATS
from conform.numerics.functions import complex_parts, powers
from conform.numerics.functions.complex_kernels import quotient_imag, quotient_real
from conform.numerics.functions.ladder import _of_each

FLOAT64 = FORMATS["float64"]
ODD = np.array([0.1, -3.7, 1e-310, 1e300, -0.0, 1 / 3])


@pytest.fixture(autouse=True)
def no_fractions(monkeypatch: pytest.MonkeyPatch) -> None:
    """No element is asked for one by one."""

    def none(function: object, operands: list[np.ndarray], places: np.ndarray) -> object:
        assert not places.size
        return _of_each(function, operands, places)

    monkeypatch.setattr("conform.numerics.functions.ladder._of_each", none)


def test_hypot_beside_zero_and_a_first_power() -> None:
    zero, one = np.zeros_like(ODD), np.ones_like(ODD)
    for operands, name, expected in (((ODD, zero), "hypot", abs(ODD)), ((zero, ODD), "hypot", abs(ODD)),
                                     ((ODD, one), "pow", ODD)):  # fmt: skip
        value, real = functions.apply(name, FLOAT64, *operands)
        assert value.tobytes() == expected.tobytes()
        assert not real.radius.any()


def test_complex_quotients_by_real_and_imaginary_numbers() -> None:
    """x / i = -x i and x / 4 = x / 4, of numbers whose squares are in range."""
    x, zero = np.array([0.1, -3.7, 5.0]), np.zeros(3)
    by_i = complex_parts.apply("div", FLOAT64, x, zero, zero, zero + 1)
    assert by_i.value.tolist() == [[0.0, -0.1], [0.0, 3.7], [0.0, -5.0]]
    by_four = complex_parts.apply("div", FLOAT64, x, x, zero + 4, zero)
    assert by_four.value.tolist() == [[each / 4] * 2 for each in x]


def test_what_is_no_double_keeps_its_error() -> None:
    three, zero, one = (np.array([number]) for number in (3.0, 0.0, 1.0))
    assert powers.hypot((one, zero), (one, zero))[1] > 0
    for kernel in (quotient_real, quotient_imag):
        assert kernel((one, zero), (one, zero), (three, zero), (zero, zero))[1] > 0
    assert powers.pow((three, zero), (one, np.array([2.0**-54])))[1] > 0
