"""Triangular systems by Cramer's rule, and Cholesky's factor by minors: no step is that of an algorithm that solves."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from conform.refs.exact.rounding import round_ratio, round_sqrt

Matrix = Sequence[Sequence[Fraction]]


def determinant(matrix: Matrix) -> Fraction:
    """By the first row (Laplace); of no rows 1."""
    if not matrix:
        return Fraction(1)
    minors = ([[*row[:k], *row[k + 1 :]] for row in matrix[1:]] for k in range(len(matrix)))
    return sum(
        ((-1) ** k * entry * determinant(minor) for k, (entry, minor) in enumerate(zip(matrix[0], minors, strict=True))
         if entry),
        Fraction(0),
    )  # fmt: skip


def solve(matrix: Matrix, sides: Matrix, dtype: str) -> list[list[float]]:
    """The x of matrix x = sides: x_i = det(matrix with the side in column i) / det(matrix), rounded once."""
    whole, size = determinant(matrix), len(matrix)
    found = [[0.0] * len(sides[0]) for _ in range(size)]
    for column in range(len(sides[0])):
        for i in range(size):
            replaced = [[*row[:i], side[column], *row[i + 1 :]] for row, side in zip(matrix, sides, strict=True)]
            ratio = determinant(replaced) / whole
            found[i][column] = round_ratio(dtype, ratio.numerator, ratio.denominator) if ratio else 0.0
    return found


def cholesky(matrix: Matrix, dtype: str) -> list[list[float]]:
    """The lower factor: with D_j the leading minor of order j, and M the same with row i in the place of its last,
    l_ij = M / sqrt(D_j D_(j-1)), rounded once."""
    size = len(matrix)
    leading = [determinant([row[:j] for row in matrix[:j]]) for j in range(size + 1)]
    found = [[0.0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            minor = determinant([*(row[: j + 1] for row in matrix[:j]), matrix[i][: j + 1]])
            square = minor * minor / (leading[j + 1] * leading[j])
            root = round_sqrt(dtype, square.numerator, square.denominator) if square else 0.0
            found[i][j] = -root if minor < 0 else root
    return found
