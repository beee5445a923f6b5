"""Triangular systems, solved exactly and rounded once."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from math import prod
from typing import Any

import numpy as np

from conform.interp.formulas.backward_errors import of_substitution
from conform.interp.formulas.elimination import solution_and_inverse, whole
from conform.interp.formulas.fractions_as_reals import magnitudes
from conform.interp.formulas.stacks import Stack, broadcast, indices, refuse_large
from conform.interp.golden import Golden
from conform.interp.semantics import semantics
from conform.interp.traits import Matrices
from conform.numerics.formats import format_of


def count_of_systems(matrices: np.ndarray, sides: np.ndarray) -> int:
    """Of stacks that broadcast how many systems there are."""
    shapes = (np.shape(one)[-3::-1] for one in (matrices, sides))
    return prod(max(pair) for pair in zip_longest(*shapes, fillvalue=1))


def _elements(arguments: Mapping[str, Any]) -> int:
    matrices, sides = arguments["self"], arguments["B"]
    return count_of_systems(matrices, sides) * prod(np.shape(sides)[-2:])


def _elements_with_copies(arguments: Mapping[str, Any]) -> int:
    matrices, sides = arguments["A"], arguments["self"]
    return count_of_systems(matrices, sides) * (prod(np.shape(sides)[-2:]) + prod(np.shape(matrices)[-2:]))


@semantics("aten::linalg_solve_triangular", matrices=Matrices("dominant", ("self",)), elements=_elements)
def solve_triangular(self: np.ndarray, B: np.ndarray, upper: bool, left: bool, unitriangular: bool) -> Golden:
    """The X of self X = B, or of X self = B where left is False, of stacks of matrices that broadcast: of self one
    triangle is read, the upper one or the lower one; unitriangular: of its diagonal nothing, which counts as 1
    (P200)"""
    if left:
        return _solution(self, B, upper, unitriangular).golden()
    turned = _solution(_transposed(self), _transposed(B), not upper, unitriangular)
    return turned.transposed()


@semantics("aten::triangular_solve", matrices=Matrices("dominant", ("A",)), elements=_elements_with_copies)
def triangular_solve(
    self: np.ndarray, A: np.ndarray, upper: bool, transpose: bool, unitriangular: bool
) -> tuple[Golden, Golden]:
    """The X of A X = self, or of A^T X = self where transpose is True, as linalg_solve_triangular, and a copy of A, as
    often as there are systems (P200)"""
    matrices, upper = (_transposed(A), not upper) if transpose else (A, upper)
    copies, _ = broadcast(A, self)
    return _solution(matrices, self, upper, unitriangular).golden(), Golden(format_of(A), np.array(copies))


def _transposed(stack: np.ndarray) -> np.ndarray:
    return np.swapaxes(stack, -1, -2)


def read_of(stack: np.ndarray, upper: bool, unitriangular: bool = False) -> np.ndarray:
    """The elements that are read, with 1 on a diagonal that is not, and 0 for the others."""
    read = np.triu(stack, 1 if unitriangular else 0) if upper else np.tril(stack, -1 if unitriangular else 0)
    return read + np.eye(stack.shape[-1], dtype=stack.dtype) if unitriangular else read


def _solution(matrices: np.ndarray, sides: np.ndarray, upper: bool, unitriangular: bool) -> Stack:
    matrices, sides = broadcast(read_of(matrices, upper, unitriangular), sides)
    refuse_large("a triangular system", matrices.shape[-1])
    result = Stack(format_of(sides), sides.shape)
    for index in indices(matrices):
        _solve_one(result, index, matrices[index], sides[index])
    return result


def _solve_one(result: Stack, index: tuple[int, ...], matrix: np.ndarray, sides: np.ndarray) -> None:
    if not np.isfinite(matrix).all() or not np.diag(matrix).all():
        result.open(index, "P200")
        return
    finite = np.isfinite(sides).all(axis=0)
    sides = np.where(finite, sides, 0)
    solution, inverse = solution_and_inverse(whole(matrix), whole(sides))
    inverse, sizes = magnitudes(inverse), np.abs(sides).astype(np.float64)
    error = of_substitution(result.format, np.abs(matrix).astype(np.float64), inverse, sizes)
    result.put(index, solution, error, inverse @ sizes)
    result.open((*index, slice(None), ~finite), "P200")
