"""Where numbers belong in a sorted sequence, and which numbers there are."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from conform.interp.blocks.blocks import flat, spans
from conform.interp.blocks.rows import Rows
from conform.interp.golden import Golden
from conform.interp.operands import converted
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.sorting.order import sorted_rows
from conform.interp.promotion import Operand, result_type
from conform.interp.semantics import semantics
from conform.numerics.formats import FORMATS, Format, format_of

# Places in a sequence


@semantics("aten::searchsorted.Tensor", compares=True, elements=lambda arguments: np.size(arguments["self"]))
def searchsorted(
    sorted_sequence: np.ndarray,
    self: np.ndarray,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: np.ndarray | None = None,
) -> Golden:
    """How many elements of the sequence are less than each element of self, or with right=True or side="right" not
    greater: of the one sequence, or of that of the same leading dims. sorter names the sequence's elements in ascending
    order; where that is not their order, and where an element of either is NaN, the results are open (P141)"""
    is_right = right or side == "right"
    return _places(sorted_sequence, self, sorter, is_right, "int32" if out_int32 else "int64")


@semantics("aten::bucketize.Tensor", compares=True, elements=lambda arguments: np.size(arguments["self"]))
def bucketize(self: np.ndarray, boundaries: np.ndarray, out_int32: bool = False, right: bool = False) -> Golden:
    """How many of the boundaries are less than each element of self, or with right=True not greater; of boundaries that
    do not ascend, or of which one is NaN, and of NaN, the results are open (P141)"""
    return _places(boundaries, self, None, right, "int32" if out_int32 else "int64")


def _places(
    sequence: np.ndarray, self: np.ndarray, sorter: np.ndarray | None, is_right: bool, dtype: str
) -> Golden:
    width, each = sequence.shape[-1], max(prod(self.shape[-1:]), 1)  # elements of a sequence, of self beside each
    is_shared = sequence.ndim == 1

    def element(numbers: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Those of the sequences in order [n]: of each of the elements `numbers` of self, the one at its column."""
        row = 0 if is_shared else numbers // each
        if sorter is not None:
            column = flat(sorter, row * width + column)
        return _comparable(flat(sequence, row * width + column))

    result, open_ = np.empty(self.size, FORMATS[dtype].storage), np.zeros(self.size, bool)
    ascends = _ascend(element, 1 if is_shared else prod(sequence.shape[:-1]), each, width)
    for some in spans(self.size):
        numbers, wanted = np.arange(some.start, some.stop), _comparable(flat(self, some))
        result[some] = _searched(lambda column, at=numbers: element(at, column), wanted, width, is_right)
        open_[some] = ~ascends[np.zeros_like(numbers) if is_shared else numbers // each] | (wanted != wanted)
    golden = exact(result.reshape(self.shape), FORMATS[dtype])
    return golden.opened(open_.reshape(self.shape), "P141")


def _comparable(some: np.ndarray) -> np.ndarray:
    return some.astype(np.float64) if format_of(some).is_float else some


def _searched(
    element: Callable[[np.ndarray], np.ndarray], wanted: np.ndarray, width: int, is_right: bool
) -> np.ndarray:
    """[n]: by halves, how many of `width` elements in order belong before each that is wanted."""
    low, high = np.zeros(wanted.size, np.int64), np.full(wanted.size, width)
    for _ in range(width.bit_length()):
        middle = (low + high) // 2
        here = element(np.minimum(middle, max(width - 1, 0)))
        is_before = (here <= wanted) if is_right else (here < wanted)
        is_before &= low < high
        low, high = np.where(is_before, middle + 1, low), np.where(is_before, high, middle)
    return low


def _ascend(
    element: Callable[[np.ndarray, np.ndarray], np.ndarray], count: int, each: int, width: int
) -> np.ndarray:
    """[count]: which sequences have numbers alone, none less than the one before it."""
    ascends = np.ones(count, bool)
    for some in spans(count * width) if width else ():
        row, column = np.divmod(np.arange(some.start, some.stop), width)
        here, before = element(row * each, column), element(row * each, np.maximum(column - 1, 0))
        ascends[row[~(before <= here)]] = False
    return ascends


# Distinct numbers


@semantics("aten::_unique2", compares=True)
def unique(
    self: np.ndarray, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Golden, Golden, Golden]:
    """(the distinct elements in ascending order, where each element of self is among them, how often each stands in
    self); NaN is equal to none, and zeros of both signs to each other (P24, P142). Without sorted the order is open,
    and what is not asked for is None (P143)"""
    fmt, index = format_of(self), FORMATS["int64"]
    row = Rows.over(self, tuple(range(self.ndim)), lambda some: some)
    ordered, order, ranks = (part[0] for part in sorted_rows(row, descending=False, with_ranks=True))
    is_nan = _comparable(ordered) != _comparable(ordered)
    starts = np.ones(ordered.shape, bool)  # where a distinct element begins, in the order
    starts[1:] = (ranks[order[1:]] != ranks[order[:-1]]) | is_nan[1:]
    values = exact(ordered[starts], fmt, zero_sign_free=fmt.is_float)
    inverse = np.empty(self.size, np.int64)
    inverse[order] = np.cumsum(starts) - 1
    where = np.zeros(self.size, bool)
    where[order] = is_nan
    inverse_ = exact(inverse.reshape(self.shape), index).opened(where.reshape(self.shape), "P142")
    counts = exact(np.bincount(inverse, minlength=len(values.value)), index)
    results = values, inverse_, counts
    if not sorted and len(values.value) > 1:
        results = tuple(each.opened(np.ones(each.value.shape, bool), "P143") for each in results)
    return results[0], results[1] if return_inverse else Golden.none(), results[2] if return_counts else Golden.none()


@semantics("aten::isin.Tensor_Tensor", compares=True, ignores=("assume_unique",))
def isin(elements: np.ndarray, test_elements: np.ndarray, invert: bool = False) -> Golden:
    """Whether each of elements equals one of test_elements, both converted to their common dtype; invert: none. NaN
    equals nothing, -0 equals +0"""
    return _is_in(elements, test_elements, invert)


@semantics("aten::isin.Tensor_Scalar", compares=True, ignores=("assume_unique",))
def isin_number(elements: np.ndarray, test_element: Operand, invert: bool = False) -> Golden:
    """Whether each of elements equals the number test_element, as eq has it; invert: whether it does not"""
    return _is_in(elements, test_element, invert)


@semantics("aten::isin.Scalar_Tensor", compares=True, ignores=("assume_unique",))
def isin_of_number(element: Operand, test_elements: np.ndarray, invert: bool = False) -> Golden:
    """Whether the number element equals one of test_elements, as eq has it; invert: none"""
    return _is_in(element, test_elements, invert)


def _is_in(elements: Operand, tests: Operand, invert: bool) -> Golden:
    fmt = result_type(elements, tests)
    result = np.full(np.shape(elements), invert)
    for some in spans(result.size):
        part = _numbers(elements, fmt, some)
        found = np.zeros(part.shape, bool)
        for others in spans(np.size(tests)):
            found |= np.isin(part, _numbers(tests, fmt, others))
        result.reshape(-1)[some] = found != invert
    return exact(result, FORMATS["bool"])


def _numbers(operand: Operand, fmt: Format, some: slice) -> np.ndarray:
    """The elements `some` of the operand in the common dtype, of floats as float64; a Python number beside floats is
    the double (P30)."""
    if not isinstance(operand, np.ndarray):
        return np.array([float(operand) if fmt.is_float else converted(operand, fmt)])
    held = converted(flat(operand, some), fmt)
    return held.astype(np.float64) if fmt.is_float else held
