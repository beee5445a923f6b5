"""polar of lengths and angles anywhere in the range: each part is rounded once, into the subnormal numbers."""

from __future__ import annotations

import mpmath
import numpy as np

from conform.interp.evaluate import evaluate


def test_a_turned_subnormal_length() -> None:
    """cos 1 = 0.54 and sin 1 = 0.84 of 4 and of 1000 units of 2^-1074."""
    unit = 2.0**-1074
    (golden,) = evaluate("aten::polar", (np.array([4, 1000]) * unit, np.ones(2)), {}).goldens
    assert golden.value.real.tolist() == [2 * unit, 540 * unit]
    assert golden.value.imag.tolist() == [3 * unit, 841 * unit]


def test_parts_of_any_size_are_those_of_mpmath() -> None:
    random = np.random.default_rng(4)
    length, angle = np.ldexp(random.uniform(1, 2, (2, 300)), random.integers(-1074, 1024, (2, 300)))
    length *= random.choice([-1.0, 1.0], 300)
    (golden,) = evaluate("aten::polar", (length, angle), {}).goldens
    with mpmath.workprec(2500):
        for x, turn, value in zip(length.tolist(), angle.tolist(), golden.value.tolist(), strict=True):
            assert value.real == float(x * mpmath.cos(mpmath.mpf(turn)))
            assert value.imag == float(x * mpmath.sin(mpmath.mpf(turn)))
