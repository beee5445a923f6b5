"""Triangular systems and Cholesky's factors: literal results, what is read, what is open, what a bound tells apart."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from conform.errors import Unjudged
from conform.inputs.matrices import drawn
from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden, Outcome
from conform.numerics.draws import Stream
from conform.numerics.formats import FORMATS
from tests.interp.ops.literal import check

nan, inf = np.nan, np.inf


def solved(matrix: list, sides: list, dtype: str = "float64", **keywords: bool) -> Golden:
    call = (np.array(matrix, dtype), np.array(sides, dtype))
    return evaluate("aten::linalg_solve_triangular", call, keywords).goldens[0]


def decomposed(matrix: list, dtype: str = "float64", **keywords: bool) -> Outcome:
    return evaluate("aten::linalg_cholesky_ex", (np.array(matrix, dtype),), keywords)


LOWER = [[2, nan], [1, 4]]


def test_a_triangular_system_reads_one_triangle() -> None:
    assert solved(LOWER, [[2], [9]], upper=False).value.tolist() == [[1], [2]]
    assert solved([[2, 1], [nan, 4]], [[4], [8]], upper=True).value.tolist() == [[1], [2]]
    assert solved([[nan, inf], [1, 0]], [[2], [9]], upper=False, unitriangular=True).value.tolist() == [[2], [7]]


def test_the_matrix_may_stand_on_the_right() -> None:
    assert solved(LOWER, [[4, 8]], upper=False, left=False).value.tolist() == [[1, 2]]
    stack = solved([[[2, 0], [1, 4]]] * 2, [[4, 8]], upper=False, left=False)
    assert stack.value.tolist() == [[[1, 2]], [[1, 2]]]


def test_complex_systems() -> None:
    assert solved([[1j, 0], [1, 2]], [[2], [4]], "complex128", upper=False).value.tolist() == [[-2j], [2 + 1j]]


def test_solutions_are_rounded_once() -> None:
    """1 + 2^-52 - 1 over 2^-60, and a third."""
    golden = solved([[1, 0], [1, 2.0**-60]], [[1], [1 + 2.0**-52]], upper=False)
    assert golden.value.tolist() == [[1], [256]]
    assert solved([[3]], [[1]], "float32", upper=True).value.tolist() == [[np.float32(1 / 3)]]


def test_triangular_solve_transposes_and_copies() -> None:
    matrix = np.array([[1, 1j], [nan, 1]], np.complex64)
    solution, copy = evaluate("aten::triangular_solve", (np.ones((2, 2, 1), np.complex64), matrix),
                              {"transpose": True}).goldens  # fmt: skip
    assert solution.value.tolist() == [[[1], [1 - 1j]]] * 2
    assert copy.value.shape == (2, 2, 2)
    np.testing.assert_array_equal(copy.value[1], matrix)


def test_what_a_triangular_system_leaves_open() -> None:
    """P200"""
    assert solved([[2, 0], [nan, 4]], [[2], [9]], upper=False).open.all()
    assert solved([[2, 0], [1, 0]], [[2], [9]], upper=False).open.all()
    of_columns = solved([[2, 0], [1, 4]], [[2, nan, 2], [9, 9, inf]], upper=False)
    assert of_columns.open.tolist() == [[False, True, True]] * 2
    of_rows = solved([[2, 0], [1, 4]], [[4, 8], [nan, 1]], upper=False, left=False)
    assert of_rows.open.tolist() == [[False, False], [True, True]]
    assert of_rows.open_rule == "P200"


def test_no_rows_and_no_sides() -> None:
    assert solved(np.empty((0, 0)), np.empty((0, 3)), upper=True).value.shape == (0, 3)
    assert solved([[2]], np.empty((1, 0)), upper=True).value.shape == (1, 0)
    factor, info = decomposed(np.empty((2, 0, 0))).goldens
    assert (factor.value.shape, info.value.tolist()) == ((2, 0, 0), [0, 0])


def test_too_many_rows_are_not_judged() -> None:
    with pytest.raises(Unjudged, match="up to 136"):
        solved(np.eye(137), np.eye(137), upper=True)


def test_cholesky_of_integers() -> None:
    """(2, 0, 0; 1, 3, 0; -1, 3, 2) times its transpose."""
    matrix = [[4, 2, -2], [2, 10, 8], [-2, 8, 14]]
    factor, info = decomposed(matrix).goldens
    assert factor.value.tolist() == [[2, 0, 0], [1, 3, 0], [-1, 3, 2]]
    assert (info.format.name, info.value.tolist()) == ("int32", 0)
    assert decomposed(matrix, upper=True).goldens[0].value.tolist() == [[2, 1, -1], [0, 3, 3], [0, 0, 2]]


def test_cholesky_of_complex_numbers() -> None:
    matrix = [[4, 2j], [-2j, 5]]
    assert decomposed(matrix, "complex64").goldens[0].value.tolist() == [[2, 0], [-1j, 2]]
    assert decomposed(matrix, "complex64", upper=True).goldens[0].value.tolist() == [[2, 1j], [0, 2]]


def test_roots_are_rounded_once() -> None:
    assert decomposed([[2.0]]).goldens[0].value.tolist() == [[np.sqrt(2.0)]]
    assert decomposed([[2.0**-1000]]).goldens[0].value.tolist() == [[2.0**-500]]


def test_the_order_of_the_first_minor_that_is_not_positive() -> None:
    """P202"""
    outcome = decomposed([[[4, 2], [2, 3]], [[4, 2], [2, -3]], [[0, 0], [0, 1]]], check_errors=True)
    factor, info = outcome.goldens
    assert info.value.tolist() == [0, 2, 1]
    assert factor.open.all(axis=(-2, -1)).tolist() == [False, True, True]
    assert (factor.open_rule, outcome.refusal) == ("P202", "P202")
    assert decomposed([[4, 2], [2, 3]], check_errors=True).refusal is None
    assert decomposed([[4, 2], [2, -3]]).refusal is None
    for op in ("aten::cholesky", "aten::linalg_cholesky"):
        assert evaluate(op, (np.array([[4.0, 2], [2, -3]]),), {}).refusal == "P202"
        assert evaluate(op, (np.array([[4.0, 2], [2, 3]]),), {}).refusal is None


@pytest.mark.parametrize(("corner", "known"), [(1 + 2.0**-10, 0), (1.0, None), (1 - 2.0**-20, None), (1 - 2.0**-10, 2)])
def test_near_a_singular_matrix_roundings_decide(corner: float, known: int | None) -> None:
    """P203: in float32 of (4, 2; 2, corner), singular for 1."""
    factor, info = decomposed([[4, 2], [2, corner]], "float32").goldens
    if known is None:
        assert info.open
        assert info.open_rule == "P203"
        assert factor.open.all()
    else:
        assert info.open is None
        assert info.value == known


@pytest.mark.parametrize("matrix", [[[4, 2], [1, 3]], [[nan, 2], [2, 3]], [[4 + 1j, 2], [2, 3]], [[4, 2j], [2j, 3]]])
def test_matrices_that_are_not_hermitian_are_open(matrix: list) -> None:
    """P201"""
    factor, info = decomposed(matrix, "complex128").goldens
    assert info.open
    assert factor.open.all()
    assert factor.open_rule == "P201"


def test_what_is_solved_with_a_factor() -> None:
    """(1, 0; 1, 1) and (1, 9; 1j, 1), of which the 9 is not read."""
    inverse = evaluate("aten::cholesky_inverse", (np.array([[1.0, 9], [1, 1]]),), {}).goldens[0]
    assert inverse.value.tolist() == [[2, -1], [-1, 1]]
    upper = evaluate("aten::cholesky_inverse", (np.array([[1.0, 1], [9, 1]]),), {"upper": True}).goldens[0]
    assert upper.value.tolist() == [[2, -1], [-1, 1]]
    of_complex = evaluate("aten::cholesky_inverse", (np.array([[1, 9], [1j, 1]]),), {}).goldens[0]
    assert of_complex.value.tolist() == [[2, 1j], [-1j, 1]]
    sides = np.array([[[1.0], [1]], [[0], [nan]]])
    solution = evaluate("aten::cholesky_solve", (sides, np.array([[1.0, 9], [1, 1]])), {}).goldens[0]
    assert solution.value[0].tolist() == [[1], [0]]
    assert solution.open.tolist() == [[[False], [False]], [[True], [True]]]


def test_what_is_no_factor_is_open() -> None:
    """P204"""
    outcome = evaluate("aten::cholesky_inverse", (np.array([[1.0, 0], [1, 0]]),), {})
    assert outcome.goldens[0].open.all()
    assert outcome.refusal == "P204"
    imaginary = evaluate("aten::cholesky_solve", (np.ones((1, 1), complex), np.array([[1j]])), {}).goldens[0]
    assert imaginary.open.all()


# --- What the bounds tell apart ---------------------------------------------------------------------------------------


def matrices(kind: str, rows: int, dtype: str = "float32") -> np.ndarray:
    return drawn(kind, FORMATS[dtype], (rows, rows), Stream(0, f"{kind} {rows}", 0, "matrix"))


def excess(golden: Golden, found: np.ndarray) -> float:
    """The largest error over the bound; of what is vacuous, nothing."""
    judged = golden.budget <= 1e-2 * golden.scale
    error = np.abs(found.astype(np.float64) - golden.real.hi)
    assert judged.mean() > 0.9
    return float((error[judged] / np.maximum(golden.budget[judged], 1e-300)).max())


def substitution(matrix: np.ndarray, sides: np.ndarray, rounded: Callable = np.float32, skipped: int = 0) -> np.ndarray:
    """By rows, each product and sum rounded."""
    found = np.zeros_like(sides)
    for i in range(len(matrix)):
        rest = sides[i].copy()
        for j in range(skipped, i):
            rest = rounded(rest - rounded(matrix[i, j] * found[j]))
        found[i] = rounded(rest / matrix[i, i])
    return found


def to_half(numbers: np.ndarray) -> np.ndarray:
    return np.float32(np.float16(numbers))


@pytest.mark.parametrize("rows", [5, 33])
def test_honest_triangular_solutions(rows: int) -> None:
    matrix, sides = np.tril(matrices("dominant", rows)), matrices("invertible", rows)
    golden = solved(matrix, sides, "float32", upper=False)
    inverse = substitution(matrix, np.eye(rows, dtype=np.float32))
    assert excess(golden, substitution(matrix, sides)) <= 1
    assert excess(golden, inverse @ sides) <= 1
    assert excess(golden, np.linalg.solve(matrix, sides)) <= 1
    assert excess(golden, np.linalg.inv(matrix) @ sides) <= 1


@pytest.mark.parametrize("rows", [5, 33])
def test_wrong_triangular_solutions(rows: int) -> None:
    whole, sides = matrices("dominant", rows), matrices("invertible", rows)
    golden = solved(whole, sides, "float32", upper=False)
    matrix = np.tril(whole)
    assert excess(golden, substitution(matrix, sides, to_half)) > 1
    assert excess(golden, substitution(matrix, sides, skipped=1)) > 1
    assert excess(golden, np.linalg.solve(whole, sides)) > 1
    assert excess(golden, np.linalg.solve(np.triu(whole), sides)) > 1
    assert excess(golden, np.linalg.solve(matrix.T, sides)) > 1
    assert excess(golden, np.linalg.solve(np.tril(whole, -1) + np.eye(rows), sides)) > 1
    assert excess(golden, substitution(matrix, sides).T) > 1


def by_rows(matrix: np.ndarray, rounded: Callable = np.float32, left_out: int = 0) -> np.ndarray:
    """Cholesky's decomposition with each operation rounded; `left_out`: so many of the last terms of each sum."""
    found = np.zeros_like(matrix)
    for i in range(len(matrix)):
        for j in range(i + 1):
            rest = matrix[i, j]
            for k in range(max(j - left_out, 0)):
                rest = rounded(rest - rounded(found[i, k] * found[j, k]))
            found[i, j] = rounded(np.sqrt(rest)) if i == j else rounded(rest / found[j, j])
    return found


