"""Square matrices without a structure: what any elimination with partial pivoting finds of them, and what is exact."""

from __future__ import annotations

import numpy as np
from gmpy2 import mpq

from conform.interp.formulas.backward_errors import of_determinant, stays_regular
from conform.interp.formulas.elimination import Scaled, Whole, quotients, solved, whole
from conform.interp.formulas.fractions_as_reals import magnitudes
from conform.interp.formulas.pivoting import Pivoted
from conform.interp.golden import Golden
from conform.numerics.formats import FORMATS, format_of

MOST_ROWS = 72  # of real numbers 1 s
SINGULAR = "P218"
Index = tuple[int, ...]


class Eliminated:
    """A matrix of finite numbers, eliminated by rows, or by columns as the rows of its transpose.

    sizes: no less than |L| |U|; low, high: ends of the pivots' magnitudes, whichever they are.
    """

    def __init__(self, matrix: np.ndarray) -> None:
        self.format, self.matrix = format_of(matrix), matrix
        self.by_rows, self.by_columns = Pivoted(self.format, matrix), Pivoted(self.format, matrix.T)
        self.sizes = np.maximum(self.by_rows.sizes, self.by_columns.sizes.T)
        self.low = np.minimum(self.by_rows.low, self.by_columns.low)
        self.high = np.maximum(self.by_rows.high, self.by_columns.high)
        self.scaled = whole(matrix)
        self.identity = Whole.identity(self.scaled.numbers)
        self.inverse: np.ndarray | None = None

    @property
    def is_regular(self) -> bool:
        """Whether no pivot may be 0, and no step overflow."""
        component = self.format.component if self.format.is_complex else self.format
        is_held = self.sizes.max(initial=0.0) < component.max_finite / 4
        return self.inverse is not None and is_held and stays_regular(self.format, self.sizes, self.inverse)

    @property
    def zeros(self) -> tuple[int, int] | None:
        """The steps, counted from 1, whose pivots are the first to be 0, by rows and by columns; None where roundings
        decide."""
        by_rows, by_columns = self.by_rows.zero, self.by_columns.zero
        return None if by_rows is None or by_columns is None else (by_rows, by_columns)

    def solution(self, sides: Scaled | None = None) -> tuple[np.ndarray, ...] | None:
        """The parts of X of A X = sides, without sides of the inverse; None of a singular matrix. |A^-1| is kept."""
        numbers = [self.identity] if sides is None else [self.identity, sides.numbers]
        found = solved(self.scaled.numbers, Whole.beside(numbers))
        if found is None:
            return None
        size = len(self.matrix)
        inverse = quotients(found.columns(slice(size)), -self.scaled.exponent)
        self.inverse = magnitudes(inverse)
        if sides is None:
            return inverse
        return quotients(found.columns(slice(size, None)), sides.exponent - self.scaled.exponent)

    def determinant(self) -> tuple[mpq, ...]:
        """Its parts, one or two; of a singular matrix 0. |A^-1| is kept."""
        found = solved(self.scaled.numbers, self.identity)
        if found is None:
            return (mpq(0),) * (2 if self.format.is_complex else 1)
        self.inverse = magnitudes(quotients(found, -self.scaled.exponent))
        scale = mpq(2) ** (self.scaled.exponent * len(self.matrix))
        parts = (found.determinant.real, found.determinant.imag)
        return tuple(part * scale for part in parts if part is not None)


    def relative_error(self) -> float:
        """That of the determinant of the factors; infinite where a pivot may be 0, or a step overflow."""
        return of_determinant(self.format, self.sizes, self.inverse) if self.is_regular else np.inf

    @property
    def scale_of_determinant(self) -> float:
        """No less than |det|: the product of the lengths of the rows, or of the columns (Hadamard)."""
        squares = np.abs(self.matrix.astype(np.clongdouble)) ** 2
        return float(min(np.sqrt(squares.sum(axis)).prod() for axis in (0, 1)))


class Info:
    """The golden of LAPACK's info of a stack of matrices."""

    def __init__(self, shape: Index) -> None:
        self.by_rows, self.by_columns = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
        self.opened: dict[str, np.ndarray] = {}

    def put(self, index: Index, zeros: tuple[int, int] | None) -> None:
        """Of a singular matrix; or, where roundings decide, of one that may be."""
        if zeros is None:
            self.open(index, SINGULAR)
        else:
            self.by_rows[index], self.by_columns[index] = zeros

    def open(self, index: Index, rule: str) -> None:
        self.opened.setdefault(rule, np.zeros(self.by_rows.shape, bool))[index] = True

    @property
    def refusal(self) -> str | None:
        """The rule by which a backend may raise."""
        return SINGULAR if self.opened or self.by_rows.any() else None

    def golden(self) -> Golden:
        golden = Golden(FORMATS["int32"], self.by_rows)
        if (self.by_rows != self.by_columns).any():
            golden = golden.or_else(Golden(FORMATS["int32"], self.by_columns))
        for rule, mask in self.opened.items():
            golden = golden.opened(mask, rule)
        return golden


def unspecified_factors(matrices: np.ndarray) -> tuple[Golden, Golden]:
    """LU and pivots, of whose operator nothing is documented (P221)."""
    factors, pivots = np.zeros_like(matrices), np.zeros(matrices.shape[:-1], np.int32)
    return tuple(Golden(format_of(one), one).opened(np.ones(one.shape, bool), "P221") for one in (factors, pivots))
