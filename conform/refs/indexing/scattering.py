"""Writes at indices held in tensors: what every target gets is collected first, then written or reduced."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce as fold

from conform.refs.elementwise.comparison import greater
from conform.refs.exact.promotion import BOOL, COMPLEX, INTEGER, Scalar, category, convert, read_factor
from conform.refs.exact.reals import add_exact, exact, multiply_exact, round_exact
from conform.refs.exact.rounding import INTEGER_RANGES, wrap_integer
from conform.refs.exact.tensor import (
    UNSPECIFIED,
    RefTensor,
    Unspecified,
    broadcast_shapes,
    expand,
    positions,
    strides_of,
    wrap_dim,
)
from conform.refs.indexing.advanced import accumulated
from conform.refs.indexing.selecting import INDEX_DTYPES, hyperplane, vector_of_indices
from conform.refs.reduction.statistics import round_mean
from conform.refs.reduction.sums import product_line
from conform.refs.references import reference

Writes = dict[int, list]  # position in self: what is written there, in row-major order of the index


def _writes(self: RefTensor, dim: int, index: RefTensor, source: Scalar | RefTensor) -> Writes:
    """self[..., index[p], ...] gets source[p] at every index p of `index`; 0-d tensors count as shape (1,)."""
    dim = wrap_dim(dim, len(self.shape))
    if index.dtype not in INDEX_DTYPES:
        raise ValueError(f"an index is of int64 or int32, found {index.dtype}")
    if not index.data:
        return {}
    own, shape = self.shape or (1,), index.shape or (1,)
    if len(own) != len(shape) or any(s > own[d] for d, s in enumerate(shape) if d != dim):
        raise ValueError(f"index of shape {shape} does not fit self of shape {own} along dim {dim}")
    strides = list(strides_of(own))
    along, strides[dim] = strides[dim], 0
    writes: Writes = {}
    for start, i, value in zip(positions(shape, strides), index.data, _read(source, shape), strict=True):
        if not 0 <= i < own[dim]:
            raise ValueError(f"index {i} is outside dim {dim} of size {own[dim]}")
        writes.setdefault(start + i * along, []).append(value)
    return writes


def _read(source: Scalar | RefTensor, shape: tuple[int, ...]) -> list:
    """source[p] for every index p below `shape`."""
    if not isinstance(source, RefTensor):
        return [source] * len(positions(shape, [0] * len(shape)))
    its = source.shape or (1,)
    if len(its) != len(shape) or any(s > limit for s, limit in zip(shape, its, strict=True)):
        raise ValueError(f"index of shape {shape} does not fit src of shape {its}")
    return [source.data[position] for position in positions(shape, strides_of(its))]


def _written(self: RefTensor, writes: Writes, element: Callable[[object, list], object]) -> RefTensor:
    """self with `element(old, new ones)` at every position that is written."""
    data = list(self.data)
    for position, new in writes.items():
        data[position] = element(data[position], new)
    return RefTensor(self.dtype, self.shape, data)


def _same_dtype(self: RefTensor, src: RefTensor) -> None:
    if self.dtype != src.dtype:
        raise ValueError(f"src of {src.dtype} does not go into self of {self.dtype}")


def _only(_old: object, new: list) -> object:
    """What is written once; open where several elements are (as P25: one of them is picked arbitrarily)."""
    return new[0] if len(new) == 1 else UNSPECIFIED


def _stored(dtype: str, value: Scalar) -> Scalar:
    """A Python number as an element; ValueError of a higher category than floats, or outside an integer's range."""
    kind = category(dtype)
    if isinstance(value, complex) and kind != COMPLEX:
        raise ValueError(f"{value!r} does not go into {dtype}")
    if kind == INTEGER:
        low, high = INTEGER_RANGES[dtype]
        if not min(low, -high) <= value <= high:  # false for NaN
            raise ValueError(f"{value!r} is outside the range of {dtype}")
        value = int(value)
    return convert(value, dtype)


# ---- scatter -----------------------------------------------------------------------------------------------------


@reference("aten::scatter.src")
def scatter(self: RefTensor, dim: int, index: RefTensor, src: RefTensor) -> RefTensor:
    """self[..., index[p], ...] = src[p]; where two p have one target any of them may win."""
    _same_dtype(self, src)
    return _written(self, _writes(self, dim, index, src), _only)


@reference("aten::scatter.value")
def scatter_value(self: RefTensor, dim: int, index: RefTensor, value: Scalar) -> RefTensor:
    """self[..., index[p], ...] = value."""
    stored = _stored(self.dtype, value)
    return _written(self, _writes(self, dim, index, stored), lambda _old, new: new[0])


