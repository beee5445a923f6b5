"""LU factors: literal results, what is open where rows are as large as each other, what the bounds tell apart."""

from __future__ import annotations

import numpy as np
import pytest

from conform.errors import Unjudged
from conform.inputs.matrices import drawn
from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden
from conform.numerics.draws import Stream
from conform.numerics.formats import FORMATS

nan = np.nan


def called(op: str, matrix: object, dtype: str = "float64", **keywords: bool) -> tuple[Golden, ...]:
    return evaluate(f"aten::linalg_{op}", (np.array(matrix, dtype),), keywords).goldens


def test_factors_in_one_matrix() -> None:
    """(4, 8, 8) first, a quarter and a half of which go from the others, then (2, 8, 9)."""
    both, pivots, info = called("lu_factor_ex", [[1, 2, 4], [4, 8, 8], [2, 8, 9]])
    assert both.value.tolist() == [[4, 8, 8], [0.5, 4, 5], [0.25, 0, 2]]
    assert (pivots.format.name, pivots.value.tolist(), info.value.tolist()) == ("int32", [2, 3, 3], 0)


def test_three_factors() -> None:
    permutation, lower, upper = called("lu", [[1, 2, 4], [4, 8, 8], [2, 8, 9]], "float32")
    assert permutation.value.tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    assert lower.value.tolist() == [[1, 0, 0], [0.5, 1, 0], [0.25, 0, 1]]
    assert upper.value.tolist() == [[4, 8, 8], [0, 4, 5], [0, 0, 2]]


def test_matrices_that_are_no_squares() -> None:
    permutation, lower, upper = called("lu", [[1, 2], [4, 8], [2, 8]])
    assert permutation.value.tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    assert (lower.value.tolist(), upper.value.tolist()) == ([[1, 0], [0.5, 1], [0.25, 0]], [[4, 8], [0, 4]])
    both, pivots, _ = called("lu_factor_ex", [[1, 4, 4], [4, 8, 8]])
    assert (both.value.tolist(), pivots.value.tolist()) == ([[4, 8, 8], [0.25, 2, 2]], [2, 2])
    assert [one.value.shape for one in called("lu", np.empty((2, 0, 3)))] == [(2, 0, 0), (2, 0, 0), (2, 0, 3)]
    assert [one.value.shape for one in called("lu", np.empty((3, 0)))] == [(3, 3), (3, 0), (0, 0)]


def test_complex_factors() -> None:
    both, pivots, _ = called("lu_factor_ex", [[1j, 1], [2, 4j]], "complex64")
    assert (both.value.tolist(), pivots.value.tolist()) == ([[2, 4j], [0.5j, 3]], [2, 2])


def test_factors_are_rounded_once() -> None:
    assert called("lu_factor", [[3, 0], [1, 1]], "float32")[0].value[1, 0] == np.float32(1 / 3)
    assert called("lu_factor", [[4, 1], [1, 0.25 + 2.0**-40]])[0].value[1, 1] == 2.0**-40


@pytest.mark.parametrize(
    "matrix", [[[1, 2], [1, 3]], [[1, 2], [-1 - 2.0**-23, 3]], [[1, 2, 3], [4, 1, 1], [0, 1.75, 9]]]
)
def test_rows_that_are_nearly_as_large_may_both_be_taken(matrix: list) -> None:
    """P220, in float32: in the first column, or in what is left of the second one."""
    both, pivots, info = called("lu_factor_ex", matrix, "float32")
    assert both.open.all()
    assert pivots.open.all()
    assert (both.open_rule, info.open, info.value) == ("P220", None, 0)
    assert called("lu_factor_ex", [[1, 2], [-1 - 2.0**-18, 3]], "float32")[1].value.tolist() == [2, 2]


def test_complex_rows_are_measured_in_two_ways() -> None:
    """Of 3 + 3j and 5 the one has the larger parts, the other the larger magnitude."""
    assert called("lu_factor", [[3 + 3j, 0], [5, 1]], "complex64")[1].open.all()
    assert called("lu_factor", [[3 + 3j, 0], [4, 1]], "complex64")[1].value.tolist() == [1, 2]


def test_matrices_of_less_than_full_rank() -> None:
    """P218, P220"""
    outcome = evaluate("aten::linalg_lu_factor_ex", (np.array([[4.0, 2], [0, 0]]),), {"check_errors": True})
    both, pivots, info = outcome.goldens
    assert (info.value, info.open, outcome.refusal) == (2, None, "P218")
    assert both.open.all()
    assert pivots.open.all()
    assert called("lu_factor_ex", [[3, 1], [1, 1 / 3]], "float32")[2].open
    assert evaluate("aten::linalg_lu_factor", (np.array([[4.0, 2], [0, 0]]),), {}).refusal == "P218"


def test_what_is_not_finite_is_open() -> None:
    """P217"""
    permutation, lower, upper = called("lu", [[[4, 2], [1, 3]], [[4, nan], [1, 3]]])
    for one in (permutation, lower, upper):
        assert one.open.all(axis=(-2, -1)).tolist() == one.open.any(axis=(-2, -1)).tolist() == [False, True]
        assert one.open_rule == "P217"


def test_too_many_rows_are_not_judged() -> None:
    for shape in ((73, 73), (2, 257)):
        with pytest.raises(Unjudged, match="systems of up to"):
            called("lu", np.ones(shape))


def factors(matrix: np.ndarray, narrow: type = np.float32) -> np.ndarray:
    """L below U of rows in their order, step by step, each operation rounded."""
    found = matrix.copy()
    for k in range(min(matrix.shape)):
        found[k + 1 :, k] = narrow(found[k + 1 :, k] / found[k, k])
        found[k + 1 :, k + 1 :] -= narrow(np.outer(found[k + 1 :, k], found[k, k + 1 :]))
        found[k + 1 :, k + 1 :] = narrow(found[k + 1 :, k + 1 :])
    return found


def by_columns(matrix: np.ndarray) -> np.ndarray:
    """Column by column, all products of one added up at once."""
    found = matrix.copy()
    for j in range(matrix.shape[1]):
        for i in range(1, len(matrix)):
            found[i, j] -= found[i, : min(i, j)] @ found[: min(i, j), j]
            if i > j:
                found[i, j] /= found[j, j]
    return found


@pytest.mark.parametrize("shape", [(5, 5), (33, 33), (9, 4), (4, 9)])
def test_factors_of_other_algorithms(shape: tuple[int, int]) -> None:
    square = drawn("invertible", FORMATS["float32"], (max(shape),) * 2, Stream(0, "lu", 0, "matrix"))
    matrix = np.ascontiguousarray(square[: shape[0], : shape[1]])
    permutation = called("lu", matrix, "float32")[0]
    rows = permutation.value.T @ matrix
    golden = called("lu_factor_ex", matrix, "float32")[0]
    assert golden.open is None
    assert excess(golden, factors(rows)) <= 1
    assert excess(golden, by_columns(rows)) <= 1
    assert excess(golden, factors(rows, np.float16)) > 1
    assert excess(golden, factors(rows[::-1].copy())) > 1
    assert excess(golden, np.triu(factors(rows))) > 1


def excess(golden: Golden, found: np.ndarray) -> float:
    judged = golden.budget <= 1e-2 * golden.scale
    error = np.abs(found.astype(np.float64) - golden.real.hi)
    assert judged.mean() > 0.9
    return float((error[judged] / np.maximum(golden.budget[judged], 1e-300)).max())
