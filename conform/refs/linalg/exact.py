"""Determinants and solutions of systems, exact: matrices of floats and complex numbers as those of integers, for flint.

Which numbers solve a system, multiplication tells: how they were found is of no matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import factorial, isfinite, prod

from flint import fmpq, fmpq_mat, fmpz_mat

from conform.refs.exact.reals import scale_to_integers
from conform.refs.exact.rounding import COMPONENTS, round_ratio
from conform.refs.exact.tensor import RefTensor, Shape, expand

Complex = tuple[Fraction, Fraction]  # the real part and the imaginary one
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


def transposed(matrix: list[list], columns: int) -> list[list]:
    """Of a matrix of so many columns, which may have no rows."""
    return [[row[column] for row in matrix] for column in range(columns)]


@dataclass(frozen=True)
class Exact:
    """A matrix of real and imaginary parts: integers times 2^exponent."""

    real: fmpz_mat
    imag: fmpz_mat
    exponent: int

    @staticmethod
    def of(matrix: list[list], columns: int) -> Exact:
        """Of floats or complex numbers, all finite, in so many columns."""
        numbers = [complex(z) for row in matrix for z in row]
        integers, exponent = scale_to_integers([part for z in numbers for part in (z.real, z.imag)])
        shape = (len(matrix), columns)
        return Exact(fmpz_mat(*shape, integers[::2]), fmpz_mat(*shape, integers[1::2]), exponent)

    def adjoint(self) -> Exact:
        """The conjugate transpose."""
        return Exact(self.real.transpose(), self.imag.transpose() * -1, self.exponent)

    def times(self, other: Exact) -> Exact:
        real = self.real * other.real - self.imag * other.imag
        return Exact(real, self.real * other.imag + self.imag * other.real, self.exponent + other.exponent)

    @property
    def is_real(self) -> bool:
        return self.imag == self.imag * 0

    def rows(self, of: list[int], columns: int) -> Exact:
        """The first columns of the rows with these numbers."""
        parts = (fmpz_mat(len(of), columns, [int(one[i, j]) for i in of for j in range(columns)])
                 for one in (self.real, self.imag))  # fmt: skip
        return Exact(*parts, self.exponent)

    def determinant(self) -> Complex:
        """det(R + t I) is a polynomial in t of the degree of the size at most. Its values at 0, 1, 2, ... are
        determinants of real matrices; by these its value at the imaginary unit, by Lagrange."""
        size = self.real.nrows()
        scale = Fraction(2) ** (self.exponent * size)
        if self.is_real:
            return int(self.real.det()) * scale, Fraction(0)
        points = range(size + 1)
        terms = [_lagrange(k, points, int((self.real + self.imag * k).det())) for k in points]
        return sum(real for real, _ in terms) * scale, sum(imag for _, imag in terms) * scale

    def rank(self) -> int:
        """Half that of the real matrix (R, -I; I, R), which maps the real and the imaginary part of a vector."""
        both = _beside(_above(self.real, self.imag), _above(self.imag * -1, self.real))
        return both.rank() // 2


def _lagrange(k: int, points: range, value: int) -> Complex:
    """value times the product of (i - j) / (k - j) over the other points j."""
    real, imag = 1, 0
    for j in points:
        real, imag = (-j * real - imag, real - j * imag) if j != k else (real, imag)
    below = (-1) ** (len(points) - 1 - k) * factorial(k) * factorial(len(points) - 1 - k)
    return Fraction(value * real, below), Fraction(value * imag, below)


def solve(matrix: Exact, sides: Exact) -> list[list[Complex]]:
    """The x of matrix x = sides, one solution of an invertible matrix; as that of (R, -I; I, R) (x, y) = (b, c)."""
    size, columns = sides.real.nrows(), sides.real.ncols()
    if matrix.is_real:
        whole, right = matrix.real, _beside(sides.real, sides.imag)
    else:
        whole = _beside(_above(matrix.real, matrix.imag), _above(matrix.imag * -1, matrix.real))
        right = _above(sides.real, sides.imag)
    found = fmpq_mat(whole).solve(fmpq_mat(right))
    if fmpq_mat(whole) * found != fmpq_mat(right):
        raise ArithmeticError("the solution of flint solves another system")
    scale = Fraction(2) ** (sides.exponent - matrix.exponent)
    place = (lambda i, j: (i, j + columns)) if matrix.is_real else (lambda i, j: (i + size, j))
    return [[(_fraction(found[i, j]) * scale, _fraction(found[place(i, j)]) * scale) for j in range(columns)]
            for i in range(size)]  # fmt: skip


def _fraction(number: fmpq) -> Fraction:
    return Fraction(int(number.p), int(number.q))


def _above(one: fmpz_mat, other: fmpz_mat) -> fmpz_mat:
    return fmpz_mat(one.nrows() + other.nrows(), one.ncols(), one.entries() + other.entries())


def _beside(one: fmpz_mat, other: fmpz_mat) -> fmpz_mat:
    return _above(one.transpose(), other.transpose()).transpose()


def rounded(dtype: str, z: Complex) -> float | complex:
    """Each part rounded once; a zero is +0."""
    if dtype not in COMPONENTS:
        return round_part(dtype, z[0])
    return complex(*(round_part(COMPONENTS[dtype], part) for part in z))


def round_part(dtype: str, number: Fraction) -> float:
    return round_ratio(dtype, number.numerator, number.denominator) if number else 0.0
