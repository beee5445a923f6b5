"""Errors counted by powers of two."""

from __future__ import annotations

import numpy as np
import pytest

from conform.judging.histogram import added, counted, empty, named


@pytest.mark.parametrize(
    ("error_ulp", "bin_"),
    [
        (0.0, "zero"), (0.5, "-1"), (np.nextafter(0.5, 0), "-2"), (0.999, "-1"), (1.0, "0"), (1.999, "0"), (2.0, "1"),
        (2.0**-16, "-16"), (2.0**-17, "-16"), (5e-324, "-16"), (2.0**63, "63"), (2.0**64, "64"), (1e308, "64"),
        (np.inf, "inf"),
    ],
)  # fmt: skip
def test_a_bin_holds_what_is_at_least_its_power_and_below_the_next(error_ulp: float, bin_: str) -> None:
    assert named(counted(np.array([error_ulp]))) == {bin_: 1}


def test_nan_is_no_error_and_shapes_do_not_matter() -> None:
    errors = np.array([[0.0, np.nan], [0.3, 0.3]])
    assert named(counted(errors)) == {"zero": 1, "-2": 2}
    assert named(counted(np.empty((0, 3))) + empty()) == {}


def test_named_counts_add_up_in_the_order_of_the_bins() -> None:
    assert list(added([{"3": 1}, {"zero": 2, "inf": 1}, {"3": 4}]).items()) == [("zero", 2), ("3", 5), ("inf", 1)]
