"""Quantiles: torch's example, then the ends, NaN and infinities."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nan

import pytest

from conform.errors import InvalidArguments
from tests.interp.ops.literal import check, check_open, f32, f64, goldens

SCALAR = "aten::quantile.scalar"


@pytest.mark.parametrize(
    ("q", "interpolation", "expected"),
    [
        (0.6, "linear", float(3 * Fraction(0.6))),
        (0.6, "lower", 1.0), (0.6, "higher", 2.0), (0.6, "midpoint", 1.5), (0.6, "nearest", 2.0),
        (0.4, "nearest", 1.0), (0.5, "nearest", 2.0), (1 / 6, "nearest", 0.0), (1.0, "linear", 3.0),
        (0.0, "higher", 0.0),
    ],
)  # fmt: skip
def test_the_documented_example(q: float, interpolation: str, expected: float) -> None:
    """Of 0, 1, 2, 3; the ties at 1.5 and 0.5 go to the even index."""
    check(SCALAR, f64([3.0, 0.0, 2.0, 1.0]), q, None, False, interpolation=interpolation, gives=f64(expected))


def test_shapes() -> None:
    x = f32([[1.0, 5.0], [3.0, 9.0]])
    check("aten::quantile", x, f32([0.0, 0.5]), 1, True, gives=f32([[[1.0], [3.0]], [[3.0], [6.0]]]))
    check("aten::quantile", x, f32(1.0), gives=f32(9.0))
    check(SCALAR, f32(7.0), 0.3, gives=f32(7.0))


def test_nan() -> None:
    x = f32([[nan, 5.0, 1.0], [nan, nan, nan]])
    check(SCALAR, x, 0.5, 1, gives=f32([nan, nan]))
    check("aten::nanquantile.scalar", x, 0.5, 1, gives=f32([3.0, nan]))
    check("aten::nanquantile", x, f32([0.0, 1.0]), 1, gives=f32([[1.0, nan], [5.0, nan]]))


def test_infinities_are_numbers_in_the_order_and_open_in_between() -> None:
    check(SCALAR, f32([inf, 1.0, -inf]), 1.0, gives=f32(inf))
    check(SCALAR, f32([inf, inf]), 0.3, gives=f32(inf))
    check(SCALAR, f32([inf, 1.0, -inf]), 0.5, gives=f32(1.0))
    for between in ("linear", "midpoint"):
        check_open(SCALAR, f32([inf, 1.0]), 0.5, None, False, interpolation=between, gives=f32(nan),
                   where_open=True, rule="P155")  # fmt: skip


def test_one_of_the_numbers_is_taken_beside_an_infinity_too() -> None:
    x = f32([-inf, 0.0, 2.0, inf])  # at 0.25 and 0.9 of the way the indices are 0.75 and 2.7
    for q, interpolation, expected in (
        (0.25, "lower", -inf), (0.25, "higher", 0.0), (0.25, "nearest", 0.0),
        (0.9, "lower", 2.0), (0.9, "higher", inf), (0.9, "nearest", inf),
    ):  # fmt: skip
        check(SCALAR, x, q, None, False, interpolation=interpolation, gives=f32(expected))


def test_an_index_that_rounding_makes_an_integer_is_one_too() -> None:
    """0.1 in float64 is above 1/10, and ten times it above 1: rounded it is 1."""
    golden = goldens(SCALAR, f64([float(n) for n in range(11)]), 0.1, interpolation="higher")[0]
    assert (golden.value.tolist(), {float(one.value) for one in golden.alternatives}) == (2.0, {1.0})


def test_what_is_refused() -> None:
    for q in (1.5, -0.1, nan):
        with pytest.raises(InvalidArguments, match="q"):
            goldens(SCALAR, f32([1.0]), q)
    with pytest.raises(InvalidArguments, match="size"):
        goldens(SCALAR, f32([]), 0.5)
