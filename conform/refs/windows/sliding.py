"""Where the windows of pooling lie."""

from __future__ import annotations

from itertools import product

from conform.refs.exact.tensor import RefTensor, Shape, one_per_dim, strides_of

Ints = list[int] | int
Window = tuple[list[int], int]  # input indices inside the window; its extent, padding included


def sliding_windows(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> list[Window]:
    """The windows along one dim; with ceil_mode the last must start inside the input or the left padding."""
    reach = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (-(-reach // stride) if ceil_mode else reach // stride) + 1
    if ceil_mode and (count - 1) * stride >= size + padding:
        count -= 1
    if count < 1:
        raise ValueError(f"no window of {kernel} (dilation {dilation}) fits into {size} padded by {padding}")
    windows = []
    for start in range(-padding, count * stride - padding, stride):
        inside = [i for i in range(start, start + dilation * kernel, dilation) if 0 <= i < size]
        windows.append((inside, min(start + kernel, size + padding) - start))
    return windows


def adaptive_windows(size: int, count: int) -> list[Window]:
    """`count` windows: the i-th from floor(i * size / count) to before ceil((i + 1) * size / count)."""
    if count < 0:
        raise ValueError(f"output_size {count} must not be negative")
    windows = []
    for i in range(count):
        start, end = i * size // count, -(-(i + 1) * size // count)
        windows.append((list(range(start, end)), end - start))
    return windows


def pooling_windows(
    shape: Shape, spatial: int, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> list[list[Window]]:
    """The windows along each of the last `spatial` dims; the stride's default is the kernel."""
    kernel = one_per_dim(kernel_size, spatial, "kernel_size")
    step = kernel if stride in ([], ()) else one_per_dim(stride, spatial, "stride")
    pad, gaps = one_per_dim(padding, spatial, "padding"), one_per_dim(dilation, spatial, "dilation")
    if min(kernel) < 1 or min(step) < 1 or min(gaps) < 1:
        raise ValueError(f"kernel {kernel}, stride {step} and dilation {gaps} must be positive")
    if any(not 0 <= 2 * p <= k for p, k in zip(pad, kernel, strict=True)):
        raise ValueError(f"padding {pad} must be at most half of the kernel {kernel}")
    sizes = shape[-spatial:]
    return [sliding_windows(*each, ceil_mode) for each in zip(sizes, kernel, step, pad, gaps, strict=True)]


def joined(windows: list[list[Window]], sizes: Shape) -> list[Window]:
    """The windows over all dims: positions in the flattened plane, row by row, and the product of the extents."""
    strides, result = strides_of(sizes), []
    for each in product(*windows):
        places, extent = [0], 1
        for (inside, length), stride in zip(each, strides, strict=True):
            places = [place + i * stride for place in places for i in inside]
            extent *= length
        result.append((places, extent))
    return result


def planes(tensor: RefTensor, volume: int) -> list[list]:
    """The elements in runs of `volume`: the planes of a tensor, in order."""
    return [tensor.data[start : start + volume] for start in range(0, len(tensor.data), volume)]
