"""Outputs that nobody wants (P134): None, or a tensor that is not judged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import conform
from conform.api import Golden

F32 = np.float32
GRAD, INPUT, WEIGHT = np.ones((1, 2, 3), F32), np.ones((1, 2, 4), F32), np.ones((2, 2, 2), F32)
BY_INPUT, BY_BIAS = F32([[[2, 4, 4, 2], [2, 4, 4, 2]]]), F32([3, 3])


def gradients(*output_mask: bool) -> Golden:
    arguments = (GRAD, INPUT, WEIGHT, [2], [1], [0], [1], False, [0], 1, list(output_mask))
    return conform.golden("aten::convolution_backward", *arguments)


def test_the_golden_of_an_unwanted_output_is_none() -> None:
    by_input, by_weight, by_bias = gradients(True, False, True).value
    assert by_weight is None
    assert by_input.tolist() == BY_INPUT.tolist()
    assert by_bias.tolist() == BY_BIAS.tolist()
    assert "output 1  None" in repr(gradients(True, False, True))
    assert gradients(False, False, True).value[:2] == (None, None)


@pytest.mark.parametrize(
    ("by_weight", "reason"),
    [
        (None, None),
        (F32([7]), None),
        (5.0, "output 1: float instead of None or a tensor"),
    ],
)
def test_what_may_stand_in_its_place(by_weight: Any, reason: str | None) -> None:
    verdict = gradients(True, False, True).verdict((BY_INPUT, by_weight, BY_BIAS))
    assert (verdict.status, verdict.reason) == ("fail" if reason else "pass", reason)


def test_the_others_are_judged_all_the_same() -> None:
    golden = gradients(True, False, True)
    assert golden.verdict((BY_INPUT, None, None)).reason == "output 2: None instead of a tensor"
    assert golden.verdict((BY_INPUT, None)).reason == "2 outputs instead of 3"
    assert golden.verdict((BY_INPUT, None, BY_BIAS + 1)).worst.output == 2
    assert [error.max(initial=0) for error in golden.error_ulp((BY_INPUT, None, BY_BIAS))] == [0, 0, 0]


def test_what_unique_is_not_asked_for() -> None:
    """P143: torch's CUDA gives None beside bools, and its CPU a tensor of no elements."""
    golden = conform.golden("aten::_unique2", np.array([True, False, True]), True, False, True)
    values, counts = np.array([False, True]), np.int64([1, 2])
    assert [golden.verdict((values, one, counts)).status for one in (None, np.int64([]))] == ["pass", "pass"]
    assert golden.verdict((values, None, None)).reason == "output 2: None instead of a tensor"


def test_what_is_wanted_may_not_be_none() -> None:
    everything = gradients(True, True, True)
    assert everything.verdict((BY_INPUT, None, BY_BIAS)).reason == "output 1: None instead of a tensor"
