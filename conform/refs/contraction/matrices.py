"""Products of matrices, of stacks of them, and what is added to them."""

from __future__ import annotations

from math import prod

from conform.refs.contraction.products import Elements, added_to, dot, one_dtype, round_total
from conform.refs.exact.promotion import Scalar
from conform.refs.exact.reals import Exact, add_exact
from conform.refs.exact.tensor import RefTensor, Shape, broadcast_shapes, expand
from conform.refs.references import reference


def _stacked_products(lhs: RefTensor, rhs: RefTensor) -> tuple[Shape, list[Exact]]:
    """The products of matrices in the last two dims, over those before them, which broadcast."""
    if len(lhs.shape) < 2 or len(rhs.shape) < 2 or lhs.shape[-1] != rhs.shape[-2]:
        raise ValueError(f"matrices of shapes {lhs.shape} and {rhs.shape} have no product")
    (rows, inner), columns = lhs.shape[-2:], rhs.shape[-1]
    batch = broadcast_shapes(lhs.shape[:-2], rhs.shape[:-2])
    left, right = Elements(lhs), Elements(rhs)
    totals = []
    for m, n in zip(_numbered(lhs.shape[:-2], batch), _numbered(rhs.shape[:-2], batch), strict=True):
        first, other = m * rows * inner, n * inner * columns
        row_vectors = [left.at(range(first + i * inner, first + (i + 1) * inner)) for i in range(rows)]
        column_vectors = [right.at([other + k * columns + j for k in range(inner)]) for j in range(columns)]
        totals += [dot(row, column) for row in row_vectors for column in column_vectors]
    return (*batch, rows, columns), totals


def _numbered(own: Shape, batch: Shape) -> list[int]:
    """For each matrix of the broadcast batch the number of the one that stands there."""
    return expand(list(range(prod(own))), own, batch)


def _rounded(dtype: str, shape: Shape, totals: list[Exact]) -> RefTensor:
    return RefTensor(dtype, shape, [round_total(dtype, total) for total in totals])


def _check_rank(op: str, rank: int, *tensors: RefTensor) -> None:
    for tensor in tensors:
        if len(tensor.shape) != rank:
            raise ValueError(f"{op} multiplies {rank}-d tensors, found shape {tensor.shape}")


@reference("aten::mm")
def mm(self: RefTensor, mat2: RefTensor) -> RefTensor:
    """The matrix product of (n, m) and (m, p)."""
    dtype = one_dtype("mm", self, mat2)
    _check_rank("mm", 2, self, mat2)
    return _rounded(dtype, *_stacked_products(self, mat2))


@reference("aten::addmm")
def addmm(self: RefTensor, mat1: RefTensor, mat2: RefTensor, beta: Scalar = 1, alpha: Scalar = 1) -> RefTensor:
    """beta * self + alpha * (mat1 @ mat2), self expanded to the product's shape; beta 0 ignores self, NaN or not."""
    dtype = one_dtype("addmm", self, mat1, mat2)
    _check_rank("addmm", 2, mat1, mat2)
    return added_to(dtype, self, *_stacked_products(mat1, mat2), beta, alpha)


@reference("aten::_int_mm")
def int_mm(self: RefTensor, mat2: RefTensor) -> RefTensor:
    """The matrix product of int8 matrices in int32, which wraps (P10)."""
    if (self.dtype, mat2.dtype) != ("int8", "int8"):
        raise ValueError(f"_int_mm multiplies int8 matrices, found {self.dtype} and {mat2.dtype}")
    _check_rank("_int_mm", 2, self, mat2)
    return _rounded("int32", *_stacked_products(self, mat2))


def _check_batches(op: str, batch1: RefTensor, batch2: RefTensor) -> None:
    _check_rank(op, 3, batch1, batch2)
    if batch1.shape[0] != batch2.shape[0]:
        raise ValueError(f"{op} needs as many matrices on either side, found {batch1.shape} and {batch2.shape}")


@reference("aten::bmm")
def bmm(self: RefTensor, mat2: RefTensor) -> RefTensor:
    """The b products of (b, n, m) and (b, m, p); nothing broadcasts."""
    dtype = one_dtype("bmm", self, mat2)
    _check_batches("bmm", self, mat2)
    return _rounded(dtype, *_stacked_products(self, mat2))


@reference("aten::baddbmm")
def baddbmm(self: RefTensor, batch1: RefTensor, batch2: RefTensor, beta: Scalar = 1, alpha: Scalar = 1) -> RefTensor:
    """beta * self + alpha * (batch1 @ batch2), self expanded to (b, n, p); beta 0 ignores self."""
    dtype = one_dtype("baddbmm", self, batch1, batch2)
    _check_batches("baddbmm", batch1, batch2)
    return added_to(dtype, self, *_stacked_products(batch1, batch2), beta, alpha)


