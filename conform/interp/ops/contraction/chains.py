"""Products of several matrices, exact and rounded once: in whatever order they are multiplied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial, reduce
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import spans
from conform.interp.formulas.elimination import Whole, fractions, whole
from conform.interp.formulas.several_factors import rounded_once
from conform.interp.golden import Golden
from conform.interp.operands import refuse_complex
from conform.interp.ops.contraction.matrices import products
from conform.interp.ops.contraction.sums import integer_product
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.reduction.sums import reshaped
from conform.interp.semantics import semantics
from conform.numerics.formats import Format, format_of
from conform.numerics.real import where
from conform.numerics.rounding_errors import accumulator_of, held_format

Matrices = Sequence[np.ndarray]  # [m, k], [k, l], ..., [l, n]


def _ends(arguments: Mapping[str, Any], name: str) -> int:
    """The rows of the first matrix times the columns of the last."""
    shapes = [np.shape(one) for one in arguments[name]]
    return prod(shapes[0][:-1]) * prod(shapes[-1][1:]) if shapes else 1


@semantics("aten::linalg_multi_dot", elements=lambda arguments: _ends(arguments, "tensors"))
def multi_dot(tensors: Matrices) -> Golden:
    """The product of the matrices, in any order; a vector is a row as the first of them, a column as the last, and the
    result has no such dim (P3, P35, P242)"""
    first, last = tensors[0], tensors[-1]
    shape = (*first.shape[:-1], *last.shape[1:])
    row, column = first[None] if first.ndim == 1 else first, last[:, None] if last.ndim == 1 else last
    return reshaped(product(format_of(first), [row, *tensors[1:-1], column]), shape)


@semantics("aten::chain_matmul", elements=lambda arguments: _ends(arguments, "matrices"))
def chain_matmul(matrices: Matrices) -> Golden:
    """The product of the matrices, in any order; of one that itself (P3, P35, P242)"""
    return product(format_of(matrices[0]), matrices)


def product(fmt: Format, matrices: Matrices) -> Golden:
    """The golden of the product of matrices, one or more."""
    refuse_complex(fmt, "sums of products")
    if len(matrices) == 1:
        return exact(matrices[0], fmt)
    if len(matrices) == 2:
        return products(fmt, *matrices).golden()
    if not fmt.is_float:
        return exact(reduce(partial(integer_product, fmt), matrices), fmt)
    first, *others = (one.astype(np.float64) for one in matrices)
    blocks = spans(len(first), max(one.shape[1] for one in matrices))
    return assembled(((some, _of_floats(fmt, [first[some], *others])) for some in blocks), len(first))


def _of_floats(fmt: Format, matrices: Matrices) -> Golden:
    """Of three matrices and more: a term is part of as many roundings as there are terms in the sums and products."""
    finite = [np.where(np.isfinite(one), one, 0.0) for one in matrices]
    sizes, terms = [np.abs(one) for one in finite], sum(map(len, finite[1:])) + len(finite)
    with np.errstate(all="ignore"):
        numbers, magnitude, amplified = reduce(np.matmul, finite), reduce(np.matmul, sizes), amplification(sizes)
    value, real = rounded_once(fmt, numbers, terms, magnitude, amplified, lambda: _exactly(finite))
    is_nan = reached([np.isnan(one) for one in matrices]) & all(map(len, matrices[1:]))
    nan = np.full(value.shape, np.nan)
    golden = Golden(
        fmt, np.where(is_nan, nan.astype(fmt.storage), value), where(is_nan, nan, real), terms, magnitude,
        amplified=amplified, zero_sign_free=True,
    )  # fmt: skip
    special = reached([~np.isfinite(one) for one in matrices])
    return golden.opened(_overflowing(fmt, sizes, magnitude) & ~is_nan, "P35").opened(special & ~is_nan, "P242")


def _exactly(matrices: Matrices) -> np.ndarray:
    scaled = [whole(one) for one in matrices]
    numbers = reduce(Whole.times, (one.numbers for one in scaled)).real
    return fractions(numbers, 1, sum(one.exponent for one in scaled))


def reached(places: Matrices) -> np.ndarray:
    """[m, n]: which elements of the product depend on one of the places, masks of the factors, in some order of work:
    of the first factor those of its row, of the last those of its column, of another one all."""
    first, *others, last = places
    inner = any(one.any() for one in others)
    return first.any(axis=1)[:, None] | last.any(axis=0) | inner


def _rows(sizes: Matrices) -> np.ndarray:
    """[m]: the sums of the rows of a product."""
    return reduce(lambda sums, factor: factor @ sums, reversed(sizes), np.ones(sizes[-1].shape[1]))


def _columns(sizes: Matrices) -> np.ndarray:
    """[n]: the sums of the columns of a product."""
    return reduce(np.matmul, sizes, np.ones(len(sizes[0])))


def amplification(sizes: Matrices) -> np.ndarray:
    """[m, n]: no less than what a number on the way, in whatever order, is multiplied by and added up with: the largest
    sum of a row of the factors before it, times that of a column of those behind it. sizes: their magnitudes."""
    rows, columns = np.ones(len(sizes[0])), np.ones(sizes[-1].shape[1])
    for count in range(1, len(sizes)):
        rows, columns = np.fmax(rows, _rows(sizes[:count])), np.fmax(columns, _columns(sizes[-count:]))
    return rows[:, None] * columns


def _overflowing(fmt: Format, sizes: Matrices, magnitude: np.ndarray) -> np.ndarray:
    """[m, n]: what depends on a partial product of some order that can overflow, no element of which is larger than the
    sums of its row and its column."""
    most, count = accumulator_of(held_format(fmt)).max_finite, len(sizes)
    with np.errstate(all="ignore"):
        found = ~(magnitude <= most)
        for first, behind in combinations(range(count + 1), 2):
            if (first, behind) != (0, count) and behind - first > 1:
                some = sizes[first:behind]
                rows, columns = ~(_rows(some) <= most), ~(_columns(some) <= most)
                found |= rows[:, None] if first == 0 else columns if behind == count else rows.any() & columns.any()
    return found
