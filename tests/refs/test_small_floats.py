"""The references' 8-bit floats by the numbers that their definitions print, and rounding by literal numbers."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nan

import pytest

from conform.refs.exact.small_floats import SMALL_FLOATS, round_small
from conform.refs.exact.tensor import UNSPECIFIED
from tests.refs.helpers import same_number

E4M3, E5M2, E4M3FNUZ, E5M2FNUZ, E8M0 = SMALL_FLOATS


@pytest.mark.parametrize(
    ("dtype", "smallest", "smallest_normal", "largest", "count"),
    [  # OCP OFP8 1.0, table 1; Noune et al. for fnuz, whose bias is 8 and 16; OCP MX 1.0 for E8M0
        (E4M3, 2.0**-9, 2.0**-6, 448, 127),
        (E5M2, 2.0**-16, 2.0**-14, 57344, 124),
        (E4M3FNUZ, 2.0**-10, 2.0**-7, 240, 128),
        (E5M2FNUZ, 2.0**-17, 2.0**-15, 57344, 128),
    ],
)
def test_the_ends_of_the_formats(
    dtype: str, smallest: float, smallest_normal: float, largest: int, count: int
) -> None:
    numbers = SMALL_FLOATS[dtype]
    per_binade = {E4M3: 8, E5M2: 4, E4M3FNUZ: 8, E5M2FNUZ: 4}[dtype]
    assert (numbers[0], numbers[1], numbers[per_binade], numbers[-1]) == (0, smallest, smallest_normal, largest)
    assert len(numbers) == count
    assert numbers == sorted(numbers)


def test_the_numbers_of_e8m0_are_powers_of_two() -> None:
    assert SMALL_FLOATS[E8M0] == [Fraction(2) ** exponent for exponent in range(-127, 128)]


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        (E4M3, 1.0625, 1.0),  # a tie, to even
        (E4M3, 1.1875, 1.25),
        (E4M3, 1.0625 + 2.0**-52, 1.125),
        (E4M3, -(2.0**-10), -0.0),
        (E4M3, 464, 448.0),
        (E5M2, 2.0**-17, 0.0),
        (E5M2, -3 * 2.0**-17, -(2.0**-15)),
        (E4M3FNUZ, -(2.0**-11), 0.0),  # there is no -0
        (E5M2FNUZ, 9, 8.0),
        (E5M2, nan, nan),
        (E8M0, 3.0, 4.0),
        (E8M0, 2.9, 2.0),
        (E8M0, 5e-324, 2.0**-127),
        (E8M0, 2**127 + 2**126, nan),
        (E8M0, 0.0, UNSPECIFIED),
        (E8M0, -1.0, UNSPECIFIED),
    ],
)
def test_rounding(dtype: str, value: float, expected: float) -> None:
    same_number(round_small(dtype, value, saturating=False), expected)


@pytest.mark.parametrize(
    ("dtype", "value", "saturating", "overflowing"),
    [
        (E4M3, 464.5, 448.0, nan),
        (E4M3, -inf, -448.0, nan),
        (E5M2, -61440.0, -57344.0, -inf),
        (E5M2, 61439.0, 57344.0, 57344.0),
        (E4M3FNUZ, 248, 240.0, nan),
        (E5M2FNUZ, inf, 57344.0, nan),
    ],
)
def test_beyond_the_largest_number(dtype: str, value: float, saturating: float, overflowing: float) -> None:
    same_number(round_small(dtype, value, saturating=True), saturating)
    same_number(round_small(dtype, value, saturating=False), overflowing)
