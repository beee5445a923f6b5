"""Systems of any square matrices, and their inverses: solved exactly and rounded once."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from conform.interp.formulas.backward_errors import of_system
from conform.interp.formulas.elimination import whole
from conform.interp.formulas.stacks import Stack, broadcast, indices, refuse_large
from conform.interp.golden import Outcome
from conform.interp.ops.linalg.eliminated import MOST_ROWS, SINGULAR, Eliminated, Info, unspecified_factors
from conform.interp.ops.linalg.triangular import count_of_systems
from conform.interp.semantics import semantics
from conform.interp.traits import Matrices
from conform.numerics.formats import format_of

NOT_FINITE = "P217"
Index = tuple[int, ...]
Parts = tuple[np.ndarray, ...]
OF_SYSTEMS = Matrices("invertible", ("A",))


def is_of_vectors(matrices: np.ndarray, sides: np.ndarray) -> bool:
    """Whether B is a vector, or one for each matrix of a stack."""
    return np.ndim(sides) == 1 or np.shape(sides) == np.shape(matrices)[:-1]


def _elements(arguments: Mapping[str, Any]) -> int:
    matrices, sides = arguments["A"], arguments["B"]
    of_one = np.shape(sides)[-1:] if is_of_vectors(matrices, sides) else np.shape(sides)[-2:]
    count = prod(np.shape(matrices)[:-2]) if len(of_one) == 1 else count_of_systems(matrices, sides)
    shape = np.shape(matrices)
    return count * prod(of_one) + prod(shape) + prod(shape[:-1]) + prod(shape[:-2])


@semantics("aten::_linalg_solve_ex", matrices=OF_SYSTEMS, elements=_elements)
def solve_ex_with_factors(A: np.ndarray, B: np.ndarray, left: bool, check_errors: bool) -> Outcome:
    """The results of linalg_solve_ex, with the factors LU and pivots, of which nothing is documented, before info
    (P221)"""
    found = _Solved(A, B, left)
    return Outcome((found.solution, *unspecified_factors(A), found.info.golden()), found.refusal(check_errors))


@semantics("aten::linalg_solve_ex", matrices=OF_SYSTEMS, elements=_elements)
def solve_ex(A: np.ndarray, B: np.ndarray, left: bool, check_errors: bool) -> Outcome:
    """The X of A X = B, or of X A = B where left is False, of stacks of matrices that broadcast; B is a vector, or one
    for each matrix, where its shape is that of A without the last dim. And as info 0, or of a singular A the first
    diagonal element of U that is 0, for which check_errors raises (P217, P218)"""
    found = _Solved(A, B, left)
    return Outcome((found.solution, found.info.golden()), found.refusal(check_errors))


@semantics("aten::linalg_solve", matrices=OF_SYSTEMS, elements=_elements)
def solve(A: np.ndarray, B: np.ndarray, left: bool) -> Outcome:
    """The X of linalg_solve_ex; raises where info is not 0 (P217, P218)"""
    found = _Solved(A, B, left)
    return Outcome((found.solution,), found.refusal(True))


@semantics("aten::linalg_inv_ex", matrices=OF_SYSTEMS)
def inv_ex(A: np.ndarray, check_errors: bool) -> Outcome:
    """The inverse of A; and as info 0, or of a singular A the first diagonal element of U that is 0, for which
    check_errors raises (P217, P218)"""
    found = _Solved(A)
    return Outcome((found.solution, found.info.golden()), found.refusal(check_errors))


@semantics("aten::linalg_inv", matrices=OF_SYSTEMS)
def inv(A: np.ndarray) -> Outcome:
    """The inverse of linalg_inv_ex; raises where info is not 0 (P217, P218)"""
    found = _Solved(A)
    return Outcome((found.solution,), found.refusal(True))


@semantics("aten::inverse", matrices=Matrices("invertible", ("self",)))
def inverse(self: np.ndarray) -> Outcome:
    """The inverse, as linalg_inv"""
    return inv(self)


class _Solved:
    """The solutions of a stack of systems, or without sides the inverses, and the info of the matrices."""

    def __init__(self, matrices: np.ndarray, sides: np.ndarray | None = None, left: bool = True) -> None:
        refuse_large("a system", matrices.shape[-1], MOST_ROWS)
        self.info = Info(matrices.shape[:-2])
        self.left = left
        if sides is None:
            self.solution = self._inverses(matrices).golden()
        elif is_of_vectors(matrices, sides):
            golden = self._solutions(matrices, sides[..., None]).golden()
            self.solution = golden.rearranged(lambda part: np.squeeze(part, golden.value.ndim - 1))
        elif left:
            self.solution = self._solutions(matrices, sides).golden()
        else:
            self.solution = self._solutions(_transposed(matrices), _transposed(sides)).transposed()

    def refusal(self, is_checked: bool) -> str | None:
        """The rule by which a backend may raise, where info is checked."""
        return self.info.refusal if is_checked else None

    def _inverses(self, matrices: np.ndarray) -> Stack:
        self.result = Stack(format_of(matrices), matrices.shape)
        for index in indices(matrices):
            found = self._eliminated(index, matrices[index], [index])
            if found is not None:
                self._put(index, [index], found, found.solution(), np.eye(len(found.matrix)))
        return self.result

    def _solutions(self, matrices: np.ndarray, sides: np.ndarray) -> Stack:
        """Matrix by matrix, the sides of all its systems beside each other."""
        longest, sides = broadcast(matrices, sides)
        self.result = Stack(format_of(sides), sides.shape)
        places = _places(matrices.shape[:-2], longest.shape[:-2])
        for index in indices(matrices):
            found = self._eliminated(index, matrices[index], places[index])
            if found is None:
                continue
            nothing = np.empty((len(found.matrix), 0), sides.dtype)
            columns = np.concatenate([nothing, *(sides[place] for place in places[index])], axis=1)
            is_finite = np.isfinite(columns).all(axis=0)
            columns = np.where(is_finite, columns, 0)
            self._put(index, places[index], found, found.solution(whole(columns)), _magnitudes(columns))
            count = sides.shape[-1]
            for number, place in enumerate(places[index]):
                self.result.open((*place, slice(None), ~is_finite[count * number : count * (number + 1)]), NOT_FINITE)
        return self.result

    def _eliminated(self, index: Index, matrix: np.ndarray, places: list[Index]) -> Eliminated | None:
        """A matrix of finite numbers; of another None, and its results are open."""
        if np.isfinite(matrix).all():
            return Eliminated(matrix)
        self.info.open(index, NOT_FINITE)
        for place in places:
            self.result.open(place, NOT_FINITE)
        return None

    def _put(
        self, index: Index, places: list[Index], found: Eliminated, parts: Parts | None, sizes: np.ndarray
    ) -> None:  # fmt: skip
        """The columns of the solutions of one matrix, to the places of its systems."""
        if not found.is_regular:
            self.info.put(index, found.zeros if self.left or found.zeros is None else found.zeros[::-1])
        if parts is None:
            for place in places:
                self.result.open(place, SINGULAR)
            return
        error = of_system(found.format, found.sizes, found.inverse, sizes)
        scale = found.inverse @ sizes
        count = self.result.shape[-1]
        for number, place in enumerate(places):
            own = slice(count * number, count * (number + 1))
            self.result.put(place, tuple(part[:, own] for part in parts), error[:, own], scale[:, own])


def _magnitudes(numbers: np.ndarray) -> np.ndarray:
    return np.abs(numbers.astype(np.result_type(numbers, np.float64)))


def _transposed(stack: np.ndarray) -> np.ndarray:
    return np.swapaxes(stack, -1, -2)


def _places(own: Index, longest: Index) -> dict[Index, list[Index]]:
    """Of each index below `own` the indices of a longer shape to which it is broadcast."""
    places: dict[Index, list[Index]] = {index: [] for index in np.ndindex(*own)}
    sources = np.broadcast_to(np.arange(prod(own)).reshape(own), longest)
    for index in np.ndindex(*longest):
        places[tuple(map(int, np.unravel_index(sources[index], own)))].append(index)
    return places
