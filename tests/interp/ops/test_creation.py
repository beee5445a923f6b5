"""Ranges."""

from __future__ import annotations

from math import inf, nan

import mpmath
import numpy as np
import pytest

from conform.errors import InvalidArguments
from conform.interp.evaluate import evaluate
from tests.interp.ops.literal import bf16, check, f16, f32, f64, goldens, i8, i64


def test_arange() -> None:
    """torch.arange's examples."""
    check("aten::arange", 5, gives=i64([0, 1, 2, 3, 4]))
    check("aten::arange", 1, 4, gives=i64([1, 2, 3]))
    check("aten::arange", 1, 2.5, 0.5, gives=f32([1.0, 1.5, 2.0]))


@pytest.mark.parametrize(
    ("arguments", "dtype", "expected"),
    [
        ((5, 0, -2), None, i64([5, 3, 1])),
        ((0, 6, 3), None, i64([0, 3])),
        ((3, 3), None, i64([])),
        ((2.5,), None, f32([0.0, 1.0, 2.0])),
        ((3,), "float16", f16([0.0, 1.0, 2.0])),
        ((254, 260, 3), "bfloat16", bf16([254.0, 256.0])),  # 257 is a tie
        ((126, 130), "int8", i8([126, 127, -128, -127])),
        ((-1.0, 1.0, 1.0), "float64", f64([-1.0, 0.0])),
    ],
)
def test_arange_with_start_step_and_dtype(arguments: tuple, dtype: str | None, expected: np.ndarray) -> None:
    check("aten::arange", *arguments, dtype=dtype, gives=expected)


def test_logspace() -> None:
    check("aten::logspace", 0, 3, 4, gives=f32([1.0, 10.0, 100.0, 1000.0]))
    check("aten::logspace", -1, 0.5, 4, 4.0, dtype="float64", gives=f64([0.25, 0.5, 1.0, 2.0]))
    check("aten::logspace", 0, 1, 0, gives=f32([]))
    # 2.25^3.5 = 3^7 / 2^7 = 17.0859375 lies between two numbers of float16, which has 2^-6 there: to even.
    (golden,) = goldens("aten::logspace", 3.5, 3.5, 2, 2.25, dtype="float16")
    assert golden.value.tolist() == [17.09375] * 2


def test_logspace_beside_a_logarithm_of_many_digits() -> None:
    with mpmath.workprec(300):
        exact = [mpmath.mpf(0.7) ** (mpmath.mpf(i) * 13 / 999) for i in range(1000)]
    (golden,) = goldens("aten::logspace", 0, 13, 1000, 0.7, dtype="float64")
    assert golden.value.tolist() == [float(one) for one in exact]


def test_each_element_is_rounded_once() -> None:
    # Ten times the double 0.1 is 1 + 2^-54, which rounds to 1; adding it up ten times gives 1 - 2^-53.
    (golden,) = goldens("aten::arange", 0.0, 1.05, 0.1, dtype="float64")
    assert golden.value[10] == 1.0
    assert golden.value[3] == 0.30000000000000004  # a tie, to even


@pytest.mark.parametrize("arguments", [(0, 5, 0), (0, 5, -1), (5, 0), (0.0, inf), (nan, 1.0), (0.0, 1.0, nan), (2j,)])
def test_arange_refuses(arguments: tuple) -> None:
    with pytest.raises(InvalidArguments):
        goldens("aten::arange", *arguments)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((inf,), r"argument end: found inf, expected end in \[0, inf\)"),
        ((0, nan), r"argument end: found nan, expected end in \[start, inf\)"),
        ((0, 5, inf), "with inf, which is no integer"),
        ((0, 5, 0.5), "from 0 to 5 by 0"),
    ],
)
def test_an_arange_of_integers_refuses_what_is_none(arguments: tuple, why: str) -> None:
    with pytest.raises(InvalidArguments, match=why):
        goldens("aten::arange", *arguments, dtype="int32")


@pytest.mark.parametrize("dtype", ["bool", "complex64"])
def test_arange_refuses_dtypes_that_do_not_count(dtype: str) -> None:
    with pytest.raises(InvalidArguments, match=f"argument dtype: found '{dtype}', expected dtype in {{uint8, "):
        goldens("aten::arange", 1, dtype=dtype)


def window(name: str, *args: object, dtype: str = "float64") -> list[float]:
    return evaluate(f"aten::{name}_window", args, {"dtype": dtype}).goldens[0].value.tolist()


def test_windows_that_taper() -> None:
    assert window("hann", 4) == [0, 0.5, 1, 0.5]
    assert window("hann", 5, False) == [0, 0.5, 1, 0.5, 0]
    assert window("hann", 6) == [0, 0.25, 0.75, 1, 0.75, 0.25]  # cos of a sixth of a turn is 1/2
    assert window("hamming", 4, True, 0.75, 0.25) == [0.5, 0.75, 1, 0.75]
    assert window("hamming", 2, True, 0.75) == [0.75 - 0.46, 0.75 + 0.46]
    assert window("blackman", 4) == [0, 0.34, 1, 0.34]  # of decimal numbers: 0.42 - 0.5 + 0.08 is 0
    assert window("bartlett", 4) == [0, 0.5, 1, 0.5]
    assert window("bartlett", 4, False) == [0, 2 / 3, 2 / 3, 0]


@pytest.mark.parametrize("name", ["hann", "hamming", "blackman", "bartlett"])
def test_short_windows(name: str) -> None:
    assert window(name, 0) == []
    assert window(name, 1) == window(name, 1, False) == [1]


def test_a_window_of_many_numbers_is_that_of_its_formula() -> None:
    i = np.arange(97)
    assert np.abs(window("hann", 97) - np.sin(np.pi * i / 97) ** 2).max() < 1e-15


def test_a_factor_that_is_negative_widens_no_bound_and_narrows_none() -> None:
    golden = evaluate("aten::hamming_window", (50, True, -16.0, 0.54), {"dtype": "float64"}).goldens[0]
    assert (golden.budget >= 2.0**-53 * np.abs(golden.value)).all()


def test_frequencies_of_a_transform() -> None:
    def of(name: str, n: int, d: float) -> list[float]:
        return evaluate(f"aten::fft_{name}", (n, d), {"dtype": "float64"}).goldens[0].value.tolist()

    assert of("fftfreq", 5, 1.0) == [0, 0.2, 0.4, -0.4, -0.2]
    assert of("fftfreq", 4, 0.5) == [0, 0.5, -1, -0.5]
    assert of("rfftfreq", 5, 1.0) == [0, 0.2, 0.4]
    assert of("rfftfreq", 4, 0.5) == [0, 0.5, 1]
