"""Quantiles: what stands at a share of the way through the numbers in order, or between the two numbers next to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from conform.interp.blocks.rows import Rows, reduced_shape
from conform.interp.dims import reduced_axes
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.elementwise.combinations import wider
from conform.interp.ops.sorting.order import sorted_rows
from conform.interp.semantics import semantics
from conform.numerics.ball import Ball
from conform.numerics.eft import two_prod
from conform.numerics.escalate import decide_exactly
from conform.numerics.formats import Format, format_of
from conform.numerics.real import Real, where
from conform.numerics.rounding import round_to
from conform.numerics.rounding_errors import held_format

Rank = tuple[np.ndarray, np.ndarray]  # [rows]: the index q (n - 1) into the numbers in order, as an unevaluated sum


def _count(arguments: Mapping[str, Any]) -> int:
    """The elements of the result, at most."""
    return int(np.size(arguments["q"])) * int(np.size(arguments["self"]))


@semantics("aten::quantile", compares=True, elements=_count)
def quantile(
    self: np.ndarray, q: np.ndarray, dim: int | None = None, keepdim: bool = False, interpolation: str = "linear"
) -> Golden:
    """What stands at the index q (n - 1) into the numbers of self along dim in order, NaN beside NaN; between two of
    them, a < b, linear: a + (b - a) fraction, lower: a, higher: b, nearest: the nearer one (of a tie that of the even
    index), midpoint: (a + b) / 2 (P155). A q of one dimension is the first one of the result"""
    return _quantiles(self, q, dim, keepdim, interpolation, without_nan=False)


@semantics("aten::quantile.scalar", along="dim", compares=True)
def quantile_scalar(
    self: np.ndarray, q: float, dim: int | None = None, keepdim: bool = False, interpolation: str = "linear"
) -> Golden:
    """quantile of one number (P155)"""
    return quantile(self, np.float64(q), dim, keepdim, interpolation)


@semantics("aten::nanquantile", compares=True, elements=_count)
def nanquantile(
    self: np.ndarray, q: np.ndarray, dim: int | None = None, keepdim: bool = False, interpolation: str = "linear"
) -> Golden:
    """quantile of the numbers that are not NaN; NaN where there are none (P155)"""
    return _quantiles(self, q, dim, keepdim, interpolation, without_nan=True)


@semantics("aten::nanquantile.scalar", along="dim", compares=True)
def nanquantile_scalar(
    self: np.ndarray, q: float, dim: int | None = None, keepdim: bool = False, interpolation: str = "linear"
) -> Golden:
    """nanquantile of one number (P155)"""
    return nanquantile(self, np.float64(q), dim, keepdim, interpolation)


def _quantiles(
    self: np.ndarray, q: np.ndarray, dim: int | None, keepdim: bool, interpolation: str, without_nan: bool
) -> Golden:
    axes = reduced_axes(None if dim is None else [dim], self.ndim)
    (ordered, _) = sorted_rows(Rows.over(self, axes, lambda some: some), descending=False, with_ranks=False)
    count = np.count_nonzero(~np.isnan(ordered), axis=1)
    has_none = (count == 0) if without_nan else (count < ordered.shape[1])
    shape = (*np.shape(q), *reduced_shape(self.shape, axes, keepdim))
    fmt, shares = format_of(self), np.repeat(np.reshape(q, -1).astype(np.float64), len(ordered))
    rows = np.tile(np.arange(len(ordered)), np.size(q))
    last = np.maximum(np.where(has_none, 0, count) - 1, 0)[rows]
    ordered = np.where(has_none[:, None], np.nan, ordered.astype(np.float64))
    with np.errstate(all="ignore"):
        places = (_place(ordered, rows, rank) for rank in _ranks(fmt, shares, last))
        first, *others = (_BETWEEN[interpolation](fmt, place) for place in places)
    return first.or_else(*others).rearranged(lambda part: part.reshape(shape))


def _ranks(fmt: Format, shares: np.ndarray, last: np.ndarray) -> Iterator[Rank]:
    """The exact index first; then as the element type rounds the share, their product, or both."""
    held = round_to(fmt, shares).astype(np.float64)
    for share in (shares, *([held] if (held != shares).any() else [])):
        product, rest = two_prod(share, last.astype(np.float64))
        yield product, rest
        rounded = round_to(fmt, product, rest).astype(np.float64)
        if (rounded != product).any() or rest.any():
            yield rounded, np.zeros_like(rounded)


class _Place(NamedTuple):
    """[rows]: between the numbers a and b (equal ones at an index that is an integer), `hi` + `lo` of the way from the
    first, of which the index is `below`."""

    a: np.ndarray
    b: np.ndarray
    hi: np.ndarray
    lo: np.ndarray
    below: np.ndarray

    @property
    def is_unclear(self) -> np.ndarray:
        """Which lie between a finite number and an infinite one, or two infinite ones."""
        return (self.a != self.b) & (np.isinf(self.a) | np.isinf(self.b))


def _place(ordered: np.ndarray, rows: np.ndarray, rank: Rank) -> _Place:
    product, rest = rank
    below = np.floor(product) - ((product == np.floor(product)) & (rest < 0))
    above = below + ((product != below) | (rest != 0))
    a, b = (ordered[rows, index.astype(np.int64)] for index in (below, above))
    return _Place(a, b, product - below, rest, below)


def _linear(fmt: Format, at: _Place) -> Golden:
    equal = at.a == at.b
    a, b = (np.where(np.isfinite(x) & ~equal, x, 0.0) for x in (at.a, at.b))
    fraction = Real.exact(at.hi) + Real.exact(at.lo)
    known = Real.exact(a) + (Real.exact(b) - Real.exact(a)) * fraction
    value, real = decide_exactly(
        fmt,
        where(equal | ~np.isfinite(at.a + at.b), np.where(equal, at.a, at.a + at.b), known),
        lambda i: Fraction(a[i]) + (Fraction(b[i]) - Fraction(a[i])) * (Fraction(at.hi[i]) + Fraction(at.lo[i])),
    )
    low, high = Ball.exact(a, held_format(fmt)), Ball.exact(b, held_format(fmt))
    part = low.rounded(at.hi + at.lo, 0.0)
    ball = wider(low + (high - low) * part, high - (high - low) * (-part + 1.0))
    golden = Golden.derived(fmt, value, real, ball.but_exact(equal | np.isnan(at.a)), zero_sign_free=True)
    return golden.opened(at.is_unclear, "P155")


def _midpoint(fmt: Format, at: _Place) -> Golden:
    between = (at.hi != 0) | (at.lo != 0)
    half = at._replace(hi=np.where(between, 0.5, 0.0), lo=np.zeros_like(at.lo))
    golden = _linear(fmt, half)
    a, b = (Ball.exact(np.where(np.isfinite(x), x, 0.0), held_format(fmt)) for x in (at.a, at.b))
    budget = np.where(golden.budget == 0, 0.0, np.maximum(golden.budget, ((a + b) * 0.5).rad))
    return replace(golden, budget=budget)


def _lower(fmt: Format, at: _Place) -> Golden:
    return exact(at.a, fmt, zero_sign_free=True)


def _higher(fmt: Format, at: _Place) -> Golden:
    return exact(at.b, fmt, zero_sign_free=True)


def _nearest(fmt: Format, at: _Place) -> Golden:
    beyond = (at.hi - 0.5) + at.lo  # the difference is exact, and so is the sign of the sum
    is_above = np.where(beyond == 0, at.below % 2 == 1, beyond > 0)
    return exact(np.where(is_above, at.b, at.a), fmt, zero_sign_free=True)


_BETWEEN = {"linear": _linear, "lower": _lower, "higher": _higher, "nearest": _nearest, "midpoint": _midpoint}
