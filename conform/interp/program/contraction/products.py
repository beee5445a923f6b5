"""What products of vectors, and of stacks of matrices, are composed of."""

from __future__ import annotations

from math import prod

import numpy as np

from conform.errors import NoGolden
from conform.interp.program.apply import apply
from conform.interp.program.forms import either_form
from conform.interp.program.number import Number
from conform.interp.program.rules import composition


@composition("aten::matmul")
def matmul(self: Number, other: Number) -> Number:
    """Matrices of the last two dims, over the others side by side; a vector is a row on the left, a column on the
    right."""
    lhs = self if self.ndim > 1 else self[None]
    rhs = other if other.ndim > 1 else other[:, None]
    leading = np.broadcast_shapes(lhs.shape[:-2], rhs.shape[:-2])
    stacks = [one.expand([*leading, *one.shape[-2:]]).reshape([prod(leading), *one.shape[-2:]]) for one in (lhs, rhs)]
    product = stacks[0].bmm(stacks[1])
    kept = [size for size, is_there in zip(product.shape[1:], (self.ndim > 1, other.ndim > 1), strict=True) if is_there]
    return product.reshape([*leading, *kept])


@composition("aten::mv")
def mv(self: Number, vec: Number) -> Number:
    return matmul(self, vec)


@composition("aten::dot")
def dot(self: Number, tensor: Number) -> Number:
    return matmul(self, tensor)


@composition("aten::vdot")
def vdot(self: Number, other: Number) -> Number:
    return matmul(self, other)


@composition("aten::inner")
def inner(self: Number, other: Number) -> Number:
    """Over the last dim of both."""
    if not self.ndim or not other.ndim:
        return self * other
    rows = [one.reshape([prod(one.shape[:-1]), one.shape[-1]]) for one in (self, other)]
    return (rows[0] @ rows[1].T).reshape([*self.shape[:-1], *other.shape[:-1]])


@composition("aten::outer")
def outer(self: Number, vec2: Number) -> Number:
    return self[:, None] * vec2


@composition("aten::kron")
def kron(self: Number, other: Number) -> Number:
    """Every element of `self` times `other`, which stands in its place."""
    ndim = max(self.ndim, other.ndim)
    lhs, rhs = ([*[1] * (ndim - one.ndim), *one.shape] for one in (self, other))
    own, its = ([size for pair in pairs for size in pair] for pairs in (((n, 1) for n in lhs), ((1, n) for n in rhs)))
    product = self.reshape(own) * other.reshape(its)
    return product.reshape([n * m for n, m in zip(lhs, rhs, strict=True)])


@composition("aten::addmv")
def addmv(self: Number, mat: Number, vec: Number, beta: float = 1, alpha: float = 1) -> Number:
    rows = self.expand([mat.shape[0]])[:, None]
    return rows.addmm(mat, vec[:, None], beta=beta, alpha=alpha).squeeze(1)


@composition("aten::addr")
def addr(self: Number, vec1: Number, vec2: Number, beta: float = 1, alpha: float = 1) -> Number:
    scaled = self * beta
    return either_form(scaled + outer(vec1, vec2) * alpha, scaled + outer(vec1 * alpha, vec2))


@composition("aten::addbmm")
def addbmm(self: Number, batch1: Number, batch2: Number, beta: float = 1, alpha: float = 1) -> Number:
    """The sum over the stack is part of the product."""
    lhs, rhs = batch1.permute(1, 0, 2), batch2
    shared = lhs.shape[1] * lhs.shape[2]
    factors = lhs.reshape(-1, shared), rhs.reshape(shared, -1)
    at_once = self.addmm(*factors, beta=beta, alpha=alpha)
    return either_form(at_once, self * beta + factors[0].mm(factors[1]) * alpha)


@composition("aten::trace")
def trace(self: Number) -> Number:
    return self.diagonal().sum()


@composition("aten::linalg_cross")
def linalg_cross(self: Number, other: Number, dim: int = -1) -> Number:
    """Along `dim`, which has three elements: of each the next one of `self` times the one behind that of `other`, less
    the other way round."""
    (x1, y1), (x2, y2) = ([one.roll([by], [dim]) for one in (self, other)] for by in (-1, -2))
    return x1 * y2 - x2 * y1


@composition("aten::cross")
def cross(self: Number, other: Number, dim: int | None = None) -> Number:
    """Along the first dim of three elements, where none is named."""
    return linalg_cross(self, other, self.shape.index(3) if dim is None else dim)


@composition("aten::_grouped_mm")
def grouped_mm(
    self: Number, mat2: Number, offs: Number | None = None, bias: None = None, out_dtype: str | None = None
) -> Number:
    """A product for each group, whose ends must be known; nothing is known of a row, or a column, of none."""
    if offs is None:
        return self.bmm(mat2)
    if offs.array is None:
        raise NoGolden("a program cannot use aten::_grouped_mm with computed ends of groups")
    ends = offs.array.tolist()
    parts = [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]
    if self.ndim == mat2.ndim:
        return _products_of_terms(self, mat2, parts)
    groups = [(at, part) for at, part in enumerate(parts) if part.start < part.stop]
    if self.ndim == 2:
        known = [self[part] @ mat2[at] for at, part in groups]
        shape, dim = [len(self), mat2.shape[-1]], 0
    else:
        known = [self[at] @ mat2[:, part] for at, part in groups]
        shape, dim = [self.shape[1], mat2.shape[-1]], 1
    shape[dim] -= ends[-1] if ends else 0
    return apply("aten::cat", [*known, apply("aten::empty.memory_format", shape, dtype=self.dtype)], dim)


def _products_of_terms(self: Number, mat2: Number, parts: list[slice]) -> Number:
    of_nothing = apply("aten::zeros", [len(self), mat2.shape[-1]], dtype=self.dtype)
    if not parts:
        return apply("aten::zeros", [0, len(self), mat2.shape[-1]], dtype=self.dtype)
    products = [self[:, part] @ mat2[part] if part.start < part.stop else of_nothing for part in parts]
    return apply("aten::stack", products)
