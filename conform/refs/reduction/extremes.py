"""The greatest and least elements, truth, and counts of what is not zero."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from conform.refs.elementwise.comparison import greater
from conform.refs.exact.promotion import BOOL, COMPLEX, Scalar, category
from conform.refs.exact.tensor import RefTensor, dims_or_all, groups, lines, reduced_shape, wrap_dim
from conform.refs.reduction.sums import amax
from conform.refs.references import reference

Dims = list[int] | int | None


def smaller(x: Scalar, y: Scalar) -> Scalar:
    """NaN if either is NaN, else the smaller."""
    return x if x != x or x <= y else y


def refuse_complex(op: str, dtype: str) -> None:
    """ValueError for complex numbers, which have no order."""
    if category(dtype) == COMPLEX:
        raise ValueError(f"{op} is not defined for {dtype}")


def _over(self: RefTensor, dim: Dims, keepdim: bool, dtype: str, of_group: Callable[[list], Scalar]) -> RefTensor:
    """`of_group` of the elements over `dim`, over all dims if it is None or []."""
    dims = dims_or_all(dim, len(self.shape))
    data = [of_group([self.data[i] for i in group]) for group in groups(self.shape, dims)]
    return RefTensor(dtype, reduced_shape(self.shape, dims, keepdim), data)


@reference("aten::amin")
def amin(self: RefTensor, dim: list[int] | int = (), keepdim: bool = False) -> RefTensor:
    """The least element over `dim`, over all dims if it is []; NaN if there is one."""
    refuse_complex("amin", self.dtype)
    return _over(self, dim, keepdim, self.dtype, _least)


def _least(values: list) -> Scalar:
    if not values:
        raise ValueError("the least of no elements")
    return reduce(smaller, values)


@reference("aten::max")
def max_(self: RefTensor) -> RefTensor:
    """The greatest of all elements; NaN if there is one."""
    return amax(self)


@reference("aten::min")
def min_(self: RefTensor) -> RefTensor:
    """The least of all elements; NaN if there is one."""
    return amin(self)


@reference("aten::aminmax")
def aminmax(self: RefTensor, dim: int | None = None, keepdim: bool = False) -> tuple[RefTensor, RefTensor]:
    """amin and amax over a dim, or over all."""
    dims = [] if dim is None else [dim]
    return amin(self, dims, keepdim), amax(self, dims, keepdim)


# ---- with indices ------------------------------------------------------------------------------------------------


@reference("aten::argmin")
def argmin(self: RefTensor, dim: int | None = None, keepdim: bool = False) -> RefTensor:
    """The first index of the least element, of the first NaN if there is one, along `dim`; None flattens the tensor."""
    if category(self.dtype) in (BOOL, COMPLEX):
        raise ValueError(f"argmin is not defined for {self.dtype}")
    return _over(self, dim, keepdim, "int64", lambda values: first_extreme(values, smaller))


def first_extreme(values: list, better: Callable[[Scalar, Scalar], Scalar]) -> int:
    """The first index of the value that `better` chooses of all, of the first NaN if there is one (P20, P21)."""
    if not values:
        raise ValueError("an index among no elements")
    best = reduce(better, values)
    return next(i for i, x in enumerate(values) if x == best or (x != x and best != best))


@reference("aten::max.dim")
def max_along(self: RefTensor, dim: int, keepdim: bool = False) -> tuple[RefTensor, RefTensor]:
    """The greatest elements along `dim`, NaN where there is one, and the first index of each."""
    return _extremes_along("max", self, dim, keepdim, greater)


@reference("aten::min.dim")
def min_along(self: RefTensor, dim: int, keepdim: bool = False) -> tuple[RefTensor, RefTensor]:
    """The least elements along `dim`, NaN where there is one, and the first index of each."""
    return _extremes_along("min", self, dim, keepdim, smaller)


def _extremes_along(
    op: str, self: RefTensor, dim: int, keepdim: bool, better: Callable[[Scalar, Scalar], Scalar]
) -> tuple[RefTensor, RefTensor]:
    refuse_complex(op, self.dtype)
    dim = wrap_dim(dim, len(self.shape))
    if (self.shape or (1,))[dim] == 0:
        raise ValueError(f"{op} over no element: shape {self.shape}, dim {dim}")
    found = lines(self.shape, dim)
    indices = [first_extreme([self.data[i] for i in line], better) for line in found]
    values = [self.data[line[i]] for line, i in zip(found, indices, strict=True)]
    shape = reduced_shape(self.shape, [dim], keepdim)
    return RefTensor(self.dtype, shape, values), RefTensor("int64", shape, indices)


# ---- truth and counts --------------------------------------------------------------------------------------------


@reference("aten::any", "aten::any.dim", "aten::any.dims")
def any_(self: RefTensor, dim: Dims = None, keepdim: bool = False) -> RefTensor:
    """Whether an element over `dim` (all dims if None) is not zero, as NaN is not; in bool, of uint8 in uint8."""
    return _truth(self, dim, keepdim, any)


@reference("aten::all", "aten::all.dim", "aten::all.dims")
def all_(self: RefTensor, dim: Dims = None, keepdim: bool = False) -> RefTensor:
    """Whether no element over `dim` (all dims if None) is zero; in bool, of uint8 in uint8."""
    return _truth(self, dim, keepdim, all)


def _truth(self: RefTensor, dim: Dims, keepdim: bool, of_all: Callable[[list], bool]) -> RefTensor:
    if dim is not None and not isinstance(dim, int) and not dim:
        raise NotImplementedError("torch documents no empty list of dims of any and all")
    in_uint8 = self.dtype == "uint8"

    def truth(values: list) -> bool | int:
        found = of_all(x != 0 for x in values)
        return int(found) if in_uint8 else found

    return _over(self, dim, keepdim, "uint8" if in_uint8 else "bool", truth)


@reference("aten::count_nonzero", "aten::count_nonzero.dim_IntList")
def count_nonzero(self: RefTensor, dim: Dims = None) -> RefTensor:
    """How many elements over `dim`, over all dims if it is None or [], are not zero; NaN is not."""
    return _over(self, dim, False, "int64", lambda values: sum(x != 0 for x in values))