@pytest.mark.parametrize("rows", [5, 33])
def test_cholesky_factors_of_other_algorithms(rows: int) -> None:
    matrix = matrices("definite", rows)
    golden = decomposed(matrix, "float32").goldens[0]
    assert excess_below(golden, np.linalg.cholesky(matrix)) <= 1
    assert excess_below(golden, by_rows(matrix)) <= 1
    of_qr = np.linalg.qr(np.linalg.cholesky(matrix).T, "r").T
    assert excess_below(golden, of_qr * np.sign(np.diag(of_qr))) <= 1
    assert excess_below(golden, by_rows(matrix, to_half)) > 1
    assert excess_below(golden, by_rows(matrix, left_out=1)) > 1


def excess_below(golden: Golden, found: np.ndarray) -> float:
    """`excess` of the lower triangle, where the bound is no 0."""
    place = np.tril_indices(len(found))
    return excess(golden.rearranged(lambda part: part[place]), found[place])


@pytest.mark.parametrize("rows", [5, 33])
def test_solutions_with_a_factor(rows: int) -> None:
    factor = np.tril(matrices("factor", rows))
    golden = evaluate("aten::cholesky_inverse", (factor,), {}).goldens[0]
    ones = np.eye(rows, dtype=np.float32)
    inverse = substitution(factor, ones)
    assert excess(golden, inverse.T @ inverse) <= 1
    assert excess(golden, np.linalg.inv(factor @ factor.T)) <= 1
    assert excess(golden, np.linalg.solve(factor.T, np.linalg.solve(factor, ones))) <= 1
    assert excess(golden, to_half(inverse).T @ to_half(inverse)) > 1
    assert excess(golden, inverse @ inverse.T) > 1
    assert excess(golden, inverse[:-1].T @ inverse[:-1]) > 1


def test_diagonals_of_the_last_two_dims() -> None:
    stack = np.arange(12).reshape(2, 2, 3)
    check("aten::linalg_diagonal", stack, gives=np.array([[0, 4], [6, 10]]))
    check("aten::linalg_diagonal", stack, offset=1, gives=np.array([[1, 5], [7, 11]]))
    check("aten::linalg_diagonal", stack, dim1=0, dim2=1, gives=np.array([[0, 9], [1, 10], [2, 11]]))
