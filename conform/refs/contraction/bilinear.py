"""Bilinear maps, and products of three tensors summed over some dims: exact, and rounded once."""

from __future__ import annotations

import math
from itertools import product
from math import isinf, isnan, prod

from conform.refs.contraction.products import one_dtype, round_total
from conform.refs.exact.promotion import FLOAT, category
from conform.refs.exact.reals import add_exact, exact, multiply_exact
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified, strides_of
from conform.refs.references import reference


@reference("aten::bilinear")
def bilinear(input1: RefTensor, input2: RefTensor, weight: RefTensor, bias: RefTensor | None = None) -> RefTensor:
    """x^T A_o y + b_o of the rows x of input1, y of input2, for each matrix A_o of weight.

    Open beside an infinity in x, A_o or y, or where there is nothing to add up and one of them has a NaN, unless some
    order of work cannot miss a NaN (P242).
    """
    dtype = one_dtype("bilinear", *(one for one in (input1, input2, weight, bias) if one is not None))
    if category(dtype) != FLOAT or not input1.shape or len(weight.shape) != 3:
        raise ValueError(f"bilinear of {dtype}, {input1.shape}, {weight.shape}")
    outputs, rows, columns = weight.shape
    if input1.shape[-1] != rows or input2.shape != (*input1.shape[:-1], columns):
        raise ValueError(f"bilinear of {input1.shape} and {input2.shape} with {weight.shape}")
    if bias is not None and bias.shape != (outputs,):
        raise ValueError(f"a bias of shape {bias.shape}")
    data: list[float | Unspecified] = []
    for n in range(prod(input1.shape[:-1])):
        x, y = input1.data[n * rows : (n + 1) * rows], input2.data[n * columns : (n + 1) * columns]
        for o in range(outputs):
            matrix = weight.data[o * rows * columns : (o + 1) * rows * columns]
            data.append(_form(dtype, x, matrix, y, 0.0 if bias is None else bias.data[o]))
    return RefTensor(dtype, (*input1.shape[:-1], outputs), data)


def _form(dtype: str, x: list[float], matrix: list[float], y: list[float], addend: float) -> float | Unspecified:
    """x^T matrix y + addend"""
    factors = [*x, *matrix, *y]
    if isnan(addend):
        return addend
    if any(map(isnan, factors)):
        return math.nan if matrix else UNSPECIFIED
    if any(map(isinf, factors)):
        return UNSPECIFIED
    total = exact(addend)
    for (i, a), (j, b) in product(enumerate(x), enumerate(y)):
        total = add_exact(total, multiply_exact(multiply_exact(exact(a), exact(b)), exact(matrix[i * len(y) + j])))
    return round_total(dtype, total)


@reference("aten::_trilinear")
def trilinear(
    i1: RefTensor,
    i2: RefTensor,
    i3: RefTensor,
    expand1: list[int],
    expand2: list[int],
    expand3: list[int],
    sumdim: list[int],
    unroll_dim: int = 1,
) -> RefTensor:
    """Tensors that repeat along their expanded dims, multiplied and summed over sumdim.

    Open (P162) is what infinities add up to where that is no number, if an operand lacks a dim that is summed.
    """
    dtype = one_dtype("_trilinear", i1, i2, i3)
    pairs = [(i1, expand1), (i2, expand2), (i3, expand3)]
    rank = len(i1.shape) + len(expand1)
    if category(dtype) != FLOAT or {len(one.shape) + len(expanded) for one, expanded in pairs} != {rank}:
        raise ValueError(f"_trilinear of {dtype}, {i1.shape}, {i2.shape}, {i3.shape}")
    for dims in (expand1, expand2, expand3, sumdim, [unroll_dim]):
        if len(set(dims)) != len(dims) or not all(0 <= d < rank for d in dims):
            raise ValueError(f"dims {dims} of {rank}")
    places = [[d for d in range(rank) if d not in expanded] for _, expanded in pairs]
    found = [dict(zip(own, one.shape, strict=True)) for own, (one, _) in zip(places, pairs, strict=True)]
    sizes = [{own[d] for own in found if d in own} for d in range(rank)]
    if any(len(size) != 1 for size in sizes):
        raise ValueError(f"dims of sizes {sizes}")
    full = [size.pop() for size in sizes]
    kept = [d for d in range(rank) if d not in sumdim]
    is_partial = any(full[d] > 1 and d in expanded for d in sumdim for _, expanded in pairs)
    data = []
    for index in product(*(range(full[d]) for d in kept)):
        fixed = dict(zip(kept, index, strict=True))
        ranges = [range(fixed[d], fixed[d] + 1) if d in fixed else range(full[d]) for d in range(rank)]
        terms = [
            [one.data[_place(one, own, at)] for own, (one, _) in zip(places, pairs, strict=True)]
            for at in product(*ranges)
        ]
        data.append(_total(dtype, terms, is_partial))
    return RefTensor(dtype, tuple(full[d] for d in kept), data)


def _place(tensor: RefTensor, own: list[int], index: tuple[int, ...]) -> int:
    return sum(index[d] * stride for d, stride in zip(own, strides_of(tensor.shape), strict=True))


def _total(dtype: str, terms: list[list[float]], is_partial: bool) -> float | Unspecified:
    total = (0, 0)
    for a, b, c in terms:
        total = add_exact(total, multiply_exact(multiply_exact(exact(a), exact(b)), exact(c)))
    is_nan = isinstance(total, float) and isnan(total)
    if is_nan and is_partial and not any(isnan(x) for term in terms for x in term):
        return UNSPECIFIED
    return round_total(dtype, total)
