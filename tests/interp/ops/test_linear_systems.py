"""Systems of any square matrices, inverses and determinants: literal results, what is open, what bounds tell apart."""

from __future__ import annotations

import numpy as np
import pytest

from conform.errors import InvalidArguments, Unjudged
from conform.inputs.matrices import drawn
from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden, Outcome
from conform.numerics.draws import Stream
from conform.numerics.formats import FORMATS

nan, inf = np.nan, np.inf
MATRIX = [[4, 2], [1, 3]]


def called(op: str, *tensors: object, dtype: str = "float64", **keywords: bool) -> Outcome:
    return evaluate(f"aten::{op}", tuple(np.array(one, dtype) for one in tensors), keywords)


def first(op: str, *tensors: object, dtype: str = "float64", **keywords: bool) -> Golden:
    return called(op, *tensors, dtype=dtype, **keywords).goldens[0]


# --- Systems ----------------------------------------------------------------------------------------------------------


def test_a_system_and_its_info() -> None:
    solution, info = called("linalg_solve_ex", MATRIX, [[8], [7]]).goldens
    assert solution.value.tolist() == [[1], [2]]
    assert (info.format.name, info.value.tolist()) == ("int32", 0)
    assert first("linalg_solve", [[0, 2], [4, 0]], [[2], [8]]).value.tolist() == [[2], [1]]


def test_the_matrix_may_stand_on_the_right() -> None:
    """(1, 2) (4, 2; 1, 3) = (6, 8)"""
    assert first("linalg_solve", MATRIX, [[6, 8]], left=False).value.tolist() == [[1, 2]]


def test_sides_that_are_vectors() -> None:
    """One, one for each matrix of a stack, and one matrix for all of them."""
    assert first("linalg_solve", MATRIX, [8, 7]).value.tolist() == [1, 2]
    stack = [MATRIX, [[1, 0], [0, 2]]]
    assert first("linalg_solve", stack, [[8, 7], [3, 8]]).value.tolist() == [[1, 2], [3, 4]]
    assert first("linalg_solve", stack, [8, 8]).value.shape == (2, 2)
    assert first("linalg_solve", stack, [[8, 8, 0], [7, 2, 2]]).value.shape == (2, 2, 3)
    with pytest.raises(InvalidArguments):
        called("linalg_solve", stack, [[8, 7], [3, 8]], left=False)


def test_stacks_broadcast() -> None:
    matrices, sides = [[MATRIX], [[[1, 0], [0, 2]]]], [[[8], [7]], [[4], [1]], [[0], [0]]]
    solution, info = called("linalg_solve_ex", matrices, sides).goldens
    assert solution.value[..., 0].tolist() == [[[1, 2], [1, 0], [0, 0]], [[8, 3.5], [4, 0.5], [0, 0]]]
    assert info.value.tolist() == [[0], [0]]


def test_complex_systems() -> None:
    assert first("linalg_solve", [[0, 1j], [2, 0]], [[3], [4]], dtype="complex128").value.tolist() == [[2], [-3j]]
    assert first("linalg_inv", [[0, 1j], [2, 0]], dtype="complex64").value.tolist() == [[0, 0.5], [-1j, 0]]


def test_inverses() -> None:
    for op in ("linalg_inv_ex", "linalg_inv"):
        assert first(op, MATRIX).value.tolist() == [[0.3, -0.2], [-0.1, 0.4]]
    assert evaluate("aten::inverse", (np.array([[[2.0]], [[4]]]),), {}).goldens[0].value.tolist() == [[[0.5]], [[0.25]]]


def test_solutions_are_rounded_once() -> None:
    """Of (1, 1; 1, 1 + 2^-52), whose inverse has numbers of 2^52, and a third."""
    golden = first("linalg_solve", [[1, 1], [1, 1 + 2.0**-52]], [[1], [1 + 2.0**-52]])
    assert golden.value.tolist() == [[0], [1]]
    assert first("linalg_inv", [[3]], dtype="float32").value.tolist() == [[np.float32(1 / 3)]]


