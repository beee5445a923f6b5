"""Determinants, and by them solutions of systems (Cramer's rule): exact, of matrices of floats and complex numbers."""

from __future__ import annotations

from fractions import Fraction
from math import factorial, isfinite, lcm, prod

from flint import fmpz_mat

from conform.refs.exact.rounding import COMPONENTS, round_ratio
from conform.refs.exact.tensor import RefTensor, Shape, expand

Complex = tuple[Fraction, Fraction]  # the real part and the imaginary one
Matrix = list[list[Complex]]
DTYPES = ("float32", "float64", "complex64", "complex128")


def check_square(*tensors: RefTensor) -> None:
    """ValueError of a tensor that is no stack of square matrices of torch's dtypes of linear algebra."""
    for tensor in tensors:
        if tensor.dtype not in DTYPES or len(tensor.shape) < 2 or tensor.shape[-1] != tensor.shape[-2]:
            raise ValueError(f"expected square matrices of {DTYPES}, found {tensor.dtype} of shape {tensor.shape}")


def matrices_of(tensor: RefTensor, batch: Shape) -> list[list[list]]:
    """The matrices of a stack that expands to `batch`, row by row, in row-major order."""
    rows, columns = tensor.shape[-2:]
    size = rows * columns
    own = [tensor.data[at * size : (at + 1) * size] for at in range(prod(tensor.shape[:-2]))]
    stack = expand(own, tensor.shape[:-2], batch)
    return [[one[row * columns : (row + 1) * columns] for row in range(rows)] for one in stack]


def flattened(matrices: list[list[list]]) -> list:
    """The elements of matrices in row-major order."""
    return [element for matrix in matrices for row in matrix for element in row]


def is_finite(numbers: list) -> bool:
    return all(isfinite(complex(z).real) and isfinite(complex(z).imag) for z in numbers)


def exact(matrix: list[list]) -> Matrix:
    """Of floats or complex numbers, all finite."""
    return [[(Fraction(complex(z).real), Fraction(complex(z).imag)) for z in row] for row in matrix]


def transposed(matrix: list[list], columns: int) -> list[list]:
    """Of a matrix of so many columns, which may have no rows."""
    return [[row[column] for row in matrix] for column in range(columns)]


def adjoint(matrix: Matrix) -> Matrix:
    """The conjugate transpose of a square matrix."""
    return [[(real, -imag) for real, imag in row] for row in transposed(matrix, len(matrix))]


def times(x: Complex, y: Complex) -> Complex:
    return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]


def over(x: Complex, y: Complex) -> Complex:
    size = y[0] * y[0] + y[1] * y[1]
    real, imag = times(x, (y[0], -y[1]))
    return real / size, imag / size


def added(terms: list[Complex]) -> Complex:
    return sum((x for x, _ in terms), Fraction(0)), sum((y for _, y in terms), Fraction(0))


def product(one: Matrix, other: Matrix) -> Matrix:
    """Of two square matrices."""
    size = range(len(one))
    return [[added([times(one[i][k], other[k][j]) for k in size]) for j in size] for i in size]


def determinant(matrix: Matrix) -> Complex:
    """det(R + t I) is a polynomial in t of the degree of the size at most. Its values at 0, 1, 2, ... are determinants
    of real matrices; by these its value at the imaginary unit, by Lagrange."""
    shared = lcm(*(part.denominator for row in matrix for z in row for part in z))
    scale = Fraction(1, shared ** len(matrix))
    if all(imag == 0 for row in matrix for _, imag in row):
        return _at(matrix, 0, shared) * scale, Fraction(0)
    points = range(len(matrix) + 1)
    terms = [_lagrange(k, points, _at(matrix, k, shared)) for k in points]
    real, imag = added(terms)
    return real * scale, imag * scale


def _at(matrix: Matrix, t: int, shared: int) -> int:
    size = len(matrix)
    return int(fmpz_mat(size, size, [int((real + t * imag) * shared) for row in matrix for real, imag in row]).det())


def _lagrange(k: int, points: range, value: int) -> Complex:
    """value times the product of (i - j) / (k - j) over the other points j."""
    term: Complex = (Fraction(value), Fraction(0))
    for j in points:
        term = times(term, (Fraction(-j), Fraction(1))) if j != k else term
    below = Fraction((-1) ** (len(points) - 1 - k), factorial(k) * factorial(len(points) - 1 - k))
    return term[0] * below, term[1] * below


def solve(matrix: Matrix, sides: Matrix, columns: int) -> Matrix:
    """The x of matrix x = sides, of so many columns: x_i = det(matrix with the side in column i) / det(matrix)."""
    whole, size = determinant(matrix), len(matrix)
    found: Matrix = [[(Fraction(0), Fraction(0))] * columns for _ in range(size)]
    for column in range(columns):
        for i in range(size):
            replaced = [[*row[:i], side[column], *row[i + 1 :]] for row, side in zip(matrix, sides, strict=True)]
            found[i][column] = over(determinant(replaced), whole)
    return found


def identity(size: int) -> Matrix:
    return [[(Fraction(int(i == j)), Fraction(0)) for j in range(size)] for i in range(size)]


def rounded(dtype: str, z: Complex) -> float | complex:
    """Each part rounded once; a zero is +0."""
    if dtype not in COMPONENTS:
        return round_part(dtype, z[0])
    return complex(*(round_part(COMPONENTS[dtype], part) for part in z))


def round_part(dtype: str, number: Fraction) -> float:
    return round_ratio(dtype, number.numerator, number.denominator) if number else 0.0
