"""LU factors by minors: exact, each number rounded once."""

from __future__ import annotations

from fractions import Fraction

from conform.refs.exact.tensor import UNSPECIFIED, RefTensor
from conform.refs.linalg.exact import DTYPES, Complex, Exact, flattened, is_finite, matrices_of, rounded
from conform.refs.references import reference

ZERO = (Fraction(0), Fraction(0))
ONE = (Fraction(1), Fraction(0))


@reference("aten::linalg_lu_factor_ex")
def lu_factor_ex(A: RefTensor, pivot: bool, check_errors: bool) -> tuple[RefTensor, RefTensor, RefTensor]:
    """L below the diagonal and U elsewhere; the rows exchanged at each step, from 1; and the first step without a
    pivot, else 0. The pivot is the largest number of its column, the first of equal ones.

    All is open of a matrix with a NaN or an infinity, and all but info where there is a step without a pivot.
    """
    found = _factored(A, pivot)
    rows, columns = A.shape[-2:]
    both = [(one.lower if j < i else one.upper)[i][j] for one in found for i in range(rows) for j in range(columns)]
    pivots = [place for one in found for place in one.exchanged]
    return (
        RefTensor(A.dtype, A.shape, both),
        RefTensor("int32", (*A.shape[:-2], min(rows, columns)), pivots),
        RefTensor("int32", A.shape[:-2], [one.info for one in found]),
    )


@reference("aten::linalg_lu_factor")
def lu_factor(A: RefTensor, pivot: bool) -> tuple[RefTensor, RefTensor]:
    """The first two results of linalg_lu_factor_ex."""
    return lu_factor_ex(A, pivot, False)[:2]


@reference("aten::linalg_lu")
def lu(A: RefTensor, pivot: bool) -> tuple[RefTensor, RefTensor, RefTensor]:
    """P, L and U of A = P L U, as linalg_lu_factor finds them."""
    found = _factored(A, pivot)
    rows, columns = A.shape[-2:]
    steps = min(rows, columns)
    return (
        RefTensor(A.dtype, (*A.shape[:-1], rows), flattened([one.permutation for one in found])),
        RefTensor(A.dtype, (*A.shape[:-1], steps), flattened([one.lower for one in found])),
        RefTensor(A.dtype, (*A.shape[:-2], steps, columns), flattened([one.upper for one in found])),
    )


def _factored(A: RefTensor, pivot: bool) -> list[_Factored]:
    if A.dtype not in DTYPES or len(A.shape) < 2:
        raise ValueError(f"expected matrices of {DTYPES}, found {A.dtype} of shape {A.shape}")
    if not pivot:
        raise NotImplementedError("LU factors without pivots")
    return [_Factored(matrix, A.shape[-1], A.dtype) for matrix in matrices_of(A, A.shape[:-2])]


class _Factored:
    """The factors of one matrix, rounded."""

    def __init__(self, matrix: list[list], columns: int, dtype: str) -> None:
        self.matrix, self.steps, self.dtype = matrix, min(len(matrix), columns), dtype
        rows = range(len(matrix))
        self.exchanged: list = [UNSPECIFIED] * self.steps
        self.permutation: list[list] = [[UNSPECIFIED] * len(matrix) for _ in rows]
        self.lower: list[list] = [[UNSPECIFIED] * self.steps for _ in rows]
        self.upper: list[list] = [[UNSPECIFIED] * columns for _ in range(self.steps)]
        self.info: object = UNSPECIFIED
        if not is_finite([z for row in matrix for z in row]):
            return
        order, exchanged = self._order()
        self.info = 0 if len(exchanged) == self.steps else len(exchanged) + 1
        if self.info == 0:
            self.exchanged = exchanged
            self.permutation = [[self._rounded(ONE if order[j] == i else ZERO) for j in rows] for i in rows]
            self.lower = [[self._lower(order, i, j) for j in range(self.steps)] for i in rows]
            self.upper = [[self._upper(order, i, j) for j in range(columns)] for i in range(self.steps)]

    def _order(self) -> tuple[list[int], list[int]]:
        """The rows in their order, and the places exchanged, as far as there are pivots."""
        order, exchanged = list(range(len(self.matrix))), []
        for k in range(self.steps):
            minors = [self._minor([*order[:k], row], k, k) for row in order[k:]]
            sizes = [z[0] ** 2 + z[1] ** 2 for z in minors]
            if not any(sizes):
                break
            place = k + sizes.index(max(sizes))
            order[k], order[place] = order[place], order[k]
            exchanged.append(place + 1)
        return order, exchanged

    def _minor(self, rows: list[int], k: int, column: int) -> Complex:
        """The determinant of the first k columns and one more, of these rows."""
        part = [[self.matrix[i][j] for j in (*range(k), column)] for i in rows]
        return Exact.of(part, k + 1).determinant()

    def _lower(self, order: list[int], i: int, j: int) -> float | complex:
        if j >= i:
            return self._rounded(ONE if i == j else ZERO)
        return self._ratio(self._minor([*order[:j], order[i]], j, j), self._minor(order[: j + 1], j, j))

    def _upper(self, order: list[int], i: int, j: int) -> float | complex:
        if j < i:
            return self._rounded(ZERO)
        leading = self._minor(order[:i], i - 1, i - 1) if i else ONE
        return self._ratio(self._minor(order[: i + 1], i, j), leading)

    def _ratio(self, z: Complex, w: Complex) -> float | complex:
        square = w[0] ** 2 + w[1] ** 2
        real, imag = z[0] * w[0] + z[1] * w[1], z[1] * w[0] - z[0] * w[1]
        return self._rounded((real / square, imag / square))

    def _rounded(self, z: Complex) -> float | complex:
        return rounded(self.dtype, z)