@pytest.mark.parametrize(
    ("matrix", "infos"),
    [
        ([[0, 1], [0, 2]], (1, 2)),
        ([[0, 0], [1, 2]], (2, 1)),
        ([[0, 0], [0, 0]], (1, 1)),
        ([[1, 0, 3], [4, 0, 6], [7, 0, 9]], (2, 3)),
    ],
)
def test_info_of_singular_matrices(matrix: list, infos: tuple[int, int]) -> None:
    """P218: of the matrix's factors, or of those of its transpose."""
    outcome = called("linalg_inv_ex", matrix, check_errors=True)
    inverse, info = outcome.goldens
    assert inverse.open.all()
    assert {one.value.item() for one in (info, *info.alternatives)} == set(infos)
    assert (info.value, info.open, outcome.refusal) == (infos[0], None, "P218")
    assert called("linalg_inv_ex", matrix).refusal is None
    assert called("linalg_inv", matrix).refusal == "P218"
    solved = called("linalg_solve_ex", matrix, np.eye(len(matrix)), left=False).goldens[1]
    assert solved.value == infos[0]


@pytest.mark.parametrize(("corner", "is_known"), [(0.5 + 2.0**-12, True), (0.5 + 2.0**-22, False), (0.5, False)])
def test_near_a_singular_matrix_roundings_decide(corner: float, is_known: bool) -> None:
    """P218: in float32 of (3, 1.5; 1, corner), singular for 0.5."""
    outcome = called("linalg_solve_ex", [[3, 1.5], [1, corner]], [[1], [1]], dtype="float32", check_errors=True)
    assert (outcome.goldens[1].open is None) == is_known
    assert (outcome.refusal is None) == is_known


def test_what_is_not_finite_is_open() -> None:
    """P217"""
    outcome = called("linalg_inv_ex", [MATRIX, [[nan, 0], [0, 1]]], check_errors=True)
    inverse, info = outcome.goldens
    assert inverse.open.any(axis=(-2, -1)).tolist() == info.open.tolist() == [False, True]
    assert outcome.refusal == "P218"
    solution = first("linalg_solve", MATRIX, [[8, inf, 8], [7, 7, nan]])
    assert solution.open.tolist() == [[False, True, True]] * 2
    assert solution.open_rule == "P217"
    of_rows = first("linalg_solve", MATRIX, [[6, 8], [nan, 0]], left=False)
    assert of_rows.open.tolist() == [[False, False], [True, True]]


def test_no_rows_and_no_sides() -> None:
    solution, info = called("linalg_solve_ex", np.empty((2, 0, 0)), np.empty((0, 3))).goldens
    assert (solution.value.shape, info.value.tolist()) == ((2, 0, 3), [0, 0])
    assert first("linalg_solve", MATRIX, np.empty((2, 0))).value.shape == (2, 0)
    assert first("linalg_inv", np.empty((0, 2, 2))).value.shape == (0, 2, 2)


def test_too_many_rows_are_not_judged() -> None:
    for op in ("linalg_inv", "linalg_det"):
        with pytest.raises(Unjudged, match="up to 72"):
            called(op, np.eye(73))


# --- Determinants -----------------------------------------------------------------------------------------------------


def test_determinants() -> None:
    assert first("linalg_det", [MATRIX, [[0, 1], [1, 0]], [[1, 2], [2, 4]]]).value.tolist() == [10, -1, 0]
    assert first("linalg_det", [[1, 1j], [1j, 2]], dtype="complex64").value.tolist() == 3
    assert evaluate("aten::det", (np.empty((2, 0, 0)),), {}).goldens[0].value.tolist() == [1, 1]
    assert first("linalg_det", [[3, 1], [2.0**-60, 1]]).value == 3
    assert first("linalg_det", [[1 + 2.0**-30, 1], [1, 1 - 2.0**-30]]).value == -(2.0**-60)


