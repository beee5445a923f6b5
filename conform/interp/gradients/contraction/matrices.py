"""Gradients of products of matrices and vectors."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from conform.interp.gradients.evaluation import summed_to
from conform.interp.gradients.rules import gradient
from conform.interp.program.apply import apply
from conform.interp.program.contraction import products
from conform.interp.program.number import Number


def _scaled(x: Number, factor: float) -> Number:
    return x if factor == 1 else x * factor


def transposed(x: Number) -> Number:
    return x.moved(lambda part: np.swapaxes(part, -1, -2))


def _column(x: Number) -> Number:
    return x.moved(lambda part: part[..., None])


def _row(x: Number) -> Number:
    return x.moved(lambda part: part[..., None, :])


def _times_vector(matrix: Number, vector: Number) -> Number:
    """matrix @ vector, of a vector that is promoted."""
    return matrix.mv(vector.held_in(matrix.format))


def product(x: Number, y: Number) -> Number:
    """x @ y of matrices, or of batches of them."""
    return apply("aten::mm" if x.ndim == 2 and y.ndim == 2 else "aten::matmul", x, y)


@gradient("aten::mm", of=("self", "mat2"))
def mm(g: Number, self: Number, mat2: Number) -> Any:
    """g mat2^T, and self^T g"""
    return product(g, transposed(mat2)), product(transposed(self), g)


@gradient("aten::bmm", of=("self", "mat2"))
def bmm(g: Number, self: Number, mat2: Number) -> Any:
    """g mat2^T, and self^T g"""
    return g.bmm(transposed(mat2)), transposed(self).bmm(g)


@gradient("aten::_grouped_mm", of=("self", "mat2"))
def grouped_mm(g: Number, self: Number, mat2: Number, offs: Number | None = None) -> Any:
    """Products of the same groups: g mat2^T, and self^T g. What is a dim of groups in one of the three has its terms
    in another"""
    return products.grouped_mm(g, transposed(mat2), offs), products.grouped_mm(transposed(self), g, offs)


@gradient("aten::addmm", of=("self", "mat1", "mat2"))
def addmm(g: Number, mat1: Number, mat2: Number, beta: float, alpha: float) -> Any:
    """g beta, of mat1 alpha g mat2^T, and of mat2 alpha mat1^T g"""
    return (
        _scaled(g, beta), _scaled(product(g, transposed(mat2)), alpha), _scaled(product(transposed(mat1), g), alpha),
    )  # fmt: skip


@gradient("aten::baddbmm", "aten::addbmm", of=("self", "batch1", "batch2"))
def baddbmm(g: Number, batch1: Number, batch2: Number, beta: float, alpha: float) -> Any:
    """g beta, of batch1 alpha g batch2^T, and of batch2 alpha batch1^T g"""
    each = g.moved(lambda part: np.broadcast_to(part, (batch1.shape[0], *part.shape[-2:])))
    of_first, of_second = each.bmm(transposed(batch2)), transposed(batch1).bmm(each)
    return _scaled(g, beta), _scaled(of_first, alpha), _scaled(of_second, alpha)


@gradient("aten::mv", of=("self", "vec"))
def mv(g: Number, self: Number, vec: Number) -> Any:
    """g vec^T, and self^T g"""
    return _column(g) * _row(vec), transposed(self).mv(g)


@gradient("aten::addmv", of=("self", "mat", "vec"))
def addmv(g: Number, mat: Number, vec: Number, beta: float, alpha: float) -> Any:
    """g beta, of mat alpha g vec^T, and of vec alpha mat^T g"""
    return _scaled(g, beta), _scaled(_column(g) * _row(vec), alpha), _scaled(transposed(mat).mv(g), alpha)


@gradient("aten::addr", of=("self", "vec1", "vec2"))
def addr(g: Number, vec1: Number, vec2: Number, beta: float, alpha: float) -> Any:
    """g beta, of vec1 alpha g vec2, and of vec2 alpha g^T vec1"""
    return _scaled(g, beta), _scaled(_times_vector(g, vec2), alpha), _scaled(_times_vector(transposed(g), vec1), alpha)


@gradient("aten::outer", of=("self", "vec2"))
def outer(g: Number, self: Number, vec2: Number) -> Any:
    """g vec2, and g^T self"""
    return _times_vector(g, vec2), _times_vector(transposed(g), self)


@gradient("aten::dot", of=("self", "tensor"))
def dot(g: Number, self: Number, tensor: Number) -> Any:
    """g tensor, and g self"""
    return g * tensor, g * self


@gradient("aten::vdot", of=("self", "other"))
def vdot(g: Number, self: Number, other: Number) -> Any:
    """g other, and g self"""
    return g * other, g * self


@gradient("aten::matmul", of=("self", "other"))
def matmul(g: Number, self: Number, other: Number) -> Any:
    """g other^T, and self^T g, of vectors as of matrices of one row or column"""
    left = _row(self) if self.ndim == 1 else self
    right = _column(other) if other.ndim == 1 else other
    whole = _column(g) if other.ndim == 1 else g
    whole = _row(whole) if self.ndim == 1 and other.ndim > 1 else whole
    whole = whole.moved(lambda part: part.reshape(1, 1)) if self.ndim == other.ndim == 1 else whole
    of_left = summed_to(product(whole, transposed(right)), _beside(left, whole))
    of_right = summed_to(product(transposed(left), whole), _beside(right, whole))
    return (
        of_left.moved(lambda part: part.reshape(self.shape)), of_right.moved(lambda part: part.reshape(other.shape)),
    )  # fmt: skip


def _beside(matrix: Number, whole: Number) -> tuple[int, ...]:
    """The shape of a factor, with the dims that broadcasting adds."""
    return (1,) * (max(whole.ndim, matrix.ndim) - matrix.ndim) + matrix.shape


@gradient("aten::linear", of=("input", "weight", "bias"))
def linear(g: Number, input: Number, weight: Number, bias: Number | None) -> Any:
    """g weight, of the weight g^T input, and of the bias the sum of g"""
    count = prod(input.shape[:-1])
    rows = g.moved(lambda part: part.reshape(count, weight.shape[0] if weight.ndim == 2 else 1))
    matrix = weight if weight.ndim == 2 else _row(weight)
    of_input = product(rows, matrix).moved(lambda part: part.reshape(input.shape))
    inputs = input.moved(lambda part: part.reshape(count, input.shape[-1]))
    of_weight = product(transposed(rows), inputs).moved(lambda part: part.reshape(weight.shape))
    return of_input, of_weight, None if bias is None else rows.sum(0).moved(lambda part: part.reshape(bias.shape))


@gradient("aten::linalg_cross", of=("self", "other"))
def linalg_cross(g: Number, self: Number, other: Number, dim: int) -> Any:
    """other x g, and g x self"""
    return _cross(other, g, dim), _cross(g, self, dim)


@gradient("aten::cross", of=("self", "other"))
def cross(g: Number, self: Number, other: Number, dim: int | None) -> Any:
    """other x g, and g x self"""
    axis = self.shape.index(3) - self.ndim if dim is None else dim
    return _cross(other, g, axis), _cross(g, self, axis)


def _cross(x: Number, y: Number, dim: int) -> Number:
    shape = np.broadcast_shapes(x.shape, y.shape)
    wide = [one.moved(lambda part: np.broadcast_to(part, shape)) for one in (x, y)]
    return apply("aten::linalg_cross", *wide, dim=dim)


@gradient("aten::inner", of=("self", "other"))
def inner(g: Number, self: Number, other: Number) -> Any:
    """the sums of g other, and of g self, over the dims that they lack"""
    if not self.ndim or not other.ndim:
        return g * other, g * self
    rows, others = (
        one.moved(lambda part: part.reshape(prod(part.shape[:-1]), part.shape[-1])) for one in (self, other)
    )
    whole = g.moved(lambda part: part.reshape(rows.shape[0], others.shape[0]))
    found = product(whole, others), product(transposed(whole), rows)
    return tuple(x.moved(lambda part, y=y: part.reshape(y.shape)) for x, y in zip(found, (self, other), strict=True))


@gradient("aten::kron", of=("self", "other"))
def kron(g: Number, self: Number, other: Number) -> Any:
    """of each element the sum of g times the other operand, over the block that it multiplies; so of both"""
    rank = max(self.ndim, other.ndim)
    blocks, inside = ((1,) * (rank - one.ndim) + one.shape for one in (self, other))
    pairs = [size for sizes in zip(blocks, inside, strict=True) for size in sizes]
    whole = g.moved(lambda part: part.reshape(pairs))
    outer = self.moved(lambda part: part.reshape([size for block in blocks for size in (block, 1)]))
    inner = other.moved(lambda part: part.reshape([size for within in inside for size in (1, within)]))
    found = summed_to(whole * inner, outer.shape), summed_to(whole * outer, inner.shape)
    return tuple(x.moved(lambda part, y=y: part.reshape(y.shape)) for x, y in zip(found, (self, other), strict=True))
