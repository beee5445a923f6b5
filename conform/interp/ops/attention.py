"""Scaled dot product attention: softmax(query @ key^T * scale + mask) @ value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt, prod

import numpy as np

from conform.errors import InvalidArguments, Unjudged
from conform.interp.golden import Golden, concatenated
from conform.interp.losses import common_float
from conform.interp.numerics import functions
from conform.interp.numerics import multiprecision as mp
from conform.interp.numerics.accumulate import Accumulated, dot, exact_dot
from conform.interp.numerics.ball import ULPS, Ball, gamma, joined, joined_along, underflow
from conform.interp.numerics.escalate import resolved
from conform.interp.numerics.formats import Format, format_of
from conform.interp.numerics.real import Real, where
from conform.interp.operands import compute_format
from conform.interp.ops.elementwise import exact
from conform.interp.registry import semantics
from conform.interp.rows import BLOCK

SCALING = 6  # roundings of a score besides those of its sum: scale or its root, multiplied into query and key


@semantics("aten::scaled_dot_product_attention")
def scaled_dot_product_attention(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    attn_mask: np.ndarray | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Golden:
    """softmax(query @ key^T * scale + mask) @ value, with scale 1/sqrt(E) if None; is_causal masks the columns after
    a row's own; enable_gqa repeats key and value heads (P54, P69)"""
    if dropout_p:
        raise Unjudged(f"no semantics for dropout_p={dropout_p}: what is dropped is drawn (P69)")
    fmt = common_float("attention", query, key, value, promotes=False)
    if enable_gqa:
        key, value = (_repeated(query, operand) for operand in (key, value))
    batch = _check(query, key, value)
    bias = _bias(fmt, _scores(query, key), attn_mask, is_causal)
    if query.shape[-1] == 0 or key.shape[-2] == 0:
        raise Unjudged("no semantics for attention over no keys, or over keys without elements")
    shape = (*batch, query.shape[-2], value.shape[-1])
    if 0 in shape:
        return exact(np.empty(shape, fmt.storage), fmt)
    operands = [_flat(np.broadcast_to(x, (*batch, *x.shape[-2:]))) for x in (query, key, value)]
    query, key, value = operands
    bias = _flat(np.broadcast_to(bias, (*batch, *bias.shape[-2:])))
    places = list(_blocks(len(query), query.shape[1], key.shape[1] * max(key.shape[2], value.shape[2])))
    goldens = [
        _Attention(fmt, query[b, rows], key[b], value[b], bias[b, rows], scale).golden() for b, rows in places
    ]
    return concatenated(goldens).rearranged(lambda part: part.reshape(shape))


