"""einsum: sums of products over the labels that the result lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import prod
from operator import mul
from typing import Any

import numpy as np

from conform.call.subscripts import Labels, equation
from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.rows import Rows
from conform.interp.golden import Golden
from conform.interp.operands import refuse_complex
from conform.interp.ops.contraction.matrices import products
from conform.interp.ops.contraction.sums import golden_of
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.reduction.sums import sums_of
from conform.interp.semantics import semantics
from conform.numerics.accumulate import Accumulated, dot_of
from conform.numerics.digits import Digits, dots
from conform.numerics.escalate import decide_exactly
from conform.numerics.formats import Format, format_of
from conform.numerics.real import Real, where
from conform.numerics.rounding_errors import accumulator_of, held_format


def _count(arguments: Mapping[str, Any]) -> int:
    """The elements of the result."""
    read = equation(arguments["equation"])
    shapes = [np.shape(each) for each in arguments["tensors"]]
    if read is None or len(read.operands) != len(shapes):
        return 1
    labels, result = read.labels([len(shape) for shape in shapes])
    sizes = sizes_of(labels, shapes)
    return prod(sizes.get(label, 1) for label in result)


@semantics("aten::einsum", elements=_count, ignores=("path",))
def einsum(equation: str, tensors: Sequence[np.ndarray], path: Sequence[int] | None = None) -> Golden:
    """The sums of products of the tensors' elements over the labels that the result lacks; a label twice in an operand
    is its diagonal; sizes 1 are repeated; integers wrap (P3, P10, P35, P162). path is an order of work"""
    fmt = format_of(tensors[0])
    refuse_complex(fmt, "sums of products")
    labels, result = _equation(equation).labels([tensor.ndim for tensor in tensors])
    sizes = sizes_of(labels, [tensor.shape for tensor in tensors])
    if len(tensors) == 2:
        return _of_matrices(fmt, tensors, labels, result, sizes)
    order = [*result, *(label for label in sizes if label not in result)]
    shape = tuple(sizes[label] for label in order)
    count, terms = prod(shape[: len(result)]), prod(shape[len(result) :])
    rows = [
        Rows(view_of(tensor, own, order, shape), count, terms, _read(fmt))
        for tensor, own in zip(tensors, labels, strict=True)
    ]  # fmt: skip

    summed = [label for label in sizes if label not in result and sizes[label] > 1]
    in_parts = any(label not in own for label in summed for own in labels)

    def parts() -> Iterator[tuple[slice, Golden]]:
        for block in zip(*(each.blocks() for each in rows), strict=True):
            yield block[0][0], _sums(fmt, [some for _, some in block], in_parts)

    return assembled(parts(), count).rearranged(lambda part: part.reshape(shape[: len(result)]))


_equation = equation  # which an argument of `einsum` hides


def sizes_of(labels: Sequence[Labels], shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
    """By label; of sizes that broadcast the one that is not 1. A call that is refused may have other dimensions."""
    sizes: dict[str, int] = {}
    for own, shape in zip(labels, shapes, strict=True):
        for label, size in zip(own, shape, strict=False):
            sizes[label] = size if sizes.get(label, 1) == 1 else sizes[label]
    return sizes


def view_of(tensor: np.ndarray, own: Labels, order: Sequence[str], shape: tuple[int, ...]) -> np.ndarray:
    """The tensor with a dim for each label of `order`, repeated along those that it lacks."""
    strides = dict.fromkeys(order, 0)
    for label, size, stride in zip(own, tensor.shape, tensor.strides, strict=True):
        strides[label] += 0 if size == 1 else stride
    return np.lib.stride_tricks.as_strided(tensor, shape, list(strides.values()), writeable=False)


def _of_matrices(
    fmt: Format, tensors: Sequence[np.ndarray], labels: Sequence[Labels], result: Labels, sizes: Mapping[str, int]
) -> Golden:
    """Of two operands: a product of matrices for each index of the labels that both of them and the result have."""
    batch, rows, summed, columns = groups_of(labels, result, sizes)

    def matrices(number: int, *groups: Labels) -> np.ndarray:
        order = [label for group in groups for label in group]
        view = view_of(tensors[number], labels[number], order, tuple(sizes[label] for label in order))
        return view.reshape([prod(sizes[label] for label in group) for group in groups])

    golden = products(fmt, matrices(0, batch, rows, summed), matrices(1, batch, summed, columns)).golden()
    order = [*batch, *rows, *columns]
    shape, axes = [sizes[label] for label in order], [order.index(label) for label in result]
    return golden.rearranged(lambda part: part.reshape(shape).transpose(axes))


def groups_of(labels: Sequence[Labels], result: Labels, sizes: Mapping[str, int]) -> tuple[list[str], ...]:
    """The labels of two operands by what they are to products of matrices: (of the stack, of the rows of the first
    operand, of what is summed, of the columns of the second)."""
    lhs, rhs = labels
    batch, rows = [[label for label in result if label in lhs and (label in rhs) == both] for both in (True, False)]
    return batch, rows, [label for label in sizes if label not in result], [one for one in result if one not in lhs]


def _read(fmt: Format) -> Any:
    return (lambda some: some.astype(np.float64)) if fmt.is_float else lambda some: some


def _sums(fmt: Format, operands: Sequence[Rows], in_parts: bool) -> Golden:
    """The golden [m] of the sums of products of the operands' rows [m, k]; in_parts: that operands in pairs have sums
    of their own."""
    if fmt.is_integer:
        with np.errstate(over="ignore"):
            products = (reduce(mul, pieces) for pieces in zip(*(each.pieces for each in operands), strict=True))
            return exact(reduce(np.add, (part.sum(axis=1, dtype=fmt.storage) for part in products)), fmt)
    if len(operands) > 2:
        return _of_many(fmt, operands, in_parts)
    pairs = operands[0].pieces.map(lambda piece: (piece, np.ones_like(piece)))

    def exactly(index: Sequence[np.ndarray]) -> Digits:
        return dots((x[index[0]].T, y[index[0]].T) for x, y in pairs)

    return golden_of(fmt, dot_of(pairs), exactly)


def _of_many(fmt: Format, operands: Sequence[Rows], in_parts: bool) -> Golden:
    """Of three operands and more: in whatever order they are multiplied and added up, a term is part of as many
    roundings as there are factors and terms."""
    real, magnitude, largest, least, special, is_nan = None, 0.0, 1.0, 1.0, 0.0, False
    with np.errstate(all="ignore"):
        for pieces in zip(*(each.pieces for each in operands), strict=True):
            finite = reduce(np.logical_and, map(np.isfinite, pieces))
            factors = [np.where(finite, piece, 0.0) for piece in pieces]
            more = reduce(mul, map(Real.exact, factors)).sum(axis=1)
            real = more if real is None else real + more
            magnitude = magnitude + np.abs(reduce(mul, factors)).sum(axis=1)
            grown = reduce(mul, (np.maximum(np.abs(x), 1.0) for x in factors))
            largest = np.maximum(largest, grown.max(axis=1, initial=1.0))
            shrunk = reduce(mul, (np.where(np.isfinite(x) & (x != 0), np.minimum(np.abs(x), 1.0), 1.0) for x in pieces))
            least = np.minimum(least, shrunk.min(axis=1, initial=1.0))
            beyond = np.where(finite, 0.0, reduce(mul, (np.where(np.isfinite(x), np.sign(x), x) for x in pieces)))
            special = special + beyond.sum(axis=1)
            is_nan = is_nan | reduce(np.logical_or, map(np.isnan, pieces)).any(axis=1)
        decided = special != 0
        real = where(decided, special, real)
    terms = operands[0].terms + len(operands)

    def exactly(index: tuple[int, ...]) -> Fraction:
        numbers = zip(*(np.concatenate(list(each.row(index[0]))).tolist() for each in operands), strict=True)
        return sum((reduce(mul, map(Fraction, factors)) for factors in numbers), Fraction(0))

    value, real = decide_exactly(fmt, real, exactly)
    golden = sums_of(fmt, Accumulated(real, magnitude, terms), value, real)
    compute = accumulator_of(held_format(fmt))
    partial = (largest * operands[0].terms > compute.max_finite) | np.isinf(special) & (least < compute.min_normal)
    partly = np.isnan(special) & ~is_nan & in_parts
    return Golden(
        fmt, value, real, terms, magnitude, amplified=largest, zero_sign_free=True, open=golden.open,
        open_rule=golden.open_rule,
    ).opened(partial & ~np.isnan(real.hi), "P35").opened(partly, "P162")  # fmt: skip
