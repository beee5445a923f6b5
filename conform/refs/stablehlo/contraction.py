"""dot_general and convolution from the specification's text. `dot` makes an element of pairs that are multiplied and
added up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from conform.refs.exact.tensor import RefTensor
from conform.refs.stablehlo.movement import at, concatenate, indices, pad, slice_

Dot = Callable[[Sequence[tuple[object, object]]], object]


def dot_general(
    lhs: RefTensor, rhs: RefTensor, numbers: Mapping[str, Sequence[int]], dtype: str, dot: Dot
) -> RefTensor:
    """result[batching + lhs + rhs] = the sum over the contracting dimensions."""
    batch, summed = ([numbers.get(f"{side}_{kind}_dimensions", ()) for side in ("lhs", "rhs")]
                     for kind in ("batching", "contracting"))  # fmt: skip
    kept = [[d for d in range(len(one.shape)) if d not in (*batch[k], *summed[k])] for k, one in enumerate((lhs, rhs))]
    sizes = [[one.shape[d] for d in dims] for one, dims in ((lhs, batch[0]), (lhs, kept[0]), (rhs, kept[1]))]
    shape, data = tuple(size for part in sizes for size in part), []
    for index in indices(shape):
        ends = len(sizes[0]), len(sizes[0]) + len(sizes[1])
        of_batch, of_lhs, of_rhs = index[: ends[0]], index[ends[0] : ends[1]], index[ends[1] :]
        pairs = []
        for inner in indices([lhs.shape[d] for d in summed[0]]):
            left = dict(zip((*batch[0], *kept[0], *summed[0]), (*of_batch, *of_lhs, *inner), strict=True))
            right = dict(zip((*batch[1], *kept[1], *summed[1]), (*of_batch, *of_rhs, *inner), strict=True))
            pairs.append((at(lhs, [left[d] for d in sorted(left)]), at(rhs, [right[d] for d in sorted(right)])))
        data.append(dot(pairs))
    return RefTensor(dtype, shape, data)


def convolution(
    lhs: RefTensor, rhs: RefTensor, window_strides: Sequence[int], padding: Sequence[Sequence[int]],
    lhs_dilation: Sequence[int], rhs_dilation: Sequence[int], window_reversal: Sequence[bool],
    numbers: Mapping[str, object], feature_group_count: int, batch_group_count: int, dtype: str, dot: Dot,
) -> RefTensor:  # fmt: skip
    """Groups one by one, as the specification has them; of one group each window with each kernel."""
    count = max(feature_group_count, batch_group_count)
    if count > 1:
        along = "feature" if feature_group_count > 1 else "batch"
        lhses = _split(lhs, count, numbers[f"input_{along}_dimension"])
        rhses = _split(rhs, count, numbers["kernel_output_feature_dimension"])
        results = [convolution(x, kernel, window_strides, padding, lhs_dilation, rhs_dilation, window_reversal, numbers,
                               1, 1, dtype, dot) for x, kernel in zip(lhses, rhses, strict=True)]  # fmt: skip
        return concatenate(results, numbers["output_feature_dimension"])
    spatial = numbers["input_spatial_dimensions"]
    low, high, interior = ([0] * len(lhs.shape) for _ in range(3))
    for d, row, dilation in zip(spatial, padding, lhs_dilation, strict=True):
        low[d], high[d], interior[d] = row[0], row[1], dilation - 1
    padded = pad(lhs, 0, low, high, interior)
    kernel = [rhs.shape[d] for d in numbers["kernel_spatial_dimensions"]]
    counts = []
    for d, size, dilation, stride in zip(spatial, kernel, rhs_dilation, window_strides, strict=True):
        extent, whole = 0 if size == 0 else (size - 1) * dilation + 1, padded.shape[d]
        counts.append(0 if whole == 0 or extent > whole else (whole - extent) // stride + 1)
    places = (numbers["output_batch_dimension"], *numbers["output_spatial_dimensions"],
              numbers["output_feature_dimension"])  # fmt: skip
    out = numbers["kernel_output_feature_dimension"]
    sizes = (lhs.shape[numbers["input_batch_dimension"]], *counts, rhs.shape[out])
    shape, data = tuple(sizes[places.index(d)] for d in range(len(sizes))), []
    for index in indices(shape):
        batch, *window, feature = (index[d] for d in places)
        pairs = []
        for inner in indices(kernel):
            turned = [n - 1 - k if is_turned else k for k, n, is_turned in
                      zip(inner, kernel, window_reversal, strict=True)]  # fmt: skip
            for channel in range(rhs.shape[numbers["kernel_input_feature_dimension"]]):
                of_x = {numbers["input_batch_dimension"]: batch, numbers["input_feature_dimension"]: channel}
                for d, i, stride, k, dilation in zip(
                    spatial, window, window_strides, turned, rhs_dilation, strict=True
                ):
                    of_x[d] = i * stride + k * dilation
                of_w = {numbers["kernel_input_feature_dimension"]: channel, out: feature}
                of_w |= dict(zip(numbers["kernel_spatial_dimensions"], inner, strict=True))
                pairs.append((at(padded, [of_x[d] for d in sorted(of_x)]), at(rhs, [of_w[d] for d in sorted(of_w)])))
        data.append(dot(pairs))
    return RefTensor(dtype, shape, data)


def _split(one: RefTensor, count: int, dim: int) -> list[RefTensor]:
    size = one.shape[dim] // count
    parts = []
    for k in range(count):
        start = [k * size if d == dim else 0 for d in range(len(one.shape))]
        limit = [(k + 1) * size if d == dim else n for d, n in enumerate(one.shape)]
        parts.append(slice_(one, start, limit, [1] * len(one.shape)))
    return parts
