"""Sums of products of three tensors: bilinear maps, and what torch makes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from string import ascii_letters
from typing import Any

import numpy as np

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import spans
from conform.interp.formulas.elimination import fractions, whole
from conform.interp.formulas.several_factors import rounded_once
from conform.interp.golden import Golden
from conform.interp.operands import refuse_complex
from conform.interp.ops.contraction.einsum import einsum
from conform.interp.ops.reduction.sums import reshaped
from conform.interp.semantics import semantics
from conform.numerics.formats import Format, format_of
from conform.numerics.real import where
from conform.numerics.rounding_errors import accumulator_of, held_format


def _rows_by_outputs(arguments: Mapping[str, Any]) -> int:
    return prod(np.shape(arguments["input1"])[:-1]) * prod(np.shape(arguments["weight"])[:1])


@semantics("aten::bilinear", accumulates="weight", elements=_rows_by_outputs)
def bilinear(
    input1: np.ndarray, input2: np.ndarray, weight: np.ndarray, bias: np.ndarray | None = None
) -> Golden:
    """result[..., o] = bias[o] + the sum over i and j of input1[..., i] * weight[o, i, j] * input2[..., j] (P35, P242)
    """
    fmt = format_of(input1)
    refuse_complex(fmt, "sums of products")
    count, shape = prod(input1.shape[:-1]), (*input1.shape[:-1], len(weight))
    first, second = (one.reshape(count, one.shape[-1]) for one in (input1, input2))
    addend = np.zeros(len(weight)) if bias is None else bias.astype(np.float64)
    of_some = partial(_of_rows, fmt, weight.astype(np.float64), addend)
    blocks = spans(count, max(len(weight), 1) * max(input2.shape[-1], 1))
    parts = ((some, of_some(first[some].astype(np.float64), second[some].astype(np.float64))) for some in blocks)
    return reshaped(assembled(parts, count), shape)


def _of_rows(fmt: Format, weight: np.ndarray, bias: np.ndarray, first: np.ndarray, second: np.ndarray) -> Golden:
    """[n, o] of rows [n, i] and [n, j]. A term is part of as many roundings as there are terms, and two products; what
    each of these loses near 0, the other one multiplies."""
    finite = [np.where(np.isfinite(one), one, 0.0) for one in (first, weight, second, bias)]
    terms = weight.shape[1] * weight.shape[2] + 3
    with np.errstate(all="ignore"):
        numbers, magnitude = _sums(*finite), _sums(*map(np.abs, finite))
        largest = _largest(finite[0], 1)[:, None] * _largest(finite[1], (1, 2)) * _largest(finite[2], 1)[:, None]

    def exactly() -> np.ndarray:
        (x, a), (w, b), (y, c), (d, e) = ((scaled.numbers.real, scaled.exponent) for scaled in map(whole, finite))
        grid = min(a + b + c, e)
        return fractions((_sums(x, w, y, d * 0) << a + b + c - grid) + (d << e - grid), 1, grid)

    value, real = rounded_once(fmt, numbers, terms, magnitude, 2 * largest, exactly)
    is_nan, is_infinite = (_any(test, first, weight, second) for test in (np.isnan, np.isinf))
    is_special = is_nan | ~np.isfinite(bias)
    special = np.where(is_nan, np.nan, bias)
    golden = Golden(
        fmt, np.where(is_special, special.astype(fmt.storage), value), where(is_special, special, real), terms,
        magnitude, amplified=2 * largest, zero_sign_free=True,
    )  # fmt: skip
    overflows = ~(np.maximum(magnitude, largest * terms) <= accumulator_of(held_format(fmt)).max_finite)
    decided = np.isnan(bias) | is_nan & (terms > 3)
    return golden.opened(overflows & ~is_nan, "P35").opened((is_nan | is_infinite) & ~decided, "P242")


def _sums(first: np.ndarray, weight: np.ndarray, second: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """[n, o], of numbers of any kind."""
    return (np.tensordot(first, weight, axes=(1, 1)) * second[:, None, :]).sum(axis=-1) + bias


def _largest(numbers: np.ndarray, axis: int | tuple[int, ...]) -> np.ndarray:
    """The largest magnitude over 1 along the axis, else 1."""
    return np.abs(numbers).max(axis=axis, initial=1.0)


def _any(
    test: Callable[[np.ndarray], np.ndarray], first: np.ndarray, weight: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """[n, o]: which results have a factor of which `test` is true."""
    rows = test(first).any(axis=1) | test(second).any(axis=1)
    return rows[:, None] | test(weight).any(axis=(1, 2))


def equation_of(rank: int, expanded: Sequence[Sequence[int]], summed: Sequence[int]) -> str:
    """einsum's, of tensors that have all but their `expanded` dims of `rank` many, of which the result lacks those that
    are summed."""
    *operands, result = (
        "".join(ascii_letters[d] for d in range(rank) if d not in without) for without in (*expanded, summed)
    )
    return f"{','.join(operands)}->{result}"


def _elements(arguments: Mapping[str, Any]) -> int:
    """No more than the product of all sizes."""
    return prod(prod(np.shape(arguments[name])) for name in ("i1", "i2", "i3"))


@semantics("aten::_trilinear", elements=_elements, ignores=("unroll_dim",))
def trilinear(
    i1: np.ndarray,
    i2: np.ndarray,
    i3: np.ndarray,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
) -> Golden:
    """The sum over sumdim of i1 * i2 * i3, each with a new dim at each of its expand: the dims are those of all
    together. unroll_dim is an order of work (P3, P35, P162)"""
    equation = equation_of(i1.ndim + len(expand1), (expand1, expand2, expand3), sumdim)
    return einsum(equation, [i1, i2, i3])
