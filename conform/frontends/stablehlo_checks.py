"""The checks of a program as a contract: each says how far from what is expected its value may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conform.contracts.table_file import Entry
from conform.contracts.tables import Table
from conform.errors import UsageError
from conform.interp.program.form import Function, Op
from conform.interp.stablehlo.checks import CUSTOM_CALL, TOLERANCE
from conform.suites import Suite

CHECKS = "checks"  # the name of the contract

MOST_ULP = 3  # of expect_close, where it says nothing else


@dataclass(frozen=True)
class Limit:
    """What a check demands: a row of a contract table, and where it stands, `file:12`."""

    row: Entry
    location: str


def limits_of(function: Function) -> list[Limit]:
    """What the checks of a function demand, in their order. UsageError for one that is no bound of an error."""
    return [Limit(_row(op, name), op.location) for op in function.ops if (name := check_name(op)).startswith("check.")]


def check_name(op: Op) -> str:
    """`check.expect_eq` of an op of that name, and of a custom call of it; of all others their name."""
    return str(op.attributes.get("call_target_name", "")) if op.name == CUSTOM_CALL else op.name


def _row(op: Op, name: str) -> Entry:
    given, source = op.attributes, f"{name} at {op.location}"
    if name in ("check.expect_eq", "check.expect_eq_const"):
        return {"kind": "exact", "source": source}
    if name in ("check.expect_almost_eq", "check.expect_almost_eq_const"):
        tolerance = float(given.get("tolerance", TOLERANCE))
        return {"kind": "almost_eq", "bound": {"rtol": 0, "atol": tolerance}, "source": source}
    if name == "check.expect_close" and not _least(given):
        return {"kind": "ulp_of_rounded", "bound": int(given.get("max_ulp_difference", MOST_ULP)), "source": source}
    raise UsageError(f"{op.location}: {name} bounds no error, so it is no contract; judge the file by another one")


def _least(attributes: Mapping[str, Any]) -> int:
    return int(attributes.get("min_ulp_difference", 0))


def table_of(suite: Suite) -> Table:
    """The contract of a suite whose every test is a check of a program."""
    limits = {test.op_name: test.op.given.limit for test in suite.tests if test.is_module}
    rows = {op: ({**limit.row, "ops": [op]},) for op, limit in limits.items() if limit is not None}
    if len(rows) != len(suite.tests):
        raise UsageError(f"--contract {CHECKS} is about the checks of StableHLO programs; name such files")
    return Table(CHECKS, rows)
