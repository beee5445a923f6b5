"""Ops that order elements."""

from __future__ import annotations

from conform.refs.exact.promotion import COMPLEX, category
from conform.refs.exact.tensor import RefTensor, lines, wrap_dim
from conform.refs.references import reference


@reference("aten::sort", "aten::sort.stable")
def sort(
    self: RefTensor, dim: int = -1, descending: bool = False, stable: bool | None = None
) -> tuple[RefTensor, RefTensor]:
    """Values and their indices along `dim`; NaN is the greatest (P22), zeros of both signs are equal (P24).

    Equal elements keep their order whatever `stable` says: without it that is one of the allowed permutations (P23).
    """
    if category(self.dtype) == COMPLEX:
        raise ValueError(f"sort is not defined for {self.dtype}")
    values, indices = list(self.data), [0] * len(self.data)
    for line in lines(self.shape, wrap_dim(dim, len(self.shape))):
        elements = [self.data[position] for position in line]
        # Python's sort is stable, and keeps the order of equal elements with reverse=True too.
        order = sorted(range(len(line)), key=[key(x) for x in elements].__getitem__, reverse=descending)
        for position, i in zip(line, order, strict=True):
            values[position], indices[position] = elements[i], i
    return RefTensor(self.dtype, self.shape, values), RefTensor("int64", self.shape, indices)


@reference("aten::argsort", "aten::argsort.stable")
def argsort(self: RefTensor, dim: int = -1, descending: bool = False, stable: bool | None = None) -> RefTensor:
    """Where along `dim` the elements were that sort gives."""
    return sort(self, dim, descending, stable)[1]


@reference("aten::msort")
def msort(self: RefTensor) -> RefTensor:
    """The elements in order along the first dim."""
    return sort(self, 0)[0]


def key(value: bool | int | float) -> tuple[bool, bool | int | float]:
    """By which elements are ordered: NaN after all numbers, and all NaNs alike."""
    return (True, 0) if value != value else (False, value)
