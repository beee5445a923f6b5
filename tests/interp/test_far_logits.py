"""Losses of far logits, whose exact value is a rational number and a little more: beside ties that little decides."""

from __future__ import annotations

import numpy as np
import pytest

from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden

SIXTH = 3002399751580331.0  # 6 times it is 2^54 + 2, in the middle of 2^54 and 2^54 + 4
BELOW, ABOVE = 2.0**54, 2.0**54 + 4
NONE, MEAN, SUM = range(3)


def soft_margin(x: list, y: list, reduction: int = NONE) -> Golden:
    return evaluate("aten::soft_margin_loss", [np.array(x), np.array(y), reduction], {}).goldens[0]


def test_a_soft_margin_is_more_than_its_line() -> None:
    """log(1 + e^z) > z. An element is a little above a tie, and so are the sum and the mean of two equal ones."""
    golden = soft_margin([SIXTH, -SIXTH, 1e300, -1e300], [-6.0, -6.0, 1.0, 1.0])
    assert golden.value.tolist() == [ABOVE, 0.0, 0.0, 1e300]
    assert golden.real.radius.min() > 0
    assert soft_margin([SIXTH, SIXTH], [-6.0, -6.0], SUM).value.item() == 2 * ABOVE
    assert soft_margin([SIXTH, SIXTH], [-6.0, -6.0], MEAN).value.item() == ABOVE


def test_a_sum_of_far_and_near_margins_has_the_near_ones_exactly() -> None:
    """2^53 + log(1 + e^1), which is 1.31, and below it an element that is almost 0: stand-ins are not added up."""
    assert soft_margin([2.0**53, 1e300, 1.0], [-1.0, 1.0, -1.0], SUM).value.item() == 2.0**53 + 2
    assert soft_margin([np.inf, SIXTH], [1.0, -6.0], SUM).value.item() == ABOVE


@pytest.mark.parametrize(
    ("weight", "factor", "expected"),
    [(6.0, 1.0, ABOVE), (-6.0, 1.0, -ABOVE), (6.0, 0.5, BELOW / 2), (2.0, 3.0, ABOVE), (-2.0, 3.0, -ABOVE)],
)
def test_a_cross_entropy_is_beside_its_line_where_the_slope_tells(
    weight: float, factor: float, expected: float
) -> None:
    """-weight factor x and weight factor log(1 + e^-|x|) of a target of 1: of one half, 2^53 + 1 is a tie and rounds
    up."""
    operands = [np.array([-SIXTH]), np.ones(1), np.array([weight]), np.array([factor]), NONE]
    (golden,) = evaluate("aten::binary_cross_entropy_with_logits", operands, {}).goldens
    assert golden.value.tolist() == [2.0**53 + 2 if factor == 0.5 else expected]


def test_a_cross_entropy_without_a_slope_is_its_line() -> None:
    """1 + (pos_weight - 1) target is 0 of -1 and 1/2; the line is weight (1 - target) x, a tie that goes to even."""
    operands = [np.array([SIXTH]), np.array([0.5]), np.array([12.0]), np.array([-1.0]), NONE]
    (golden,) = evaluate("aten::binary_cross_entropy_with_logits", operands, {}).goldens
    assert golden.value.tolist() == [BELOW]
    assert golden.real.radius.tolist() == [0.0]


@pytest.mark.parametrize("far", [2.0**21, 1e10, 1e300])
@pytest.mark.parametrize("reduction", [MEAN, SUM])
def test_of_a_sum_of_powers_beyond_all_numbers_the_largest_has_the_sign(far: float, reduction: int) -> None:
    """e^far far and -e^(2 far) far / 4, of which the second is more by far; and what is almost as large."""
    target, own = np.array([far, 2 * far, 3.0]), np.array([0.0, 2.25 * far, 1.0])
    for sign in (1.0, -1.0):
        log_probabilities = target - sign * (target - own)
        (golden,) = evaluate("aten::kl_div", [log_probabilities, target, reduction], {"log_target": True}).goldens
        assert golden.value.item() == -sign * np.inf
    beside = np.array([2.0**21, np.nextafter(2.0**21, 0)])  # e^(2^-32) of 4 and of -5
    operands = [beside - np.array([4.0, -5.0]), beside, reduction]
    assert evaluate("aten::kl_div", operands, {"log_target": True}).goldens[0].value.item() == -np.inf


def test_each_power_beyond_all_numbers_is_itself() -> None:
    target = np.array([1e300, 1.0, -1e300])
    (golden,) = evaluate("aten::kl_div", [target - 2.0 * target, target, NONE], {"log_target": True}).goldens
    assert golden.value.tolist() == [np.inf, 5.43656365691809, 0.0]  # 2 e
