"""Products of vectors, and sums of few products: outer and cross products, the trace."""

from __future__ import annotations

from math import prod

from conform.refs.contraction.products import Elements, added_to, dot, one_dtype, round_total
from conform.refs.elementwise.arithmetic import mul
from conform.refs.exact.promotion import BOOL, COMPLEX, FLOAT, Scalar, category, converted, read_factor, result_type
from conform.refs.exact.reals import Exact, add_exact, exact, multiply_exact, round_exact, sum_exact
from conform.refs.exact.rounding import wrap_integer
from conform.refs.exact.tensor import RefTensor, Shape, broadcast_shapes, expand, lines, positions, strides_of, wrap_dim
from conform.refs.references import reference


def _check_vectors(op: str, *tensors: RefTensor) -> None:
    for tensor in tensors:
        if len(tensor.shape) != 1:
            raise ValueError(f"{op} takes 1-d tensors, found shape {tensor.shape}")


@reference("aten::dot")
def dot_(self: RefTensor, tensor: RefTensor) -> RefTensor:
    """The sum of the products of two vectors of one length."""
    return _dot("dot", self, tensor)


@reference("aten::vdot")
def vdot(self: RefTensor, other: RefTensor) -> RefTensor:
    """The dot product with the conjugate of self: of real vectors `dot`."""
    return _dot("vdot", self, other)


def _dot(op: str, lhs: RefTensor, rhs: RefTensor) -> RefTensor:
    dtype = one_dtype(op, lhs, rhs)
    _check_vectors(op, lhs, rhs)
    if lhs.shape != rhs.shape:
        raise ValueError(f"{op} needs vectors of one length, found {lhs.shape} and {rhs.shape}")
    length = range(len(lhs.data))
    return RefTensor(dtype, (), [round_total(dtype, dot(Elements(lhs).at(length), Elements(rhs).at(length)))])


def _matrix_vector(op: str, mat: RefTensor, vec: RefTensor) -> list[Exact]:
    _check_vectors(op, vec)
    if len(mat.shape) != 2 or mat.shape[1] != vec.shape[0]:
        raise ValueError(f"{op} of shapes {mat.shape} and {vec.shape}")
    (rows, inner), elements, column = mat.shape, Elements(mat), Elements(vec).at(range(len(vec.data)))
    return [dot(elements.at(range(i * inner, (i + 1) * inner)), column) for i in range(rows)]


@reference("aten::mv")
def mv(self: RefTensor, vec: RefTensor) -> RefTensor:
    """The product of a matrix (n, m) and a vector (m)."""
    dtype = one_dtype("mv", self, vec)
    return RefTensor(dtype, self.shape[:1], [round_total(dtype, total) for total in _matrix_vector("mv", self, vec)])


@reference("aten::addmv")
def addmv(self: RefTensor, mat: RefTensor, vec: RefTensor, beta: Scalar = 1, alpha: Scalar = 1) -> RefTensor:
    """beta * self + alpha * (mat @ vec), self expanded to (n); beta 0 ignores self, NaN or not."""
    dtype = one_dtype("addmv", self, mat, vec)
    totals = _matrix_vector("addmv", mat, vec)
    return added_to(dtype, self, mat.shape[:1], totals, beta, alpha)


@reference("aten::outer", "aten::ger")
def outer(self: RefTensor, vec2: RefTensor) -> RefTensor:
    """result[i, j] = self[i] * vec2[j], in the common dtype; bools: and (P17)."""
    _check_vectors("outer", self, vec2)
    (rows,), (columns,) = self.shape, vec2.shape
    pairs = [(i, j) for i in range(rows) for j in range(columns)]
    return _products(self, vec2, self.shape + vec2.shape, pairs)


def _products(lhs: RefTensor, rhs: RefTensor, shape: Shape, pairs: list[tuple[int, int]]) -> RefTensor:
    """lhs[i] * rhs[j] for each pair of positions, in the common dtype, as aten::mul.Tensor."""
    dtype, count = result_type([lhs, rhs]), (len(pairs),)
    left, right = converted(lhs, dtype), converted(rhs, dtype)
    firsts, seconds = [left[i] for i, _ in pairs], [right[j] for _, j in pairs]
    products = mul(RefTensor(dtype, count, firsts), RefTensor(dtype, count, seconds))
    return RefTensor(dtype, shape, products.data)


