"""Products of matrices, of stacks of them, and of vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import prod
from typing import Any

import numpy as np

from conform.interp.blocks.assembly import Assembly, assembled
from conform.interp.blocks.blocks import flat, spans
from conform.interp.blocks.converted import moved
from conform.interp.blocks.tiles import Contraction, by_tiles
from conform.interp.golden import Golden, Outcome
from conform.interp.operands import refuse_complex
from conform.interp.ops.contraction.sums import contraction, float_addmm, float_product, integer_addmm, integer_tile
from conform.interp.ops.elementwise.arithmetic import mul
from conform.interp.ops.reduction.sums import reshaped
from conform.interp.promotion import result_type
from conform.interp.semantics import semantics
from conform.numerics.formats import FORMATS, Format, format_of
from conform.numerics.matmul import at_once

Shape = tuple[int, ...]


def products(
    fmt: Format,
    lhs: np.ndarray,
    rhs: np.ndarray,
    addend: np.ndarray | None = None,
    beta: float = 1,
    alpha: float = 1,
    shape: Shape | None = None,
) -> Contraction:
    """beta * addend + alpha * (lhs @ rhs) of matrices [m, k] and [k, n], or of as many [*batch, m, k], [*batch, k, n],
    whose batch dims broadcast; without an addend, lhs @ rhs. shape: the result's, where it has fewer dims."""
    refuse_complex(fmt, "sums of products")
    batch = np.broadcast_shapes(lhs.shape[:-2], rhs.shape[:-2])
    lhs, rhs = (moved(one, lambda part: np.broadcast_to(part, (*batch, *part.shape[-2:]))) for one in (lhs, rhs))
    (rows, terms), columns = lhs.shape[-2:], rhs.shape[-1]
    whole = None if addend is None else np.broadcast_to(addend, (*batch, rows, columns))

    def of_matrices(index: tuple[int | np.ndarray, ...]) -> Callable[[slice, slice], Golden]:
        own = lhs[index], rhs[index]
        if whole is None:
            return partial(float_product if fmt.is_float else integer_tile, fmt, *own)
        factors = (np.float64(beta), np.float64(alpha)) if fmt.is_float else (int(beta), int(alpha))
        return partial(float_addmm if fmt.is_float else integer_addmm, fmt, whole[index], *own, *factors)

    if prod((*batch, rows)) == 0:
        nothing = np.zeros((0, lhs.shape[-1]), lhs.dtype), np.zeros((lhs.shape[-1], columns), rhs.dtype)
        tile = partial(float_product if fmt.is_float else integer_tile, fmt, *nothing)
    else:
        together = at_once(rows, terms, columns)
        tile = of_stack(of_matrices, batch, rows, together) if batch else of_matrices(())
    return Contraction((*batch, rows), columns, tile, axis=-1, shape=shape)


def of_stack(
    of_matrices: Callable[[tuple[int | np.ndarray, ...]], Callable[[slice, slice], Golden]],
    batch: Shape,
    rows: int,
    together: int,
) -> Callable[[slice, slice], Golden]:
    """The tiles of matrices of `rows` one below the other, of which `of_matrices` gives those of one, and where so many
    are to be worked on `together`, of those at the places that index arrays name."""

    def tile(some: slice, columns: slice) -> Golden:
        whole = Assembly(some.stop - some.start, columns.stop - columns.start)
        for own, first, count in _matrices(some, rows, together):
            start = first * rows + own.start - some.start
            place = slice(start, start + count * (own.stop - own.start)), slice(0, columns.stop - columns.start)
            numbers = first if count == 1 else np.arange(first, first + count)
            part = of_matrices(np.unravel_index(numbers, batch))(own, columns)
            whole.fill(place, part if count == 1 else part.rearranged(_one_below_the_other))
        return whole.golden()

    return tile


