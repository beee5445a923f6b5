"""Goldens and their freedoms."""

from __future__ import annotations

import numpy as np

from conform.interp.golden import Golden
from conform.numerics.formats import FORMATS

F32 = FORMATS["float32"]


def golden(*values: float) -> Golden:
    return Golden(F32, np.float32(values))


def test_opened_joins_masks_and_rules_and_leaves_the_first_golden_alone() -> None:
    closed = golden(1.0, 2.0, 3.0)
    first = closed.opened(np.array([True, False, False]), "P11")
    both = first.opened(np.array([False, True, False]), "P12")
    assert closed.open is None
    assert (first.open.tolist(), first.open_rule) == ([True, False, False], "P11")
    assert (both.open.tolist(), both.open_rule) == ([True, True, False], "P11, P12")


def test_an_empty_mask_opens_nothing_and_names_no_rule() -> None:
    closed = golden(1.0)
    assert closed.opened(np.array([False]), "P11") is closed
    assert golden().opened(np.zeros(0, bool), "P11").open_rule is None


def test_alternatives_are_flat_and_in_order() -> None:
    nested = golden(2.0).or_else(golden(3.0))
    total = golden(1.0).or_else(nested, golden(4.0)).or_else(golden(5.0))
    assert [float(each.value[0]) for each in total.alternatives] == [2.0, 3.0, 4.0, 5.0]
    assert all(each.alternatives == () for each in total.alternatives)
    assert total.value.tolist() == [1.0]
