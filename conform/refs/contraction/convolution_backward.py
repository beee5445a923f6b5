"""The gradients of a convolution: exact sums of products, rounded once.

Convolution and transposed convolution pair the same numbers: with w = n * stride - padding + k * dilation an element n
of the narrow tensor (the output, transposed the input), an element w of the wide one (the input, transposed the output)
and the weight k. The weight is (narrow channels, wide channels / groups, *) either way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from math import isfinite, prod

from conform.refs.exact.reals import round_exact, scale_to_integers, sum_exact
from conform.refs.exact.rounding import FLOAT_FORMATS, round_dyadic
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified, one_per_dim
from conform.refs.references import reference

Gradient = RefTensor | None


@dataclass(frozen=True)
class _Taps:
    """Which narrow element meets which wide one at each weight, by their numbers in their planes."""

    triples: list[tuple[int, int, int]]  # (narrow, weight, wide)
    narrow: int
    wide: int
    kernel: int


@reference("aten::convolution_backward")
def convolution_backward(
    grad_output: RefTensor,
    input: RefTensor,
    weight: RefTensor,
    bias_sizes: list[int] | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
    output_mask: list[bool],
) -> tuple[Gradient, Gradient, Gradient]:
    """The gradients of sum(grad_output * convolution(input, weight, bias)) that output_mask wants; None of the others.

    Open is a gradient whose definition skips an infinity or NaN that kernels multiply with a zero, of padding or among
    elements (P39): a weight without a grad_output, and for the gradient of a weight a grad_output without an input, or
    an input without a grad_output.
    """
    if len({grad_output.dtype, input.dtype, weight.dtype}) != 1 or input.dtype not in FLOAT_FORMATS:
        raise ValueError(f"one float dtype, found {grad_output.dtype}, {input.dtype}, {weight.dtype}")
    if len(output_mask) != 3:
        raise ValueError(f"output_mask speaks of three gradients, found {output_mask}")
    if groups < 1 or weight.shape[0] % groups:
        raise ValueError(f"weight {weight.shape} does not make {groups} groups")
    narrow, wide = (input, grad_output) if transposed else (grad_output, input)
    taps = _taps(narrow, wide, weight, (stride, padding, dilation, output_padding), transposed)
    channels = (weight.shape[0], weight.shape[1] * groups)
    if (narrow.shape[:2], wide.shape[:2]) != ((input.shape[0], channels[0]), (input.shape[0], channels[1])):
        raise ValueError(f"channels of {grad_output.shape}, {input.shape} and {weight.shape} in {groups} groups")
    return (
        _grad_input(grad_output, input.shape, weight, taps, groups, transposed) if output_mask[0] else None,
        _grad_weight(narrow, wide, weight.shape, taps, groups) if output_mask[1] else None,
        _grad_bias(grad_output) if output_mask[2] else None,
    )


def _taps(narrow: RefTensor, wide: RefTensor, weight: RefTensor, options: tuple, transposed: bool) -> _Taps:
    """The triples of all spatial dims; ValueError where the sizes do not belong together."""
    spatial = len(weight.shape) - 2
    if spatial not in (1, 2, 3) or {len(narrow.shape), len(wide.shape)} != {spatial + 2}:
        raise ValueError(f"ranks of {narrow.shape}, {wide.shape} and {weight.shape}")
    names = ("stride", "padding", "dilation", "output_padding")
    each = [one_per_dim(values, spatial, name) for values, name in zip(options, names, strict=True)]
    by_dim = []
    for size, whole, kernel, step, pad, gap, extra in zip(
        narrow.shape[2:], wide.shape[2:], weight.shape[2:], *each, strict=True
    ):
        if min(size, whole, kernel, step, gap) < 1 or min(pad, extra) < 0:
            raise ValueError(f"sizes {size}, {whole}, {kernel} with {names} {each}")
        reach = gap * (kernel - 1) + 1 - 2 * pad  # of one narrow element, less the padding
        fits = whole == (size - 1) * step + reach + extra if transposed else size == (whole - reach) // step + 1
        if not fits or (transposed and extra >= max(step, gap)):
            raise ValueError(f"sizes {size} and {whole} do not belong to a kernel of {kernel}")
        places = ((n, k, n * step - pad + k * gap) for n in range(size) for k in range(kernel))
        by_dim.append([(n, k, w) for n, k, w in places if 0 <= w < whole])
    sizes = (narrow.shape[2:], weight.shape[2:], wide.shape[2:])
    triples = [
        tuple(_number(index, of) for index, of in zip(zip(*taps, strict=True), sizes, strict=True))
        for taps in product(*by_dim)
    ]
    return _Taps(triples, prod(sizes[0]), prod(sizes[2]), prod(sizes[1]))


def _number(index: Iterable[int], sizes: tuple[int, ...]) -> int:
    """The place of an index in row-major order."""
    place = 0
    for i, size in zip(index, sizes, strict=True):
        place = place * size + i
    return place


class _Factors:
    """The elements of a tensor, and as integers of one exponent those that are finite."""

    def __init__(self, tensor: RefTensor) -> None:
        self.values = tensor.data
        self.integers, self.exponent = scale_to_integers([x if isfinite(x) else 0.0 for x in tensor.data])

    def is_special(self, place: int) -> bool:
        return not isfinite(self.values[place])


def _dot(dtype: str, lhs: _Factors, rhs: _Factors, pairs: list[tuple[int, int]]) -> float:
    """The sum of the products of the elements at the pairs of places, rounded once."""
    special = [lhs.values[i] * rhs.values[j] for i, j in pairs if lhs.is_special(i) or rhs.is_special(j)]
    if special:
        return sum(special)
    return round_dyadic(dtype, sum(lhs.integers[i] * rhs.integers[j] for i, j in pairs), lhs.exponent + rhs.exponent)


def _grad_input(
    grad_output: RefTensor, shape: tuple[int, ...], weight: RefTensor, taps: _Taps, groups: int, transposed: bool
) -> RefTensor:
    """grad_output * weight, summed over the channels of the group and the taps of each element of the input."""
    narrow_in_group, wide_in_group = weight.shape[0] // groups, weight.shape[1]
    size, other = (taps.narrow, taps.wide) if transposed else (taps.wide, taps.narrow)
    own: list[list[tuple[int, int]]] = [[] for _ in range(size)]  # of each input element: (weight, grad_output)
    for narrow, k, wide in taps.triples:
        own[narrow if transposed else wide].append((k, wide if transposed else narrow))
    factors, weights = _Factors(grad_output), _Factors(weight)
    channels, in_group = shape[1], (narrow_in_group if transposed else wide_in_group)
    out_group = wide_in_group if transposed else narrow_in_group
    data: list[float | Unspecified] = []
    for batch, channel, place in product(range(shape[0]), range(channels), range(size)):
        group, within = divmod(channel, in_group)
        pairs, skipped = [], []
        for out in range(out_group):
            first = channel * wide_in_group + out if transposed else (group * out_group + out) * wide_in_group + within
            plane = (batch * grad_output.shape[1] + group * out_group + out) * other
            pairs += [(plane + o, first * taps.kernel + k) for k, o in own[place]]
            skipped += [first * taps.kernel + k for k in set(range(taps.kernel)) - {k for k, _ in own[place]}]
        is_open = any(map(weights.is_special, skipped))
        data.append(UNSPECIFIED if is_open else _dot(grad_output.dtype, factors, weights, pairs))
    return RefTensor(grad_output.dtype, shape, data)


def _grad_weight(narrow: RefTensor, wide: RefTensor, shape: tuple[int, ...], taps: _Taps, groups: int) -> RefTensor:
    """narrow * wide, summed over the batch and the taps of each weight."""
    own: list[list[tuple[int, int]]] = [[] for _ in range(taps.kernel)]
    for n, k, w in taps.triples:
        own[k].append((n, w))
    lhs, rhs = _Factors(narrow), _Factors(wide)
    data: list[float | Unspecified] = []
    for a, b, k in product(range(shape[0]), range(shape[1]), range(taps.kernel)):
        pairs, skipped = [], []
        for batch in range(narrow.shape[0]):
            mine = (batch * shape[0] + a) * taps.narrow
            its = (batch * wide.shape[1] + a // (shape[0] // groups) * shape[1] + b) * taps.wide
            pairs += [(mine + n, its + w) for n, w in own[k]]
            skipped += [lhs.is_special(mine + n) for n in set(range(taps.narrow)) - {n for n, _ in own[k]}]
            skipped += [rhs.is_special(its + w) for w in set(range(taps.wide)) - {w for _, w in own[k]}]
        data.append(UNSPECIFIED if any(skipped) else _dot(narrow.dtype, lhs, rhs, pairs))
    return RefTensor(narrow.dtype, shape, data)


def _grad_bias(grad_output: RefTensor) -> RefTensor:
    """The sum of grad_output over all but the channels."""
    channels, size = grad_output.shape[1], prod(grad_output.shape[2:])
    planes = [grad_output.data[i : i + size] for i in range(0, len(grad_output.data), size)]
    totals = [sum_exact([x for plane in planes[channel::channels] for x in plane]) for channel in range(channels)]
    return RefTensor(grad_output.dtype, (channels,), [round_exact(grad_output.dtype, total) for total in totals])