@reference("aten::addr")
def addr(self: RefTensor, vec1: RefTensor, vec2: RefTensor, beta: Scalar = 1, alpha: Scalar = 1) -> RefTensor:
    """beta * self + alpha * outer(vec1, vec2), self expanded to (n, m), in the common dtype; beta 0 ignores self.

    Of bools sums are or and products are and (P17).
    """
    _check_vectors("addr", vec1, vec2)
    dtype, shape = result_type([self, vec1, vec2]), vec1.shape + vec2.shape
    own, lhs, rhs = (RefTensor(dtype, each.shape, converted(each, dtype)) for each in (self, vec1, vec2))
    if category(dtype) == BOOL:
        beta, alpha = read_factor("beta", beta, dtype), read_factor("alpha", alpha, dtype)
        products = [bool(alpha) and x and y for x in lhs.data for y in rhs.data]
        added = expand(own.data, own.shape, shape)
        return RefTensor(dtype, shape, [(bool(beta) and z) or p for z, p in zip(added, products, strict=True)])
    one_dtype("addr", own)
    products = [multiply_exact(exact(x), exact(y)) for x in lhs.data for y in rhs.data]
    return added_to(dtype, own, shape, products, beta, alpha)


@reference("aten::kron")
def kron(self: RefTensor, other: RefTensor) -> RefTensor:
    """The Kronecker product: along each dim result[i * size(other) + j] = self[i] * other[j]; missing dims lead.

    With a 0-d operand it is their product, in which P30 says how a wider number is read.
    """
    if not (self.shape and other.shape):
        return mul(self, other)
    rank = max(len(self.shape), len(other.shape))
    own = (1,) * (rank - len(self.shape)) + self.shape
    others = (1,) * (rank - len(other.shape)) + other.shape
    shape = tuple(m * n for m, n in zip(own, others, strict=True))
    strides = strides_of(shape)
    pairs: list = [None] * prod(shape)
    corners = positions(own, [n * stride for n, stride in zip(others, strides, strict=True)])
    for i, corner in enumerate(corners):
        for j, position in enumerate(positions(others, strides, corner)):
            pairs[position] = (i, j)
    return _products(self, other, shape, pairs)


@reference("aten::trace")
def trace(self: RefTensor) -> RefTensor:
    """The sum of the diagonal of a matrix, of integers in int64."""
    if len(self.shape) != 2:
        raise ValueError(f"trace takes a matrix, found shape {self.shape}")
    if category(self.dtype) == COMPLEX:
        raise NotImplementedError("the reference of trace covers real dtypes only")
    rows, columns = self.shape
    diagonal = [self.data[i * columns + i] for i in range(min(rows, columns))]
    if category(self.dtype) == FLOAT:
        return RefTensor(self.dtype, (), [round_exact(self.dtype, sum_exact(diagonal))])
    return RefTensor("int64", (), [wrap_integer("int64", sum(diagonal))])


@reference("aten::linalg_cross")
def linalg_cross(self: RefTensor, other: RefTensor, dim: int = -1) -> RefTensor:
    """The cross product of the vectors of three along `dim`; the other dims broadcast."""
    dtype = one_dtype("cross", self, other)
    if len(self.shape) != len(other.shape):
        raise ValueError(f"cross needs operands of one rank, found {self.shape} and {other.shape}")
    dim = wrap_dim(dim, len(self.shape))
    if self.shape[dim : dim + 1] != (3,) or other.shape[dim : dim + 1] != (3,):
        raise ValueError(f"cross needs three elements along dim {dim}, found {self.shape} and {other.shape}")
    shape = broadcast_shapes(self.shape, other.shape)
    lhs, rhs = expand(self.data, self.shape, shape), expand(other.data, other.shape, shape)
    data: list = [None] * prod(shape)
    for line in lines(shape, dim):
        a, b = [exact(lhs[i]) for i in line], [exact(rhs[i]) for i in line]
        for k, position in enumerate(line):
            i, j = (k + 1) % 3, (k + 2) % 3
            subtracted = multiply_exact(exact(-1), multiply_exact(a[j], b[i]))
            data[position] = round_total(dtype, add_exact(multiply_exact(a[i], b[j]), subtracted))
    return RefTensor(dtype, shape, data)


@reference("aten::cross")
def cross(self: RefTensor, other: RefTensor, dim: int | None = None) -> RefTensor:
    """`linalg_cross` along `dim`; None is the first dim with size 3."""
    if dim is None:
        if 3 not in self.shape:
            raise ValueError(f"no dim of shape {self.shape} has three elements")
        dim = self.shape.index(3)
    return linalg_cross(self, other, dim)