@reference("aten::scatter.reduce")
def scatter_with(self: RefTensor, dim: int, index: RefTensor, src: RefTensor, reduce: str) -> RefTensor:
    """Every src[p] added to, or multiplied into, its target."""
    _same_dtype(self, src)
    combine = _of_all(self.dtype, {"add": "sum", "multiply": "prod"}.get(reduce, reduce), ("sum", "prod"))
    return _written(self, _writes(self, dim, index, src), lambda old, new: combine([old, *new]))


@reference("aten::scatter.value_reduce")
def scatter_value_with(self: RefTensor, dim: int, index: RefTensor, value: Scalar, reduce: str) -> RefTensor:
    """The value added to, or multiplied into, its targets, once for each index; of floats the double (P30)."""
    kind = category(self.dtype)
    stored = _stored(self.dtype, value)
    own = float(value) if kind not in (BOOL, INTEGER, COMPLEX) else stored
    combine = _of_all(self.dtype, {"add": "sum", "multiply": "prod"}.get(reduce, reduce), ("sum", "prod"))
    return _written(self, _writes(self, dim, index, own), lambda old, new: combine([old, *new]))


@reference("aten::scatter_add")
def scatter_add(self: RefTensor, dim: int, index: RefTensor, src: RefTensor) -> RefTensor:
    """Every src[p] added to self[..., index[p], ...]; the sum is rounded once."""
    return scatter_with(self, dim, index, src, "add")


@reference("aten::scatter_reduce.two")
def scatter_reduce(
    self: RefTensor, dim: int, index: RefTensor, src: RefTensor, reduce: str, include_self: bool = True
) -> RefTensor:
    """The sum, prod, mean, amax or amin of the src[p] of one target, and of self there unless include_self is False."""
    _same_dtype(self, src)
    if self.dtype == "bool" and reduce == "mean":
        raise ValueError("bools have no mean")
    combine = _of_all(self.dtype, reduce, ("sum", "prod", "mean", "amax", "amin"))
    writes = _writes(self, dim, index, src)
    return _written(self, writes, lambda old, new: combine([old, *new] if include_self else new))


def _of_all(dtype: str, reduce: str, known: tuple[str, ...]) -> Callable[[list], object]:
    """The reduction of that name, of a list of elements."""
    if reduce not in known:
        raise ValueError(f"reduce is one of {', '.join(known)}; found {reduce!r}")
    if category(dtype) == COMPLEX and reduce in ("amax", "amin"):
        raise ValueError(f"{reduce} is not defined for {dtype}")
    reductions: dict[str, Callable[[str, list], object]] = {
        "sum": accumulated,
        "prod": product_line,
        "mean": _mean,
        "amax": lambda _dtype, values: fold(greater, values),
        "amin": lambda _dtype, values: fold(_smaller, values),
    }
    return lambda values: reductions[reduce](dtype, values)


def _smaller(x: Scalar, y: Scalar) -> Scalar:
    return x if x != x or x <= y else y


def _mean(dtype: str, values: list) -> int | float | Unspecified:
    """The exact mean rounded once; of integers open where it is none, or where their sum wraps."""
    kind = category(dtype)
    if kind == COMPLEX:
        raise NotImplementedError(f"the reference of scatter_reduce has no mean of {dtype}")
    if kind == INTEGER:
        mean = Fraction(sum(values), len(values))
        wraps = sum(values) != wrap_integer(dtype, sum(values))
        return UNSPECIFIED if wraps or mean.denominator != 1 else int(mean)
    return round_mean(dtype, values)


# ---- along one dim, and by a mask --------------------------------------------------------------------------------


def _slices(op: str, self: RefTensor, dim: int, index: RefTensor, source: RefTensor) -> Writes:
    """What self[..., index[j], ...] gets of source[..., j, ...]."""
    _same_dtype(self, source)
    dim = wrap_dim(dim, len(self.shape))
    own, its = self.shape or (1,), source.shape or (1,)
    if op == "index_copy" and index.dtype != "int64":
        raise ValueError(f"index_copy needs an index of int64, found {index.dtype}")
    chosen = vector_of_indices(op, index, own[dim])
    if its != (*own[:dim], len(chosen), *own[dim + 1 :]):
        raise ValueError(f"source of shape {its} for {len(chosen)} indices along dim {dim} of shape {own}")
    writes: Writes = {}
    for j, i in enumerate(chosen):
        for target, position in zip(hyperplane(own, dim, i), hyperplane(its, dim, j), strict=True):
            writes.setdefault(target, []).append(source.data[position])
    return writes


