"""LU factors with partial pivoting: exact, where the rows that are taken are known."""

from __future__ import annotations

from math import prod

import numpy as np
from gmpy2 import mpq

from conform.interp.formulas.backward_errors import of_factors
from conform.interp.formulas.elimination import Parts, factors, whole
from conform.interp.formulas.fractions_as_reals import rounded
from conform.interp.formulas.pivoting import Pivoted
from conform.interp.formulas.stacks import Stack, indices, refuse_large
from conform.interp.golden import Golden, Outcome
from conform.interp.ops.linalg.eliminated import MOST_ROWS, Info
from conform.interp.ops.linalg.systems import NOT_FINITE
from conform.interp.semantics import semantics
from conform.interp.traits import Matrices
from conform.numerics.formats import FORMATS, format_of

UNDECIDED = "P220"
LONGEST = 256  # rows, or columns, of matrices that are no squares
OF_FACTORS = Matrices("invertible", ("A",))
Index = tuple[int, ...]


@semantics("aten::linalg_lu_factor_ex", matrices=OF_FACTORS)
def lu_factor_ex(A: np.ndarray, pivot: bool, check_errors: bool) -> Outcome:
    """LU, L below the U of P A = L U in one matrix; pivots, the row that is exchanged with each of the first ones,
    counted from 1; and as info 0, or the first diagonal element of U that is 0, for which check_errors raises (P217,
    P218, P220)"""
    found = _Factored(A)
    return Outcome((found.both.golden(), found.exchanges(), found.info.golden()),
                   found.info.refusal if check_errors else None)  # fmt: skip


@semantics("aten::linalg_lu_factor", matrices=OF_FACTORS)
def lu_factor(A: np.ndarray, pivot: bool) -> Outcome:
    """LU and pivots of linalg_lu_factor_ex; raises where info is not 0 (P217, P218, P220)"""
    found = _Factored(A)
    return Outcome((found.both.golden(), found.exchanges()), found.info.refusal)


@semantics(
    "aten::linalg_lu",
    matrices=OF_FACTORS,
    elements=lambda arguments: _elements(np.shape(arguments["A"])),
)
def lu(A: np.ndarray, pivot: bool) -> tuple[Golden, Golden, Golden]:
    """The P, L and U of A = P L U: a permutation, 1 on the diagonal of L and 0 above, and 0 below that of U (P217,
    P220)"""
    found = _Factored(A)
    return found.permutation(), found.lower.golden(), found.upper.golden()


def _elements(shape: Index) -> int:
    """Those of P, L and U."""
    if len(shape) < 2:
        return 0
    rows, columns = shape[-2:]
    return prod(shape[:-2]) * (rows * rows + min(rows, columns) * (rows + columns))


