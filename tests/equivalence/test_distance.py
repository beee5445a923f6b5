"""The distance of two tensors: bytes, ulps of the smaller number, and what has no ulp."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from conform.equivalence.distance import Distance, between

BIG = np.finfo(np.float32).max


@pytest.mark.parametrize(
    ("mine", "its", "equal", "worst_ulp", "index"),
    [
        ([1.0, 2.0], [1.0, 2.0], 2, None, None),
        ([1.0, 2.0], [1.0, 2.0 + 2**-22], 1, 1.0, (1,)),
        ([1.0], [1 - 2**-24], 0, 1.0, (0,)),  # neighbours are at 1, below a power of two as well
        ([1.0], [1 - 2**-23], 0, 2.0, (0,)),
        ([0.0], [-0.0], 0, 0.0, (0,)),
        ([0.0], [2.0**-149], 0, 1.0, (0,)),
        ([2.0**-149], [-(2.0**-149)], 0, 2.0, (0,)),
        ([math.inf], [BIG], 0, 1.0, (0,)),
        ([math.inf], [-math.inf], 0, math.inf, (0,)),
        ([math.nan], [1.0], 0, math.inf, (0,)),
        ([3.0, math.nan, 5.0], [3.5, math.nan, 5.0], 2, 2.0**21, (0,)),
    ],
)
def test_of_float32(mine: list, its: list, equal: int, worst_ulp: float | None, index: tuple | None) -> None:
    lhs, rhs = (np.array(one, np.float32) for one in (mine, its))
    expected = Distance(len(mine), equal, worst_ulp, index)
    assert between(lhs, rhs) == between(rhs, lhs) == expected


def test_nans_of_other_bits_are_at_0_and_have_other_bytes() -> None:
    lhs, rhs = (np.array([code], np.uint32).view(np.float32) for code in (0x7FC00000, 0x7FC00001))
    assert between(lhs, rhs) == Distance(1, 0, 0.0, (0,))


@pytest.mark.parametrize(
    ("dtype", "mine", "its", "worst_ulp"),
    [
        (ml_dtypes.bfloat16, [1.0], [1.0 + 2**-7], 1.0),
        (ml_dtypes.float8_e4m3fn, [448.0], [416.0], 1.0),
        (np.float64, [1.0], [1 + 2**-52], 1.0),
        (np.complex64, [1 + 2j], [1 + (2 + 2**-22) * 1j], 1.0),
        (np.complex64, [complex(0.0, math.nan)], [complex(0.0, 1.0)], math.inf),
        (np.int64, [2**62], [2**62 + 1], None),
        (np.bool_, [True], [False], None),
    ],
)
def test_of_other_dtypes(dtype: type, mine: list, its: list, worst_ulp: float | None) -> None:
    lhs, rhs = (np.array(one, dtype) for one in (mine, its))
    assert between(lhs, rhs) == Distance(1, 0, worst_ulp, (0,))


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (2, 3)])
def test_places_of_any_shape(shape: tuple[int, ...]) -> None:
    lhs = np.zeros(shape, np.float32)
    assert between(lhs, lhs.copy()) == Distance(lhs.size, lhs.size)
    if lhs.size:
        rhs = lhs.copy()
        rhs[(1, 2)[: lhs.ndim]] = 2.0**-149
        assert between(lhs, rhs) == Distance(lhs.size, lhs.size - 1, 1.0, (1, 2)[: lhs.ndim])


def test_the_outputs_of_a_call_add_up() -> None:
    whole = Distance().with_output(Distance(3, 3), 0).with_output(Distance(4, 2, 5.0, (1,)), 1)
    assert whole.with_output(Distance(2, 1, 3.0, (0,)), 2) == Distance(9, 6, 5.0, (1,), 1)
    of_integers = Distance().with_output(Distance(4, 2, None, (1,)), 0)
    assert of_integers.with_output(Distance(1, 0, 2.0, ()), 1) == Distance(5, 2, 2.0, (), 1)
