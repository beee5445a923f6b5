"""Writing where an index names the place along one dimension, and where a mask is true."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import flat, spans
from conform.interp.blocks.rows import Rows
from conform.interp.golden import Golden
from conform.interp.operands import converted, refuse_complex
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.indexing.places import Writes, of_dim, of_elements
from conform.interp.ops.indexing.written import filled, joined, reduced_rows, replaced, sums_of_writes
from conform.interp.ops.reduction.statistics import mean_of_rows
from conform.interp.ops.reduction.sums import float_product, reshaped, sums_of
from conform.interp.semantics import semantics
from conform.interp.size import broadcast_elements
from conform.numerics import accumulate
from conform.numerics.digits import decide_digits, dots
from conform.numerics.formats import Format, format_of

Number = bool | int | float | complex


def _line(tensor: np.ndarray) -> np.ndarray:
    """A 0-d tensor as one of one dimension."""
    return tensor if tensor.ndim else tensor.reshape(1)


def _scattered(self: np.ndarray, dim: int, index: np.ndarray, src: np.ndarray) -> tuple[np.ndarray, Writes]:
    """self and the writes of src[p] to self[..., index[p], ...], for every place p of the index."""
    own, its = _line(self), _line(index)
    if not its.size:
        return own, Writes((own.size,), [np.empty(0, np.int64)], np.empty(0, self.dtype))
    values = _line(src)[tuple(slice(0, size) for size in its.shape)] if src.ndim else src
    return own, Writes(own.shape, of_elements(dim, its), values)


@semantics("aten::scatter.src", selects=True)
def scatter(self: np.ndarray, dim: int, index: np.ndarray, src: np.ndarray) -> Golden:
    """self[..., index[p], ...] = src[p], the index standing for coordinate dim; where two p name one place it is open
    (P25, P26)"""
    own, writes = _scattered(self, dim, index, src)
    return reshaped(replaced(own, format_of(self), writes), self.shape)


@semantics("aten::scatter.value", selects=True)
def scatter_value(self: np.ndarray, dim: int, index: np.ndarray, value: Number) -> Golden:
    """self[..., index[p], ...] = value, the index standing for coordinate dim (P26)"""
    fmt = format_of(self)
    own, writes = _scattered(self, dim, index, converted(value, fmt))
    return reshaped(filled(own, fmt, writes), self.shape)


@semantics("aten::scatter_add")
def scatter_add(self: np.ndarray, dim: int, index: np.ndarray, src: np.ndarray) -> Golden:
    """Every src[p] added to self[..., index[p], ...] (P3, P10, P26)"""
    return _reduced(self, dim, index, src, "sum")


@semantics("aten::scatter.reduce")
def scatter_with(self: np.ndarray, dim: int, index: np.ndarray, src: np.ndarray, reduce: str) -> Golden:
    """Every src[p] added to self[..., index[p], ...], or multiplied into it (P10, P26, P61)"""
    return _reduced(self, dim, index, src, "sum" if reduce == "add" else "prod")


@semantics("aten::scatter.value_reduce")
def scatter_value_with(self: np.ndarray, dim: int, index: np.ndarray, value: Number, reduce: str) -> Golden:
    """The value added to self[..., index[p], ...], or multiplied into it, for every p (P10, P26, P30, P61)"""
    fmt = format_of(self)
    added = np.array(float(value)) if fmt.is_float else converted(value, fmt)
    return _reduced(self, dim, index, added, "sum" if reduce == "add" else "prod")


@semantics("aten::scatter_reduce.two", compares=True)
def scatter_reduce(
    self: np.ndarray, dim: int, index: np.ndarray, src: np.ndarray, reduce: str, include_self: bool = True
) -> Golden:
    """The sum, prod, mean, amax or amin of the src[p] of one place self[..., index[p], ...], and of self there unless
    include_self is False (P3, P4, P5, P10, P26, P61, P110)"""
    return _reduced(self, dim, index, src, reduce, include_self)


def _reduced(
    self: np.ndarray, dim: int, index: np.ndarray, src: np.ndarray, name: str, with_self: bool = True
) -> Golden:
    own, writes = _scattered(self, dim, index, src)
    return reshaped(_joined(own, writes, name, with_self), self.shape)


def _joined(own: np.ndarray, writes: Writes, name: str, with_self: bool) -> Golden:
    fmt = format_of(own)
    refuse_complex(fmt, f"the {name} of writes")
    first = None if with_self else _neutral(fmt, name)
    if name == "sum":
        golden = sums_of_writes(own, fmt, writes, first)
    elif name in ("amax", "amin"):
        golden = joined(own, fmt, writes, np.maximum if name == "amax" else np.minimum, first)
        golden = replace(golden, zero_sign_free=fmt.is_float)
    elif fmt.is_float:
        of_rows = partial(mean_of_rows if name == "mean" else float_product, fmt)
        golden = reduced_rows(own, writes, with_self, lambda rows: with_terms(of_rows(rows), rows))
    elif name == "mean":
        golden = _integer_mean(own, fmt, writes, with_self)
    else:
        golden = joined(own, fmt, writes, np.logical_and if fmt.kind == "bool" else np.multiply, first)
    return golden


def _neutral(fmt: Format, name: str) -> np.ndarray:
    """What changes nothing that it is joined to by the reduction."""
    if name in ("sum", "mean"):
        return fmt.storage.type(0)
    if name == "prod":
        return fmt.storage.type(1)
    if fmt.kind == "bool":
        return np.bool_(name == "amin")
    ends = (-np.inf, np.inf) if fmt.is_float else (fmt.min_value, fmt.max_value)
    return fmt.storage.type(ends[name == "amin"])


def with_terms(golden: Golden, rows: Rows) -> Golden:
    """The golden of rows, each with its number of terms."""
    return golden if golden.terms is None else replace(golden, terms=np.full(rows.count, golden.terms))


def _integer_mean(own: np.ndarray, fmt: Format, writes: Writes, with_self: bool) -> Golden:
    parts = ((some, _integer_means(flat(own, some), fmt, writes, with_self, some)) for some in spans(own.size))
    return reshaped(assembled(parts, own.size), own.shape)


def _integer_means(elements: np.ndarray, fmt: Format, writes: Writes, with_self: bool, share: slice) -> Golden:
    """Of the elements `share`: the quotient where it is an integer, and the sum one of the format; else it is open
    (P110)."""
    counts = writes.counts(share)
    start = elements if with_self else np.where(counts > 0, 0, elements)
    high, low = _halves(start)  # high * 2^32 + low, so that no sum wraps
    for places, values in writes.within(share):
        for total, part in zip((high, low), _halves(values), strict=True):
            np.add.at(total, places, part)
    carry = low >> 32
    high, low = high + carry, low - (carry << 32)
    fits = (high >= -(2**31)) & (high < 2**31)
    total = np.where(fits, (high << 32) | low, 0)
    divisor = np.where(counts > 0, counts + with_self, 1)
    is_held = fits & (total >= fmt.min_value) & (total <= fmt.max_value) & (total % divisor == 0)
    quotient = np.where(is_held, total // divisor, 0).astype(fmt.storage)
    return exact(quotient, fmt).opened(~is_held, "P110")


def _halves(integers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    wide = integers.astype(np.int64)
    return wide >> 32, wide & (2**32 - 1)


# Along one dimension


@semantics("aten::index_add")
def index_add(self: np.ndarray, dim: int, index: np.ndarray, source: np.ndarray, alpha: Number = 1) -> Golden:
    """alpha * source[..., j, ...] added to self[..., index[j], ...] (P3, P10, P26, P31)"""
    fmt = format_of(self)
    refuse_complex(fmt, "index_add")
    own = _line(self)
    if not fmt.is_float:
        times = np.logical_and if fmt.kind == "bool" else np.multiply
        scaled = source if alpha == 1 else times(source, converted(alpha, fmt))
        golden = sums_of_writes(own, fmt, _slices(own, dim, index, scaled))
    elif alpha == 1:
        golden = sums_of_writes(own, fmt, _slices(own, dim, index, source))
    else:
        writes = _slices(own, dim, index, source)
        of_rows = partial(_scaled_sums, fmt, float(alpha))
        golden = reduced_rows(own, writes, True, of_rows)
    return reshaped(golden, self.shape)


def _slices(own: np.ndarray, dim: int, index: np.ndarray, source: np.ndarray) -> Writes:
    return Writes(own.shape, of_dim(own.ndim, dim, index), _line(source))


def _scaled_sums(fmt: Format, alpha: float, rows: Rows) -> Golden:
    """The first element of each row and alpha times the others: products and sums may be rounded."""
    factors = np.where(np.arange(rows.terms) > 0, alpha, 1.0)
    pairs = rows.pieces.map(lambda piece: (piece, np.broadcast_to(factors, piece.shape)))
    total = accumulate.dot_of(pairs)
    exact_sums = lambda index: dots((piece[index[0]].T, factors[:, None]) for piece in rows.pieces)  # noqa: E731
    golden = sums_of(fmt, total, *decide_digits(fmt, total.real, total.terms, exact_sums))
    return replace(golden, terms=np.full(rows.count, 2 * (rows.terms - 1)))


@semantics("aten::index_reduce", compares=True)
def index_reduce(
    self: np.ndarray, dim: int, index: np.ndarray, source: np.ndarray, reduce: str, include_self: bool = True
) -> Golden:
    """The prod, mean, amax or amin of the source[..., j, ...] of one self[..., index[j], ...], and of self there unless
    include_self is False (P4, P5, P10, P26, P61, P110)"""
    own = _line(self)
    return reshaped(_joined(own, _slices(own, dim, index, source), reduce, include_self), self.shape)


@semantics("aten::index_copy", selects=True)
def index_copy(self: np.ndarray, dim: int, index: np.ndarray, source: np.ndarray) -> Golden:
    """self[..., index[j], ...] = source[..., j, ...]; where two j have one index it is open (P25, P26)"""
    own = _line(self)
    return reshaped(replaced(own, format_of(self), _slices(own, dim, index, source)), self.shape)


@semantics("aten::index_fill.int_Scalar", selects=True)
def index_fill(self: np.ndarray, dim: int, index: np.ndarray, value: Number) -> Golden:
    """self[..., index[j], ...] = value (P26)"""
    own, fmt = _line(self), format_of(self)
    writes = Writes(own.shape, of_dim(own.ndim, dim, index), converted(value, fmt))
    return reshaped(filled(own, fmt, writes), self.shape)


# In the whole tensor


@semantics("aten::put")
def put(self: np.ndarray, index: np.ndarray, source: np.ndarray, accumulate: bool = False) -> Golden:
    """self, seen as a line, with the elements of source, in C order, at index, of which negative ones count from the
    end, or added there; where an index is repeated and nothing is added it is open (P3, P10, P25, P26)"""
    fmt, own = format_of(self), self.reshape(-1)
    writes = Writes((self.size,), [index], source.reshape(index.shape))
    if not accumulate:
        return reshaped(replaced(own, fmt, writes), self.shape)
    refuse_complex(fmt, "put with accumulate")
    return reshaped(sums_of_writes(own, fmt, writes), self.shape)


# By a mask


def _self_and_mask(arguments: Mapping[str, Any]) -> int:
    return broadcast_elements({name: arguments[name] for name in ("self", "mask")})


@semantics("aten::masked_scatter", selects=True, elements=_self_and_mask)
def masked_scatter(self: np.ndarray, mask: np.ndarray, source: np.ndarray) -> Golden:
    """self with the elements of source, in C order, where mask is true; self and mask broadcast"""
    elements, chosen = np.broadcast_arrays(self, mask)
    result, done = np.empty(elements.size, self.dtype), 0
    for some in spans(elements.size):
        part, here = flat(elements, some).copy(), flat(chosen, some)
        count = np.count_nonzero(here)
        part[here] = flat(source, slice(done, done + count))
        result[some] = part
        done += count
    return exact(result.reshape(elements.shape), format_of(self))
