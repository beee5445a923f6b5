"""Sums of products over shared indices: mm, addmm, convolution.

The real number, rounded once. Integers wrap modulo 2^n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from conform.errors import InvalidArguments
from conform.interp.golden import Golden, concatenated
from conform.interp.numerics import accumulate
from conform.interp.numerics.accumulate import Accumulated
from conform.interp.numerics.formats import Format, format_of
from conform.interp.numerics.real import Real, where
from conform.interp.operands import number_of, refuse_complex
from conform.interp.ops.elementwise import exact
from conform.interp.ops.reduction import accumulation, overflowing
from conform.interp.registry import semantics
from conform.interp.rows import BLOCK


def _same_format(op: str, *operands: np.ndarray) -> Format:
    formats = {format_of(operand).name for operand in operands}
    if len(formats) > 1:
        raise InvalidArguments(f"{op} expects operands of one dtype, got {', '.join(sorted(formats))}")
    return format_of(operands[0])


def _check_matrices(op: str, lhs: np.ndarray, rhs: np.ndarray) -> None:
    if lhs.ndim != 2 or rhs.ndim != 2 or lhs.shape[1] != rhs.shape[0]:
        raise InvalidArguments(f"{op} cannot multiply shapes {list(lhs.shape)} and {list(rhs.shape)}")


@semantics("aten::mm")
def mm(self: np.ndarray, mat2: np.ndarray) -> Golden:
    """result[i, j] = sum over k of self[i, k] * mat2[k, j]"""
    fmt = _same_format("mm", self, mat2)
    refuse_complex(fmt, "mm")
    _check_matrices("mm", self, mat2)
    if not fmt.is_float:
        return _integer_product(fmt, self, mat2)
    lhs, rhs = self.astype(np.float64), mat2.astype(np.float64)
    product = accumulate.matmul(lhs, rhs)
    return accumulation(fmt, product, lambda index: accumulate.exact_dot(lhs[index[0]], rhs[:, index[1]]))


def _integer_product(fmt: Format, lhs: np.ndarray, rhs: np.ndarray) -> Golden:
    if fmt.kind == "bool":
        raise InvalidArguments("matrix products are not defined for bool")
    with np.errstate(over="ignore"):
        return exact(np.einsum("ik,kj->ij", lhs, rhs, dtype=fmt.storage, casting="unsafe"), fmt)


@semantics("aten::addmm")
def addmm(
    self: np.ndarray, mat1: np.ndarray, mat2: np.ndarray, beta: int | float = 1, alpha: int | float = 1
) -> Golden:
    """beta * self + alpha * (mat1 @ mat2); with beta = 0, self is ignored, NaN and infinities too"""
    fmt = _same_format("addmm", self, mat1, mat2)
    refuse_complex(fmt, "addmm")
    _check_matrices("addmm", mat1, mat2)
    shape = (mat1.shape[0], mat2.shape[1])
    beta, alpha = number_of(fmt, beta, "beta"), number_of(fmt, alpha, "alpha")
    try:
        addend = np.broadcast_to(self, shape)
    except ValueError:
        raise InvalidArguments(f"addmm cannot expand shape {list(self.shape)} to {list(shape)}") from None
    if not fmt.is_float:
        return _integer_addmm(fmt, addend, mat1, mat2, int(beta), int(alpha))
    return _float_addmm(fmt, addend.astype(np.float64), mat1.astype(np.float64), mat2.astype(np.float64), beta, alpha)


def _integer_addmm(
    fmt: Format, addend: np.ndarray, mat1: np.ndarray, mat2: np.ndarray, beta: int, alpha: int
) -> Golden:
    wrapped = np.array([beta % 2**64, alpha % 2**64], np.uint64).astype(fmt.storage)
    with np.errstate(over="ignore"):
        product = _integer_product(fmt, mat1, mat2).value
        return exact(wrapped[0] * addend + wrapped[1] * product, fmt)


def _float_addmm(
    fmt: Format, addend: np.ndarray, mat1: np.ndarray, mat2: np.ndarray, beta: float, alpha: float
) -> Golden:
    beta, alpha = np.float64(beta), np.float64(alpha)
    product = accumulate.matmul(mat1, mat2)
    real = product.real * Real.exact(alpha)
    if beta != 0:
        real = real + Real.exact(addend) * Real.exact(beta)
        # An infinite or NaN addend decides the class of the sum, even where the finite product is beyond float64.
        decides = ~np.isfinite(addend) & np.isfinite(product.real.hi)
        real = where(decides, Real.exact(beta * addend), real)
    with np.errstate(all="ignore"):
        finite_addend = np.where(np.isfinite(addend), np.abs(beta * addend), 0.0) if beta != 0 else 0.0
        magnitude = abs(alpha) * product.magnitude + finite_addend
    total = Accumulated(real, magnitude, product.terms + 2)

    def exactly(index: tuple[int, ...]) -> Fraction:
        rest = accumulate.fraction(beta) * accumulate.fraction(addend[index]) if beta != 0 else 0
        return accumulate.fraction(alpha) * accumulate.exact_dot(mat1[index[0]], mat2[:, index[1]]) + rest

    golden = accumulation(fmt, total, exactly)
    steps = replace(total, magnitude=np.maximum(magnitude, _largest_step(mat1, mat2, alpha, product)))
    return replace(golden, open=None, open_rule=None).opened(overflowing(fmt, steps), "P35")


def _largest_step(mat1: np.ndarray, mat2: np.ndarray, alpha: float, product: Accumulated) -> np.ndarray:
    """The largest magnitude on the way to alpha * (mat1 @ mat2), whichever factor alpha is multiplied into."""
    rows, columns = (np.abs(np.where(np.isfinite(each), each, 0.0)) for each in (mat1, mat2))
    with np.errstate(over="ignore"):
        scaled = abs(alpha) * np.maximum(rows.max(1, initial=0.0)[:, None], columns.max(0, initial=0.0))
    return np.maximum(scaled, product.magnitude)


@semantics("aten::convolution")
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
) -> Golden:
    """result[n, o, x] = bias[o] + sum over c, k of input[n, c, x * stride + k * dilation - padding] * weight[o, c, k],
    channels in `groups`; transposed is its adjoint: every input element spreads weight over the result."""
    fmt = _same_format("convolution", input, weight, *([] if bias is None else [bias]))
    if fmt.is_complex or fmt.kind == "bool":
        raise InvalidArguments(f"convolution is not defined for {fmt.name}")
    spatial = input.ndim - 2
    stride, padding, dilation, output_padding = (
        _per_dim(values, spatial) for values in (stride, padding, dilation, output_padding)
    )
    _check_convolution(input, weight, bias, transposed, groups)
    _check_steps(spatial, stride, padding, dilation, output_padding)
    if transposed:
        _check_output_padding(stride, dilation, output_padding)
    present = np.ones((1, 1, *input.shape[2:]), bool)
    if transposed:
        source, present = (_spread(x, weight, stride, padding, dilation, output_padding) for x in (input, present))
        weight = _adjoint(weight, groups)
        stride, padding = [1] * spatial, [0] * spatial
    else:
        source = input
    patches, there = (_patches(_padded(x, padding), weight.shape[2:], stride, dilation) for x in (source, present))
    product = partial(_grouped_product, fmt, weight=weight, bias=bias, groups=groups)
    golden = _in_blocks(product, patches, there, spatial)
    return golden if transposed else golden.opened(_beside_padding(there, weight, golden.value.shape), "P39")


def _beside_padding(there: np.ndarray, weight: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Where a window meets padding with an infinite or NaN weight."""
    taps = (~np.isfinite(weight.astype(np.float64))).any(axis=1).reshape(weight.shape[0], -1)
    absent = ~there.reshape(taps.shape[1], -1)
    return np.broadcast_to((taps.astype(int) @ absent > 0).reshape(shape[1:]), shape)


