"""The distinct slices of a tensor along a dim, by comparing each with the others."""

from __future__ import annotations

from math import isnan

from conform.refs.exact.promotion import COMPLEX, category
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified, groups, wrap_dim
from conform.refs.references import reference

Results = tuple[RefTensor | Unspecified | None, ...]


@reference("aten::unique_dim")
def unique_dim(
    self: RefTensor, dim: int, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> Results:
    """The distinct slices along `dim` in lexicographic order; which of them each slice is; how often each occurs.

    Zeros of both signs are equal. Open are all results beside NaN, and without sorted the order; what is not asked for
    is None (P143, P152).
    """
    if category(self.dtype) == COMPLEX:
        raise ValueError("complex numbers have no order")
    if any(isnan(x) for x in self.data):
        return _asked((UNSPECIFIED,) * 3, return_inverse, return_counts)
    dim, slices = _slices(self, dim)
    distinct: list[list] = []
    for one in in_order(slices):
        if one not in distinct:
            distinct.append(one)
    places = [distinct.index(one) for one in slices]
    results = _results(self, dim, distinct, places, (len(places),))
    if not sorted and len(distinct) > 1:
        results = tuple(RefTensor(one.dtype, one.shape, [UNSPECIFIED] * len(one.data)) for one in results)
    return _asked(results, return_inverse, return_counts)


in_order = sorted  # the builtin, which an argument of `unique_dim` hides


@reference("aten::unique_dim_consecutive")
def unique_dim_consecutive(
    self: RefTensor, dim: int, return_inverse: bool = False, return_counts: bool = False
) -> Results:
    """The slices along `dim` that are not equal to the one before; which of them each slice belongs to; how many do."""
    dim, slices = _slices(self, dim)
    distinct, places = _runs(slices)
    return _asked(_results(self, dim, distinct, places, (len(places),)), return_inverse, return_counts)


@reference("aten::unique_consecutive")
def unique_consecutive(
    self: RefTensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Results:
    """unique_dim_consecutive, without `dim` of the elements in row-major order."""
    if dim is not None:
        return unique_dim_consecutive(self, dim, return_inverse, return_counts)
    flat = RefTensor(self.dtype, (len(self.data),), self.data)
    distinct, places = _runs([[x] for x in self.data])
    return _asked(_results(flat, 0, distinct, places, self.shape), return_inverse, return_counts)


def _slices(self: RefTensor, dim: int) -> tuple[int, list[list]]:
    if not self.shape:
        raise ValueError("a tensor without dims has no slices")
    dim = wrap_dim(dim, len(self.shape))
    others = [d for d in range(len(self.shape)) if d != dim]
    if any(self.shape[d] == 0 for d in others):
        raise ValueError(f"slices of shape {self.shape} along dim {dim} have no elements")
    return dim, [[self.data[i] for i in group] for group in groups(self.shape, others)]


def _runs(slices: list[list]) -> tuple[list[list], list[int]]:
    distinct: list[list] = []
    places = []
    for one in slices:
        if not distinct or any(x != y for x, y in zip(one, distinct[-1], strict=True)):
            distinct.append(one)
        places.append(len(distinct) - 1)
    return distinct, places


def _results(
    self: RefTensor, dim: int, distinct: list[list], places: list[int], shape: tuple[int, ...]
) -> tuple[RefTensor, ...]:
    own = (*self.shape[:dim], len(distinct), *self.shape[dim + 1 :])
    values = RefTensor(self.dtype, own, [None] * sum(map(len, distinct)))
    for one, group in zip(distinct, groups(own, [d for d in range(len(own)) if d != dim]), strict=True):
        for x, i in zip(one, group, strict=True):
            values.data[i] = x
    counts = [places.count(place) for place in range(len(distinct))]
    return values, RefTensor("int64", shape, places), RefTensor("int64", (len(counts),), counts)


def _asked(results: Results, return_inverse: bool, return_counts: bool) -> Results:
    values, inverse, counts = results
    return values, inverse if return_inverse else None, counts if return_counts else None