def _blocks(batches: int, rows: int, products: int) -> Iterator[tuple[slice, slice]]:
    """(of the batch, of the rows): the rows worked on at a time, each of which takes as many products of elements."""
    if batches * rows * products <= BLOCK:
        yield slice(None), slice(None)
        return
    step = max(BLOCK // products, 1)
    for batch in range(batches):
        for row in range(0, rows, step):
            yield slice(batch, batch + 1), slice(row, row + step)


def _flat(array: np.ndarray) -> np.ndarray:
    """[..., m, n] as [batch, m, n], in float64."""
    return array.reshape(prod(array.shape[:-2]), *array.shape[-2:]).astype(np.float64)


def _repeated(query: np.ndarray, operand: np.ndarray) -> np.ndarray:
    if query.ndim < 3 or operand.ndim < 3 or operand.shape[-3] == 0 or query.shape[-3] % operand.shape[-3]:
        raise InvalidArguments(f"heads of {list(operand.shape)} do not divide those of {list(query.shape)}")
    return np.repeat(operand, query.shape[-3] // operand.shape[-3], axis=-3)


def _check(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> tuple[int, ...]:
    """The common shape of the leading dimensions."""
    shapes = ", ".join(str(list(operand.shape)) for operand in (query, key, value))
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise InvalidArguments(f"attention expects at least 2 dimensions, got {shapes}")
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise InvalidArguments(f"attention of {shapes}: query and key differ in size, or key and value in number")
    try:
        return np.broadcast_shapes(*(operand.shape[:-2] for operand in (query, key, value)))
    except ValueError:
        raise InvalidArguments(f"attention of {shapes}: leading dimensions do not broadcast") from None


def _scores(query: np.ndarray, key: np.ndarray) -> tuple[int, ...]:
    """The shape of query @ key^T."""
    return (*np.broadcast_shapes(query.shape[:-2], key.shape[:-2]), query.shape[-2], key.shape[-2])


def _bias(fmt: Format, shape: tuple[int, ...], mask: np.ndarray | None, is_causal: bool) -> np.ndarray:
    """What is added to the scores; -inf where a position is masked."""
    if mask is None:
        rows, columns = shape[-2:]
        kept = np.arange(columns) <= np.arange(rows)[:, None] if is_causal else np.ones((rows, columns), bool)
        return np.broadcast_to(np.where(kept, 0.0, -np.inf), shape)
    if is_causal:
        raise InvalidArguments("attention takes attn_mask or is_causal, not both")
    if format_of(mask).name not in ("bool", "float32", fmt.name) or mask.ndim < 2:
        raise InvalidArguments(f"attn_mask must be bool or {fmt.name} of 2 dimensions or more, got {mask.dtype}")
    added = np.where(mask, 0.0, -np.inf) if format_of(mask).kind == "bool" else mask.astype(np.float64)
    try:
        return np.broadcast_to(added, shape)
    except ValueError:
        raise InvalidArguments(f"attn_mask {list(mask.shape)} does not broadcast to {list(shape)}") from None


@dataclass
class _Attention:
    """Attention of query [b, L, E], key [b, S, E] and value [b, S, V]; bias [b, L, S]."""

    fmt: Format
    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    bias: np.ndarray
    scale: float | None

    def golden(self) -> Golden:
        batch, rows, columns = *self.query.shape[:2], self.value.shape[2]
        with np.errstate(all="ignore"):
            real = where(self._is_nan(), np.nan, self._real()).reshape((batch * rows, columns))
            value, real = resolved(self.fmt, real, self._formula, self._rational)
            budget = self._budget(compute_format(self.fmt)).reshape(real.shape)
        budget = np.where(np.isfinite(real.hi), budget, 0.0)
        golden = Golden(self.fmt, value, real, budget=budget, zero_sign_free=True)
        return golden.opened(np.repeat(self._open().reshape(-1, 1), columns, axis=1), "P69")

    @cached_property
    def products(self) -> Accumulated:
        """query @ key^T, [b, L, S]."""
        lhs, rhs = np.broadcast_arrays(self.query[:, :, None, :], self.key[:, None, :, :])
        return dot(lhs, rhs, axis=3)

    @cached_property
    def masked(self) -> np.ndarray:
        return self.bias == -np.inf

    @cached_property
    def scores(self) -> Real:
        factor = Real.exact(np.float64(self.scale)) if self.scale is not None else self._root()
        return where(self.masked, -np.inf, self.products.real * factor + Real.exact(self.bias))

    def _root(self) -> Real:
        return Real.exact(np.float64(1)) / Real.exact(np.float64(self.query.shape[2])).sqrt()

    def _real(self) -> Real:
        """sum(e v) / sum(e), e = e^(score - a number near the largest score)."""
        e = functions.exp(self.scores - Real.exact(self.scores.hi.max(axis=2, keepdims=True)))
        weighted = e.reshape((*e.shape, 1)) * Real.exact(self.value[:, None])
        weighted = where(self.masked[..., None], 0.0, weighted)
        return weighted.sum(axis=2) / e.sum(axis=2).reshape((*e.shape[:2], 1))

    def _is_nan(self) -> np.ndarray:
        """[b, L, V]: where a score is NaN or infinite or a value NaN, and for rows that are open."""
        rows = (np.isnan(self.scores.hi) | (self.scores.hi == np.inf)).any(axis=2) | self._open()
        values = (~self.masked[..., None] & np.isnan(self.value[:, None])).any(axis=2)
        return rows[..., None] | values

    def _open(self) -> np.ndarray:
        """P69: [b, L]"""
        special = ~(np.isfinite(self.key).all(axis=2) & np.isfinite(self.value).all(axis=2))
        hidden = (self.masked & special[:, None]).any(axis=2)
        infinite = np.isinf(self.value).any(axis=(1, 2))
        return hidden | infinite[:, None] | (self.scores.hi == -np.inf).all(axis=2)

    # Rows that the reals do not decide

    def _row(self, row: int) -> tuple[int, int, list[int], list[Fraction]]:
        """(batch, row, the positions with a weight, their exact products)."""
        b, i = divmod(row, self.query.shape[1])
        positions = np.flatnonzero(self.scores.hi[b, i] > -np.inf).tolist()
        return b, i, positions, [exact_dot(self.query[b, i], self.key[b, j]) for j in positions]

    def _rational_scale(self) -> Fraction | None:
        size = self.query.shape[2]
        if self.scale is not None:
            return Fraction(self.scale)
        return Fraction(1, isqrt(size)) if isqrt(size) ** 2 == size else None

    def _rational(self, index: tuple[int, int]) -> Fraction | None:
        """The mean of the values where all scores are equal, or where those of each score have the same mean."""
        b, i, positions, products = self._row(index[0])
        scale, groups = self._rational_scale(), {}
        for j, product in zip(positions, products, strict=True):
            bias = Fraction(self.bias[b, i, j])
            score = (product, bias) if scale is None else product * scale + bias
            groups.setdefault(score, []).append(Fraction(self.value[b, j, index[1]]))
        means = {sum(group) / len(group) for group in groups.values()}
        return means.pop() if len(means) == 1 else None

    def _formula(self, some: np.ndarray) -> np.ndarray:
        return np.array([self._mp_row(row) for row in some.tolist()], dtype=object)

    def _mp_row(self, row: int) -> list[mp.Number]:
        b, i, positions, products = self._row(row)
        size = self.query.shape[2]
        scale = 1 / mp.sqrt(mp.of_float(size)) if self.scale is None else mp.of_float(self.scale)
        exact_scores = [mp.of_fraction(p) * scale for p in products]
        scores = [s + mp.of_float(self.bias[b, i, j]) for s, j in zip(exact_scores, positions, strict=True)]
        e = [mp.exp(score - max(scores)) for score in scores]
        values = [[mp.of_float(v) for v in self.value[b, j].tolist()] for j in positions]
        total = mp.fsum(e)
        return [mp.fsum(w * v[c] for w, v in zip(e, values, strict=True)) / total for c in range(len(values[0]))]

    # Errors

    def _budget(self, compute: Format) -> np.ndarray:
        """Of the formula in the compute type, or in blocks of 16 keys or more that rescale what came before.

        An error eps_j of the j-th exponential is in numerator and denominator: it moves the mean by
        p_j |v_j - mean| eps_j. Rescaling costs 7 roundings a block, so fewer than one a key. Weights may be rounded to
        the element type, which the second product takes.
        """
        u, count = compute.unit_roundoff, self.key.shape[1]
        e = self._exponentials(compute)
        p = np.where(self.masked, 0.0, e.mid / e.mid.sum(axis=2, keepdims=True))[..., None]
        relative = np.where(self.masked, 0.0, e.rad / e.mid.sum(axis=2, keepdims=True))[..., None]
        v = np.where(self.masked[..., None], 0.0, self.value[:, None])
        mean, size = (p * v).sum(axis=2), (p * np.abs(v)).sum(axis=2)
        moved = relative * np.abs(v - mean[:, :, None])
        shared = joined_along(moved, axis=2) / np.maximum(1 - relative.sum(axis=2), 0.0)
        sums = joined(gamma(2 * count, u), 2 * ULPS["div"] * u) * (size + np.abs(mean))
        stored = 0.0 if compute == self.fmt else self._stored(p, v)
        tiny = underflow(compute) * (2 + np.abs(v).sum(axis=2))
        budget = joined(shared, sums * (1 + relative.sum(axis=2)), stored, tiny)
        holds = (np.abs(v).sum(axis=2) <= compute.max_finite) & ~self._hidden_overflow(compute)[..., None]
        return np.where(holds, budget, np.inf)

    def _stored(self, p: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Of weights that are rounded to the element type."""
        weights = joined_along(p * np.abs(v), axis=2) * self.fmt.unit_roundoff
        return weights + underflow(self.fmt) * np.abs(v).sum(axis=2)

    def _hidden_overflow(self, compute: Format) -> np.ndarray:
        """[b, L]: where a masked score may overflow, which makes NaN of inf - inf."""
        factor = 1.0 if self.scale is None else max(1.0, abs(self.scale))
        return (self.masked & (factor * self.products.magnitude > compute.max_finite)).any(axis=2)

    def _exponentials(self, compute: Format) -> Ball:
        factor = 1 / np.sqrt(self.query.shape[2]) if self.scale is None else abs(self.scale)
        terms = self.query.shape[2] + SCALING
        spread = factor * (gamma(terms, compute.unit_roundoff) * self.products.magnitude + terms * underflow(compute))
        scores = Ball.exact(self.bias, compute).rounded(self.scores.hi, spread)
        largest = self.scores.hi.max(axis=2, keepdims=True)
        shifted = scores.rounded(scores.mid - largest, scores.rad)
        e = shifted.exp()
        return Ball(np.where(self.masked, 0.0, e.mid), np.where(self.masked, 0.0, e.rad), compute)
