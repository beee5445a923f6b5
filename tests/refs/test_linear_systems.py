"""The references of systems, determinants and LU factors: literal results."""

from __future__ import annotations

from math import inf, log

from conform import refs
from conform.refs import UNSPECIFIED, RefTensor

MATRIX = RefTensor("float64", (2, 2), [4.0, 2.0, 1.0, 3.0])
SINGULAR = RefTensor("float64", (2, 2), [0.0, 1.0, 0.0, 2.0])


def test_systems() -> None:
    solve = refs.lookup("aten::linalg_solve_ex")
    solution, info = solve(MATRIX, RefTensor("float64", (2,), [8.0, 7.0]), True, False)
    assert (solution.shape, solution.data, info.data) == ((2,), [1.0, 2.0], [0])
    assert solve(MATRIX, RefTensor("float64", (1, 2), [6.0, 8.0]), False, False)[0].data == [1.0, 2.0]
    inverse, info = refs.lookup("aten::linalg_inv_ex")(SINGULAR, False)
    assert (inverse.data, info.data) == ([UNSPECIFIED] * 4, [1])


def test_determinants() -> None:
    assert refs.lookup("aten::linalg_det")(MATRIX).data == [10.0]
    assert [one.data for one in refs.lookup("aten::linalg_slogdet")(MATRIX)] == [[1.0], [log(10)]]
    assert [one.data for one in refs.lookup("aten::linalg_slogdet")(SINGULAR)] == [[0.0], [-inf]]
    sign, _ = refs.lookup("aten::linalg_slogdet")(RefTensor("complex64", (1, 1), [3 + 4j]))
    assert [(z.real, z.imag) for z in sign.data] == [(0.6000000238418579, 0.800000011920929)]


def test_factors() -> None:
    both, pivots, info = refs.lookup("aten::linalg_lu_factor_ex")(
        RefTensor("float32", (3, 2), [1.0, 2.0, 4.0, 8.0, 2.0, 8.0]), True, False
    )
    assert (both.data, pivots.data, info.data) == ([4.0, 8.0, 0.5, 4.0, 0.25, 0.0], [2, 3], [0])
    permutation, _, _ = refs.lookup("aten::linalg_lu")(MATRIX, True)
    assert permutation.data == [1.0, 0.0, 0.0, 1.0]
    assert refs.lookup("aten::linalg_lu_factor_ex")(SINGULAR, True, False)[2].data == [1]