def _per_dim(values: Sequence[int], spatial: int) -> list[int]:
    return list(values) * spatial if len(values) == 1 else list(values)


def _check_convolution(
    input: np.ndarray, weight: np.ndarray, bias: np.ndarray | None, transposed: bool, groups: int
) -> None:
    channels = weight.shape[0] if transposed else weight.shape[1] * groups
    if input.ndim != weight.ndim or input.ndim < 3 or input.shape[1] != channels:
        raise InvalidArguments(f"convolution of {list(input.shape)} with weight {list(weight.shape)}, groups={groups}")
    if 0 in weight.shape or 0 in input.shape[2:]:
        raise InvalidArguments(f"convolution of {list(input.shape)} with weight {list(weight.shape)}: one is empty")
    outputs = weight.shape[1] * groups if transposed else weight.shape[0]
    if groups < 1 or weight.shape[0] % groups or (bias is not None and bias.shape != (outputs,)):
        given = None if bias is None else list(bias.shape)
        raise InvalidArguments(f"convolution to {outputs} channels with groups={groups} and bias of shape {given}")


def _check_steps(
    spatial: int, stride: list[int], padding: list[int], dilation: list[int], output_padding: list[int]
) -> None:
    given = f"stride {stride}, padding {padding}, dilation {dilation}, output_padding {output_padding}"
    if any(len(values) != spatial for values in (stride, padding, dilation, output_padding)):
        raise InvalidArguments(f"convolution over {spatial} dimensions with {given}")
    if min(*stride, *dilation) < 1 or min(*padding, *output_padding) < 0:
        raise InvalidArguments(f"convolution steps must be positive and padding not negative, got {given}")


