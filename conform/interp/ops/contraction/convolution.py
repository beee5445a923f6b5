"""Convolutions: sums of products over the taps of windows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from math import prod
from typing import Any

import numpy as np

from conform.interp.blocks.blocks import Pieces, spans
from conform.interp.blocks.converted import moved
from conform.interp.blocks.patches import Pair, Patches, Windows
from conform.interp.blocks.tiles import Contraction
from conform.interp.formulas.winograd import or_by_winograd
from conform.interp.golden import Golden
from conform.interp.operands import refuse_complex
from conform.interp.ops.contraction.sums import contraction, golden_of, grid_of, integer_product, plus
from conform.interp.ops.elementwise.arithmetic import exact
from conform.numerics.accumulate import Accumulated
from conform.numerics.digits import Digits, dots, single
from conform.numerics.formats import Format, format_of
from conform.numerics.grid import finest
from conform.numerics.matmul import matmul, matmul_of
from conform.numerics.real import Real, concatenate, where

TERMS = 512  # of a window that many places are worked on together for; it may have more, which come in pieces
SMALL_PRODUCT = 1 << 18  # multiplications


def channels_by_places(arguments: Mapping[str, Any]) -> int:
    shape, weight = np.shape(arguments["input"]), np.shape(arguments["weight"])
    transposed, groups = arguments["transposed"], arguments["groups"]
    channels = prod(weight[1:2]) * groups if transposed else prod(weight[:1])
    by_dim = (per_dim(arguments[name], len(shape) - 2) for name in ("stride", "padding", "dilation", "output_padding"))
    places = 1
    for size, k, stride, padding, dilation, more in zip(shape[2:], weight[2:], *by_dim, strict=False):
        reach = dilation * (k - 1)
        spread = (size - 1) * stride - 2 * padding + reach + more
        places *= max(0, spread if transposed else (size + 2 * padding - reach - 1) // max(stride, 1)) + 1
    return prod(shape[:1]) * channels * places


@contraction(
    "aten::convolution", "input", "weight", sums_in=channels_by_places, addend="bias", otherwise=or_by_winograd,
    terms=1,
)  # fmt: skip
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
    return _over(
        input, weight, bias, stride=stride, padding=padding, dilation=dilation, transposed=transposed,
        output_padding=output_padding, groups=groups,
    )  # fmt: skip


def _over(
    input: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    sizes: Sequence[int] | None = None,
) -> Contraction:
    """The sums of a convolution, of `sizes` places where they are given."""
    spatial = input.ndim - 2
    stride, padding, dilation, output_padding = (
        per_dim(values, spatial) for values in (stride, padding, dilation, output_padding)
    )
    windows = [Windows(*along, transposed) for along in zip(input.shape[2:], stride, padding, dilation, strict=True)]
    sizes = _output_sizes(windows, weight.shape[2:], output_padding) if sizes is None else sizes
    return over_windows(Patches(input, weight, windows, sizes, groups), bias)


def over_windows(patches: Patches, bias: np.ndarray | None) -> Contraction:
    """The sums over all that the patches meet, plus a bias for each channel of the result."""
    fmt = format_of(patches.input)
    refuse_complex(fmt, "convolution")
    tile = partial(_integer_convolution, fmt, patches, bias)
    if fmt.is_float:
        tile = partial(_float_convolution, fmt, patches, bias, _has_special(patches.weight))
    return Contraction((len(patches.input), *patches.sizes), patches.outputs, tile, min(prod(patches.window), TERMS))


def per_dim(values: Sequence[int], spatial: int) -> list[int]:
    """A number for each spatial dim, of which one alone stands for all."""
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
    return reduce(np.add, (integer_product(fmt, pair.weights, pair.inputs) for pair in pairs))


def _has_special(weight: np.ndarray) -> bool:
    """Whether an element is infinite or NaN: beside gaps it counts (P39)."""
    places = (np.unravel_index(np.arange(some.start, some.stop), weight.shape) for some in spans(weight.size))
    return not all(np.isfinite(weight[some].astype(np.float64)).all() for some in places)


def _float_convolution(
    fmt: Format, patches: Patches, bias: np.ndarray | None, with_gaps: bool, places: slice, outputs: slice
) -> Golden:
    here, by_group = patches.at(places, with_gaps), list(patches.by_group(outputs))
    pairs = [here.pairs(some).map(_as_float64) for some in by_group]
    none = [np.zeros((some.stop - some.start, places.stop - places.start), bool) for some in by_group]
    beside = [_beside_gaps(each) for each in pairs] if with_gaps else none
    total = _joined([_product(*each) for each in zip(pairs, beside, strict=True)])
    total = replace(total, terms=prod(patches.window))
    addend = np.zeros(()) if bias is None else bias[outputs].astype(np.float64)
    if bias is not None:
        total = plus(total, Real.exact(addend), np.where(np.isfinite(addend), np.abs(addend), 0.0))

    def exactly(index: Sequence[np.ndarray]) -> Digits:
        channels = outputs.start + index[1]
        product = dots(map(_without_special, patches.terms(places.start + index[0], channels)))
        return product if bias is None else product + single(bias[channels])

    golden = golden_of(fmt, total, exactly).opened(np.concatenate(beside).T, "P39")
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
    grids = [grid_of(fmt, pair.weights, pair.inputs) for each in pairs for pair in each]
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


# Convolutions of one, two or three spatial dims, whose input may lack the batch dim


def _with_batch(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `convolution`: with a batch dim, and the number that a padding by name stands for on the left."""
    image, kernel = arguments["input"], np.shape(arguments["weight"])[2:]
    single = moved(image, lambda part: part[None]) if image.ndim < len(kernel) + 2 else image
    padding = arguments["padding"]
    if isinstance(padding, str):
        dilation = per_dim(arguments["dilation"], len(kernel))
        reach = [d * (k - 1) for d, k in zip(dilation, kernel, strict=False)]  # calls are counted before one is refused
        padding = [each // 2 if padding == "same" else 0 for each in reach]
    return {"output_padding": [0], **arguments, "input": single, "padding": padding}


def _sums_in(arguments: Mapping[str, Any]) -> int:
    transposed = "output_padding" in arguments
    sums = channels_by_places({**_with_batch(arguments), "transposed": transposed})
    return sums * 2 ** (np.ndim(arguments["weight"]) - 2)  # a padding "same" may be one more on the right


def _or_by_winograd(golden: Golden, **arguments: Any) -> Golden:
    """As `or_by_winograd` says, of a result that may lack the batch dim."""
    shape, given = golden.value.shape, _with_batch(arguments)
    whole = golden.rearranged(lambda part: part.reshape(len(given["input"]), *shape[1 - given["weight"].ndim :]))
    return or_by_winograd(whole, **given, transposed=False).rearranged(lambda part: part.reshape(shape))


def _of_any_batch(sums: Contraction, input: np.ndarray, weight: np.ndarray) -> Contraction:
    """The sums, as a result without a batch dim if the input has none."""
    return sums if input.ndim == weight.ndim else replace(sums, shape=(sums.columns, *sums.leading[1:]))


def _forward(input: np.ndarray, weight: np.ndarray, bias: np.ndarray | None, **options: Any) -> Contraction:
    """With `padding` "same", results of as many places as the input has: an odd one more of padding is on the right."""
    given, same = _with_batch({"input": input, "weight": weight, "bias": bias, **options}), options["padding"] == "same"
    sizes = given["input"].shape[2:] if same else None
    return _of_any_batch(_over(**given, transposed=False, sizes=sizes), input, weight)


@contraction("aten::conv1d", "input", "weight", sums_in=_sums_in, addend="bias", terms=-2)
@contraction("aten::conv2d", "input", "weight", sums_in=_sums_in, addend="bias", otherwise=_or_by_winograd, terms=-3)
@contraction("aten::conv3d", "input", "weight", sums_in=_sums_in, addend="bias", terms=-4)
def conv(
    input: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None = None,
    stride: Sequence[int] = (1,),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    groups: int = 1,
) -> Contraction:
    """The convolution of an input with or without a batch dim"""
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    return _forward(input, weight, bias, **options)


@contraction("aten::conv1d.padding", "input", "weight", sums_in=_sums_in, addend="bias", terms=-2)
@contraction("aten::conv2d.padding", "input", "weight", sums_in=_sums_in, addend="bias", otherwise=_or_by_winograd,
             terms=-3)  # fmt: skip
@contraction("aten::conv3d.padding", "input", "weight", sums_in=_sums_in, addend="bias", terms=-4)
def conv_by_name(
    input: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None = None,
    stride: Sequence[int] = (1,),
    padding: str = "valid",
    dilation: Sequence[int] = (1,),
    groups: int = 1,
) -> Contraction:
    """The convolution without padding ("valid"), or ("same", of stride 1) with as many places as the input has; what
    is odd of that padding is on the right"""
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    return _forward(input, weight, bias, **options)


@contraction("aten::conv_transpose1d", "input", "weight", sums_in=_sums_in, addend="bias", terms=-2)
@contraction("aten::conv_transpose2d.input", "input", "weight", sums_in=_sums_in, addend="bias", terms=-3)
@contraction("aten::conv_transpose3d.input", "input", "weight", sums_in=_sums_in, addend="bias", terms=-4)
def conv_transpose(
    input: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None = None,
    stride: Sequence[int] = (1,),
    padding: Sequence[int] = (0,),
    output_padding: Sequence[int] = (0,),
    groups: int = 1,
    dilation: Sequence[int] = (1,),
) -> Contraction:
    """The transposed convolution of an input with or without a batch dim"""
    options = {"stride": stride, "padding": padding, "output_padding": output_padding, "dilation": dilation}
    given = _with_batch({"input": input, "weight": weight, "bias": bias, "groups": groups, **options})
    return _of_any_batch(_over(**given, transposed=True), input, weight)
