"""Ops that reduce or accumulate along dims. Sums of floats are exact and rounded once."""

from __future__ import annotations

from functools import reduce
from itertools import accumulate

from conform.refs.elementwise import greater
from conform.refs.promotion import BOOL, COMPLEX, FLOAT, INTEGER, category, converted
from conform.refs.reals import add_exact, exact, round_exact, sum_exact
from conform.refs.registry import reference
from conform.refs.rounding import wrap_integer
from conform.refs.tensor import UNSPECIFIED, RefTensor, Shape, lines, positions, strides_of, wrap_dim, wrap_dims


def _groups(shape: Shape, dims: list[int]) -> list[list[int]]:
    """Positions over `dims`, one list for each index of the other dims, those in row-major order."""
    shape = shape or (1,)
    strides = strides_of(shape)
    kept = [dim for dim in range(len(shape)) if dim not in dims]
    starts = positions([shape[dim] for dim in kept], [strides[dim] for dim in kept])
    return [positions([shape[dim] for dim in dims], [strides[dim] for dim in dims], start) for start in starts]


def _reduced_shape(shape: Shape, dims: list[int], keepdim: bool) -> Shape:
    if keepdim:
        return tuple(1 if dim in dims else size for dim, size in enumerate(shape))
    return tuple(size for dim, size in enumerate(shape) if dim not in dims)


def _dims_or_all(dims: list[int] | int | None, rank: int) -> list[int]:
    listed = [dims] if isinstance(dims, int) else dims
    return sorted(wrap_dims(listed, rank)) if listed else list(range(max(rank, 1)))


def _sum_dtype(self: RefTensor, dtype: str | None) -> str:
    """torch.sum: the dtype argument, to which self is converted first; without it bools and integers sum in int64."""
    if dtype is not None:
        return dtype
    return self.dtype if category(self.dtype) >= FLOAT else "int64"


@reference("aten::sum", "aten::sum.dim_IntList")
def sum_(
    self: RefTensor, dim: list[int] | int | None = None, keepdim: bool = False, dtype: str | None = None
) -> RefTensor:
    """The sum over `dim`, over all dims if it is None or []; 0 where nothing is summed."""
    result_dtype = _sum_dtype(self, dtype)
    values = converted(self, result_dtype)
    dims = _dims_or_all(dim, len(self.shape))
    sums = [_sum_line(result_dtype, [values[i] for i in group]) for group in _groups(self.shape, dims)]
    return RefTensor(result_dtype, _reduced_shape(self.shape, dims, keepdim), sums)


def _sum_line(dtype: str, values: list) -> bool | int | float:
    kind = category(dtype)
    if kind == COMPLEX:
        raise NotImplementedError("the reference of sum covers real dtypes only")
    if UNSPECIFIED in values:  # a float that the integer dtype does not hold
        return UNSPECIFIED
    if kind == BOOL:
        return any(values)
    if kind == INTEGER:
        return wrap_integer(dtype, sum(values))
    return round_exact(dtype, sum_exact(values))


@reference("aten::cumsum")
def cumsum(self: RefTensor, dim: int, dtype: str | None = None) -> RefTensor:
    """Element i is the sum of the elements 0..i along `dim`, rounded once."""
    result_dtype = _sum_dtype(self, dtype)
    if category(result_dtype) == BOOL:
        raise ValueError("cumsum is not defined for bool")
    values = converted(self, result_dtype)
    data = list(values)
    for line in lines(self.shape, wrap_dim(dim, len(self.shape))):
        for position, total in zip(line, _prefix_sums(result_dtype, [values[i] for i in line]), strict=True):
            data[position] = total
    return RefTensor(result_dtype, self.shape, data)


def _prefix_sums(dtype: str, values: list) -> list:
    """The sums of the first 1, 2, ... values."""
    if category(dtype) == INTEGER and UNSPECIFIED not in values:
        return [wrap_integer(dtype, total) for total in accumulate(values)]
    if category(dtype) == FLOAT:
        return [round_exact(dtype, total) for total in accumulate(map(exact, values), add_exact)]
    return [_sum_line(dtype, values[: i + 1]) for i in range(len(values))]


@reference("aten::amax")
def amax(self: RefTensor, dim: list[int] | int = (), keepdim: bool = False) -> RefTensor:
    """The greatest element over `dim`, over all dims if it is []; NaN if there is one."""
    if category(self.dtype) == COMPLEX:
        raise ValueError(f"amax is not defined for {self.dtype}")
    dims = _dims_or_all(dim, len(self.shape))
    if any(size == 0 for d, size in enumerate(self.shape) if d in dims):
        raise ValueError(f"amax over no element: shape {self.shape}, dims {dims}")
    data = [reduce(greater, (self.data[i] for i in group)) for group in _groups(self.shape, dims)]
    return RefTensor(self.dtype, _reduced_shape(self.shape, dims, keepdim), data)


@reference("aten::argmax")
def argmax(self: RefTensor, dim: int | None = None, keepdim: bool = False) -> RefTensor:
    """The first index of the greatest element (NaN is the greatest) along `dim`; None flattens the tensor."""
    if category(self.dtype) in (BOOL, COMPLEX):
        raise ValueError(f"argmax is not defined for {self.dtype}")
    dims = list(range(max(len(self.shape), 1))) if dim is None else [wrap_dim(dim, len(self.shape))]
    groups = _groups(self.shape, dims)
    if not all(groups):
        raise ValueError(f"argmax over no element: shape {self.shape}, dim {dim}")
    data = [_first_greatest([self.data[i] for i in group]) for group in groups]
    return RefTensor("int64", _reduced_shape(self.shape, dims, keepdim), data)


def _first_greatest(values: list) -> int:
    best = 0
    for i, value in enumerate(values):
        if values[best] == values[best] and (value != value or value > values[best]):
            best = i
    return best
