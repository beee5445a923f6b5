"""The gradients of a convolution, each a sum of products of the same numbers: themselves convolutions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conform.interp.blocks.assembly import Assembly
from conform.interp.blocks.patches import Patches, Windows
from conform.interp.golden import Golden, wanted
from conform.interp.ops.contraction.convolution import over_windows, per_dim
from conform.interp.ops.reduction.sums import sum_over
from conform.interp.semantics import semantics


@semantics("aten::convolution_backward", accumulates="grad_output")
def convolution_backward(
    grad_output: np.ndarray,
    input: np.ndarray,
    weight: np.ndarray,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Golden, ...]:
    """The gradients of the input, weight and bias of convolution, of whose result the sum with grad_output is taken:
    grad_output spread by the weight, or where that is transposed gathered by it; for each weight the sum of the
    products of all that it joins; the sum of grad_output over all but the channels; None for what output_mask does not
    want (P3, P35, P39, P133, P134)"""
    spatial = input.ndim - 2
    steps = [per_dim(values, spatial) for values in (stride, padding, dilation)]
    windows = [Windows(*along, not transposed) for along in zip(grad_output.shape[2:], *steps, strict=True)]
    narrow, wide = (input, grad_output) if transposed else (grad_output, input)
    return wanted(
        output_mask,
        lambda: over_windows(Patches(grad_output, weight, windows, input.shape[2:], groups), None).golden(),
        lambda: _by_weight(narrow, wide, weight.shape[2:], steps, groups),
        lambda: sum_over(grad_output, [0, *range(2, grad_output.ndim)]),
    )


def _by_weight(
    narrow: np.ndarray, wide: np.ndarray, kernel: Sequence[int], steps: list[list[int]], groups: int
) -> Golden:
    """[a, b, *kernel]: sum over samples and places y of narrow[n, a, y] * wide[n, b, y * stride + k * dilation -
    padding], channels in groups: a convolution whose places are the taps k, and whose taps are the places y."""
    whole = Assembly(narrow.shape[1])
    size = narrow.shape[1] // groups, wide.shape[1] // groups
    for group in range(groups):
        own, its = (slice(group * each, (group + 1) * each) for each in size)
        of_narrow, of_wide = narrow[:, own].swapaxes(0, 1), wide[:, its].swapaxes(0, 1)
        windows = [
            Windows(length, stride=dilation, padding=padding, dilation=stride)
            for length, stride, padding, dilation in zip(wide.shape[2:], *steps, strict=True)
        ]
        patches = Patches(of_wide, of_narrow, windows, kernel, groups=1)
        golden = over_windows(patches, None).golden().opened(_leaves_out_special(of_wide, patches), "P133")
        whole.fill(own, golden.rearranged(lambda part: part.swapaxes(0, 1)))
    return whole.golden()


def _leaves_out_special(wide: np.ndarray, patches: Patches) -> np.ndarray:
    """[b, a, *kernel]: where an infinity or NaN of the wide tensor [b, n, *] meets no element under that tap, which
    kernels that spread the narrow one multiply with a zero."""
    special = ~np.isfinite(wide)
    shape = (len(wide), patches.outputs, *patches.sizes)
    if not special.any():
        return np.zeros(shape, bool)
    one = np.ones((1, *patches.weight.shape[1:]), np.float32)
    of_special = Patches(special.astype(np.float32), one, patches.windows, patches.sizes, groups=1)
    here = of_special.at(slice(0, of_special.places))
    met = sum(pair.inputs.astype(np.float64).sum(axis=0) for pair in here.pairs(slice(0, 1)))
    all_of_them = special.reshape(len(wide), -1).sum(axis=1)
    left_out = met.reshape(len(wide), *patches.sizes) < all_of_them.reshape(-1, *[1] * len(patches.sizes))
    return np.broadcast_to(left_out[:, None], shape)
