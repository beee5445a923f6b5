"""What is solved with Cholesky's factor of a positive definite matrix that is given."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from conform.interp.formulas.backward_errors import of_two_substitutions
from conform.interp.formulas.elimination import Scaled, Whole, solution, solution_of_factor, whole
from conform.interp.formulas.fractions_as_reals import magnitudes
from conform.interp.formulas.stacks import Stack, broadcast, indices, refuse_large
from conform.interp.golden import Golden, Outcome
from conform.interp.ops.linalg.triangular import count_of_systems
from conform.interp.semantics import semantics
from conform.interp.traits import Matrices
from conform.numerics.formats import format_of


def _elements(arguments: Mapping[str, Any]) -> int:
    sides = arguments["self"]
    return count_of_systems(arguments["input2"], sides) * prod(np.shape(sides)[-2:])


@semantics("aten::cholesky_solve", matrices=Matrices("factor", ("input2",)), elements=_elements)
def cholesky_solve(self: np.ndarray, input2: np.ndarray, upper: bool) -> Golden:
    """The X of A X = self, where A = L L^H and L is the lower triangle of input2, or A = U^H U, U the upper one
    (P204)"""
    return _solved(input2, self, upper)[0].golden()


@semantics("aten::cholesky_inverse", matrices=Matrices("factor", ("self",)))
def cholesky_inverse(self: np.ndarray, upper: bool) -> Outcome:
    """The inverse of A = L L^H, where L is the lower triangle of self, or of A = U^H U, U the upper one (P204)"""
    result, is_open = _solved(self, np.eye(self.shape[-1], dtype=self.dtype), upper)
    return Outcome((result.golden(),), "P204" if is_open else None)


def _solved(factors: np.ndarray, sides: np.ndarray, upper: bool) -> tuple[Stack, bool]:
    """The solutions, and whether a factor is none."""
    lower = np.tril(np.conj(np.swapaxes(factors, -1, -2)) if upper else factors)
    lower, sides = broadcast(lower, sides)
    refuse_large("a system of a factor", lower.shape[-1])
    result = Stack(format_of(sides), sides.shape)
    for index in indices(lower):
        _solve_one(result, index, lower[index], sides[index])
    return result, any(mask.any() for mask in result.opened.values())


def _solve_one(result: Stack, index: tuple[int, ...], lower: np.ndarray, sides: np.ndarray) -> None:
    diagonal = np.diag(lower)
    if not np.isfinite(lower).all() or not diagonal.all() or np.imag(diagonal).any():
        result.open(index, "P204")
        return
    finite = np.isfinite(sides).all(axis=0)
    sides = np.where(finite, sides, 0)
    scaled, sizes = whole(lower), np.abs(sides).astype(np.float64)
    identity = Scaled(Whole.identity(scaled.numbers), 0)
    inverse = magnitudes(solution(scaled, identity))
    error = of_two_substitutions(result.format, np.abs(lower).astype(np.float64), inverse, sizes)
    result.put(index, solution_of_factor(scaled, whole(sides)), error, inverse.T @ inverse @ sizes)
    result.open((*index, slice(None), ~finite), "P204")
