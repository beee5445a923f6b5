"""Sums of products: the matrices of places that the op's meaning multiplies, as Numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from conform.interp.program.number import Number
from conform.interp.program.shape import places_of
from conform.interp.stablehlo.ops.contraction import Products, dot_products, window_products
from conform.interp.stablehlo.reals.exact import known
from conform.interp.stablehlo.reals.movement import arranged
from conform.interp.stablehlo.reals.rules import rule, torch
from conform.interp.stablehlo.registry import Call
from conform.interp.stablehlo.values import Tensor


@rule("stablehlo.dot_general")
def dot_general(call: Call) -> Number:
    return _multiplied(call, dot_products(_placed(call)))


@rule("stablehlo.convolution")
def convolution(call: Call) -> Number:
    placed, rank = _placed(call), call.operands[0].ndim
    padding = np.asarray(call.get("padding", np.zeros((max(rank - 2, 0), 2), np.int64)), np.int64)
    return _multiplied(call, window_products(placed, *placed.operands, padding))


@rule("stablehlo.dynamic_conv")
def dynamic_conv(call: Call) -> Number:
    placed, padding = _placed(call), known(call, call.operands[2]).array
    return _multiplied(call, window_products(placed, *placed.operands[:2], padding.astype(np.int64)))


def _placed(call: Call) -> Call:
    """The call on the places of its factors' elements."""
    lhs, rhs, *others = call.operands
    places = [Tensor(one) for one in places_of([lhs.shape, rhs.shape])]
    return replace(call, operands=(*places, *others))


def _multiplied(call: Call, products: Products) -> Number:
    """In the element type of the result where that is the wider one; padding is zeros, each of them a term."""
    factors = [_wide_enough(one, call.results[0].dtype) for one in call.operands[:2]]
    found = [torch("mm", *(arranged(factors, part) for part in pair)) for pair in products.pairs]
    if not found:
        return Number.exact(np.empty(products.shape, factors[0].format.storage))
    whole = arranged(found, products.joined(places_of([one.shape for one in found])))
    return torch("_to_copy", whole, dtype=call.results[0].dtype) if whole.dtype != call.results[0].dtype else whole


def _wide_enough(factor: Number, dtype: str) -> Number:
    """A factor in the element type of the result, if that holds all its numbers."""
    wide = torch("_to_copy", factor, dtype=dtype) if factor.dtype != dtype else factor
    return wide if wide.format.bits > factor.format.bits else factor
