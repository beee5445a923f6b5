"""Triangular systems, solved exactly and rounded once, and Cholesky's decomposition, to 400 bits, rounded once."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

from conform.errors import Unjudged
from conform.interp.stablehlo.ops.elementwise import of_kinds, same_types
from conform.interp.stablehlo.quantized import numbers
from conform.interp.stablehlo.registry import Call, meaning
from conform.numerics.formats import Format
from conform.numerics.rounding import round_fraction

BITS = 400


@meaning("stablehlo.triangular_solve", quantized=numbers("C1", "C4"))
def triangular_solve(call: Call) -> np.ndarray:
    """The x for which op(a) x = b, or x op(a) = b where left_side is false; a is read in one triangle, whose diagonal
    counts as 1 where unit_diagonal"""
    a, b = call.operands
    fmt = of_kinds(call, "I1", "float", "complex")
    left, lower, unit = (bool(call.attributes[name]) for name in ("left_side", "lower", "unit_diagonal"))
    transposed = call.attributes["transpose_a"]
    call.require("C1", a.dtype == b.dtype, f"operands of the types {a} and {b}")
    call.require("C2", a.rank == b.rank >= 2, f"operands of the types {a} and {b}")
    call.require("C3", a.shape[:-2] == b.shape[:-2] and a.shape[-2] == a.shape[-1] == b.shape[-2 if left else -1],
                 f"operands of the types {a} and {b}")  # fmt: skip
    call.require("C4", call.results[0].holds(b.dtype, b.shape), f"{b} with the result {call.results[0]}")
    matrices = read_of(a.array, lower, unit)
    if transposed != "NO_TRANSPOSE":
        matrices, lower = np.swapaxes(matrices, -1, -2), not lower
    matrices = np.conj(matrices) if transposed == "ADJOINT" else matrices
    sides = b.array if left else np.swapaxes(b.array, -1, -2)
    if not left:
        matrices, lower = np.swapaxes(matrices, -1, -2), not lower
    result = np.empty(sides.shape, fmt.storage)
    for index in np.ndindex(*sides.shape[:-2]):
        result[index] = _solved(matrices[index], sides[index], lower, unit, fmt, call.op.name)
    return result if left else np.swapaxes(result, -1, -2)


def read_of(matrices: np.ndarray, lower: bool, unit: bool) -> np.ndarray:
    """The elements that triangular_solve reads, and 0 in the place of the others."""
    return np.tril(matrices, -1 if unit else 0) if lower else np.triu(matrices, 1 if unit else 0)


Exact = tuple[Fraction, Fraction]
Rows = list[list[Exact]]


def _solved(a: np.ndarray, b: np.ndarray, lower: bool, unit: bool, fmt: Format, name: str) -> np.ndarray:
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise Unjudged(f"{name}: the kit solves systems of finite numbers alone")
    rows = solution(_exact(a), _exact(b), lower, unit, name)
    return np.array([[_rounded(each, fmt) for each in row] for row in rows], fmt.storage).reshape(b.shape)


def solution(matrix: Rows, sides: Rows, lower: bool, unit: bool, name: str) -> Rows:
    """The x of matrix x = sides, exactly. Unjudged where a diagonal element is 0."""
    order = range(len(matrix)) if lower else range(len(matrix) - 1, -1, -1)
    found: dict[int, list[Exact]] = {}
    for row in order:
        if not unit and matrix[row][row] == (0, 0):
            raise Unjudged(f"{name}: the matrix has a 0 on its diagonal, and the specification does not say what then")
        rest = list(sides[row])
        for at, values in found.items():
            rest = [_minus(one, _times(matrix[row][at], value)) for one, value in zip(rest, values, strict=True)]
        found[row] = rest if unit else [_over(one, matrix[row][row]) for one in rest]
    return [found[row] for row in range(len(matrix))]


def _exact(matrix: np.ndarray) -> Rows:
    wide = matrix.astype(np.complex128)
    return [[(Fraction(float(z.real)), Fraction(float(z.imag))) for z in row] for row in wide]


def _minus(x: Exact, y: Exact) -> Exact:
    return x[0] - y[0], x[1] - y[1]


def _times(x: Exact, y: Exact) -> Exact:
    return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]


def _over(x: Exact, y: Exact) -> Exact:
    size = y[0] * y[0] + y[1] * y[1]
    real, imag = _times(x, (y[0], -y[1]))
    return real / size, imag / size


def _rounded(value: Exact, fmt: Format) -> Any:
    if not fmt.is_complex:
        return round_fraction(fmt, value[0])
    return complex(*(float(round_fraction(fmt.component, part)) for part in value))


@meaning("stablehlo.cholesky", quantized=numbers("C1"))
def cholesky(call: Call) -> np.ndarray:
    """The triangular matrix whose product with its conjugate transpose is a, of which one triangle is read; 0 in the
    other one"""
    (a,) = call.operands
    fmt = of_kinds(call, "I1", "float", "complex")
    call.require("C2", a.rank >= 2, f"an operand {a}")
    call.require("C3", a.shape[-2] == a.shape[-1], f"an operand {a}")
    same_types(call)
    lower = bool(call.get("lower", False))
    matrices = np.tril(a.array if lower else np.conj(np.swapaxes(a.array, -1, -2)))
    result = np.empty(a.shape, fmt.storage)
    for index in np.ndindex(*a.shape[:-2]):
        result[index] = _decomposed(matrices[index], fmt, call.op.name)
    return result if lower else np.conj(np.swapaxes(result, -1, -2))


def _decomposed(a: np.ndarray, fmt: Format, name: str) -> np.ndarray:
    """The lower factor of a matrix of which the lower triangle is read."""
    if not np.isfinite(a).all():
        raise Unjudged(f"{name}: the kit decomposes finite matrices alone")
    factor = decomposition(_exact(a), name)
    return np.array([[_rounded(each, fmt) for each in row] for row in factor], fmt.storage).reshape(a.shape)


def decomposition(rows: Rows, name: str) -> Rows:
    """The lower factor, each element to BITS bits. Unjudged of a matrix that is not positive definite."""
    size = len(rows)
    factor: Rows = [[(Fraction(0), Fraction(0))] * size for _ in range(size)]
    for column in range(size):
        for row in range(column, size):
            rest = rows[row][column]
            for at in range(column):
                rest = _minus(rest, _times(factor[row][at], (factor[column][at][0], -factor[column][at][1])))
            if row > column:
                factor[row][column] = tuple(_cut(part / factor[column][column][0]) for part in rest)
            elif rest[0] > 0:
                factor[row][column] = (_root(rest[0]), Fraction(0))
            else:
                raise Unjudged(
                    f"{name}: the matrix is not positive definite, and the specification does not say what then"
                )
    return factor


def _scale(number: Fraction) -> int:
    """k, so that number * 2^k has about BITS bits before the point."""
    return BITS - (abs(number.numerator).bit_length() - number.denominator.bit_length())


def _cut(number: Fraction) -> Fraction:
    """`number`, or of one that takes more, its first BITS bits."""
    if number.denominator.bit_length() <= BITS:
        return number
    scale = Fraction(2) ** _scale(number)
    return Fraction(int(number * scale)) / scale


def _root(number: Fraction) -> Fraction:
    """The square root: exactly where that is a fraction, else its first BITS bits."""
    above, below = isqrt(number.numerator), isqrt(number.denominator)
    if above * above == number.numerator and below * below == number.denominator:
        return Fraction(above, below)
    half = _scale(number)
    return Fraction(isqrt(int(number * Fraction(4) ** half))) / Fraction(2) ** half
