"""The measured slack of the derived bounds: told of every composite op, with a reason where it is large."""

from __future__ import annotations

import re
from pathlib import Path

from conform.contracts.slack import NEEDS_A_REASON, REASONS, figures
from conform.contracts.tables import contract_table

PERFORMANCE = Path(__file__).parents[2] / "docs/performance.md"


def test_every_op_with_a_derived_bound_has_its_slack_measured() -> None:
    table = contract_table("opencl")
    derived = {op for op in table.rows if table.row(op, "float32").kind == "derived"}
    assert derived | {"aten::mean"} == {one.op for one in figures()}


def test_a_large_median_slack_has_a_reason_and_no_other_has() -> None:
    for one in figures():
        assert bool(one.reasons) == (one.median > NEEDS_A_REASON), f"{one.output}, {one.input}"
    assert {reason for one in figures() for reason in one.reasons} == set(REASONS)


def test_the_documentation_tells_the_figures() -> None:
    rows = re.findall(r"^\| (.*) \|$", PERFORMANCE.read_text(encoding="utf-8"), re.MULTILINE)
    told = {tuple(re.split(r"\s*\|\s*", row)) for row in rows}
    for one in figures():
        medians = (one.error_ulp, one.bound_ulp, one.root_sum_of_squares_ulp, one.median, one.smallest)
        row = (one.output, one.input, str(one.elements), str(one.outside), *(f"{each:.3g}" for each in medians))
        assert (*row, " ".join(one.reasons)) in told
