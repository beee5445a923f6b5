"""Stacks of square matrices, of which a system has a solution, or a matrix a factor: how they are drawn, and the value
classes of those that are hard.

Numbers drawn one by one make matrices that no algorithm can do much with: triangular ones whose condition grows with
2^rows, and hardly one that is positive definite. What is drawn here has a diagonal of 2 sqrt(n) and numbers from -1 to
1 beside it, all over about sqrt(n): of such symmetric matrices the spectrum lies well above 0 (Wigner), and a triangle
of them, its diagonal replaced by 1 too, has an inverse of moderate size.

`graded`: rows, of Hermitian matrices columns as well, times powers of two. `singular`: a 0 on a diagonal, a negative
number on that of a Hermitian matrix, two equal rows. `hilbert`: 1 / (i + j + 1), badly conditioned. `permuted`: one 1
or -1 in each row and column, with which nothing goes without exchanges of rows.
"""

from __future__ import annotations

from math import log2, sqrt

import numpy as np

from conform.interp.traits import Traits
from conform.numerics.draws import Stream
from conform.numerics.formats import Format, format_of

KINDS = ("dominant", "definite", "factor", "invertible")
CLASSES = ("graded", "singular", "hilbert")
_GRADE = 12  # the largest exponent


def classes_of(traits: Traits) -> tuple[str, ...]:
    """The classes of values that an op on matrices has."""
    if traits.matrices is None:
        return ()
    return (*CLASSES, "permuted") if traits.matrices.kind == "invertible" else CLASSES


def drawn(kind: str, fmt: Format, shape: tuple[int, ...], stream: Stream) -> np.ndarray:
    """A stack of well conditioned matrices: "dominant" with a large diagonal, "definite" Hermitian with a positive one,
    "factor" with a positive one beside a whole matrix, "invertible" with the large numbers one place to the left. Of
    another shape than that of square matrices only the numbers."""
    is_square = len(shape) > 1 and shape[-1] == shape[-2] > 0
    size = shape[-1] if is_square else 1
    step = 2.0 ** -round(log2(size) / 2)
    numbers = step * _signed(fmt, shape, stream)
    if not is_square:
        return np.asarray(numbers).astype(fmt.storage)
    if kind == "definite":
        below = np.tril(numbers, -1)
        numbers = below + np.conj(np.swapaxes(below, -1, -2))
    diagonal = step * (2 * sqrt(size) + stream.uniform(shape[:-1]))
    is_free = kind in ("dominant", "invertible")
    numbers[..., range(size), range(size)] = diagonal * _signs(shape[:-1], stream) if is_free else diagonal
    return (np.roll(numbers, -1, axis=-1) if kind == "invertible" else numbers).astype(fmt.storage)


def _signed(fmt: Format, shape: tuple[int, ...], stream: Stream) -> np.ndarray:
    real = 2 * stream.uniform(shape) - 1
    return real + 1j * (2 * stream.uniform(shape) - 1) if fmt.is_complex else real


def _signs(shape: tuple[int, ...], stream: Stream) -> np.ndarray:
    return 2.0 * stream.integers(0, 1, shape) - 1.0


def of_class(name: str, kind: str, tensor: np.ndarray, stream: Stream) -> np.ndarray:
    """New values for a stack of square matrices with elements."""
    fmt, shape, size = format_of(tensor.dtype), tensor.shape, tensor.shape[-1]
    if name == "hilbert":
        values = np.broadcast_to(1.0 / (np.add.outer(np.arange(size), np.arange(size)) + 1.0), shape)
    elif name == "permuted":
        values = _permuted(shape, stream)
    else:
        base = drawn(kind, fmt, shape, stream)
        values = _graded(kind, base, stream) if name == "graded" else _singular(kind, base, stream)
    return np.asarray(values).astype(tensor.dtype)


def _graded(kind: str, base: np.ndarray, stream: Stream) -> np.ndarray:
    powers = 2.0 ** stream.integers(-_GRADE, _GRADE, base.shape[:-1])
    rows = base * powers[..., :, None]
    return rows * powers[..., None, :] if kind == "definite" else rows


def _singular(kind: str, base: np.ndarray, stream: Stream) -> np.ndarray:
    """A place of the diagonal in every other matrix, from the first on; of invertible ones the row there is the last
    one, or of nothing but 0 where that is it."""
    size, values = base.shape[-1], base.copy()
    (place,) = stream.integers(0, size - 1, 1)
    some = values.reshape(-1, size, size)[::2]
    if kind == "invertible":
        some[:, place] = some[:, size - 1] if place != size - 1 else 0
    else:
        some[:, place, place] = -some[:, place, place] if kind == "definite" else 0
    return values


def _permuted(shape: tuple[int, ...], stream: Stream) -> np.ndarray:
    places = np.stack([stream.permutation(shape[-1]) for _ in range(max(1, int(np.prod(shape[:-2]))))])
    ones = np.eye(shape[-1])[places].reshape(shape) if np.prod(shape) else np.zeros(shape)
    return ones * _signs(shape[:-1], stream)[..., None]
