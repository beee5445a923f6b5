"""im2col and col2im: windows as columns, and columns added up where their windows lie."""

from __future__ import annotations

from itertools import product
from math import prod

from conform.refs.exact.promotion import BOOL, COMPLEX, FLOAT, category
from conform.refs.exact.reals import round_exact, sum_exact
from conform.refs.exact.rounding import wrap_integer
from conform.refs.exact.tensor import RefTensor, Shape, one_per_dim
from conform.refs.references import reference

Ints = list[int] | int


def _places(sizes: Shape, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> list[list[int | None]]:
    """For each place of the kernel and each window the position in the plane, None in the padding."""
    kernel, gaps, pad, step = (
        one_per_dim(values, 2, name)
        for values, name in (
            (kernel_size, "kernel_size"),
            (dilation, "dilation"),
            (padding, "padding"),
            (stride, "stride"),
        )
    )
    if min(*kernel, *gaps, *step) < 1 or min(pad) < 0:
        raise ValueError(f"kernel {kernel}, dilation {gaps}, padding {pad}, stride {step}")
    along = []
    for size, k, gap, p, s in zip(sizes, kernel, gaps, pad, step, strict=True):
        count = (size + 2 * p - gap * (k - 1) - 1) // s + 1
        if count < 1:
            raise ValueError(f"no window of {k} (dilation {gap}) fits into {size} padded by {p}")
        along.append([[o * s - p + j * gap for o in range(count)] for j in range(k)])
    height, width = sizes
    return [
        [i * width + j if 0 <= i < height and 0 <= j < width else None for i, j in product(rows, columns)]
        for rows, columns in product(*along)
    ]


def _zero(dtype: str) -> bool | int | float | complex:
    return {BOOL: False, FLOAT: 0.0, COMPLEX: 0j}.get(category(dtype), 0)


@reference("aten::im2col")
def im2col(self: RefTensor, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> RefTensor:
    """torch.nn.Unfold: (N, C, H, W) to (N, C * kernel, windows), (C, H, W) to (C * kernel, windows); padding is 0."""
    if len(self.shape) not in (3, 4) or 0 in self.shape[-3:]:
        raise ValueError(f"im2col takes (C, H, W) or (N, C, H, W) with no size 0 but N's, found {self.shape}")
    *outer, channels, height, width = self.shape
    rows, zero, data = _places((height, width), kernel_size, dilation, padding, stride), _zero(self.dtype), []
    for start in range(0, len(self.data), height * width):
        data += [zero if place is None else self.data[start + place] for row in rows for place in row]
    return RefTensor(self.dtype, (*outer, channels * len(rows), len(rows[0])), data)


@reference("aten::col2im")
def col2im(
    self: RefTensor, output_size: Ints, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints
) -> RefTensor:
    """torch.nn.Fold: each element of the output (N, C, H, W) is the sum of the column elements that lie on it."""
    sizes = one_per_dim(output_size, 2, "output_size")
    if len(self.shape) not in (2, 3) or min(sizes) < 1 or 0 in self.shape[-2:]:
        raise ValueError(f"col2im takes (C * kernel, windows) or (N, C * kernel, windows), found {self.shape}")
    rows, volume = _places(tuple(sizes), kernel_size, dilation, padding, stride), prod(sizes)
    *outer, height, width = self.shape
    if height % len(rows) or width != len(rows[0]):
        raise ValueError(f"self {self.shape} does not hold {len(rows)} rows a channel of {len(rows[0])} windows")
    data = []
    for start in range(0, len(self.data), len(rows) * width):
        terms: list[list] = [[] for _ in range(volume)]
        for offset, place in enumerate(place for row in rows for place in row):
            if place is not None:
                terms[place].append(self.data[start + offset])
        data += [_total(self.dtype, own) for own in terms]
    return RefTensor(self.dtype, (*outer, height // len(rows), *sizes), data)


def _total(dtype: str, values: list) -> bool | int | float:
    kind = category(dtype)
    if kind == COMPLEX:
        raise NotImplementedError("the reference of col2im covers real dtypes only")
    if kind == BOOL:
        return any(values)
    return round_exact(dtype, sum_exact(values)) if kind == FLOAT else wrap_integer(dtype, sum(values))
