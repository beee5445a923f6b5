"""One element of each row of docs/torch-cpu.md on elementwise ops: what is right, by exact arithmetic alone."""

from __future__ import annotations

from fractions import Fraction
from math import trunc

import numpy as np
import pytest

import conform


@pytest.mark.parametrize(("dividend", "divisor"), [(1.0, 2.0**-149), (-3.4028234663852886e38, 0.30000001192092896)])
def test_a_huge_quotient_has_a_remainder_of_truncation(dividend, divisor):
    quotient = trunc(Fraction(dividend) / Fraction(divisor))
    exact = Fraction(dividend) - quotient * Fraction(divisor)
    value = conform.golden("aten::fmod", np.float32([dividend]), np.float32([divisor])).value
    assert Fraction(float(value[0])) == exact


def test_a_huge_power_of_two_is_infinite_and_not_that_of_its_last_32_bits():
    value = conform.golden("aten::ldexp", np.float16([-1.0]), np.array([2**63 - 1])).value
    assert value.tolist() == [-np.inf]