def test_signs_and_logarithms() -> None:
    sign, logarithm = called("linalg_slogdet", [[0, 1], [2, 0]]).goldens
    assert (sign.value, logarithm.value) == (-1, np.log(2.0))
    sign, logarithm = called("linalg_slogdet", [[3, 0], [0, 4j]], dtype="complex64").goldens
    assert (sign.value, logarithm.value) == (1j, np.float32(np.log(12.0)))
    assert logarithm.format.name == "float32"
    sign, logarithm = called("linalg_slogdet", np.empty((0, 0))).goldens
    assert (sign.value, logarithm.value, logarithm.budget) == (1, 0, 0)


def test_logarithms_of_determinants_beyond_the_range() -> None:
    sign, logarithm = called("linalg_slogdet", np.diag([-(2.0**-140)] * 3), dtype="float32").goldens
    assert (sign.value, logarithm.value) == (-1, np.float32(-420 * np.log(2.0)))
    near_one = called("linalg_slogdet", np.diag([1, 1 + 2.0**-52])).goldens[1]
    assert near_one.value == 2.0**-52 - 2.0**-105


def test_logdet() -> None:
    of = [MATRIX, [[0, 1], [1, 0]], [[0, 0], [1, 2]], [[1, 0], [0, 1]]]
    golden = evaluate("aten::logdet", (np.array(of, float),), {}).goldens[0]
    np.testing.assert_array_equal(golden.value, [np.log(10.0), nan, -inf, 0])
    assert golden.open is None


def test_a_singular_matrix_is_known_where_nothing_is_rounded() -> None:
    """P219"""
    sign, logarithm = called("linalg_slogdet", [[[0, 1], [0, 2]], [[3, 1], [6, 2]]]).goldens
    assert (sign.value[0], logarithm.value[0]) == (0, -inf)
    assert sign.open.tolist() == logarithm.open.tolist() == [False, True]
    assert sign.open_rule == "P219"


def test_the_determinant_of_a_singular_matrix_is_judged() -> None:
    """To a few roundings of the product of its rows; exactly, where nothing is rounded."""
    assert 0 < first("linalg_det", [[3, 1], [6, 2]]).budget < 100 * 2.0**-53 * 20
    assert first("linalg_det", [[0, 1], [0, 2]]).budget == 0


@pytest.mark.parametrize(
    ("diagonal", "value", "is_bounded"),
    [([1e30, 1e30, 2], inf, True), ([1e-30, 1e-30, 2], 0, True), ([1e30, 1e30, 1e-30, 1e-30], 1, False)],
)
def test_products_that_leave_the_range(diagonal: list, value: float, is_bounded: bool) -> None:
    """In float32; a product that leaves it in some order, and comes back in another, has no bound."""
    golden = first("linalg_det", np.diag(diagonal), dtype="float32")
    assert golden.value == np.float32(value)
    assert np.isfinite(golden.budget) == is_bounded


def test_factors_are_open() -> None:
    """P221"""
    sides = np.ones((2, 1))
    for outcome in (called("_linalg_solve_ex", MATRIX, sides), called("_linalg_det", MATRIX),
                    called("_linalg_slogdet", MATRIX)):  # fmt: skip
        shapes = [(one.value.shape, one.format.name) for one in outcome.goldens if one.open_rule == "P221"]
        assert shapes == [((2, 2), "float64"), ((2,), "int32")]


# --- What the bounds tell apart ---------------------------------------------------------------------------------------


def matrices(rows: int, kind: str = "invertible") -> np.ndarray:
    return drawn(kind, FORMATS["float32"], (rows, rows), Stream(0, f"{kind} {rows}", 0, "matrix"))


def excess(golden: Golden, found: np.ndarray) -> float:
    """The largest error over the bound; of what is vacuous, nothing."""
    judged = golden.budget <= 1e-2 * golden.scale
    error = np.abs(found.astype(np.float64) - golden.real.hi)
    assert judged.mean() > 0.9
    return float((error[judged] / np.maximum(golden.budget[judged], 1e-300)).max())