@reference("aten::addbmm")
def addbmm(self: RefTensor, batch1: RefTensor, batch2: RefTensor, beta: Scalar = 1, alpha: Scalar = 1) -> RefTensor:
    """beta * self + alpha * (the sum over i of batch1[i] @ batch2[i]), self expanded to (n, p); beta 0 ignores self."""
    dtype = one_dtype("addbmm", self, batch1, batch2)
    _check_batches("addbmm", batch1, batch2)
    (_, *shape), totals = _stacked_products(batch1, batch2)
    volume = prod(shape)
    sums: list[Exact] = [(0, 0)] * volume
    for start in range(0, len(totals), max(volume, 1)):
        sums = [add_exact(x, y) for x, y in zip(sums, totals[start : start + volume], strict=True)]
    return added_to(dtype, self, tuple(shape), sums, beta, alpha)


@reference("aten::matmul", "aten::linalg_matmul")
def matmul(self: RefTensor, other: RefTensor) -> RefTensor:
    """The product over the last dim of self and the last but one of other, or its only one; batches broadcast.

    A 1-d self is a row, a 1-d other a column, and that dim is not in the result. 0-d operands raise.
    """
    dtype = one_dtype("matmul", self, other)
    if not self.shape or not other.shape:
        raise ValueError(f"matmul takes no 0-d tensor, found shapes {self.shape} and {other.shape}")
    lhs = RefTensor(dtype, (1, *self.shape), self.data) if len(self.shape) == 1 else self
    rhs = RefTensor(dtype, (*other.shape, 1), other.data) if len(other.shape) == 1 else other
    (*batch, rows, columns), totals = _stacked_products(lhs, rhs)
    kept = [rows] * (len(self.shape) > 1) + [columns] * (len(other.shape) > 1)
    return _rounded(dtype, (*batch, *kept), totals)


@reference("aten::linear")
def linear(input: RefTensor, weight: RefTensor, bias: RefTensor | None = None) -> RefTensor:
    """input (*, in) @ weight (out, in)^T + bias (out), one rounding; weight (in) gives (*) and takes a 0-d bias."""
    dtype = one_dtype("linear", input, weight, *([bias] if bias else []))
    if not input.shape or len(weight.shape) not in (1, 2) or input.shape[-1] != weight.shape[-1]:
        raise ValueError(f"linear of input {input.shape} with weight {weight.shape}")
    if bias is not None and bias.shape != weight.shape[:-1]:
        raise ValueError(f"linear's bias is of shape {weight.shape[:-1]}, found {bias.shape}")
    inner, outputs = weight.shape[-1], prod(weight.shape[:-1])
    rows, columns = Elements(input), Elements(weight)
    features = [columns.at(range(j * inner, (j + 1) * inner)) for j in range(outputs)]
    samples = [rows.at(range(i * inner, (i + 1) * inner)) for i in range(prod(input.shape[:-1]))]
    shape = (*input.shape[:-1], *weight.shape[:-1])
    totals = [dot(sample, feature) for sample in samples for feature in features]
    if bias is None:
        return _rounded(dtype, shape, totals)
    return added_to(dtype, bias, shape, totals, 1, 1)


@reference("aten::inner")
def inner(self: RefTensor, other: RefTensor) -> RefTensor:
    """The products over the last dims, result[*i, *j] = sum over k of self[*i, k] * other[*j, k].

    With a 0-d operand the elementwise product.
    """
    dtype = one_dtype("inner", self, other)
    if not self.shape or not other.shape:
        lhs, rhs = Elements(self), Elements(other)
        pairs = [(i, j) for i in range(len(self.data)) for j in range(len(other.data))]
        return _rounded(dtype, self.shape + other.shape, [dot(lhs.at([i]), rhs.at([j])) for i, j in pairs])
    if self.shape[-1] != other.shape[-1]:
        raise ValueError(f"inner needs last dims of one size, found {self.shape} and {other.shape}")
    length, lhs, rhs = self.shape[-1], Elements(self), Elements(other)
    left = [lhs.at(range(i * length, (i + 1) * length)) for i in range(prod(self.shape[:-1]))]
    right = [rhs.at(range(j * length, (j + 1) * length)) for j in range(prod(other.shape[:-1]))]
    return _rounded(dtype, self.shape[:-1] + other.shape[:-1], [dot(x, y) for x in left for y in right])
