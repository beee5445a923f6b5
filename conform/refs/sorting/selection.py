"""The k greatest or least elements, and single order statistics, with the index of each."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan, nan

from conform.refs.exact.promotion import BOOL, COMPLEX, FLOAT, category
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, groups, lines, reduced_shape, wrap_dim
from conform.refs.references import reference
from conform.refs.sorting.order import key, sort


def _refuse_unordered(op: str, dtype: str) -> None:
    if category(dtype) in (BOOL, COMPLEX):
        raise ValueError(f"{op} is not defined for {dtype}")


@reference("aten::topk")
def topk(
    self: RefTensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[RefTensor, RefTensor]:
    """The first k of self sorted along `dim`, descending if `largest`, and their indices; NaN is the greatest (P22).

    Of equal elements any may be taken; not `sorted`, any order of the k is as right, and open (P112).
    """
    _refuse_unordered("topk", self.dtype)
    dim = wrap_dim(dim, len(self.shape))
    size = (self.shape or (1,))[dim]
    if not 0 <= k <= size:
        raise ValueError(f"k {k} is outside 0 .. {size}")
    shape = self.shape and (*self.shape[:dim], k, *self.shape[dim + 1 :])
    if not self.shape and k != 1:
        raise NotImplementedError("the reference of topk takes no k of 0 of a 0-d tensor")
    results = tuple(_first(result, dim, k, shape) for result in sort(self, dim, descending=largest))
    if sorted or k < 2:
        return results
    return tuple(RefTensor(each.dtype, each.shape, [UNSPECIFIED] * len(each.data)) for each in results)  # P112


def _first(ordered: RefTensor, dim: int, k: int, shape: tuple[int, ...]) -> RefTensor:
    """The first k elements along `dim`."""
    kept = {position for line in lines(ordered.shape, dim) for position in line[:k]}
    return RefTensor(ordered.dtype, shape, [x for position, x in enumerate(ordered.data) if position in kept])


@reference("aten::kthvalue")
def kthvalue(self: RefTensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[RefTensor, RefTensor]:
    """The k-th least element along `dim`, counted from 1, and an index of it; NaN is the greatest."""
    _refuse_unordered("kthvalue", self.dtype)
    dim = wrap_dim(dim, len(self.shape))
    size = (self.shape or (1,))[dim]
    if not 1 <= k <= size:
        raise ValueError(f"k {k} is outside 1 .. {size}")
    return _one_of_each_line(self, dim, keepdim, lambda values: _ranked(values)[k - 1])


def _ranked(values: list) -> list[int]:
    """The indices of the values in ascending order, NaN last; of equal ones the first comes first."""
    return sorted(range(len(values)), key=[key(x) for x in values].__getitem__)


def _one_of_each_line(
    self: RefTensor, dim: int, keepdim: bool, index_in: Callable[[list], int]
) -> tuple[RefTensor, RefTensor]:
    """The element of each line along `dim` that `index_in` names, and its index."""
    found = lines(self.shape, dim)
    indices = [index_in([self.data[position] for position in line]) for line in found]
    values = [self.data[line[i]] for line, i in zip(found, indices, strict=True)]
    shape = reduced_shape(self.shape, [dim], keepdim)
    return RefTensor(self.dtype, shape, values), RefTensor("int64", shape, indices)


# ---- medians -----------------------------------------------------------------------------------------------------


@reference("aten::median")
def median(self: RefTensor) -> RefTensor:
    """The lower of the medians of all elements, NaN if one is NaN; NaN of no elements."""
    return _median_of_all("median", self, _median_index)


@reference("aten::nanmedian")
def nanmedian(self: RefTensor) -> RefTensor:
    """median of the elements that are not NaN; NaN if all are."""
    return _median_of_all("nanmedian", self, _nanmedian_index)


def _median_of_all(op: str, self: RefTensor, index_in: Callable[[list], int]) -> RefTensor:
    _refuse_unordered(op, self.dtype)
    if not self.data and category(self.dtype) != FLOAT:
        raise NotImplementedError(f"torch documents no {op} of no integers")
    (group,) = groups(self.shape, list(range(max(len(self.shape), 1))))
    values = [self.data[position] for position in group]
    return RefTensor(self.dtype, (), [values[index_in(values)] if values else nan])


@reference("aten::median.dim")
def median_along(self: RefTensor, dim: int, keepdim: bool = False) -> tuple[RefTensor, RefTensor]:
    """The lower of the medians along `dim`, NaN if an element is NaN, and an index of it."""
    return _median_of_lines("median", self, dim, keepdim, _median_index)


@reference("aten::nanmedian.dim")
def nanmedian_along(self: RefTensor, dim: int, keepdim: bool = False) -> tuple[RefTensor, RefTensor]:
    """median.dim of the elements that are not NaN; NaN where all are."""
    return _median_of_lines("nanmedian", self, dim, keepdim, _nanmedian_index)


def _median_of_lines(
    op: str, self: RefTensor, dim: int, keepdim: bool, index_in: Callable[[list], int]
) -> tuple[RefTensor, RefTensor]:
    _refuse_unordered(op, self.dtype)
    dim = wrap_dim(dim, len(self.shape))
    if (self.shape or (1,))[dim] == 0:
        raise ValueError(f"{op} over no element: shape {self.shape}, dim {dim}")
    return _one_of_each_line(self, dim, keepdim, index_in)


def _median_index(values: list) -> int:
    nans = [i for i, value in enumerate(values) if isnan(value)]
    return nans[0] if nans else _ranked(values)[(len(values) - 1) // 2]


def _nanmedian_index(values: list) -> int:
    count = sum(not isnan(value) for value in values)
    return _ranked(values)[max(count - 1, 0) // 2]
