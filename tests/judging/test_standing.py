"""Which shipped tables a result would pass, and the tightest: literal results beside the interpreter's goldens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import conform
from conform.contracts.comparison import Comparison
from conform.contracts.tables import contract_table
from conform.interp.evaluate import evaluate
from conform.judging.judgement import Result
from conform.judging.standing import Standing, standing, without_bounds

ULP_OF_1 = 2.0**-23
ALL = ["cr", "cuda", "opencl", "tosa", "torch", "stablehlo"]


def stands(op: str, args: list, actual: Any, table: str = "opencl", **operands: Any) -> Standing:
    golden = evaluate(op, args, {}).goldens[0]
    comparison = Comparison(golden, np.asarray(actual, golden.format.storage), operands)
    row = contract_table(table).row(op, golden.format.name)
    return standing([Result(0, op, comparison, row, independent=True)])


def exp_of_0(ulps: int, table: str = "opencl") -> Standing:
    """exp(0) = 1, and a result that many ulps above."""
    x = np.float32([0.0])
    return stands("aten::exp", [x], [1 + ulps * ULP_OF_1], table, self=x)


@pytest.mark.parametrize(
    ("ulps", "passes", "tightest"),
    [
        (0, ALL, "cr"),
        (2, ALL[1:], "cuda"),
        (3, ALL[2:], "opencl"),  # TOSA's (3 + 2|x|) allows as much; the first of equals is told
        (4, ALL[4:], "torch"),
        (94, ALL[4:], "torch"),  # 1e-5 + 1.3e-6 are 94.8 ulps of 1
        (95, ["stablehlo"], "stablehlo"),
        (10_000, [], None),
    ],
)
def test_of_the_tables_that_pass_a_result_the_one_that_allows_least(
    ulps: int, passes: list[str], tightest: str | None
) -> None:
    told = exp_of_0(ulps)
    assert [name for name, said in told.tables.items() if said == "pass"] == passes
    assert set(told.tables.values()) <= {"pass", "fail"}
    assert told.tightest == tightest


def test_it_does_not_depend_on_the_table_that_decides() -> None:
    assert len({str(exp_of_0(3, table)) for table in ALL}) == 1


def test_which_is_tighter_depends_on_the_size_of_the_result() -> None:
    large, small = np.float32([1e6, 1.0]), np.float32([1e-6, 1.0])
    moved = [
        stands("aten::add.Tensor", [x, x], np.nextafter(x + x, np.float32(3e38)) + 0, self=x) for x in (large, small)
    ]
    assert [one.tightest for one in moved] == ["torch", "torch"]
    assert moved[0].tables["stablehlo"] == "fail"  # an ulp of 2e6 is 0.25
    assert moved[1].tables["stablehlo"] == "pass"


def test_a_table_that_bounds_nothing_neither_passes_nor_fails() -> None:
    x = np.float64([0.5])
    told = stands("aten::erfinv", [x], [0.476936276204469874], self=x)
    assert (told.tables["opencl"], told.tables["tosa"], told.tables["cuda"]) == ("pass", None, "pass")


def test_in_the_interval_where_the_vendor_bounds_nothing_its_table_judges_nothing() -> None:
    x = np.float32([-2.5, -5.5])
    told = stands("aten::lgamma", [x], [7.0, 8.0], self=x)
    assert [told.tables[name] for name in ALL] == ["fail", None, "fail", "fail", "fail", "fail"]
    partly_outside = np.float32([-2.5, 3.5])
    assert stands("aten::lgamma", [partly_outside], [7.0, 8.0], self=partly_outside).tables["cuda"] == "fail"


def test_integers_are_the_same_in_every_table() -> None:
    x = np.array([1, 2])
    assert stands("aten::add.Tensor", [x, x], [2, 4]).tightest == "cr"
    assert set(stands("aten::add.Tensor", [x, x], [2, 5]).tables.values()) == {"fail"}


def test_what_no_bound_decides() -> None:
    assert (without_bounds("pass").tightest, set(without_bounds("pass").tables.values())) == ("cr", {"pass"})
    assert (without_bounds("crash").tightest, set(without_bounds("crash").tables.values())) == (None, {"fail"})
    assert without_bounds("unsupported") == Standing({}, None)


def test_the_correctly_rounded_result_passes_every_table_that_bounds_it() -> None:
    ops = ["aten::exp", "aten::mm", "aten::div", "aten::where", "aten::gelu", "aten::_to_copy"]
    run = conform.check("smoke", backend="self", ops=ops, values="typical", layouts="as-written")
    assert run.summary["pass"] == run.summary["asked"]
    assert {said for case in run.cases for said in case["tables"].values()} == {"pass", None}  # None: TOSA and float64
    assert all(case["tables"][name] for case in run.cases for name in ALL if name != "tosa")
