"""Triangular systems and Cholesky's decomposition, exactly, rounded once."""

from __future__ import annotations

import numpy as np

from conform.errors import Unjudged
from conform.interp.formulas.elimination import Factor, Parts, Scaled, factored, lower_factor, solution, whole
from conform.interp.formulas.fractions_as_reals import rounded
from conform.interp.stablehlo.ops.elementwise import of_kinds, same_types
from conform.interp.stablehlo.quantized import numbers
from conform.interp.stablehlo.registry import Call, meaning
from conform.numerics.formats import Format


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


def _solved(a: np.ndarray, b: np.ndarray, lower: bool, unit: bool, fmt: Format, name: str) -> np.ndarray:
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise Unjudged(f"{name}: the kit solves systems of finite numbers alone")
    matrix = a + np.eye(len(a), dtype=a.dtype) if unit else a
    refuse_zeros(matrix, name)
    return _stored(solution(whole(_wide(matrix)), whole(_wide(b))), fmt)


def refuse_zeros(triangle: np.ndarray, name: str) -> None:
    """Unjudged where a diagonal element is 0."""
    if not np.diag(triangle).all():
        raise Unjudged(f"{name}: the matrix has a 0 on its diagonal, and the specification does not say what then")


def _wide(matrix: np.ndarray) -> np.ndarray:
    return matrix.astype(np.complex128 if np.iscomplexobj(matrix) else np.float64)


def _stored(parts: Parts, fmt: Format) -> np.ndarray:
    if not fmt.is_complex:
        return rounded(fmt, parts[0])
    real, imag = (rounded(fmt.component, part) for part in parts)
    return (real + 1j * imag).astype(fmt.storage)


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
    scaled = whole(_wide(both_triangles(a)))
    return _stored(lower_factor(decomposed(scaled, name), scaled.exponent), fmt)


def both_triangles(lower: np.ndarray) -> np.ndarray:
    """The Hermitian matrix of a lower triangle."""
    below = np.tril(lower, -1)
    return below + np.conj(below.T) + np.diag(np.diag(lower).real)


def decomposed(matrix: Scaled, name: str) -> Factor:
    """Cholesky's factor. Unjudged of a matrix that is not positive definite."""
    found = factored(matrix.numbers)
    if found.leading[-1] <= 0:
        raise Unjudged(f"{name}: the matrix is not positive definite, and the specification does not say what then")
    return found