def _check_output_padding(stride: list[int], dilation: list[int], output_padding: list[int]) -> None:
    if any(extra and extra >= max(s, d) for extra, s, d in zip(output_padding, stride, dilation, strict=True)):
        given = f"output_padding {output_padding}, stride {stride}, dilation {dilation}"
        raise InvalidArguments(f"output_padding must be below stride or dilation, got {given}")


def _padded(input: np.ndarray, padding: Sequence[int]) -> np.ndarray:
    return np.pad(input, [(0, 0), (0, 0), *((p, p) for p in padding)])


def _spread(
    input: np.ndarray,
    weight: np.ndarray,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    output_padding: list[int],
) -> np.ndarray:
    """The input of a transposed convolution as that of a plain one: `stride` apart among zeros, padded to the
    result's size."""
    sizes = [(n - 1) * s + 1 for n, s in zip(input.shape[2:], stride, strict=True)]
    result = np.zeros((*input.shape[:2], *sizes), input.dtype)
    result[(..., *(slice(None, None, s) for s in stride))] = input
    edges = [d * (k - 1) - p for d, k, p in zip(dilation, weight.shape[2:], padding, strict=True)]
    low_high = [(0, 0), (0, 0), *((edge, edge + extra) for edge, extra in zip(edges, output_padding, strict=True))]
    result = np.pad(result, [(max(low, 0), max(high, 0)) for low, high in low_high])
    crop = tuple(
        slice(max(-low, 0), size - max(-high, 0)) for (low, high), size in zip(low_high, result.shape, strict=True)
    )
    return result[crop]