def factors(matrix: np.ndarray, half: bool = False, pivots: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """(rows in their order, L below U), step by step, each operation rounded."""
    narrow = np.float16 if half else np.float32
    found, order = matrix.copy(), np.arange(len(matrix))
    for k in range(len(matrix)):
        best = k + np.argmax(np.abs(found[k:, k])) if pivots else k
        found[[k, best]], order[[k, best]] = found[[best, k]], order[[best, k]]
        found[k + 1 :, k] = narrow(found[k + 1 :, k] / found[k, k])
        products = narrow(np.outer(found[k + 1 :, k], found[k, k + 1 :]))
        found[k + 1 :, k + 1 :] = narrow(found[k + 1 :, k + 1 :] - products)
    return order, found


def solved(matrix: np.ndarray, sides: np.ndarray, half: bool = False) -> np.ndarray:
    order, both = factors(matrix, half)
    found = sides[order].copy()
    for i in range(len(found)):
        found[i] -= both[i, :i] @ found[:i]
    for i in reversed(range(len(found))):
        found[i] = (found[i] - both[i, i + 1 :] @ found[i + 1 :]) / both[i, i]
    return found


@pytest.mark.parametrize("rows", [5, 33])
def test_solutions_of_other_algorithms(rows: int) -> None:
    matrix, sides = matrices(rows), matrices(rows, "dominant")
    golden = first("linalg_solve", matrix, sides, dtype="float32")
    assert excess(golden, solved(matrix, sides)) <= 1
    assert excess(golden, np.linalg.solve(matrix, sides)) <= 1
    assert excess(golden, np.linalg.inv(matrix) @ sides) <= 1
    assert excess(golden, solved(matrix, sides, half=True)) > 1
    assert excess(golden, np.linalg.solve(matrix.T, sides)) > 1
    assert excess(golden, np.linalg.solve(matrix, sides).T) > 1


@pytest.mark.parametrize("rows", [5, 33])
def test_inverses_of_other_algorithms(rows: int) -> None:
    matrix = matrices(rows)
    golden, ones = first("linalg_inv", matrix, dtype="float32"), np.eye(rows, dtype=np.float32)
    assert excess(golden, np.linalg.inv(matrix)) <= 1
    assert excess(golden, solved(matrix, ones)) <= 1
    assert excess(golden, solved(matrix.T.copy(), ones).T) <= 1
    assert excess(golden, solved(matrix, ones, half=True)) > 1
    assert excess(golden, np.linalg.inv(matrix).T) > 1


@pytest.mark.parametrize("rows", [5, 33])
def test_determinants_of_other_algorithms(rows: int) -> None:
    matrix = matrices(rows)
    golden = first("linalg_det", matrix, dtype="float32")
    sign, logarithm = called("linalg_slogdet", matrix, dtype="float32").goldens
    for one in (matrix, matrix.T.copy()):
        order, both = factors(one)
        parity = round(np.linalg.det(np.eye(rows)[order]))
        assert excess(golden, parity * np.diag(both).prod()) <= 1
        assert excess(logarithm, np.log(np.abs(np.diag(both))).sum()) <= 1
    assert excess(golden, np.linalg.det(matrix)) <= 1
    assert sign.value == np.linalg.slogdet(matrix)[0]
    of_half = np.diag(factors(matrix, half=True)[1])
    assert excess(golden, np.sign(golden.value) * np.abs(of_half).prod()) > 1
    assert excess(logarithm, np.log(np.abs(of_half)).sum()) > 1
    assert excess(golden, -np.linalg.det(matrix)) > 1


def test_bounds_hold_where_another_pivot_is_nearly_as_large() -> None:
    """Of (1, 2; -1 + d, 1), both orders of the rows."""
    matrix = np.array([[1, 2], [-1 + 2.0**-24, 1]], np.float32)
    golden = first("linalg_inv", matrix, dtype="float32")
    for order in ([0, 1], [1, 0]):
        lower = matrix[order]
        _, both = factors(lower, pivots=False)
        columns = np.linalg.solve(np.triu(both).astype(float), np.linalg.inv(np.tril(both, -1) + np.eye(2)))
        assert excess(golden, columns[:, np.argsort(order)]) <= 1
