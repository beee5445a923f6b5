"""Reductions by regions that are one known operation, in any order.

Each step of a region rounds to the region's element type, so an engine that adds half types up in them is honest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce as reduce_in_turn
from math import prod
from typing import Any

import numpy as np

from conform.errors import NoGolden
from conform.interp.program.complexes import Complex
from conform.interp.program.number import Number
from conform.interp.program.shape import places_of
from conform.interp.stablehlo.ops.movement import padded
from conform.interp.stablehlo.ops.reduction import window_counts, window_rows, windows_of
from conform.interp.stablehlo.reals.complexes import as_complex, multiply
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
    shape = call.operands[0].shape
    dims = sorted(call.dims("dimensions"))
    kept = [dim for dim in range(len(shape)) if dim not in dims]
    (places,) = places_of([shape])
    rows = places.transpose(*dims, *kept).reshape(prod(shape[dim] for dim in dims), -1)
    return _of_rows(call, rows.reshape(rows.shape[0], *(shape[dim] for dim in kept)))


@rule("stablehlo.reduce_window")
def reduce_window(call: Call) -> Any:
    """The elements of each window, padded with the initial value, and that again."""
    shape = call.operands[0].shape
    window, strides, base, dilations, padding = windows_of(call, shape, {
        "window_dimensions": ("C4", "C5"), "window_strides": ("C6", "C7"), "base_dilations": ("C8", "C9"),
        "window_dilations": ("C10", "C11"),
    })  # fmt: skip
    counts = window_counts(shape, window, strides, base, dilations, padding)
    places, value = places_of([shape, ()])
    interior, edges = [each - 1 for each in base], (padding[:, 0].tolist(), padding[:, 1].tolist())
    return _of_rows(call, window_rows(padded(places, value, *edges, interior), counts, window, strides, dilations))


def _of_rows(call: Call, rows: np.ndarray) -> Number | Complex:
    """The elements at these places, in rows, of the operand and behind it the initial value, joined with that."""
    if not any(one.dtype.startswith("complex") for one in call.operands):
        operand, init, join = _one_joined(call)
        return joined(join, arranged([operand, init], rows), init)
    join = operation_of(call.regions[0].function)
    if len(call.operands) != 2 or join not in JOINED_COMPLEX:
        raise NoGolden(f"{call.op.name}: no rule tells what becomes of errors of complex numbers in its region, "
                       f"expected one of {', '.join(JOINED_COMPLEX)}")  # fmt: skip
    operand, init = map(as_complex, call.operands)
    of_rows = Complex(arranged([operand.re, init.re], rows), arranged([operand.im, init.im], rows))
    return JOINED_COMPLEX[join](of_rows, init)


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
    return JOINED[join](rows, spread) if rows.shape[0] else spread


def _sum(rows: Number, init: Number) -> Number:
    """The initial value is a term like the others: where an engine begins with it, every sum on the way carries it."""
    if np.any(init.real.hi) or np.any(init.rad):
        of_init, of_rows = places_of([init.shape, rows.shape])
        rows = arranged([init, rows], np.concatenate([of_init[None], of_rows]))
    total, fmt = torch("sum.dim_IntList", rows, dim=[0]), rows.format
    if compute_format(fmt) == fmt:
        return total
    with np.errstate(all="ignore"):
        stepwise = gamma(rows.shape[0] - 1, fmt.unit_roundoff) * _largest_partial_sum(rows)
    return replace(total, rad=total.rad + np.where(np.isfinite(stepwise), stepwise, 0.0))


def _largest_partial_sum(rows: Number) -> np.ndarray:
    """That of no order is larger: of the positive terms, or of the negative ones. n - 1 roundings of numbers of this
    size, and of their errors, come to gamma_(n-1) of it (as Higham, Accuracy and Stability of Numerical Algorithms,
    2nd ed., section 4.2, has it of the sum of magnitudes)."""
    return np.maximum(*(np.sum(np.maximum(sign * rows.real.hi, 0) + rows.rad, 0) for sign in (1, -1)))


def _largest(rows: Number, init: Number) -> Number:
    return torch("maximum", torch("amax", rows, dim=[0]), init)


def _smallest(rows: Number, init: Number) -> Number:
    return torch("neg", _largest(torch("neg", rows), torch("neg", init)))


def _product(rows: Number, init: Number) -> Number:
    """One after the other. Nothing is said of what leaves the range of normal numbers in another order."""
    product = init
    for at in range(rows.shape[0]):
        product = torch("mul.Tensor", product, _row(rows, at))
    every = np.concatenate([rows.real.hi, init.real.hi[None]])
    with np.errstate(all="ignore"):
        size = np.log2(np.abs(every))
        high, low = np.sum(np.maximum(size, 0), 0), np.sum(np.minimum(size, 0), 0)
        within = (high < rows.format.emax - 1) & (low > rows.format.emin + 1) | np.isnan(every).any(0)
    return replace(product, rad=np.where(within, product.rad, np.inf), array=None)


def _complex_sum(rows: Complex, init: Complex) -> Complex:
    return Complex(*(joined("stablehlo.add", one, of) for one, of in ((rows.re, init.re), (rows.im, init.im))))


def _complex_product(rows: Complex, init: Complex) -> Complex:
    """In any order: each product is off by sqrt(2) gamma_2 of its size (Higham, Accuracy and Stability of Numerical
    Algorithms, 2nd ed., lemma 3.5), and their factors by their own errors. Nothing is said of what may leave the range
    of normal numbers on the way."""
    shape, count = rows.shape[1:], rows.shape[0]
    spread = Complex(*(one.moved(lambda part: np.broadcast_to(part, shape)) for one in (init.re, init.im)))
    factors = [spread, *(Complex(*(_row(part, at) for part in (rows.re, rows.im))) for at in range(count))]
    product = reduce_in_turn(multiply, factors)
    fmt = product.re.format
    with np.errstate(all="ignore"):
        sizes = np.stack([np.hypot(one.re.real.hi, one.im.real.hi) for one in factors])
        reached = sizes + np.stack([np.hypot(one.re.rad, one.im.rad) for one in factors])
        each = np.sqrt(2.0) * gamma(2, fmt.unit_roundoff)
        error = (np.prod(reached, 0) * (1 + each) ** count - np.prod(sizes, 0)) * (1 + 2.0**-40)
        high, low = (np.sum(edge(np.log2(one), 0), 0) for edge, one in ((np.maximum, reached), (np.minimum, sizes)))
        known = (high < fmt.emax - 1) & (low > fmt.emin + 1 + fmt.precision) & np.isfinite(error)
    rad = np.where(known, error, np.inf)
    return Complex(*(replace(one, rad=rad, array=None) for one in (product.re, product.im)))


def _row(rows: Number, at: int) -> Number:
    return rows.moved(lambda part: part[at, ...])


JOINED_COMPLEX: dict[str, Callable[[Complex, Complex], Complex]] = {
    "stablehlo.add": _complex_sum, "stablehlo.multiply": _complex_product,
}  # fmt: skip
JOINED: dict[str, Callable[[Number, Number], Number]] = {
    "stablehlo.add": _sum, "stablehlo.maximum": _largest, "stablehlo.minimum": _smallest,
    "stablehlo.multiply": _product,
}  # fmt: skip