def _matrices(some: slice, rows: int, together: int) -> Iterator[tuple[slice, int, int]]:
    """The matrices in which some rows of a stack lie: (rows of each, the first, how many), more than one where they are
    whole."""
    at = some.start
    while at < some.stop:
        number, row = divmod(at, rows)
        count = 1 if row else max(min(together, (some.stop - at) // rows), 1)
        own = slice(row, min(row + some.stop - at, rows))
        yield own, number, count
        at += count * (own.stop - own.start)


def _one_below_the_other(stack: np.ndarray) -> np.ndarray:
    """[s m, n] of [s, m, n]"""
    return stack.reshape(prod(stack.shape[:2]), stack.shape[2])


def _elements_of(*names: str, outer: bool = False) -> Callable[[Mapping[str, Any]], int]:
    """How many sums: the rows of every matrix, times the columns of one (`outer`: of the other's rows)."""

    def count(arguments: Mapping[str, Any]) -> int:
        lhs, rhs = (np.shape(arguments[name]) for name in names)
        batch = max(prod(lhs[:-2]), prod(rhs[:-2]))
        return prod(lhs[:-1]) * prod(rhs[:-1]) if outer else batch * prod(lhs[-2:-1]) * prod(rhs[-1:])

    return count


@contraction("aten::mm", "self", "mat2", sums_in=_elements_of("self", "mat2"), of_matrices=True)
def mm(self: np.ndarray, mat2: np.ndarray) -> Contraction:
    """result[i, j] = sum over k of self[i, k] * mat2[k, j]"""
    return products(format_of(self), self, mat2)


@contraction("aten::addmm", "mat1", "mat2", sums_in=_elements_of("mat1", "mat2"),
             addend="self", scale="alpha", of_matrices=True)  # fmt: skip
def addmm(
    self: np.ndarray, mat1: np.ndarray, mat2: np.ndarray, beta: int | float = 1, alpha: int | float = 1
) -> Contraction:
    """beta * self + alpha * (mat1 @ mat2); with beta = 0, self is ignored, NaN and infinities too"""
    return products(format_of(self), mat1, mat2, self, beta, alpha)


@contraction("aten::bmm", "self", "mat2", sums_in=_elements_of("self", "mat2"))
def bmm(self: np.ndarray, mat2: np.ndarray) -> Contraction:
    """result[b] = self[b] @ mat2[b]"""
    return products(format_of(self), self, mat2)


@contraction("aten::baddbmm", "batch1", "batch2", sums_in=_elements_of("batch1", "batch2"),
             addend="self", scale="alpha")  # fmt: skip
def baddbmm(
    self: np.ndarray, batch1: np.ndarray, batch2: np.ndarray, beta: int | float = 1, alpha: int | float = 1
) -> Contraction:
    """beta * self + alpha * (batch1[b] @ batch2[b]); with beta = 0, self is ignored, NaN and infinities too"""
    return products(format_of(self), batch1, batch2, self, beta, alpha)


@contraction("aten::addbmm", "batch1", "batch2", sums_in=_elements_of("batch1", "batch2"),
             addend="self", scale="alpha")  # fmt: skip
def addbmm(
    self: np.ndarray, batch1: np.ndarray, batch2: np.ndarray, beta: int | float = 1, alpha: int | float = 1
) -> Contraction:
    """beta * self + alpha * (sum over b of batch1[b] @ batch2[b]); with beta = 0, self is ignored, NaN and all"""
    lhs = moved(batch1, lambda part: part.transpose(1, 0, 2).reshape(part.shape[1], part.shape[0] * part.shape[2]))
    rhs = moved(batch2, lambda part: part.reshape(part.shape[0] * part.shape[1], part.shape[2]))
    return products(format_of(self), lhs, rhs, self, beta, alpha)


# Vectors


def as_column(vector: np.ndarray) -> np.ndarray:
    """[k, 1] of [k]"""
    return moved(vector, lambda part: part[..., None])


def as_row(vector: np.ndarray) -> np.ndarray:
    """[1, k] of [k]"""
    return moved(vector, lambda part: part[None])


@contraction("aten::mv", "self", "vec", sums_in=lambda arguments: prod(np.shape(arguments["self"])[:1]))
def mv(self: np.ndarray, vec: np.ndarray) -> Contraction:
    """result[i] = sum over k of self[i, k] * vec[k]"""
    return products(format_of(self), self, as_column(vec), shape=self.shape[:1])


@contraction("aten::addmv", "mat", "vec", sums_in=lambda arguments: prod(np.shape(arguments["mat"])[:1]),
             addend="self", scale="alpha")  # fmt: skip
def addmv(
    self: np.ndarray, mat: np.ndarray, vec: np.ndarray, beta: int | float = 1, alpha: int | float = 1
) -> Contraction:
    """beta * self + alpha * (mat @ vec); with beta = 0, self is ignored, NaN and infinities too"""
    addend = as_column(np.broadcast_to(self, mat.shape[:1]))
    return products(format_of(self), mat, as_column(vec), addend, beta, alpha, shape=mat.shape[:1])


@contraction("aten::dot", "self", "tensor", sums_in=lambda _: 1)
def dot(self: np.ndarray, tensor: np.ndarray) -> Contraction:
    """The sum over k of self[k] * tensor[k]"""
    return products(format_of(self), as_row(self), as_column(tensor), shape=())


@contraction("aten::vdot", "self", "other", sums_in=lambda _: 1)
def vdot(self: np.ndarray, other: np.ndarray) -> Contraction:
    """The sum over k of self[k] * other[k]; of complex numbers there is no semantics"""
    return products(format_of(self), as_row(self), as_column(other), shape=())


# Any number of dims


@contraction("aten::linear", "input", "weight", sums_in=_elements_of("input", "weight", outer=True), addend="bias")
def linear(input: np.ndarray, weight: np.ndarray, bias: np.ndarray | None = None) -> Contraction:
    """result[..., o] = bias[o] + sum over k of input[..., k] * weight[o, k]; of a weight [k] there is no dim o"""
    shape = (*input.shape[:-1], *weight.shape[:-1])
    return products(format_of(input), _rows(input), _rows(weight).T, bias, shape=shape)


def _pairs_of_rows(arguments: Mapping[str, Any]) -> int:
    """Every row of one with every row of the other; of a number with what is no number every element."""
    lhs, rhs = (np.shape(arguments[name]) for name in ("self", "other"))
    return prod(lhs[:-1]) * prod(rhs[:-1]) if lhs and rhs else prod(lhs) * prod(rhs)


@contraction("aten::inner", "self", "other", sums_in=_pairs_of_rows)
def inner(self: np.ndarray, other: np.ndarray) -> Contraction:
    """result[i..., j...] = sum over k of self[i..., k] * other[j..., k]; a 0-d operand multiplies every element"""
    if not (self.ndim and other.ndim):
        lhs, rhs = (moved(one, lambda part: part.reshape(-1, 1)) for one in (self, other))
        return products(format_of(self), lhs, rhs.T, shape=self.shape or other.shape)
    return products(format_of(self), _rows(self), _rows(other).T, shape=(*self.shape[:-1], *other.shape[:-1]))


def _rows(tensor: np.ndarray) -> np.ndarray:
    """[rows, k] of [..., k]"""
    return moved(tensor, lambda part: part.reshape(prod(part.shape[:-1]), part.shape[-1]))


def _sums_of_matmul(arguments: Mapping[str, Any]) -> int:
    lhs, rhs = np.shape(arguments["self"]), np.shape(arguments["other"])
    batch = 1
    for one, other in zip(reversed((1,) * 8 + lhs[:-2]), reversed((1,) * 8 + rhs[:-2]), strict=False):
        batch *= one if other == 1 else other
    return batch * prod(lhs[-2:-1]) * (prod(rhs[-1:]) if len(rhs) > 1 else 1)


@contraction("aten::matmul", "self", "other", sums_in=_sums_of_matmul)
def matmul(self: np.ndarray, other: np.ndarray) -> Contraction:
    """The product of the matrices of the last two dims, of which the others broadcast; a vector is a row on the left,
    a column on the right, and the result has no such dim"""
    batch = np.broadcast_shapes(self.shape[:-2], other.shape[:-2])
    shape = (*batch, *self.shape[-2:-1], *(other.shape[-1:] if other.ndim > 1 else ()))
    lhs, rhs = as_row(self) if self.ndim == 1 else self, as_column(other) if other.ndim == 1 else other
    return products(format_of(self), lhs, rhs, shape=shape)


@semantics("aten::_int_mm", accumulates="self", elements=_elements_of("self", "mat2"))
def int_mm(self: np.ndarray, mat2: np.ndarray) -> Outcome:
    """result[i, j] = sum over k of self[i, k] * mat2[k, j] of int8, in int32; a backend may refuse some sizes (P158)"""
    golden = products(FORMATS["int32"], self, mat2).golden()
    is_odd = any(size % 8 or size == 0 for size in mat2.shape)
    return Outcome((golden,), refusal="P158" if is_odd or len(self) <= 16 else None)


# Without sums


def _all_pairs(arguments: Mapping[str, Any]) -> int:
    lhs, rhs = [name for name in ("self", "vec1", "vec2", "other") if name in arguments][-2:]
    return int(np.size(arguments[lhs])) * int(np.size(arguments[rhs]))


@semantics("aten::outer", converts=True, elements=_all_pairs)
def outer(self: np.ndarray, vec2: np.ndarray) -> Golden:
    """result[i, j] = self[i] * vec2[j]"""
    refuse_complex(result_type(self, vec2), "products of pairs")
    return by_tiles(lambda rows, columns: mul(self[rows, None], vec2[columns]), (self.size, vec2.size))


@semantics("aten::kron", converts=True, elements=_all_pairs)
def kron(self: np.ndarray, other: np.ndarray) -> Golden:
    """result[i * p + r, j * q + s] = self[i, j] * other[r, s] for an other [p, q], and so in any number of dims; those
    that are missing, at the front, have size 1"""
    if not (self.ndim and other.ndim):
        return _times_number(self, other)
    rank = max(self.ndim, other.ndim)
    own, its = ((1,) * (rank - one.ndim) + one.shape for one in (self, other))
    refuse_complex(result_type(self, other), "products of pairs")
    sizes = [a * b for a, b in zip(own, its, strict=True)]

    def of_some(some: slice) -> Golden:
        places = np.unravel_index(np.arange(some.start, some.stop), sizes)
        of_own, of_its = zip(*(np.divmod(place, size) for place, size in zip(places, its, strict=True)), strict=True)
        lhs, rhs = np.ravel_multi_index(of_own, own), np.ravel_multi_index(of_its, its)
        return mul(flat(self, lhs), flat(other, rhs))

    if not prod(sizes):
        return reshaped(outer(self.reshape(-1), other.reshape(-1)), tuple(sizes))
    golden = assembled(((some, of_some(some)) for some in spans(prod(sizes))), prod(sizes))
    return reshaped(golden, tuple(sizes))


def _times_number(self: np.ndarray, other: np.ndarray) -> Golden:
    """self * other, of which one is 0-d or both are"""
    refuse_complex(result_type(self, other), "products of pairs")
    shape = self.shape or other.shape
    some = lambda one, place: flat(one, place) if one.ndim else one  # noqa: E731
    parts = ((place, mul(some(self, place), some(other, place))) for place in spans(prod(shape)))
    if not shape:
        return mul(self, other)
    return assembled(parts, prod(shape)).rearranged(lambda part: part.reshape(shape))


@contraction("aten::addr", "vec1", "vec2", sums_in=_all_pairs, addend="self", scale="alpha", terms=None)
def addr(
    self: np.ndarray, vec1: np.ndarray, vec2: np.ndarray, beta: int | float = 1, alpha: int | float = 1
) -> Contraction:
    """beta * self + alpha * vec1[i] * vec2[j]; with beta = 0, self is ignored, NaN and infinities too"""
    return products(format_of(self), as_column(vec1), as_row(vec2), self, beta, alpha)
