"""Standing where tables disagree: which bound counts, several outputs, what a table does not bound, and many sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conform.contracts.comparison import Comparison
from conform.contracts.tables import Row, contract_table
from conform.interp.blocks import blocks
from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden
from conform.judging.judgement import Result
from conform.judging.standing import standing
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real
from conform.numerics.rounding import round_to

F32 = np.float32
OPENCL = contract_table("opencl")
ULP_OF_1 = 2.0**-23
HUNDRED = F32(np.log(100.0))  # exp of it is 99.99999; an ulp there is 64 ulps of 1
ORDER = ["cr", "cuda", "opencl", "tosa", "torch", "stablehlo"]


def result(op: str, args: list, error_ulp: list[float], number: int = 0, row: Row | None = None) -> Result:
    """The first output of an op with errors, in ulps of the golden values."""
    golden = evaluate(op, args, {}).goldens[0]
    wide = golden.value.astype(np.float64)
    actual = (wide + np.array(error_ulp) * np.spacing(np.abs(golden.value))).astype(golden.format.storage)
    names = ("self", "exponent") if op.startswith("aten::pow") else ("self", "other")
    comparison = Comparison(golden, actual, dict(zip(names, args, strict=False)))
    return Result(number, op, comparison, row or OPENCL.row(op, golden.format.name), independent=True)


def passed(*results: Result) -> tuple[list[str], str | None]:
    told = standing(results)
    return [name for name in ORDER if told.tables[name] == "pass"], told.tightest


def unbounded(*results: Result) -> list[str]:
    told = standing(results)
    return [name for name in ORDER if told.tables[name] is None]


# --- Which is the tightest --------------------------------------------------------------------------------------------


def test_the_smallest_bound_at_the_worst_element_not_the_first_table() -> None:
    """At 100 StableHLO's absolute 1e-4 is 13.1 ulps, torch's 1e-5 + 1.3e-6|y| 18.4, and TOSA's (3 + 2|x|) |y| 19.08,
    from the exact result; that is 0.16 below the rounded one, from which the errors here are."""
    assert passed(result("aten::exp", [F32([HUNDRED])], [10])) == (["tosa", "torch", "stablehlo"], "stablehlo")
    assert passed(result("aten::exp", [F32([HUNDRED])], [14])) == (["tosa", "torch"], "torch")
    assert passed(result("aten::exp", [F32([HUNDRED])], [-19])) == (["tosa"], "tosa")
    assert passed(result("aten::exp", [F32([HUNDRED])], [19])) == ([], None)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_bound_below_half_an_ulp_counts_as_half(sign: int) -> None:
    """TOSA allows a sum that is 0 no error, and correct rounding half an ulp: equals, of which the first is told."""
    x = F32([sign * 1.5])
    assert passed(result("aten::add.Tensor", [x, -x], [0])) == (ORDER, "cr")


@pytest.mark.parametrize("block", [2, 1 << 16])
@pytest.mark.parametrize("place", [0, 1, 2, 3, 4])
def test_the_bound_is_that_of_the_worst_element_wherever_it_lies(
    place: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elsewhere, around 1, the tables stand in another order."""
    monkeypatch.setattr(blocks, "BLOCK", block)
    x, errors = np.zeros(5, F32), np.zeros(5)
    x[place], errors[place] = HUNDRED, 10
    assert passed(result("aten::exp", [x], list(errors)))[1] == "stablehlo"


def test_of_equal_errors_the_first_element_decides() -> None:
    x = F32([50.0, 0.5])
    assert passed(result("aten::add.Tensor", [x, x], [10, 10])) == (["torch", "stablehlo"], "stablehlo")
    x = F32([0.5, 50.0])
    assert passed(result("aten::add.Tensor", [x, x], [10, 10])) == (["torch", "stablehlo"], "torch")


def test_who_passes_by_a_few_ulps_passes_no_other_table_by_that() -> None:
    """An ulp of a million is 2^-4; StableHLO's 1e-4 is absolute."""
    told = standing([result("aten::exp", [F32([np.log(1e6)])], [2])])
    assert (told.tables["opencl"], told.tables["stablehlo"]) == ("pass", "fail")


# --- Several outputs --------------------------------------------------------------------------------------------------


def test_the_output_with_the_largest_error_decides_which_is_the_tightest() -> None:
    small, large = result("aten::exp", [F32([0.0])], [4]), result("aten::exp", [F32([HUNDRED])], [10], number=1)
    assert passed(small, large) == passed(large, small) == (["torch", "stablehlo"], "stablehlo")