def _adjoint(weight: np.ndarray, groups: int) -> np.ndarray:
    """[in, out / groups, k...] as [out, in / groups, flipped k...]."""
    grouped = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:]).swapaxes(1, 2)
    flipped = grouped[(slice(None),) * 3 + (slice(None, None, -1),) * (weight.ndim - 2)]
    return flipped.reshape(groups * weight.shape[1], weight.shape[0] // groups, *weight.shape[2:])


def _patches(padded: np.ndarray, kernel: Sequence[int], stride: list[int], dilation: list[int]) -> np.ndarray:
    """[n, c, *k, *x]: what the kernel meets at each output place x."""
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    sizes = [(n - r) // s + 1 for n, r, s in zip(padded.shape[2:], reach, stride, strict=True)]
    if min(sizes, default=1) <= 0:
        raise InvalidArguments(
            f"convolution kernel reaches {reach} over an input of {list(padded.shape[2:])} with padding"
        )
    steps = padded.strides[2:]
    strides = [
        *(step * d for step, d in zip(steps, dilation, strict=True)),
        *(step * s for step, s in zip(steps, stride, strict=True)),
    ]
    shape = (*padded.shape[:2], *kernel, *sizes)
    return np.lib.stride_tricks.as_strided(padded, shape, (*padded.strides[:2], *strides), writeable=False)


def _in_blocks(product: Callable[..., Golden], patches: np.ndarray, there: np.ndarray, spatial: int) -> Golden:
    """product(patches, there) [n, o, *x]: patches repeat the input for every tap, so few of many are made at a time."""
    if patches.size <= BLOCK:
        return product(patches, there)
    first = 2 + spatial  # of the output's spatial dimensions
    step = max(BLOCK * patches.shape[first] // patches[0].size, 1)
    blocks = []
    for batch in range(patches.shape[0]):
        for start in range(0, patches.shape[first], step):
            places = (slice(None),) * first + (slice(start, start + step),)
            golden = product(patches[batch : batch + 1][places], there[places])
            blocks.append(golden.rearranged(lambda part: np.moveaxis(part, 1, -1)[0]))
    shape = (patches.shape[0], *patches.shape[first:], -1)
    return concatenated(blocks).rearranged(lambda part: np.moveaxis(part.reshape(shape), -1, 1))


def _grouped_product(
    fmt: Format, patches: np.ndarray, there: np.ndarray, *, weight: np.ndarray, bias: np.ndarray | None, groups: int
) -> Golden:
    """weight [o, c / groups, *k] times patches [n, c, *k, *x], plus bias: [n, o, *x]. `there`: patches that hold
    input."""
    spatial = weight.ndim - 2
    batch, sizes, outputs = patches.shape[0], patches.shape[2 + spatial :], weight.shape[0]
    terms, places = weight[0].size, int(np.prod(sizes, dtype=int))
    columns = np.moveaxis(patches.reshape(batch, groups, terms, places), 0, 2).reshape(groups, terms, batch * places)
    gaps = np.tile(~there.reshape(-1, places), (weight.shape[1], batch))
    rows = weight.reshape(groups, outputs // groups, terms)
    if bias is not None:
        columns = np.concatenate([columns, np.ones((groups, 1, batch * places), columns.dtype)], axis=1)
        gaps = np.concatenate([gaps, np.zeros((1, batch * places), bool)])
        rows = np.concatenate([rows, bias.reshape(groups, outputs // groups, 1)], axis=2)
    parts = [_product_with_gaps(row, column, gaps) for row, column in zip(rows, columns, strict=True)]
    return concatenated(parts).rearranged(lambda part: part.reshape(outputs, batch, *sizes).swapaxes(0, 1))


def _product_with_gaps(rows: np.ndarray, columns: np.ndarray, gaps: np.ndarray) -> Golden:
    """mm without the terms that `gaps` (of columns' shape) marks: columns is zero there, and 0 * inf must not count."""
    if not (format_of(rows).is_float and gaps.any() and not np.isfinite(rows.astype(np.float64)).all()):
        return mm(rows, columns)
    special = _special_terms(rows.astype(np.float64), columns.astype(np.float64), gaps)
    golden = mm(*(np.where(np.isfinite(x.astype(np.float64)), x, x.dtype.type(0)) for x in (rows, columns)))
    decides = special != 0
    return replace(
        golden,
        value=np.where(decides, special.astype(golden.value.dtype), golden.value),
        real=where(decides, Real.exact(special), golden.real),
    )


def _special_terms(rows: np.ndarray, columns: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """The sum of the products that are not finite because an operand is not: 0, an infinity or NaN."""
    total = np.zeros((rows.shape[0], columns.shape[1]))
    for row, column, gap in zip(rows.T, columns, gaps, strict=True):
        special = ~(np.isfinite(row)[:, None] & np.isfinite(column)) & ~gap
        total = total + np.where(special, row[:, None] * column, 0.0)
    return total
