"""Reductions by regions that are one known operation, in any order.

Each step of a region rounds to the region's element type, so an engine that adds half types up in them is honest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from conform.errors import NoGolden
from conform.interp.program.number import Number
from conform.interp.program.shape import places_of
from conform.interp.stablehlo.ops.movement import padded
from conform.interp.stablehlo.ops.reduction import window_counts, window_rows, windows_of
from conform.interp.stablehlo.reals.movement import arranged
from conform.interp.stablehlo.reals.places import reduced_to_place
from conform.interp.stablehlo.reals.rules import rule, torch
from conform.interp.stablehlo.regions import operation_of
from conform.interp.stablehlo.registry import Call
from conform.numerics.formats import compute_format
from conform.numerics.rounding_errors import gamma


@rule("stablehlo.reduce")
def reduce(call: Call) -> Any:
    """The elements along dimensions, and the initial value; or the largest, or smallest, and its place."""
    if len(call.operands) == 4:
        return reduced_to_place(call)
    operand, init, join = _one_joined(call)
    dims = sorted(call.dims("dimensions"))
    kept = [dim for dim in range(operand.ndim) if dim not in dims]
    (places,) = places_of([operand.shape])
    rows = places.transpose(*dims, *kept).reshape(prod(operand.shape[dim] for dim in dims), -1)
    shape = [operand.shape[dim] for dim in kept]
    return joined(join, arranged([operand], rows.reshape(rows.shape[0], *shape)), init)


@rule("stablehlo.reduce_window")
def reduce_window(call: Call) -> Number:
    """The elements of each window, padded with the initial value, and that again."""
    operand, init, join = _one_joined(call)
    window, strides, base, dilations, padding = windows_of(call, operand.shape, {
        "window_dimensions": ("C4", "C5"), "window_strides": ("C6", "C7"), "base_dilations": ("C8", "C9"),
        "window_dilations": ("C10", "C11"),
    })  # fmt: skip
    counts = window_counts(operand.shape, window, strides, base, dilations, padding)
    places, value = places_of([operand.shape, ()])
    interior, edges = [each - 1 for each in base], (padding[:, 0].tolist(), padding[:, 1].tolist())
    rows = window_rows(padded(places, value, *edges, interior), counts, window, strides, dilations)
    return joined(join, arranged([operand, init], rows), init)


def _one_joined(call: Call) -> tuple[Number, Number, str]:
    """The operand and the initial value, in the element type of the region, and what joins two elements."""
    (body,) = call.regions
    join = operation_of(body.function)
    if len(call.operands) != 2 or join not in JOINED:
        known = ", ".join(JOINED)
        raise NoGolden(f"{call.op.name}: no rule tells what becomes of errors in its region, expected one of {known}")
    dtype = body.function.arguments[0].dtype
    operand, init = (torch("_to_copy", one, dtype=dtype) if one.dtype != dtype else one for one in call.operands)
    return operand, init, join


def joined(join: str, rows: Number, init: Number) -> Number:
    """The rows [n, ...] joined with each other and with the initial value, which broadcasts to them."""
    shape = rows.shape[1:]
    spread = init.moved(lambda part: np.broadcast_to(part, shape))
    return JOINED[join](rows, replace(spread, may_round=init.may_round)) if rows.shape[0] else spread


def _sum(rows: Number, init: Number) -> Number:
    """The initial value is a term like the others: where an engine begins with it, every sum on the way carries it."""
    if np.any(init.real.hi) or np.any(init.rad):
        of_init, of_rows = places_of([init.shape, rows.shape])
        rows = arranged([init, rows], np.concatenate([of_init[None], of_rows]))
    total, fmt = torch("sum.dim_IntList", rows, dim=[0]), rows.format
    if compute_format(fmt) == fmt:
        return total
    with np.errstate(all="ignore"):
        stepwise = gamma(rows.shape[0], fmt.unit_roundoff) * np.sum(np.abs(rows.real.hi) + rows.rad, 0)
    return replace(total, rad=total.rad + np.where(np.isfinite(stepwise), stepwise, 0.0))


def _largest(rows: Number, init: Number) -> Number:
    return torch("maximum", torch("amax", rows, dim=[0]), init)


def _smallest(rows: Number, init: Number) -> Number:
    return torch("neg", _largest(torch("neg", rows), torch("neg", init)))


def _product(rows: Number, init: Number) -> Number:
    """One after the other. Nothing is said of what leaves the range of normal numbers in another order."""
    product = init
    for at in range(rows.shape[0]):
        product = torch("mul.Tensor", product, replace(rows.moved(lambda part, at=at: part[at, ...]),
                                                       may_round=rows.may_round))  # fmt: skip
    every = np.concatenate([rows.real.hi, init.real.hi[None]])
    with np.errstate(all="ignore"):
        size = np.log2(np.abs(every))
        high, low = np.sum(np.maximum(size, 0), 0), np.sum(np.minimum(size, 0), 0)
        within = (high < rows.format.emax - 1) & (low > rows.format.emin + 1) | np.isnan(every).any(0)
    return replace(product, rad=np.where(within, product.rad, np.inf), array=None)


JOINED: dict[str, Callable[[Number, Number], Number]] = {
    "stablehlo.add": _sum, "stablehlo.maximum": _largest, "stablehlo.minimum": _smallest,
    "stablehlo.multiply": _product,
}  # fmt: skip
