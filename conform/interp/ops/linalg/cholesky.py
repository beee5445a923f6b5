"""Cholesky's factor of positive definite matrices, exact but for its roots, and what is solved with one."""

from __future__ import annotations

import numpy as np
from gmpy2 import mpq

from conform.interp.formulas.backward_errors import fails_for_sure, of_factor
from conform.interp.formulas.elimination import Factor, Scaled, factored, inverse_of_factor, lower_factor, whole
from conform.interp.formulas.fractions_as_reals import magnitudes
from conform.interp.formulas.stacks import Stack, indices, refuse_large
from conform.interp.golden import Golden, Outcome
from conform.interp.semantics import semantics
from conform.interp.traits import Matrices
from conform.numerics.formats import FORMATS, Format, format_of

UNDECIDED = "P203"
Index = tuple[int, ...]


@semantics("aten::linalg_cholesky_ex", matrices=Matrices("definite", ("self",)))
def cholesky_ex(self: np.ndarray, upper: bool, check_errors: bool) -> Outcome:
    """The L of self = L L^H with 0 above a positive diagonal, L^H where upper; and as info 0, or the order of the first
    leading minor that is not positive, for which check_errors raises (P201, P202, P203)"""
    found = _Decomposed(self)
    return Outcome((found.factor(upper), found.info()), found.refusal if check_errors else None)


@semantics("aten::linalg_cholesky", "aten::cholesky", matrices=Matrices("definite", ("self",)))
def cholesky(self: np.ndarray, upper: bool) -> Outcome:
    """The L of linalg_cholesky_ex; raises where info is not 0 (P201, P202, P203)"""
    found = _Decomposed(self)
    return Outcome((found.factor(upper),), found.refusal)


class _Decomposed:
    """The factors of a stack, and the first leading minor of each matrix that is not positive; which are open, and the
    rule by which that may be told by raising."""

    def __init__(self, stack: np.ndarray) -> None:
        refuse_large("Cholesky's decomposition", stack.shape[-1])
        self.format = format_of(stack)
        self.result = Stack(self.format, stack.shape)
        self.orders = np.zeros(stack.shape[:-2], np.int32)
        self.rules: dict[str, np.ndarray] = {}
        for index in indices(stack):
            self._decompose(index, stack[index])

    @property
    def refusal(self) -> str | None:
        """P202 where a matrix is not known to be positive definite to every algorithm."""
        return "P202" if self.orders.any() or self.rules else None

    def factor(self, upper: bool) -> Golden:
        """The lower factors, or the conjugate transposes."""
        return self.result.adjoint() if upper else self.result.golden()

    def info(self) -> Golden:
        golden = Golden(FORMATS["int32"], self.orders)
        for rule, mask in self.rules.items():
            golden = golden.opened(mask, rule)
        return golden

    def _leave_open(self, index: Index, rule: str) -> None:
        self.result.open(index, rule)
        self.rules.setdefault(rule, np.zeros(self.orders.shape, bool))[index] = True

    def _decompose(self, index: Index, matrix: np.ndarray) -> None:
        if not np.isfinite(matrix).all() or (matrix != np.conj(matrix.T)).any():
            self._leave_open(index, "P201")
            return
        scaled = whole(matrix)
        found = factored(scaled.numbers)
        columns, inverse = lower_factor(found, scaled.exponent), inverse_of_factor(found, scaled.exponent)
        sizes, inverse = magnitudes(columns), magnitudes(inverse)
        error = of_factor(self.format, sizes, inverse)
        if (np.abs(matrix) >= _largest(self.format) / 4).any() or not np.isfinite(error).all():
            self._leave_open(index, UNDECIDED)
        elif found.leading[-1] > 0:
            scale = sizes @ sizes.T / np.where(np.diag(sizes) > 0, np.diag(sizes), 1)
            self.result.put(index, columns, error, np.tril(scale))
        elif _fails(self.format, matrix, found, scaled, inverse):
            self.orders[index] = len(found.leading) - 1
            self.result.open(index, "P202")
        else:
            self._leave_open(index, UNDECIDED)


def _largest(fmt: Format) -> float:
    return (fmt.component if fmt.is_complex else fmt).max_finite


def _fails(fmt: Format, matrix: np.ndarray, found: Factor, scaled: Scaled, inverse: np.ndarray) -> bool:
    """Whether no algorithm can take the first leading minor that is not positive for a positive one; the smaller ones
    every algorithm finds positive."""
    order = len(found.columns)
    diagonal = matrix.real[range(order + 1), range(order + 1)].astype(np.float64)
    if diagonal[order] <= 0:
        return True
    row = inverse @ np.abs(matrix[order, :order]).astype(np.float64)
    pivot = float(mpq(found.leading[-1], found.leading[-2]) * mpq(2) ** scaled.exponent)
    return fails_for_sure(fmt, np.sqrt(diagonal), inverse, row, pivot)
