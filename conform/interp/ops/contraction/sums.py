"""Sums of products over shared indices: how they are registered, and their goldens, tile by tile.

The real number, rounded once. Integers wrap modulo 2^n.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from math import prod
from typing import Any

import numpy as np

from conform.interp.blocks.blocks import spans
from conform.interp.blocks.tiles import Contraction
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.reduction.sums import overflowing, sums_of
from conform.interp.semantics import semantics
from conform.interp.traits import Products
from conform.numerics.accumulate import Accumulated
from conform.numerics.digits import Digits, decide_digits, dots, single
from conform.numerics.formats import FORMATS, Format, compute_format
from conform.numerics.grid import common_grid, finest
from conform.numerics.matmul import elements, matmul
from conform.numerics.real import Real, where

Exactly = Callable[[Sequence[np.ndarray]], Digits]  # of a row and a column for each of some elements


def contraction(
    name: str,
    lhs: str,
    rhs: str,
    sums_in: Callable[[Mapping[str, Any]], int],
    addend: str | None = None,
    scale: str | None = None,
    otherwise: Callable[..., Golden] | None = None,
    of_matrices: bool = False,
    terms: int | None = -1,
) -> Callable[[Callable], Callable]:
    """Register the decorated function, whose tiles may also be asked for sums of other factors, as the meaning of
    `name`: products of the arguments `lhs`, whose elements are the summands, and `rhs` are added up and multiplied by
    `scale`, and `addend` is added. sums_in: how many sums there are (`Traits.elements`); otherwise: of the golden and
    the arguments, the golden with the results of other algorithms as alternatives; the rest as of `Products`."""

    def register(sums: Callable[..., Contraction]) -> Callable[..., Contraction]:
        @wraps(sums)
        def meaning(**arguments: Any) -> Golden:
            golden = sums(**arguments).golden()
            return golden if otherwise is None else otherwise(golden, **arguments)

        products = Products((lhs, rhs), addend, scale, sums, of_matrices, terms)
        semantics(name, accumulates=lhs, products=products, elements=sums_in)(meaning)
        return sums

    return register


def integer_tile(fmt: Format, self: np.ndarray, mat2: np.ndarray, rows: slice, columns: slice) -> Golden:
    return exact(integer_product(fmt, self[..., rows, :], mat2[..., columns]), fmt)


def float_product(fmt: Format, self: np.ndarray, mat2: np.ndarray, rows: slice, columns: slice) -> Golden:
    """Of [m, k] and [k, n], or of a stack of both."""
    lhs, rhs = self[..., rows, :], mat2[..., columns]
    golden = golden_of(fmt, matmul(lhs, rhs), lambda index: dots(elements(lhs, rhs, *index)))
    return golden.on_grid(grid_of(fmt, lhs, rhs))


def golden_of(fmt: Format, total: Accumulated, exactly: Exactly) -> Golden:
    return sums_of(fmt, total, *decide_digits(fmt, total.real, total.terms, exactly))


def grid_of(fmt: Format, lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray | None:
    """[*s, m, n]: a grid of the products of [*s, m, k] and [*s, k, n], 0 where it underflows; None if they have none of
    use."""
    *stack, rows, terms = lhs.shape
    compute, some = compute_format(fmt), list(spans(terms, prod(stack) * max(rows, rhs.shape[-1], 1)))
    of_lhs = common_grid(compute, (lhs[..., terms] for terms in some))
    of_rhs = None if of_lhs is None else common_grid(compute, (rhs[..., terms, :] for terms in some), axis=-2)
    with np.errstate(all="ignore"):
        return None if of_rhs is None else of_lhs[..., :, None] * of_rhs[..., None, :]


def integer_product(fmt: Format, lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.einsum("...ik,...kj->...ij", lhs, rhs, dtype=fmt.storage, casting="unsafe")


def integer_addmm(
    fmt: Format,
    self: np.ndarray,
    mat1: np.ndarray,
    mat2: np.ndarray,
    beta: int,
    alpha: int,
    rows: slice,
    columns: slice,
) -> Golden:
    wrapped = np.array([beta % 2**64, alpha % 2**64], np.uint64).astype(fmt.storage)
    with np.errstate(over="ignore"):
        product = integer_product(fmt, mat1[..., rows, :], mat2[..., columns])
        return exact(wrapped[0] * self[..., rows, columns] + wrapped[1] * product, fmt)


def float_addmm(
    fmt: Format,
    self: np.ndarray,
    mat1: np.ndarray,
    mat2: np.ndarray,
    beta: np.float64,
    alpha: np.float64,
    rows: slice,
    columns: slice,
) -> Golden:
    addend, lhs, rhs = self[..., rows, columns].astype(np.float64), mat1[..., rows, :], mat2[..., columns]
    product = matmul(lhs, rhs)
    if not np.isfinite(alpha):
        product = replace(product, real=_with_signs(product, lhs, rhs))
    with np.errstate(all="ignore"):
        scaled = replace(product, real=product.real * Real.exact(alpha), magnitude=abs(alpha) * product.magnitude)
        size = np.where(np.isfinite(addend), np.abs(beta * addend), 0.0)
        total = scaled if beta == 0 else plus(scaled, Real.exact(addend) * Real.exact(beta), size)
    total = replace(total, terms=product.terms + 2)

    def exactly(index: Sequence[np.ndarray]) -> Digits:
        scaled = dots(elements(lhs, rhs, *index)).times(alpha)
        return scaled if beta == 0 else scaled + single(addend[index]).times(beta)

    golden = golden_of(fmt, total, exactly)
    with np.errstate(over="ignore"):
        factor = np.maximum(_largest_of_columns(lhs.mT)[..., :, None], _largest_of_columns(rhs)[..., None, :])
        step = np.maximum(product.magnitude, abs(alpha) * factor)  # to whichever factor alpha is multiplied
    steps = replace(total, magnitude=np.maximum(total.magnitude, step))
    vanishing = _vanishing_beside_an_infinity(fmt, lhs, rhs, alpha) & ~np.isnan(total.real.hi)
    golden = replace(golden, open=None, open_rule=None).opened(overflowing(fmt, steps) | vanishing, "P35")
    if np.isfinite(alpha) and abs(alpha) not in (0, 1):
        golden = replace(golden, amplified=np.maximum(factor, max(abs(alpha), 1.0)))
    return golden.on_grid(_grid_of_addmm(grid_of(fmt, lhs, rhs), addend, beta, alpha))


def _vanishing_beside_an_infinity(fmt: Format, lhs: np.ndarray, rhs: np.ndarray, alpha: np.float64) -> np.ndarray:
    """Whether there is a term of an infinity and a number that alpha, multiplied into it, makes 0: together NaN."""
    if not 0 < abs(alpha) < 1:
        return np.False_
    least = compute_format(fmt).min_subnormal / 2
    *stack, rows, terms = lhs.shape
    found = np.False_
    for some in spans(terms, prod(stack) * max(rows, rhs.shape[-1], 1)):
        factors = [np.abs(one.astype(np.float64)) for one in (lhs[..., some], rhs[..., some, :])]
        infinite = [np.isinf(each) for each in factors]
        if infinite[0].any() or infinite[1].any():
            lost = [(each > 0) & (each * abs(alpha) <= least) for each in factors]
            pairs = (lost[0], infinite[1]), (infinite[0], lost[1])
            found = found | (sum(one.astype(np.float32) @ other.astype(np.float32) for one, other in pairs) > 0)
    return found


def _grid_of_addmm(
    grid: np.ndarray | None, addend: np.ndarray, beta: np.float64, alpha: np.float64
) -> np.ndarray | None:
    """With that of alpha, which may be multiplied into a factor: |b| is at least the grid of b, so alpha a is held too
    where alpha a b is."""
    if grid is None:
        return None
    with np.errstate(all="ignore"):
        scaled = grid * finest(alpha)
        return scaled if beta == 0 else np.minimum(scaled, finest(addend) * finest(beta))


def _with_signs(product: Accumulated, lhs: np.ndarray, rhs: np.ndarray) -> Real:
    """The product, of which only the sign counts beside an infinite factor, however small it is."""

    def enlarged(index: Sequence[np.ndarray]) -> Digits:
        return dots(elements(lhs, rhs, *index)).times(2.0**1000).times(2.0**1000)

    return Real.exact(decide_digits(FORMATS["float64"], product.real, product.terms, enlarged)[0])


def plus(total: Accumulated, addend: Real, size: np.ndarray) -> Accumulated:
    """total + addend, one term more; `size`: the magnitude of the addend, 0 where that is no finite term."""
    with np.errstate(all="ignore"):
        special = ~np.isfinite(addend.hi)
        real, magnitude = total.real + addend, total.magnitude + size
        # An infinite or NaN addend decides the class of the sum, even where the finite total is beyond float64.
        decides = special & np.isfinite(total.real.hi)
        return Accumulated(where(decides, addend, real) if special.any() else real, magnitude, total.terms + 1)


def _largest_of_columns(matrix: np.ndarray) -> np.ndarray:
    """[*s, n]: the largest finite magnitude of each column of [*s, m, n], 0 where there is none."""
    *stack, count, columns = matrix.shape
    largest = np.zeros((*stack, columns))
    for rows in spans(count, prod(stack) * columns):
        magnitudes = np.abs(matrix[..., rows, :].astype(np.float64))
        largest = np.maximum(largest, np.where(np.isfinite(magnitudes), magnitudes, 0.0).max(-2, initial=0.0))
    return largest
