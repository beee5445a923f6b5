"""Y0 and Y1: literal operands and results, and the error that the kernels claim."""

from __future__ import annotations

from math import inf, nan, pi

import mpmath
import numpy as np
import pytest

from conform.numerics.functions import neumann
from tests.interp.ops.literal import check, f32, f64, goldens, i32


def test_at_the_ends() -> None:
    ends, gives = [0.0, -0.0, -1.0, -inf, nan, inf], [-inf, -inf, nan, nan, nan, 0.0]
    check("aten::special_bessel_y0", f32(ends), gives=f32(gives))
    check("aten::special_bessel_y1", f64(ends), gives=f64(gives))
    check("aten::special_bessel_y0", i32([0, -1]), gives=f32([-inf, nan]))


def test_values_of_tables() -> None:
    """Abramowitz and Stegun, table 9.1: Y0(1) = 0.0882569642, Y1(1) = -0.7812128213."""
    (zeroth,), (first,) = (goldens(f"aten::special_bessel_y{order}", f64([1.0, 10.0])) for order in (0, 1))
    assert np.round(zeroth.value, 10).tolist() == [0.0882569642, 0.0556711673]
    assert np.round(first.value, 10).tolist() == [-0.7812128213, 0.2490154242]


def test_y1_of_tiny_numbers_is_a_pole() -> None:
    (golden,) = goldens("aten::special_bessel_y1", f64([2.0**-1000, 5e-324]))
    assert np.allclose(golden.value[0], -(2.0**1000) * 2 / pi, rtol=1e-15)
    assert golden.value[1] == -inf


@pytest.mark.parametrize("order", [0, 1])
def test_double_double_lies_within_what_it_claims(order: int) -> None:
    """Beside the first zeros, where the kernels meet at 2, and far away."""
    zeros = [0.8935769662791675, 3.957678419314858, 2.197141326031017, 5.429681040794135]
    x = np.array([*zeros, 1e-30, 1.9999999, 2.0, 63.99, 64.01, 1e5, 1e22])
    with np.errstate(all="ignore"), mpmath.workprec(400):
        (hi, lo), error = neumann._double_double(order, (x, 0 * x))
        for i in range(x.size):
            true = mpmath.bessely(order, mpmath.mpf(x[i]))
            assert abs(mpmath.mpf(hi[i]) + mpmath.mpf(lo[i]) - true) <= error[i] * abs(true)
