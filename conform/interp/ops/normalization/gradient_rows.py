"""What the gradients of softmax and of the norms share: rows of several tensors, and what is not finite in them."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np
from gmpy2 import mpq

from conform.interp.blocks.blocks import Pieces
from conform.interp.blocks.rows import Rows
from conform.interp.golden import Golden
from conform.numerics.ball import Ball, chosen
from conform.numerics.formats import Format
from conform.numerics.real import where


def rows_beside(rows: Rows, tensor: Rows) -> Rows:
    """The rows of another tensor that stand where `rows` do in theirs."""
    return Rows(tensor.source, rows.count, rows.terms, tensor.read, rows.first)


def finite_part(numbers: np.ndarray) -> np.ndarray:
    """The numbers with 0 for infinities and NaN."""
    return np.where(np.isfinite(numbers), numbers, 0.0)


def any_of(holds: Callable[[np.ndarray], np.ndarray], *operands: Pieces[np.ndarray]) -> np.ndarray:
    """[rows, 1]: whether `holds` is true of an element of the row in one of the operands."""
    found = [holds(piece).any(axis=1, keepdims=True) for operand in operands for piece in operand]
    return reduce(np.logical_or, found)


def with_special(golden: Golden, nan: np.ndarray, infinite: np.ndarray) -> Golden:
    """The golden with NaN where an operand is, and open beside an infinity (P132)."""
    nan, infinite = (np.broadcast_to(mask, golden.value.shape) for mask in (nan, infinite))
    if nan.any():
        value = np.where(nan, golden.format.storage.type(np.nan), golden.value)
        budget = np.where(nan, 0.0, golden.budget)
        golden = Golden(golden.format, value, where(nan, np.nan, golden.real), budget=budget, scale=golden.scale,
                        zero_sign_free=True)  # fmt: skip
    return golden.opened(infinite & ~nan, "P132")


def worse_of(one: Ball, other: Ball) -> Ball:
    """Of two balls around each number the larger."""
    return chosen(other.rad > one.rad, other, one)


def of_finite(
    exactly: Callable[[tuple[int, int]], mpq], nan: np.ndarray, infinite: np.ndarray
) -> Callable[[tuple[int, int]], mpq]:
    """0 in rows that no number decides."""
    special = (nan | infinite)[:, 0]
    return lambda index: mpq(0) if special[index[0]] else exactly(index)


def in_any_order(x: Ball, y: Ball, z: Ball) -> Ball:
    """The product of three factors, of which one order may overflow, or lose what is subnormal, where another does
    not."""
    return worse_of(worse_of(x * (y * z), (x * z) * y), (x * y) * z)


def product_of(compute: Format, *factors: np.ndarray) -> Ball:
    """The product of factors that broadcast to each other, one after the other."""
    shape = np.broadcast_shapes(*(factor.shape for factor in factors))
    return reduce(lambda a, b: a * b, (Ball.exact(np.broadcast_to(factor, shape), compute) for factor in factors))
