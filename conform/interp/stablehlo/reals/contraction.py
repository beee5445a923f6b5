"""Sums of products: the matrices of places that the op's meaning multiplies, as Numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from conform.interp.program.complexes import Complex
from conform.interp.program.number import Number
from conform.interp.program.rules import unbounded_where
from conform.interp.program.shape import places_of
from conform.interp.stablehlo.ops.contraction import Products, dot_products, window_products
from conform.interp.stablehlo.reals.complexes import as_complex, but_at, is_finite
from conform.interp.stablehlo.reals.exact import known
from conform.interp.stablehlo.reals.movement import arranged
from conform.interp.stablehlo.reals.rules import rule, torch
from conform.interp.stablehlo.registry import Call
from conform.interp.stablehlo.values import Tensor
from conform.numerics.formats import FORMATS


@rule("stablehlo.dot_general")
def dot_general(call: Call) -> Number | Complex:
    return _multiplied(call, dot_products(_placed(call)))


@rule("stablehlo.convolution")
def convolution(call: Call) -> Number | Complex:
    placed, rank = _placed(call), call.operands[0].ndim
    padding = np.asarray(call.get("padding", np.zeros((max(rank - 2, 0), 2), np.int64)), np.int64)
    return _multiplied(call, window_products(placed, *placed.operands, padding))


@rule("stablehlo.dynamic_conv")
def dynamic_conv(call: Call) -> Number | Complex:
    placed, padding = _placed(call), known(call, call.operands[2]).array
    return _multiplied(call, window_products(placed, *placed.operands[:2], padding.astype(np.int64)))


def _placed(call: Call) -> Call:
    """The call on the places of its factors' elements."""
    lhs, rhs, *others = call.operands
    places = [Tensor(one) for one in places_of([lhs.shape, rhs.shape])]
    return replace(call, operands=(*places, *others))


def _multiplied(call: Call, products: Products) -> Number | Complex:
    """In the element type of the result where that is the wider one; padding is zeros, each of them a term."""
    dtype = call.results[0].dtype
    if FORMATS[dtype].is_complex:
        return _of_complex(call, products, FORMATS[dtype].component.name)
    factors = [_wide_enough(one, dtype) for one in call.operands[:2]]
    return _summed(factors, products.pairs, products, dtype)


def _of_complex(call: Call, products: Products, dtype: str) -> Complex:
    """(a + bi)(c + di): each part of the result is one sum of twice as many products, a c - b d and a d + b c, in any
    order. Nothing is said where a factor has a part that is not finite (P8)."""
    lhs, rhs = (as_complex(one) for one in call.operands[:2])
    a, b, c, d = (_wide_enough(one, dtype) for one in (lhs.re, lhs.im, rhs.re, rhs.im))
    count, parts = a.real.hi.size, []
    for numbers in ([a, torch("neg", b), c, d], [a, b, d, c]):
        pairs = []
        for left, right in products.pairs:
            halves = (
                (_ahead(left, 0), _ahead(left, count)),
                (_ahead(right, count), _ahead(right, count + c.real.hi.size)),
            )
            pairs.append([np.concatenate(half, axis) for half, axis in zip(halves, (1, 0), strict=True)])
        parts.append(_summed(numbers, pairs, products, dtype))
    return but_at(_beside_no_number(lhs, rhs, products), Complex(*parts))


def _beside_no_number(lhs: Complex, rhs: Complex, products: Products) -> np.ndarray:
    """Which results have a factor with a part that is not finite."""
    flags = np.concatenate([[False], *(~is_finite(one).reshape(-1) for one in (lhs, rhs))])
    found = [flags[left].any(1)[:, None] | flags[right].any(0) for left, right in products.pairs]
    return products.joined(found) if found else np.zeros(products.shape, bool)


def _ahead(places: np.ndarray, count: int) -> np.ndarray:
    """The places so many elements later; of padding none."""
    return np.where(places > 0, places + count, 0)


def _summed(
    numbers: Sequence[Number], pairs: Sequence[Sequence[np.ndarray]], products: Products, dtype: str
) -> Number:
    """The products of the matrices that have the numbers at these places, where the op has their elements."""
    found = [_product(numbers, *pair) for pair in pairs]
    if not found:
        return Number.exact(np.empty(products.shape, FORMATS[dtype].storage))
    whole = arranged(found, products.joined(places_of([one.shape for one in found])))
    return torch("_to_copy", whole, dtype=dtype) if whole.dtype != dtype else whole


def _product(numbers: Sequence[Number], left: np.ndarray, right: np.ndarray) -> Number:
    """Nothing is said where padding, which is at place 0, meets what is no finite number: kernels multiply it, or skip
    it (P39)."""
    lhs, rhs = arranged(numbers, left), arranged(numbers, right)
    product, no_numbers = torch("mm", lhs, rhs), ~np.isfinite(rhs.real.hi) | np.isinf(rhs.rad)
    return unbounded_where((left == 0) @ no_numbers, product) if no_numbers.any() else product


def _wide_enough(factor: Number, dtype: str) -> Number:
    """A factor in the element type of the result, if that holds all its numbers."""
    wide = torch("_to_copy", factor, dtype=dtype) if factor.dtype != dtype else factor
    return wide if wide.format.bits > factor.format.bits else factor