@reference("aten::index_add")
def index_add(self: RefTensor, dim: int, index: RefTensor, source: RefTensor, alpha: Scalar = 1) -> RefTensor:
    """alpha * source[..., j, ...] added to self[..., index[j], ...]; each sum is rounded once."""
    kind = category(self.dtype)
    if isinstance(alpha, bool) and kind != BOOL:
        raise ValueError(f"a bool alpha needs bool operands, found {self.dtype}")
    factor = read_factor("alpha", alpha, self.dtype)
    writes = _slices("index_add", self, dim, index, source)
    if kind == COMPLEX:
        raise NotImplementedError("the reference of index_add covers real dtypes only")
    return _written(self, writes, lambda old, new: _plus_scaled(self.dtype, old, new, factor))


def _plus_scaled(dtype: str, old: Scalar, new: list, alpha: Scalar) -> Scalar:
    if category(dtype) in (BOOL, INTEGER) or alpha == 1:
        return accumulated(dtype, [old, *([alpha and x for x in new] if dtype == "bool" else [alpha * x for x in new])])
    return round_exact(dtype, fold(add_exact, [exact(old), *(multiply_exact(exact(alpha), exact(x)) for x in new)]))


@reference("aten::index_reduce")
def index_reduce(
    self: RefTensor, dim: int, index: RefTensor, source: RefTensor, reduce: str, include_self: bool = True
) -> RefTensor:
    """The prod, mean, amax or amin of the slices of source with one index, and of self's there with include_self."""
    if self.dtype == "bool" and reduce == "mean":
        raise ValueError("bools have no mean")
    combine = _of_all(self.dtype, reduce, ("prod", "mean", "amax", "amin"))
    writes = _slices("index_reduce", self, dim, index, source)
    return _written(self, writes, lambda old, new: combine([old, *new] if include_self else new))


@reference("aten::put")
def put(self: RefTensor, index: RefTensor, source: RefTensor, accumulate: bool = False) -> RefTensor:
    """Element k of source at position index[k] of self, seen as a vector, or added to what is there."""
    _same_dtype(self, source)
    count = len(self.data)
    if index.dtype != "int64" or len(index.data) != len(source.data):
        raise ValueError(f"put needs an index of int64 for each of {len(source.data)} elements")
    writes: Writes = {}
    for i, value in zip(index.data, source.data, strict=True):
        if not -count <= i < count:
            raise ValueError(f"index {i} is outside a tensor of {count} elements")
        writes.setdefault(i % count, []).append(value)
    if not accumulate:
        return _written(self, writes, _only)
    if category(self.dtype) == COMPLEX:
        raise NotImplementedError("the reference of put adds real numbers only")
    return _written(self, writes, lambda old, new: accumulated(self.dtype, [old, *new]))


@reference("aten::index_copy")
def index_copy(self: RefTensor, dim: int, index: RefTensor, source: RefTensor) -> RefTensor:
    """self[..., index[j], ...] = source[..., j, ...]; where two j have one index any of them may win."""
    return _written(self, _slices("index_copy", self, dim, index, source), _only)


@reference("aten::index_fill.int_Scalar")
def index_fill(self: RefTensor, dim: int, index: RefTensor, value: Scalar) -> RefTensor:
    """self[..., index[j], ...] = value."""
    dim = wrap_dim(dim, len(self.shape))
    stored, size = _stored(self.dtype, value), (self.shape or (1,))[dim]
    if index.dtype != "int64":
        raise ValueError(f"index_fill needs an index of int64, found {index.dtype}")
    if any(-size <= i < 0 for i in index.data):
        raise NotImplementedError("torch documents no negative index of index_fill")
    chosen = vector_of_indices("index_fill", index, size)
    targets = {target: [stored] for i in chosen for target in hyperplane(self.shape, dim, i)}
    return _written(self, targets, lambda _old, new: new[0])


@reference("aten::masked_scatter")
def masked_scatter(self: RefTensor, mask: RefTensor, source: RefTensor) -> RefTensor:
    """self with the elements of source, in row-major order, where the mask is true; self and mask broadcast."""
    _same_dtype(self, source)
    if category(mask.dtype) != BOOL:
        raise ValueError(f"a mask is of bool, found {mask.dtype}")
    shape = broadcast_shapes(self.shape, mask.shape)
    places = expand(mask.data, mask.shape, shape)
    if sum(places) > len(source.data):
        raise ValueError(f"{sum(places)} places for {len(source.data)} elements of source")
    remaining = iter(source.data)
    own = expand(self.data, self.shape, shape)
    data = [next(remaining) if is_true else value for value, is_true in zip(own, places, strict=True)]
    return RefTensor(self.dtype, shape, data)
