"""The worst element, the largest error and the counts of an output, against literals: ties, open elements, NaN, wrong
classes, vacuous and flushed ones. Inputs come with their mirror images."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from conform.contracts.arithmetic import IEEE, Arithmetic
from conform.contracts.comparison import Comparison
from conform.contracts.tables import Row
from conform.interp.blocks import blocks
from conform.interp.golden import Golden, Ties
from conform.judging.judgement import Judgement, Result
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real
from conform.numerics.rounding import round_to

F32 = FORMATS["float32"]
ULP_OF_1 = 2.0**-23
INF, NAN = np.inf, np.nan
BLOCKS = [2, 1 << 16]
FLUSHING = Arithmetic(flushes_subnormals=True)


def ulps(bound: float) -> Row:
    return Row("ulp", bound, None, "test")


DERIVED = Row("derived", None, "running error", "test")


def float32(real: list[float], **rest: Any) -> Golden:
    numbers = np.array(real, np.float64)
    return Golden(F32, round_to(F32, numbers), Real.exact(numbers), **rest)


def judgement(golden: Golden, actual: list, row: Row, arithmetic: Arithmetic = IEEE) -> Judgement:
    array = np.array(actual, golden.format.storage)
    return Result(0, "aten::exp", Comparison(golden, array, {}, arithmetic), row, independent=False).judgement


def ones(errors_ulp: list[float]) -> list[float]:
    """Results so many ulps away from 1, upward."""
    return [1 + error * ULP_OF_1 for error in errors_ulp]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize(
    ("errors_ulp", "bound", "worst", "error_ulp", "failed"),
    [
        ([0, 0, 0, 0], 3, 0, 0, 0),
        ([0, 1, 2, 1], 3, 2, 2, 0),
        ([0, 2, 2, 2], 3, 1, 2, 0),  # of equals the first, in one block and in several
        ([2, 0, 0, 2], 3, 0, 2, 0),
        ([0, 0, 3, 0], 3, 2, 3, 0),  # at the bound
        ([0, 4, 3, 4], 3, 1, 4, 2),
        ([3, 3, 3, 4], 3, 3, 4, 1),
        ([9, 0, 5, 0], 3, 0, 9, 2),
    ],
)
def test_the_first_of_those_furthest_into_their_bound(
    errors_ulp: list[float],
    bound: float,
    worst: int,
    error_ulp: float,
    failed: int,
    block: int,
    sign: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "BLOCK", block)
    told = judgement(float32([sign * 1.0] * 4), [sign * one for one in ones(errors_ulp)], ulps(bound))
    assert (told.furthest.number, told.furthest.error_ulp, told.furthest.bound_ulp) == (worst, error_ulp, bound)
    assert (told.largest_error.number, told.largest_error.figure) == (worst, error_ulp)
    assert (told.size, told.compared, told.failed, told.open, told.vacuous) == (4, 4, failed, 0, 0)


@pytest.mark.parametrize("block", BLOCKS)
def test_the_furthest_into_its_bound_is_not_always_the_largest_error(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK", block)
    budget = np.array([8.0, 1.0, 8.0]) * ULP_OF_1
    told = judgement(float32([1.0] * 3, budget=budget), ones([4, 1, 2]), DERIVED)
    assert (told.furthest.number, told.furthest.error_ulp, told.furthest.bound_ulp) == (1, 1, 1)
    assert (told.largest_error.number, told.largest_error.error_ulp, told.largest_error.bound_ulp) == (0, 4, 8)
    assert told.failed == 0


def test_beyond_a_bound_of_nothing_is_further_than_beyond_any_other() -> None:
    budget = np.array([1.0, 0.0, 0.0]) * ULP_OF_1
    told = judgement(float32([1.0] * 3, budget=budget), ones([900, 0, 1]), DERIVED)
    assert (told.furthest.number, told.furthest.figure, told.largest_error.number) == (2, INF, 0)
    assert told.failed == 2


def test_a_wrong_neighbour_of_a_tie_is_worse_than_a_right_one() -> None:
    """Half an ulp away both; correct rounding takes the even one."""
    ties = float32([1 + ULP_OF_1 / 2, 1 + ULP_OF_1 / 2])
    told = judgement(ties, [1.0, 1 + ULP_OF_1], ulps(0.5))
    assert (told.furthest.number, told.furthest.error_ulp, told.failed) == (1, 0.5, 1)
    assert told.largest_error.number == 0
    assert judgement(ties, [1.0, 1.0], ulps(0.5)).furthest.number == 0
    quarter = float32([1 + ULP_OF_1 / 2, 1 + ULP_OF_1 / 4])
    told = judgement(quarter, [1 + ULP_OF_1, 1 + ULP_OF_1], ulps(0.5))  # wrong by 0.5 and by 0.75 ulp
    assert (told.furthest.number, told.furthest.error_ulp, told.failed) == (1, 0.75, 2)


@pytest.mark.parametrize("block", [1, 1 << 16])
@pytest.mark.parametrize(
    ("expected", "actual", "worst", "wrong_class"),
    [
        ([NAN, 1.0], [NAN, 1.0], 0, False),  # both spend nothing
        ([NAN, 1.0], [NAN, 1 + ULP_OF_1], 1, False),
        ([1.0, NAN], [1 + 900 * ULP_OF_1, 1.0], 1, True),
        ([1.0, 1.0], [1 + 900 * ULP_OF_1, NAN], 1, True),
        ([1.0, -INF], [3e38, INF], 1, True),
        ([1.0, INF], [1 + ULP_OF_1, INF], 0, False),
        ([0.0, 1.0], [-0.0, 900.0], 0, True),
        ([-0.0, 1.0], [0.0, 900.0], 0, True),
        ([INF, NAN], [-INF, 0.0], 0, True),  # the first of wrong classes
    ],
)
def test_a_wrong_class_is_further_than_any_error_and_a_right_one_no_error(
    expected: list, actual: list, worst: int, wrong_class: bool, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK", block)
    told = judgement(float32(expected), actual, ulps(3.0))
    assert (told.furthest.number, told.furthest.wrong_class) == (worst, wrong_class)


def test_where_no_ulp_is_defined_no_error_is_the_largest() -> None:
    assert judgement(float32([NAN, 1.0]), [NAN, 1.0], ulps(3.0)).largest_error.number == 1
    nothing = judgement(float32([NAN, INF]), [NAN, INF], ulps(3.0))
    assert (nothing.largest_error.number, nothing.largest_error.figure) == (0, -1.0)
    none = judgement(float32([]), [], ulps(3.0))
    assert (none.size, none.furthest, none.largest_error) == (0, None, None)


def test_what_is_open_or_vacuous_is_counted_and_never_the_worst() -> None:
    open_ = float32([1.0] * 3).opened(np.array([True, False, False]), "P25")
    told = judgement(open_, ones([900, 0, 1]), ulps(3.0))
    assert (told.furthest.number, told.largest_error.number, told.largest_error.compared) == (2, 0, False)
    assert (told.size, told.compared, told.open, told.vacuous, told.failed) == (3, 2, 1, 0, 0)
    vacuous = float32([1.0] * 3, budget=np.array([INF, ULP_OF_1, ULP_OF_1]))
    told = judgement(vacuous, ones([900, 0, 1]), DERIVED)
    assert (told.furthest.number, told.furthest.bound_ulp, told.largest_error.bound_ulp) == (2, 1.0, INF)
    assert (told.size, told.compared, told.open, told.vacuous, told.failed) == (3, 2, 0, 1, 0)
    all_open = judgement(replace(open_, open=np.ones(3, bool)), ones([1, 2, 3]), ulps(3.0))
    assert (all_open.furthest.number, all_open.furthest.figure, all_open.compared) == (0, -1.0, 0)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_flushed_result_is_right_and_not_worse_than_a_wrong_one(sign: int) -> None:
    """2^-127 as zero is 2^22 ulps off."""
    golden = float32([sign * 2.0**-127, 1.0])
    flushed = [sign * 0.0, 1 + 4 * ULP_OF_1]
    told = judgement(golden, flushed, ulps(3.0), FLUSHING)
    assert (told.furthest.number, told.furthest.error_ulp, told.failed) == (1, 4.0, 1)
    assert (told.largest_error.number, told.largest_error.error_ulp) == (0, 2.0**22)
    right = judgement(golden, [sign * 0.0, 1.0], ulps(3.0), FLUSHING)
    assert (right.furthest.number, right.furthest.figure, right.failed) == (0, 1.0, 0)
    assert judgement(golden, flushed, ulps(3.0)).furthest.number == 0


@pytest.mark.parametrize("block", [1, 2, 1 << 16])
def test_of_indices_the_first_wrong_one_whatever_the_order_of_their_blocks(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Columns of [3, 2]: indices along dim 0, judged row by row of the transpose."""
    monkeypatch.setattr(blocks, "BLOCK", block)
    ranks = np.array([[0, 0], [1, 1], [2, 2]])
    expected = np.array([[0, 0], [1, 1], [2, 2]])
    golden = Golden(FORMATS["int64"], expected, ties=Ties(0, ranks))
    actual = [[0, 2], [2, 1], [1, 0]]
    told = judgement(golden, actual, Row("exact", None, None, "test"))
    assert (told.furthest.number, told.failed, told.compared) == (1, 4, 6)


@pytest.mark.parametrize("block", BLOCKS)
def test_of_complex_numbers_every_part_is_an_element(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", block)
    parts = np.ones((3, 2))
    golden = Golden(FORMATS["complex64"], np.full(3, 1 + 1j, np.complex64), Real.exact(parts))
    told = judgement(golden, [1 + 1j, complex(1, 1 + 2 * ULP_OF_1), complex(1 + 2 * ULP_OF_1, 1)], ulps(3.0))
    assert (told.size, told.compared, told.furthest.number, told.furthest.error_ulp) == (6, 6, 3, 2.0)
