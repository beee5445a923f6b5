"""Rules of choices: between numbers, of places, and where an error may turn one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import conform
from conform import ops
from conform.errors import Unjudged, UsageError
from conform.interp.program.number import Number
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real
from conform.numerics.rounding_errors import root_sum_of_squares
from conform.own_ops import op

pytestmark = pytest.mark.usefixtures("own_ops")

F32 = np.float32


def golden(program: Callable, *args: Any) -> conform.Golden:
    return conform.golden(op("test::program", reference=program), *args)


def test_clamps_keep_nan_and_choose_between_numbers() -> None:
    x = F32([np.nan, -np.inf, -2.0, -0.5, 0.0, 0.5, 7.0, np.inf])
    def of(program: Callable) -> list[str]:
        return [str(one) for one in golden(program, x).value.tolist()]

    assert of(lambda x: ops.relu(x * 1.0)) == ["nan", "0.0", "0.0", "0.0", "0.0", "0.5", "7.0", "inf"]
    assert of(lambda x: ops.clamp(x, -1.0, 6.0)) == ["nan", "-1.0", "-1.0", "-0.5", "0.0", "0.5", "6.0", "6.0"]
    assert of(lambda x: ops.hardtanh(x)) == ["nan", "-1.0", "-1.0", "-0.5", "0.0", "0.5", "1.0", "1.0"]
    assert of(lambda x: ops.leaky_relu(x, 0.5))[2:7] == ["-1.0", "-0.25", "0.0", "0.5", "7.0"]
    assert golden(lambda x: ops.clamp(x, max=2), np.array([-3, 5])).value.tolist() == [-3, 2]


def test_a_rectifier_adds_no_error_and_passes_none_on_that_it_cuts_off() -> None:
    (found,) = golden(lambda x: ops.relu(x * 3.0), F32([-1.0, 1.0])).outcome.goldens
    assert found.budget.tolist() == [0.0, golden(lambda x: x * 3.0, F32([1.0])).outcome.goldens[0].budget[0]]


@pytest.mark.parametrize(
    ("name", "holds"),
    [("lt", [1, 0, 0, 0]), ("le", [1, 1, 0, 0]), ("gt", [0, 0, 1, 0]), ("ge", [0, 1, 1, 0]), ("ne", [1, 0, 1, 1]),
     ("eq", [0, 1, 0, 0])],
)  # fmt: skip
def test_comparisons_of_numbers_integers_and_nan(name: str, holds: list[int]) -> None:
    x, y = F32([1, 2, 3, np.nan]), F32([2, 2, 2, 2])
    compare = getattr(ops, name)
    assert golden(lambda x, y: compare(x, y), x, y).value.tolist() == [bool(one) for one in holds]
    assert golden(lambda x: compare(x, 2.0), x).value.tolist() == [bool(one) for one in holds]
    large = np.array([2**62 - 1, 2**62, 2**62 + 1])  # which float64 does not tell apart
    assert golden(lambda x: compare(x, 2**62), large).value.tolist() == [bool(one) for one in holds[:3]]


def test_a_comparison_that_an_error_turns_is_not_decided() -> None:
    x = F32([0.3, 1.0])
    (found,) = golden(lambda x: ops.where(ops.gt(x * (1.0 / 3), x / 3.0), x, -x), x[:1]).outcome.goldens
    assert np.isinf(found.budget).all()
    assert golden(lambda x: ops.where(ops.gt(x * 3.0, 2.0), x, -x), x).value.tolist() == F32([-0.3, 1.0]).tolist()


def test_a_rest_is_known_where_no_error_turns_the_quotient() -> None:
    x = F32([-7.0, 3.5, 6.0, 0.25])
    for name, expected in (("fmod", [-2.0, 1.0, np.inf, 0.5]), ("remainder", [1.0, 1.0, np.inf, 0.5])):
        truth = golden(lambda x, n=name: getattr(ops, n)(x * 2.0, 3.0), x)
        known = np.isfinite(truth.outcome.goldens[0].budget)
        assert known.tolist() == [True, True, False, True]  # 12 / 3 may come out below 4
        assert truth.value[known].tolist() == [one for one in expected if one < np.inf]


def test_a_rest_of_integers_that_hang_on_a_choice_is_not_known() -> None:
    tied = np.ones((1, 2), F32)
    for name in ("fmod", "remainder"):
        with pytest.raises(UsageError, match=f"cannot use aten::{name} on integers of which it does not know"):
            golden(lambda x, n=name: getattr(ops, n)(ops.argmax(x * 1.1, 1), 2), tied)
    assert golden(lambda x: ops.remainder(ops.argmax(x * 2.0, 1), 2), F32([[1, 2, 7]])).value.tolist() == [0]


def test_whether_any_is_true_or_all_are() -> None:
    x = F32([[-1.0, 0.5], [0.3, 0.3], [2.0, 0.3]])
    turned = F32([[-1.0, 0.5], [1 / 3, 1 / 3], [2.0, 1 / 3]])
    assert golden(lambda x: ops.any(ops.gt(x * 3.0, 1.0), 1), x).value.tolist() == [True, False, True]
    assert golden(lambda x: ops.all(ops.gt(x * 3.0, 1.0), 1, True), x).value.tolist() == [[False]] * 3
    assert golden(lambda x: ops.any(ops.gt(x * 3.0, 1.0)), x).value.tolist() is True
    assert golden(lambda x: ops.any(x * 3.0, 1), x).value.tolist() == [True, True, True]
    either = golden(lambda x: ops.any(ops.gt(x * 3.0, 1.0), 1), turned)
    assert [either.verdict(np.array([True, one, True])).status for one in (True, False)] == ["pass", "pass"]
    assert either.verdict(np.array([True, True, False])).status == "fail"
    other = golden(lambda x: ops.logical_xor(ops.gt(x * 3.0, 1.0), ops.gt(x, 1.0)), x)
    assert other.value.tolist() == [[False, True], [False, False], [False, False]]


def test_masks_are_joined() -> None:
    x = F32([-1.0, 0.5, 2.0])
    inside = golden(lambda x: ops.logical_and(ops.gt(x, 0.0), ops.lt(x, 1.0)), x)
    assert inside.value.tolist() == [False, True, False]
    assert golden(lambda x: ops.logical_not(ops.gt(x, 0.0)), x).value.tolist() == [True, False, False]
    either = golden(lambda x: ops.logical_or(ops.gt(x, 1.0), ops.lt(x, 0.0)), x)
    assert either.value.tolist() == [True, False, True]


def test_the_largest_of_each_window() -> None:
    x = -np.arange(1, 17).reshape(1, 1, 4, 4).astype(F32)
    assert golden(lambda x: ops.max_pool2d(x * 1.0, [2, 2]), x).value.tolist() == [[[[-1, -3], [-9, -11]]]]
    padded = golden(lambda x: ops.max_pool2d(x, [3, 3], [2, 2], [1, 1]), x)
    assert padded.value.tolist() == [[[[-1, -2], [-5, -6]]]]  # zeros around it are no elements
    assert golden(lambda x: ops.max_pool2d(x, [2, 2], [1, 1], [0, 0], [3, 3]), x).value.tolist() == [[[[-1]]]]


def test_places_of_the_largest_are_known_where_no_error_turns_them() -> None:
    x = -np.arange(1, 17).reshape(1, 1, 4, 4).astype(F32)
    programs = (
        lambda x: ops.max_pool2d_with_indices(x * 1.1, [2, 2]), lambda x: ops.adaptive_max_pool2d(x * 1.1, [2, 2]),
    )  # fmt: skip
    for program in programs:
        values, places = golden(program, x).value
        assert places.tolist() == [[[[0, 2], [8, 10]]]]
        assert values.tolist() == golden(lambda x: x * 1.1, x[..., ::2, ::2]).value.tolist()
    tied = np.ones((1, 1, 2, 2), F32)
    with pytest.raises(Unjudged, match="which int64 numbers it gives hangs on a choice"):
        golden(lambda x: ops.max_pool2d_with_indices(x * 1.1, [2, 2])[1], tied)
    assert golden(lambda x: ops.max_pool2d_with_indices(x * 1.1, [2, 2])[0], tied).value.tolist() == [[[[F32(1.1)]]]]


def test_the_first_in_order_and_where_they_stand() -> None:
    x = F32([[0.3, -2.0, 5.0, 0.2], [1.0, 1.5, -7.0, 0.0]])
    values, places = golden(lambda x: ops.topk(x * 2.0, 2), x).value
    assert (values.tolist(), places.tolist()) == ([[10.0, F32(0.6)], [3.0, 2.0]], [[2, 0], [1, 0]])
    values, places = golden(lambda x: ops.topk(x * 2.0, 1, 0, False), x).value
    assert places.tolist() == [[0, 0, 1, 1]]
    values, places = golden(lambda x: ops.sort(x * 2.0, 1, True), x).value
    assert values.tolist() == [[10.0, F32(0.6), F32(0.4), -4.0], [3.0, 2.0, 0.0, -14.0]]
    assert places.tolist() == [[2, 0, 3, 1], [1, 0, 3, 2]]
    assert golden(lambda x: ops.sort(x * 2.0, 0), x).value[1].tolist() == [[0, 0, 1, 1], [1, 1, 0, 0]]


def test_the_largest_and_the_smallest_of_rows() -> None:
    x = F32([[0.5, -2.0, 5.0], [1.0, 1.5, -7.0]])
    values, places = golden(lambda x: ops.max(x * 2.0, 1), x).value
    assert (values.tolist(), places.tolist()) == ([10.0, 3.0], [2, 1])
    values, places = golden(lambda x: ops.min(x * 2.0, 0, True), x).value
    assert (values.tolist(), places.tolist()) == ([[1.0, -4.0, -14.0]], [[0, 0, 1]])


@pytest.mark.parametrize("mask", [np.array([[True, False], [False, False]]), F32([[0, -np.inf], [-np.inf, -np.inf]])])
def test_a_row_of_which_attention_keeps_nothing_is_open(mask: np.ndarray) -> None:
    """torch has a zero there, others NaN."""
    x = F32([[1.0, 2.0], [3.0, 4.0]])
    (found,) = golden(lambda x: ops.scaled_dot_product_attention(x * 2.0, x, x, mask), x).outcome.goldens
    assert np.isinf(found.budget).tolist() == [[False, False], [True, True]]
    assert found.value[0].tolist() == [1.0, 2.0]


def test_steps_go_down_up_and_to_zero() -> None:
    x = F32([-1.5, -0.25, 0.25, 1.5])
    for name, expected in (("floor", [-3, -1, 0, 3]), ("ceil", [-3, 0, 1, 3]), ("trunc", [-3, 0, 0, 3])):
        truth = golden(lambda x, n=name: getattr(ops, n)(x * 2.0), x)
        known = np.isfinite(truth.outcome.goldens[0].budget)
        assert known.tolist() == [False, True, True, False]  # a product of 3 may be off
        assert truth.value[known].tolist() == [one for one, is_known in zip(expected, known, strict=True) if is_known]
    assert golden(lambda x: ops._to_copy(x * 3.3, dtype="int16"), x).value.tolist() == [-4, 0, 0, 4]


def test_a_sign_that_an_error_turns_is_off_by_two() -> None:
    x = F32([-0.3, 0.0, 0.3, np.nan])
    (found,) = golden(lambda x: ops.sign(x * 0.1 - 0.03), x).outcome.goldens
    assert found.value.tolist()[:2] == [-1.0, -1.0]
    assert found.budget.tolist() == [0.0, 0.0, 2.0, np.inf]  # of NaN the op alone says nothing, too


def test_nan_is_told_where_a_number_is_bounded() -> None:
    assert golden(lambda x: ops.isnan(x * 2.0), F32([1.0, np.nan])).value.tolist() == [False, True]
    turned = golden(lambda x: ops.isnan(ops.log(x * 1.1 - 1.1)), F32([1.0, 2.0]))
    assert [turned.verdict(np.array(one)).status for one in ([True, False], [False, False], [False, True])] == [
        "pass", "pass", "fail",
    ]  # fmt: skip


def test_what_is_not_written_is_not_known() -> None:
    x = F32([1.0, 2.0])
    truth = golden(lambda x: ops.where(ops.gt(x, 1.5), x, ops.empty([2], dtype="float32")), x)
    assert np.isinf(truth.outcome.goldens[0].budget).tolist() == [True, False]
    assert golden(lambda x: ops.fill(ops.empty([2], dtype="float32"), 3.0) + x, x).value.tolist() == [4.0, 5.0]


def test_slopes_that_are_drawn_are_none() -> None:
    x = F32([-2.0, 4.0])
    rrelu = ops.rrelu_with_noise_functional
    assert golden(lambda x: rrelu(x, x, 0.25, 0.75)[0], x).value.tolist() == [-1.0, 4.0]
    assert golden(lambda x: rrelu(x, x, 0.25, 0.25, True)[0], x).value.tolist() == [-0.5, 4.0]
    with pytest.raises(UsageError, match="draws its slopes"):
        golden(lambda x: rrelu(x, x, 0.25, 0.75, True)[0], x)


def test_a_power_of_what_may_be_negative_is_not_bounded() -> None:
    (found,) = golden(lambda x: (x - 1.0) ** 0.3, F32([0.5, 1.0, 2.0])).outcome.goldens
    assert np.isinf(found.budget).tolist() == [True, True, False]


def test_a_number_to_the_power_of_what_was_computed() -> None:
    x = F32([0.0, 0.5, 1.0, -2.0])
    found = golden(lambda x: ops.pow(10000.0, x * 1.0), x)
    assert found.value.tolist() == [1.0, 100.0, 10000.0, F32(1e-8)]
    assert (found.bound_ulp < 200).all()
    assert np.isinf(golden(lambda x: ops.pow(-2.0, x * 1.0), x).outcome.goldens[0].budget).all()


def test_a_sum_of_three_factors() -> None:
    x, w, y = np.arange(3.0), np.arange(24.0).reshape(2, 3, 4), np.arange(4.0) - 1
    found = golden(lambda x: ops._trilinear(x * 1.0, w, y, [0, 2], [], [0, 1], [1, 2]), x)
    assert found.value.tolist() == np.einsum("i,oij,j->o", x, w, y).tolist()


# --- What independent errors may come to ------------------------------------------------------------------------------


def beside(far: float) -> Number:
    """0.5, of which an implementation may have another number; `far` times as far off lies the threshold 0.5625."""
    return Number(FORMATS["float32"], Real.exact(np.array([0.5])), np.array([0.0625 / far]))


@pytest.mark.parametrize(("far", "linear", "statistical"), [(0.5, False, False), (2.0, True, False), (7.5, True, False),
                                                            (9.0, True, True)])  # fmt: skip
def test_a_choice_is_decided_by_what_errors_may_come_to(far: float, linear: bool, statistical: bool) -> None:
    """The root of the sum of their squares is what to expect of independent errors: they come to 8 times that."""
    for expected, within in ((linear, nullcontext()), (statistical, root_sum_of_squares())):
        with within:
            assert (ops.gt(beside(far), 0.5625).array is not None) == expected
            assert bool(np.isfinite(ops.sqrt(beside(far) - 0.4375).rad).all()) == expected
            assert (ops.argmax(ops.cat([beside(far), Number.exact(F32([0.5625]))])).array is not None) == expected
            assert bool(np.isfinite(ops.round(beside(far) - 0.0625).rad).all()) == expected


def test_two_ways_that_meet_at_the_threshold_are_no_further_apart_than_their_errors() -> None:
    """Of a step of 1.5 of them nothing is told, of a kink the distance beside the errors."""
    for within in (nullcontext(), root_sum_of_squares()):
        with within:
            x = beside(0.5)
            kink = ops.where(ops.gt(x, 0.5625), x - 0.5625, x * 0.0)
            assert np.isfinite(kink.rad).all()
            step = ops.where(ops.gt(x, 0.5625), x + 10.0, x * 0.0)
            assert np.isinf(step.rad).all()