def test_all_outputs_must_pass() -> None:
    right, wrong = result("aten::exp", [F32([0.0])], [0]), result("aten::exp", [F32([0.0])], [4], number=1)
    assert passed(right, wrong) == passed(wrong, right) == (["torch", "stablehlo"], "torch")
    x = np.array([1, 2])
    assert passed(result("aten::exp", [F32([0.0])], [0]), result("aten::neg", [x], [1, 0], number=1)) == ([], None)


def test_one_output_that_a_table_bounds_is_enough() -> None:
    """lgamma in the interval where CUDA's guide gives no bound; the other tables derive one there."""
    bounded, not_bounded = result("aten::exp", [F32([0.0])], [0]), result("aten::lgamma", [F32([-2.5])], [0], number=1)
    assert unbounded(not_bounded) == ["cuda"]
    assert passed(bounded, not_bounded) == passed(not_bounded, bounded) == (ORDER, "cr")


def test_an_empty_result_passes_every_table() -> None:
    assert passed(result("aten::exp", [F32([])], [])) == (ORDER, "cr")
    assert passed(result("aten::lgamma", [F32([])], [])) == (ORDER, "cr")


# --- What a table does not bound --------------------------------------------------------------------------------------


def test_the_correctly_rounded_result_does_not_pass_where_a_table_bounds_nothing() -> None:
    """TOSA's POW is undefined for negative bases, CUDA's lgamma unbounded in [-10.001, -2.264]."""
    assert unbounded(result("aten::pow.Tensor_Tensor", [F32([-2.0]), F32([3.0])], [0])) == ["tosa"]
    assert unbounded(result("aten::pow.Tensor_Tensor", [F32([2.0]), F32([3.0])], [0])) == []
    assert unbounded(result("aten::lgamma", [F32([-2.5])], [0])) == ["cuda"]
    assert unbounded(result("aten::lgamma", [F32([3.5])], [0])) == []


def test_a_table_that_does_not_bound_the_worst_element_is_no_tight_one() -> None:
    """It passes by the other element. At -2.5 the running error of the reflection formula is 372 ulp, 1e-4 is 2704."""
    told = (["cuda", "opencl", "tosa", "torch", "stablehlo"], "opencl")
    assert passed(result("aten::lgamma", [F32([-2.5, 3.5])], [200, 0])) == told
    of_cuda = contract_table("cuda").row("aten::lgamma", "float32")
    own = result("aten::lgamma", [F32([-2.5, 3.5])], [200, 0], row=of_cuda)
    assert passed(own) == told


@pytest.mark.parametrize(
    ("row", "error_ulp", "op", "x", "table", "told"),
    [
        (Row("tosa", None, "ERF", "test"), 4, "aten::exp", 0.0, "tosa", "fail"),  # EXP allows 3 ulps, ERF 5
        (Row("ulp_of_rounded", 6.0, None, "test"), 4, "aten::lgamma", -2.5, "cuda", None),
        (Row("ulp_of_rounded", 4.0, None, "test"), 3, "aten::exp", 0.0, "cuda", "fail"),
        (Row("ulp", 1.0, None, "test"), 1, "aten::exp", 0.0, "cr", "fail"),
    ],
)
def test_the_row_that_decided_answers_for_no_other_row(
    row: Row, error_ulp: float, op: str, x: float, table: str, told: str | None
) -> None:
    assert standing([result(op, [F32([x])], [error_ulp], row=row)]).tables[table] == told


# --- Many sums --------------------------------------------------------------------------------------------------------


def biased_sums(bias: float, row: Row) -> Result:
    """2000 different sums of 10,000 terms, all off by the same share of u S, well within the bound of each."""
    numbers = 1 + np.arange(2000) * 2.0**-12
    golden = Golden(
        FORMATS["float32"], round_to(FORMATS["float32"], numbers), Real.exact(numbers), 10_000, np.full(2000, 64.0)
    )
    actual: Any = (numbers + bias * 64.0 * 2.0**-24).astype(F32)
    return Result(0, "aten::sum", Comparison(golden, actual), row, independent=True)


@pytest.mark.parametrize("bias", [20, -20])
def test_a_table_of_sums_fails_by_the_rule_for_many_of_them(bias: float) -> None:
    """0.3 + 9.9 u S are allowed for the mean of 2000 sums of 10,000 terms; -20 and 20 are not."""
    for row in (Row("accumulation", None, None, "test"), Row("almost_eq", None, None, "test")):
        if row.kind == "almost_eq":
            row = contract_table("stablehlo").row("aten::sum", "float32")
        told = standing([biased_sums(bias, row)])
        assert told.tables["opencl"] == "fail"
        assert told.tables["stablehlo"] == "pass"
