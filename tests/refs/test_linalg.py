"""Systems and factors: values by hand, then what is open or refused."""

import math

import pytest

from conform.refs import UNSPECIFIED
from conform.refs.linalg.exact import Exact
from tests.refs.helpers import call, same, tensor

inf, nan = math.inf, math.nan


def solved(matrix: list, sides: list, dtype: str = "float64", upper: bool = False, left: bool = True,
           unitriangular: bool = False) -> object:  # fmt: skip
    return call("linalg_solve_triangular", self=tensor(dtype, matrix), B=tensor(dtype, sides), upper=upper, left=left,
                unitriangular=unitriangular)  # fmt: skip


def test_triangular_systems_read_one_triangle() -> None:
    same(solved([[2.0, nan], [1.0, 4.0]], [[2.0], [9.0]]), "float64", [[1.0], [2.0]])
    same(solved([[2.0, 1.0], [inf, 4.0]], [[4.0], [8.0]], upper=True), "float64", [[1.0], [2.0]])
    same(solved([[nan, nan], [1.0, 0.0]], [[2.0], [9.0]], unitriangular=True), "float64", [[2.0], [7.0]])
    same(solved([[2.0, nan], [1.0, 4.0]], [[4.0, 8.0]], left=False), "float64", [[1.0, 2.0]])
    same(solved([[3.0]], [[1.0]], "float32"), "float32", [[0.3333333432674408]])


def test_triangular_systems_of_complex_numbers() -> None:
    assert solved([[1j, 0j], [1 + 0j, 2 + 0j]], [[2 + 0j], [4 + 0j]], "complex64").data == [-2j, 2 + 1j]


def test_what_a_triangular_system_leaves_open() -> None:
    assert solved([[0.0]], [[1.0]]).data == [UNSPECIFIED]
    assert solved([[nan]], [[1.0]]).data == [UNSPECIFIED]
    assert solved([[2.0]], [[1.0, inf]]).data == [0.5, UNSPECIFIED]
    assert solved([[2.0, 0.0], [0.0, 2.0]], [[1.0, 1.0], [nan, 1.0]], left=False).data == [
        0.5, 0.5, UNSPECIFIED, UNSPECIFIED,
    ]  # fmt: skip


def test_triangular_solve_gives_the_matrix_as_well() -> None:
    solution, copy = call("triangular_solve", self=tensor("float64", [[[2.0], [9.0]]] * 2),
                          A=tensor("float64", [[2.0, 1.0], [5.0, 4.0]]), upper=True, transpose=True,
                          unitriangular=False)  # fmt: skip
    same(solution, "float64", [[[1.0], [2.0]]] * 2)
    same(copy, "float64", [[[2.0, 1.0], [5.0, 4.0]]] * 2)


def decomposed(matrix: list, dtype: str = "float64", upper: bool = False) -> tuple:
    return call("linalg_cholesky_ex", self=tensor(dtype, matrix), upper=upper, check_errors=False)


def test_cholesky() -> None:
    matrix = [[4.0, 2.0, -2.0], [2.0, 10.0, 8.0], [-2.0, 8.0, 14.0]]
    same(decomposed(matrix)[0], "float64", [[2.0, 0.0, 0.0], [1.0, 3.0, 0.0], [-1.0, 3.0, 2.0]])
    same(decomposed(matrix, upper=True)[0], "float64", [[2.0, 1.0, -1.0], [0.0, 3.0, 3.0], [0.0, 0.0, 2.0]])
    same(decomposed([[2.0]])[0], "float64", [[1.4142135623730951]])
    assert decomposed([[4 + 0j, 2j], [-2j, 5 + 0j]], "complex64")[0].data == [2, 0, -1j, 2]


@pytest.mark.parametrize(
    ("matrix", "info"),
    [([[0.0]], 1), ([[4.0, 2.0], [2.0, 1.0]], 2), ([[4.0, 2.0], [3.0, 3.0]], UNSPECIFIED), ([[inf]], UNSPECIFIED)],
)
def test_what_has_no_factor(matrix: list, info: object) -> None:
    factor, found = decomposed(matrix)
    assert set(factor.data) == {UNSPECIFIED}
    assert found.data == [info]


def test_what_is_solved_with_a_factor() -> None:
    lower = tensor("float64", [[1.0, nan], [1.0, 1.0]])
    same(call("cholesky_inverse", self=lower, upper=False), "float64", [[2.0, -1.0], [-1.0, 1.0]])
    solution = call("cholesky_solve", self=tensor("float64", [[1.0, nan], [1.0, 1.0]]), input2=lower, upper=False)
    assert solution.data == [1.0, UNSPECIFIED, 0.0, UNSPECIFIED]
    assert set(call("cholesky_inverse", self=lower, upper=True).data) == {UNSPECIFIED}
    assert call("cholesky_inverse", self=tensor("complex128", [[1j]]), upper=True).data == [UNSPECIFIED]


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="square"):
        decomposed([[1.0, 2.0]])
    with pytest.raises(ValueError, match="square"):
        decomposed([[1.0]], "float16")
    with pytest.raises(ValueError, match="with B of shape"):
        solved([[1.0]], [[1.0], [2.0]])


def test_determinants() -> None:
    """(1 + i)(3) - (2)(i) = 3 + i; of no rows 1."""
    assert Exact.of([[1 + 1j, 2], [1j, 3]], 2).determinant() == (3, 1)
    assert Exact.of([[0.5, 2.0], [1.0, 3.0]], 2).determinant() == (-0.5, 0)
    assert Exact.of([], 0).determinant() == (1, 0)
