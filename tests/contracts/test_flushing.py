"""Subnormals of a backend that declares that it flushes them."""

from __future__ import annotations

import numpy as np
import pytest

from conform.contracts.arithmetic import Arithmetic
from conform.contracts.flushing import flushed
from conform.contracts.judge import judge
from conform.contracts.tables import Row
from conform.interp.golden import Golden
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real
from conform.numerics.rounding import round_to

FLUSHING = Arithmetic(flushes_subnormals=True)
CORRECTLY_ROUNDED = Row("ulp", 0.5, None, "test")
THREE_ULP = Row("ulp", 3.0, None, "test")
EXACT = Row("exact", None, None, "test")
NORMAL = 2.0**-126  # the smallest normal number of float32
STEP = 2.0**-149


def accepted(reals: list[float], actual: list[float], row: Row, dtype: str = "float32", exact: bool = False) -> list:
    fmt, numbers = FORMATS[dtype], np.array(reals)
    golden = Golden(fmt, round_to(fmt, numbers), None if exact else Real.exact(numbers))
    return judge(golden, np.array(actual).astype(fmt.storage), row, arithmetic=FLUSHING).ok.tolist()


def test_a_subnormal_result_may_be_the_zero_of_its_sign() -> None:
    assert accepted([NORMAL / 2, -NORMAL / 2, STEP], [0.0, -0.0, 0.0], CORRECTLY_ROUNDED) == [True] * 3
    assert accepted([NORMAL / 2, -NORMAL / 2], [-0.0, 0.0], CORRECTLY_ROUNDED) == [False] * 2
    assert accepted([NORMAL, -1.0], [0.0, -0.0], CORRECTLY_ROUNDED) == [False] * 2


def test_so_may_a_result_whose_bound_reaches_below_the_normal_numbers() -> None:
    assert accepted([NORMAL + 2 * STEP, NORMAL + 4 * STEP], [0.0, 0.0], THREE_ULP) == [True, False]


def test_all_of_them_or_none() -> None:
    assert accepted([NORMAL / 2, NORMAL / 4], [0.0, NORMAL / 4], CORRECTLY_ROUNDED) == [False, True]
    assert accepted([NORMAL / 2, NORMAL / 4], [NORMAL / 2, NORMAL / 4], CORRECTLY_ROUNDED) == [True, True]


def test_results_that_were_not_rounded_keep_subnormals() -> None:
    assert accepted([NORMAL / 2], [0.0], EXACT, exact=True) == [False]


@pytest.mark.parametrize(("dtype", "kept"), [("float8_e5m2", True), ("float16", False), ("bfloat16", False)])
def test_formats_of_eight_bits_keep_subnormals(dtype: str, kept: bool) -> None:
    assert accepted([FORMATS[dtype].min_subnormal], [0.0], CORRECTLY_ROUNDED, dtype) == [not kept]


def test_without_the_declaration_subnormals_are_required() -> None:
    golden = Golden(FORMATS["float32"], np.float32([NORMAL / 2]), Real.exact(np.array([NORMAL / 2])))
    assert judge(golden, np.float32([0.0]), CORRECTLY_ROUNDED).ok.tolist() == [False]


def test_flushed_operands_keep_their_sign_and_all_else() -> None:
    given = np.float32([NORMAL, STEP, -NORMAL / 2, -0.0, np.inf, np.nan, 1.0])
    expected = np.float32([NORMAL, 0.0, -0.0, -0.0, np.inf, np.nan, 1.0])
    got = flushed(given)
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(np.signbit(got[:4]), [False, False, True, True])
