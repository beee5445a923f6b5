"""What a row says of itself: the bound as a record has it, at a glance, and in words. And measured slack as a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conform.contracts import slack
from conform.contracts.almost_eq import Tolerance
from conform.contracts.tables import NO_ROW, SELECTED, Row
from conform.contracts.tosa import BUDGETS

THREE = Row("ulp", 3.0, None, "s")
BOTH = Tolerance(rtol=1.3e-6, atol=1e-5)
RULE_OF_ALMOST_EQ = "|actual - y| within the tolerance, y the correctly rounded result"


@pytest.mark.parametrize(
    ("row", "limit", "short", "rule"),
    [
        (THREE, 3.0, "3 ulp", "ulps of the exact result, from it"),
        (Row("ulp", 0.0, None, "s"), 0.0, "0 ulp", "ulps of the exact result, from it"),
        (Row("ulp_of_rounded", 0.5, None, "s"), 0.5, "0.5 ulp", "ulps of the correctly rounded result, from it"),
        (SELECTED, None, "exact", "equal"),
        (NO_ROW, None, "no row", "derived"),
        (Row("derived", None, None, "s"), None, "derived", "derived"),
        (Row("derived", None, "f", "s"), "f", "derived", "derived: f"),
        (Row("accumulation", None, "gamma_k S", "s"), "gamma_k S", "accumulation", "accumulation: gamma_k S"),
        (Row("almost_eq", None, None, "s", BOTH), "1e-05 + 1.3e-06 * |expected|", "1e-05 + 1.3e-06|y|",
         RULE_OF_ALMOST_EQ),
        (Row("almost_eq", None, None, "s", Tolerance(0.0, 1e-4)), "0.0001 (absolute)", "0.0001", RULE_OF_ALMOST_EQ),
        (Row("tosa", None, "RSQRT", "s"), "RSQRT: 2 ulp", "RSQRT", "TOSA: RSQRT: 2 ulp"),
        (Row("unbounded", None, None, "s"), None, "unbounded", "none: not judged but for NaN and infinities"),
    ],
)  # fmt: skip
def test_a_row_in_words(row: Row, limit: float | str | None, short: str, rule: str) -> None:
    assert (row.limit, row.short, row.rule) == (limit, short, rule)


def test_a_row_that_bounds_a_part_says_so() -> None:
    partly = replace(THREE, excluded=(-10.001, -2.264))
    assert (partly.limit, partly.short) == (3.0, "3 ulp, partly")
    assert partly.rule == "ulps of the exact result, from it; none for operands in [-10.001, -2.264]"


def test_every_budget_of_tosa_has_words() -> None:
    for name, (_, words) in BUDGETS.items():
        assert Row("tosa", None, name, "s").limit == f"{name}: {words}"
        assert words


def test_slack_is_read_as_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slack, "FILE", tmp_path / "slack.csv")
    one = slack.Slack("aten::var", "var", "normal", 64, 2, 0.25, 1234.5678, 12.5, 80.0, 3.0, ("updates", "order"))
    two = replace(one, output="mean", reasons=())
    slack.write([one, two])
    text = (tmp_path / "slack.csv").read_text(encoding="utf-8")
    assert text.splitlines()[0] == ",".join(slack.COLUMNS)
    assert text.splitlines()[1] == "aten::var,var,normal,64,2,0.25,1.23e+03,12.5,80,3,updates order"
    slack.figures.cache_clear()
    try:
        assert slack.figures() == (replace(one, bound_ulp=1230.0), replace(two, bound_ulp=1230.0))
    finally:
        slack.figures.cache_clear()