class _Factored:
    """The factors of a stack of matrices, L and U by themselves and in one, and the rows that were taken."""

    def __init__(self, stack: np.ndarray) -> None:
        refuse_large("a decomposition", min(stack.shape[-2:]), MOST_ROWS)
        refuse_large("a decomposition", max(stack.shape[-2:]), LONGEST)
        self.shape, self.format = stack.shape, format_of(stack)
        batch, (rows, columns), steps = stack.shape[:-2], stack.shape[-2:], min(stack.shape[-2:])
        self.both = Stack(self.format, stack.shape)
        self.lower = Stack(self.format, (*batch, rows, steps))
        self.upper = Stack(self.format, (*batch, steps, columns))
        self.exchanged, self.taken = np.ones((*batch, steps), np.int32), np.zeros((*batch, rows), np.int64)
        self.opened: dict[str, np.ndarray] = {}
        self.info = Info(batch)
        for index in indices(stack):
            self._factor(index, stack[index])

    def _factor(self, index: Index, matrix: np.ndarray) -> None:
        if not np.isfinite(matrix).all():
            self._open(index, NOT_FINITE)
            self.info.open(index, NOT_FINITE)
            return
        found = Pivoted(self.format, matrix)
        component = self.format.component if self.format.is_complex else self.format
        is_held = found.sizes.max(initial=0.0) < component.max_finite / 4
        if not (is_held and (found.low > 0).all()):
            self.info.put(index, (found.zero, found.zero) if is_held and found.zero else None)
        if found.order is None or not is_held:
            self._open(index, UNDECIDED)
            return
        self.exchanged[index], self.taken[index] = _exchanges(found.order, len(matrix))
        self._put(index, matrix[self.taken[index]])

    def _open(self, index: Index, rule: str) -> None:
        for stack in (self.both, self.lower, self.upper):
            stack.open(index, rule)
        self.opened.setdefault(rule, np.zeros(self.shape[:-2], bool))[index] = True

    def _put(self, index: Index, rows: np.ndarray) -> None:
        """The factors of the rows in their order."""
        lower, upper = (tuple(np.full(stack.shape[-2:], mpq(0), object) for _ in range(stack.count))
                        for stack in (self.lower, self.upper))  # fmt: skip
        _fill(factors(whole(rows)), lower, upper)
        squares = [_padded(parts, max(rows.shape)) for parts in (lower, upper)]
        errors = of_factors(self.format, *squares)
        product = np.abs(squares[0]) @ np.abs(squares[1])
        places = [tuple(map(slice, stack.shape[-2:])) for stack in (self.lower, self.upper)]
        scales = product / np.diag(np.abs(squares[1])), product
        for stack, parts, place, error, scale in zip(
            (self.lower, self.upper), (lower, upper), places, errors, scales, strict=True
        ):  # fmt: skip
            stack.put(index, parts, error[place], scale[place])
        is_below = np.tri(*rows.shape, -1, dtype=bool)
        self.both.put(index, tuple(_merged(is_below, *pair) for pair in zip(lower, upper, strict=True)),
                      *(_merged(is_below, *(pair[place] for pair, place in zip(pairs, places, strict=True)))
                        for pairs in (errors, scales)))  # fmt: skip

    def exchanges(self) -> Golden:
        """The golden of pivots."""
        return self._opened(Golden(FORMATS["int32"], self.exchanged), 1)

    def permutation(self) -> Golden:
        """The golden of P."""
        rows = self.shape[-2]
        numbers = (self.taken[..., None, :] == np.arange(rows)[:, None]).astype(self.format.storage)
        return self._opened(Golden(self.format, numbers), 2)

    def _opened(self, golden: Golden, dims: int) -> Golden:
        """Whole matrices left open, or vectors, by the number of their dims."""
        for rule, mask in self.opened.items():
            golden = golden.opened(np.broadcast_to(mask.reshape(mask.shape + (1,) * dims), golden.value.shape), rule)
        return golden


def _exchanges(taken: list[int], rows: int) -> tuple[list[int], list[int]]:
    """The places, from 1, of the rows that are exchanged with the first, the second, ...; and the order that makes."""
    order, places = list(range(rows)), []
    for step, row in enumerate(taken):
        place = order.index(row)
        order[step], order[place] = order[place], order[step]
        places.append(place + 1)
    return places, order


def _fill(steps: list[tuple[Parts, Parts]], lower: Parts, upper: Parts) -> None:
    """Columns of L and rows of U, from the diagonal on."""
    for k, (column, row) in enumerate(steps):
        for part, (of_lower, of_upper) in enumerate(zip(lower, upper, strict=True)):
            of_lower[k:, k], of_upper[k, k:] = column[part], row[part]


def _padded(parts: Parts, size: int) -> np.ndarray:
    """A factor in the corner of an identity of so many rows, as float64 or complex128."""
    floats = [rounded(FORMATS["float64"], part) for part in parts]
    numbers = floats[0] if len(floats) == 1 else floats[0] + 1j * floats[1]
    square = np.eye(size, dtype=numbers.dtype)
    square[: len(numbers), : numbers.shape[1]] = numbers
    return square


def _merged(is_below: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Of two factors, or what belongs to them, what is below the diagonal of one, and what is not of the other."""
    merged = np.zeros(is_below.shape, lower.dtype)
    merged[:, : lower.shape[1]] = lower
    merged[: len(upper)] = np.where(is_below[: len(upper)], merged[: len(upper)], upper)
    return merged
