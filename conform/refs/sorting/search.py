"""Places in sorted sequences, and the distinct elements of a tensor."""

from __future__ import annotations

from itertools import pairwise
from math import prod

from conform.refs.exact.promotion import BOOL, COMPLEX, Scalar, category, common_operands, converted, result_type
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified
from conform.refs.references import reference


@reference("aten::searchsorted.Tensor")
def searchsorted(
    sorted_sequence: RefTensor,
    self: RefTensor,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: RefTensor | None = None,
) -> RefTensor:
    """For each v of self the index i of its row of sorted_sequence with row[i - 1] < v <= row[i]; right: <= and <.

    A sequence of one dim is the row of every v, else the leading dims are those of self. sorter, if given, holds the
    indices that put each row in order. Open where v is NaN, and for a row with NaN or out of order.
    """
    if sorted_sequence.dtype != self.dtype or category(self.dtype) in (BOOL, COMPLEX):
        raise ValueError(f"a sequence of {sorted_sequence.dtype}, values of {self.dtype}")
    if side not in (None, "left", "right") or (right and side == "left"):
        raise ValueError(f"side {side!r} with right={right}")
    if not sorted_sequence.shape:
        raise ValueError("a sequence has at least one dim")
    if len(sorted_sequence.shape) > 1 and sorted_sequence.shape[:-1] != self.shape[:-1]:
        raise ValueError(f"a sequence of shape {sorted_sequence.shape}, values of shape {self.shape}")
    rows = _rows(sorted_sequence, sorter)
    count = max(len(self.data) // max(len(rows), 1), 1)  # values of each row, in row-major order
    after_equals = right or side == "right"
    data = [_place(rows[p // count], v, after_equals) for p, v in enumerate(self.data)]
    return RefTensor("int32" if out_int32 else "int64", self.shape, data)


def _rows(sequence: RefTensor, sorter: RefTensor | None) -> list[list]:
    """The rows of a sequence along its last dim, put in the order of the sorter."""
    size = sequence.shape[-1]
    rows = [sequence.data[r * size : (r + 1) * size] for r in range(prod(sequence.shape[:-1]))]
    if sorter is None:
        return rows
    if sorter.dtype != "int64" or sorter.shape != sequence.shape:
        raise ValueError(f"a sorter of {sorter.dtype}, shape {sorter.shape}, for shape {sequence.shape}")
    if any(not 0 <= i < size for i in sorter.data):
        raise ValueError(f"an index of the sorter is outside 0 .. {size - 1}")
    return [[row[i] for i in sorter.data[r * size : (r + 1) * size]] for r, row in enumerate(rows)]


def _place(row: list, v: int | float, after_equals: bool) -> int | Unspecified:
    if v != v or not all(x <= y for x, y in pairwise(row)) or any(x != x for x in row):
        return UNSPECIFIED
    return sum(x <= v if after_equals else x < v for x in row)


@reference("aten::bucketize.Tensor")
def bucketize(self: RefTensor, boundaries: RefTensor, out_int32: bool = False, right: bool = False) -> RefTensor:
    """searchsorted in one row of boundaries."""
    if len(boundaries.shape) != 1:
        raise ValueError(f"boundaries have one dim, found shape {boundaries.shape}")
    return searchsorted(boundaries, self, out_int32, right)


@reference("aten::_unique2")
def unique(
    self: RefTensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[RefTensor | None, ...]:
    """The distinct elements in ascending order; the index among them of each element; how often each occurs.

    Zeros of both signs are equal; each NaN is distinct from all, stands behind the numbers, and may be any of the NaNs
    there (P142). Without sorted the order is open, and what is not asked for is None (P143).
    """
    if category(self.dtype) == COMPLEX:
        raise ValueError("complex numbers have no order")
    distinct: list = []
    for x in sorted_numbers(x for x in self.data if x == x):
        if not distinct or distinct[-1] != x:
            distinct.append(x)
    nans = [x for x in self.data if x != x]
    inverse = [distinct.index(x) if x == x else UNSPECIFIED for x in self.data]
    counts = [self.data.count(x) for x in distinct] + [1 for _ in nans]
    elements = distinct + nans
    if not sorted and len(elements) > 1:
        elements, inverse, counts = ([UNSPECIFIED] * len(part) for part in (elements, inverse, counts))
    return (
        RefTensor(self.dtype, (len(elements),), elements),
        RefTensor("int64", self.shape, inverse) if return_inverse else None,
        RefTensor("int64", (len(counts),), counts) if return_counts else None,
    )


sorted_numbers = sorted  # the builtin, which an argument of `unique` hides


@reference("aten::isin.Tensor_Tensor")
def isin(
    elements: RefTensor, test_elements: RefTensor, assume_unique: bool = False, invert: bool = False
) -> RefTensor:
    """Whether each element is equal to any of test_elements, in their common dtype; with invert whether to none."""
    dtype = result_type([elements, test_elements])
    known = converted(test_elements, dtype)
    return RefTensor("bool", elements.shape, [any(x == y for y in known) != invert for x in converted(elements, dtype)])


@reference("aten::isin.Tensor_Scalar")
def isin_number(
    elements: RefTensor, test_element: Scalar, assume_unique: bool = False, invert: bool = False
) -> RefTensor:
    """Whether each element is equal to the number; with invert whether it is not."""
    _, shape, (own, number) = common_operands(elements, test_element)
    return RefTensor("bool", shape, [(x == y) != invert for x, y in zip(own, number, strict=True)])


@reference("aten::isin.Scalar_Tensor")
def isin_of_number(
    element: Scalar, test_elements: RefTensor, assume_unique: bool = False, invert: bool = False
) -> RefTensor:
    """Whether the number is equal to any of test_elements; with invert whether to none."""
    _, _, (known, number) = common_operands(test_elements, element)
    return RefTensor("bool", (), [any(x == y for x, y in zip(known, number, strict=True)) != invert])
