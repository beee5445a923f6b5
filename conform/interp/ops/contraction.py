"""Sums of products over shared indices: mm, addmm, convolution.

The real number, rounded once. Integers wrap modulo 2^n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce, wraps
from math import prod
from typing import Any

import numpy as np

from conform.interp.blocks.blocks import Pieces, spans
from conform.interp.blocks.patches import Pair, Patches, Windows
from conform.interp.blocks.tiles import Contraction
from conform.interp.formulas.winograd import or_by_winograd
from conform.interp.golden import Golden
from conform.interp.operands import refuse_complex
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.reduction.sums import overflowing, sums_of
from conform.interp.semantics import semantics
from conform.interp.traits import Products
from conform.numerics.accumulate import Accumulated
from conform.numerics.digits import Digits, decide_digits, dots, single
from conform.numerics.formats import FORMATS, Format, compute_format, format_of
from conform.numerics.grid import common_grid, finest
from conform.numerics.matmul import elements, matmul, matmul_of
from conform.numerics.real import Real, concatenate, where

TERMS = 512  # of a window that many places are worked on together for; it may have more, which come in pieces
SMALL_PRODUCT = 1 << 18  # multiplications


Exactly = Callable[[Sequence[np.ndarray]], Digits]  # of a row and a column for each of some elements


def contraction(
    name: str,
    lhs: str,
    rhs: str,
    sums_in: Callable[[Mapping[str, Any]], int],
    addend: str | None = None,
    scale: str | None = None,
    otherwise: Callable[..., Golden] | None = None,
) -> Callable[[Callable], Callable]:
    """Register the decorated function, whose tiles may also be asked for sums of other factors, as the meaning of
    `name`: products of the arguments `lhs`, whose elements are the summands, and `rhs` are added up and multiplied by
    `scale`, and `addend` is added. sums_in: how many sums there are (`Traits.elements`); otherwise: of the golden and
    the arguments, the golden with the results of other algorithms as alternatives."""

    def register(sums: Callable[..., Contraction]) -> Callable[..., Contraction]:
        @wraps(sums)
        def meaning(**arguments: Any) -> Golden:
            golden = sums(**arguments).golden()
            return golden if otherwise is None else otherwise(golden, **arguments)

        products = Products((lhs, rhs), addend, scale, sums)
        semantics(name, accumulates=lhs, products=products, elements=sums_in)(meaning)
        return sums

    return register


def _rows_by_columns(lhs: str, rhs: str) -> Callable[[Mapping[str, Any]], int]:
    return lambda arguments: prod(np.shape(arguments[lhs])[:1]) * prod(np.shape(arguments[rhs])[1:])


@contraction("aten::mm", "self", "mat2", sums_in=_rows_by_columns("self", "mat2"))
def mm(self: np.ndarray, mat2: np.ndarray) -> Contraction:
    """result[i, j] = sum over k of self[i, k] * mat2[k, j]"""
    fmt = format_of(self)
    refuse_complex(fmt, "mm")
    tile = _float_product if fmt.is_float else _integer_tile
    return Contraction(self.shape[:1], mat2.shape[1], partial(tile, fmt, self, mat2))


def _integer_tile(fmt: Format, self: np.ndarray, mat2: np.ndarray, rows: slice, columns: slice) -> Golden:
    return exact(_integer_product(fmt, self[rows], mat2[:, columns]), fmt)


def _float_product(fmt: Format, self: np.ndarray, mat2: np.ndarray, rows: slice, columns: slice) -> Golden:
    lhs, rhs = self[rows], mat2[:, columns]
    return _golden(fmt, matmul(lhs, rhs), lambda index: dots(elements(lhs, rhs, *index))).on_grid(_grid(fmt, lhs, rhs))


def _golden(fmt: Format, total: Accumulated, exactly: Exactly) -> Golden:
    return sums_of(fmt, total, *decide_digits(fmt, total.real, total.terms, exactly))


def _grid(fmt: Format, lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray | None:
    """[m, n]: a grid of the products of [m, k] and [k, n], 0 where it underflows; None if they have none of use."""
    compute, some = compute_format(fmt), list(spans(lhs.shape[1], max(len(lhs), rhs.shape[1], 1)))
    of_lhs = common_grid(compute, (lhs[:, terms] for terms in some))
    of_rhs = None if of_lhs is None else common_grid(compute, (rhs[terms] for terms in some), axis=0)
    with np.errstate(all="ignore"):
        return None if of_rhs is None else of_lhs[:, None] * of_rhs


def _integer_product(fmt: Format, lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.einsum("ik,kj->ij", lhs, rhs, dtype=fmt.storage, casting="unsafe")


@contraction("aten::addmm", "mat1", "mat2", sums_in=_rows_by_columns("mat1", "mat2"), addend="self", scale="alpha")
def addmm(
    self: np.ndarray, mat1: np.ndarray, mat2: np.ndarray, beta: int | float = 1, alpha: int | float = 1
) -> Contraction:
    """beta * self + alpha * (mat1 @ mat2); with beta = 0, self is ignored, NaN and infinities too"""
    fmt = format_of(self)
    refuse_complex(fmt, "addmm")
    shape = (mat1.shape[0], mat2.shape[1])
    addend = np.broadcast_to(self, shape)
    if fmt.is_float:
        tile = partial(_float_addmm, fmt, addend, mat1, mat2, np.float64(beta), np.float64(alpha))
    else:
        tile = partial(_integer_addmm, fmt, addend, mat1, mat2, int(beta), int(alpha))
    return Contraction(shape[:1], shape[1], tile)


def _integer_addmm(
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
        product = _integer_product(fmt, mat1[rows], mat2[:, columns])
        return exact(wrapped[0] * self[rows, columns] + wrapped[1] * product, fmt)


def _float_addmm(
    fmt: Format,
    self: np.ndarray,
    mat1: np.ndarray,
    mat2: np.ndarray,
    beta: np.float64,
    alpha: np.float64,
    rows: slice,
    columns: slice,
) -> Golden:
    addend, lhs, rhs = self[rows, columns].astype(np.float64), mat1[rows], mat2[:, columns]
    product = matmul(lhs, rhs)
    if not np.isfinite(alpha):
        product = replace(product, real=_with_signs(product, lhs, rhs))
    with np.errstate(all="ignore"):
        scaled = replace(product, real=product.real * Real.exact(alpha), magnitude=abs(alpha) * product.magnitude)
        size = np.where(np.isfinite(addend), np.abs(beta * addend), 0.0)
        total = scaled if beta == 0 else _plus(scaled, Real.exact(addend) * Real.exact(beta), size)
    total = replace(total, terms=product.terms + 2)

    def exactly(index: Sequence[np.ndarray]) -> Digits:
        scaled = dots(elements(lhs, rhs, *index)).times(alpha)
        return scaled if beta == 0 else scaled + single(addend[index]).times(beta)

    golden = _golden(fmt, total, exactly)
    steps = replace(total, magnitude=np.maximum(total.magnitude, _largest_step(lhs, rhs, alpha, product)))
    golden = replace(golden, open=None, open_rule=None).opened(overflowing(fmt, steps), "P35")
    return golden.on_grid(_grid_of_addmm(_grid(fmt, lhs, rhs), addend, beta, alpha))


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


def _plus(total: Accumulated, addend: Real, size: np.ndarray) -> Accumulated:
    """total + addend, one term more; `size`: the magnitude of the addend, 0 where that is no finite term."""
    with np.errstate(all="ignore"):
        special = ~np.isfinite(addend.hi)
        real, magnitude = total.real + addend, total.magnitude + size
        # An infinite or NaN addend decides the class of the sum, even where the finite total is beyond float64.
        decides = special & np.isfinite(total.real.hi)
        return Accumulated(where(decides, addend, real) if special.any() else real, magnitude, total.terms + 1)


def _largest_step(lhs: np.ndarray, rhs: np.ndarray, alpha: np.float64, product: Accumulated) -> np.ndarray:
    """The largest magnitude on the way to alpha * (lhs @ rhs), whichever factor alpha is multiplied into."""
    with np.errstate(over="ignore"):
        scaled = abs(alpha) * np.maximum(_largest_of_columns(lhs.T)[:, None], _largest_of_columns(rhs))
    return np.maximum(scaled, product.magnitude)


def _largest_of_columns(matrix: np.ndarray) -> np.ndarray:
    """[n]: the largest finite magnitude of each column of [m, n], 0 where there is none."""
    largest = np.zeros(matrix.shape[1])
    for rows in spans(*matrix.shape):
        magnitudes = np.abs(matrix[rows].astype(np.float64))
        largest = np.maximum(largest, np.where(np.isfinite(magnitudes), magnitudes, 0.0).max(0, initial=0.0))
    return largest


def _channels_by_places(arguments: Mapping[str, Any]) -> int:
    shape, weight = np.shape(arguments["input"]), np.shape(arguments["weight"])
    transposed, groups = arguments["transposed"], arguments["groups"]
    channels = prod(weight[1:2]) * groups if transposed else prod(weight[:1])
    by_dim = (_per_dim(arguments[name], len(shape) - 2) for name in ("stride", "padding", "dilation", "output_padding"))
    places = 1
    for size, k, stride, padding, dilation, more in zip(shape[2:], weight[2:], *by_dim, strict=False):
        reach = dilation * (k - 1)
        spread = (size - 1) * stride - 2 * padding + reach + more
        places *= max(0, spread if transposed else (size + 2 * padding - reach - 1) // max(stride, 1)) + 1
    return prod(shape[:1]) * channels * places


@contraction(
    "aten::convolution", "input", "weight", sums_in=_channels_by_places, addend="bias", otherwise=or_by_winograd
)
def convolution(
    input: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Contraction:
    """result[n, o, x] = bias[o] + sum over c, k of input[n, c, x * stride + k * dilation - padding] * weight[o, c, k],
    channels in `groups`; transposed is its adjoint: every input element spreads weight over the result."""
    fmt = format_of(input)
    spatial = input.ndim - 2
    stride, padding, dilation, output_padding = (
        _per_dim(values, spatial) for values in (stride, padding, dilation, output_padding)
    )
    windows = [Windows(*along, transposed) for along in zip(input.shape[2:], stride, padding, dilation, strict=True)]
    sizes = _output_sizes(windows, weight.shape[2:], output_padding)
    patches = Patches(input, weight, windows, sizes, groups)
    tile = partial(_float_convolution if fmt.is_float else _integer_convolution, fmt, patches, bias)
    return Contraction((len(input), *sizes), patches.outputs, tile, min(prod(patches.window), TERMS))


def _per_dim(values: Sequence[int], spatial: int) -> list[int]:
    return list(values) * spatial if len(values) == 1 else list(values)


def _output_sizes(windows: list[Windows], kernel: Sequence[int], output_padding: list[int]) -> list[int]:
    """The sizes of the result's spatial dimensions."""
    reach = [one.dilation * (k - 1) + 1 for one, k in zip(windows, kernel, strict=True)]
    if windows[0].transposed:
        spread = [(one.size - 1) * one.stride - 2 * one.padding for one in windows]
        return [sum(each) for each in zip(spread, reach, output_padding, strict=True)]
    padded = [one.size + 2 * one.padding for one in windows]
    return [(n - r) // one.stride + 1 for one, n, r in zip(windows, padded, reach, strict=True)]


def _integer_convolution(
    fmt: Format, patches: Patches, bias: np.ndarray | None, places: slice, outputs: slice
) -> Golden:
    here = patches.at(places)
    with np.errstate(over="ignore"):
        total = np.concatenate([_integer_sum(fmt, here.pairs(some)) for some in patches.by_group(outputs)]).T
        return exact(total if bias is None else total + bias[outputs], fmt)


def _integer_sum(fmt: Format, pairs: Iterable[Pair]) -> np.ndarray:
    """weights @ inputs [o, m]; gaps are zero."""
    return reduce(np.add, (_integer_product(fmt, pair.weights, pair.inputs) for pair in pairs))


def _float_convolution(fmt: Format, patches: Patches, bias: np.ndarray | None, places: slice, outputs: slice) -> Golden:
    here = patches.at(places)
    pairs = [here.pairs(some).map(_as_float64) for some in patches.by_group(outputs)]
    beside = [_beside_gaps(each) for each in pairs]
    total = _joined([_product(*each) for each in zip(pairs, beside, strict=True)])
    addend = np.zeros(()) if bias is None else bias[outputs].astype(np.float64)
    if bias is not None:
        total = _plus(total, Real.exact(addend), np.where(np.isfinite(addend), np.abs(addend), 0.0))

    def exactly(index: Sequence[np.ndarray]) -> Digits:
        channels = outputs.start + index[1]
        product = dots(map(_without_special, patches.terms(places.start + index[0], channels)))
        return product if bias is None else product + single(bias[channels])

    golden = _golden(fmt, total, exactly).opened(np.concatenate(beside).T, "P39")
    return golden.on_grid(_grid_of_convolution(fmt, patches, pairs, addend))


def _grid_of_convolution(
    fmt: Format, patches: Patches, pairs: Sequence[Pieces[Pair]], addend: np.ndarray
) -> np.ndarray | None:
    """[m, outputs]: the grid of the terms, where they are added up as they are.

    Windows of more than one place may be convolved by Winograd's method or Fourier transforms, which add up other
    numbers (Lavin and Gray, arXiv 1509.09308; TOSA allows them where local_bound is false): integers have no exact
    result there.
    """
    if prod(patches.window[1:]) != 1 or any(each.are_many for each in pairs):
        return None
    grids = [_grid(fmt, pair.weights, pair.inputs) for each in pairs for pair in each]
    return None if any(one is None for one in grids) else np.minimum(np.concatenate(grids).T, finest(addend))


def _as_float64(pair: Pair) -> Pair:
    return Pair(pair.weights.astype(np.float64), pair.inputs.astype(np.float64), pair.gaps)


def _joined(products: list[Accumulated]) -> Accumulated:
    """The products of every group, [o, m], as one [m, outputs]."""
    real = concatenate([one.real for one in products]).transpose()
    return Accumulated(real, np.concatenate([one.magnitude for one in products]).T, products[0].terms)


def _product(pairs: Pieces[Pair], beside: np.ndarray) -> Accumulated:
    """weights @ inputs [o, m] without the gaps: inputs are zero there, and 0 * inf must not count."""
    if not beside.any():
        return _matmul(pairs.map(lambda pair: (pair.weights, pair.inputs)))
    product = _matmul(pairs.map(_without_special))
    special = reduce(np.add, map(_special_terms, pairs))
    return replace(product, real=where(special != 0, Real.exact(special), product.real))


def _matmul(pairs: Pieces[tuple[np.ndarray, np.ndarray]]) -> Accumulated:
    """lhs @ rhs of matrices in pieces; tile by tile where there is one piece, and more work than a tile's overhead."""
    lhs, rhs = next(iter(pairs))
    is_small = lhs.size * rhs.shape[1] < SMALL_PRODUCT
    return matmul_of(pairs) if pairs.are_many or is_small else matmul(lhs, rhs)


def _beside_gaps(pairs: Pieces[Pair]) -> np.ndarray:
    """[o, m]: where an infinite or NaN weight meets a gap."""

    def beside(pair: Pair) -> np.ndarray:
        special = ~np.isfinite(pair.weights)
        if not (special.any() and pair.gaps.any()):
            return np.zeros((len(special), pair.gaps.shape[1]), bool)
        return special.astype(np.float64) @ pair.gaps > 0

    return reduce(np.logical_or, map(beside, pairs))


def _without_special(pair: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(weights, inputs), the first two of `pair`, with 0 for infinities and NaN."""
    return tuple(np.where(np.isfinite(x), x, x.dtype.type(0)) for x in pair[:2])


def _special_terms(pair: Pair) -> np.ndarray:
    """[o, m]: the sum of the products that are not finite because a factor is not: 0, an infinity or NaN."""
    total = np.zeros((len(pair.weights), pair.inputs.shape[1]))
    for row, column, gap in zip(pair.weights.T, pair.inputs, pair.gaps, strict=True):
        special = ~(np.isfinite(row)[:, None] & np.isfinite(column)) & ~gap
        total = total + np.where(special, row[:, None] * column, 0.0)
    return total
