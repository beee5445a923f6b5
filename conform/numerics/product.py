"""Products of many float64 numbers, with the exponent held apart: no partial product leaves the range of float64."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import prod

import numpy as np

from conform.numerics.real import RAISE, Real, concatenate, significand
from conform.numerics.scaled import Scaled

AT_ONCE = 512  # numbers of magnitude 1/2 to 1 whose product is at least 2^-512
BEYOND = 2200  # 2^-2200 to 2^2200 and what lies beyond round alike in every format


def product(pieces: Iterable[np.ndarray], count: int) -> tuple[Real, np.ndarray]:
    """(p, k): p * 2^k is the product along the last axis of `count` rows of finite numbers other than 0, which come in
    pieces of their columns [count, m]; both [count], p of magnitude 1/2 to 1."""
    total, exponent = Real.exact(np.full(count, 0.5)), np.ones(count, np.int64)
    for piece in pieces:
        significands, exponents = np.frexp(piece)
        factors, exponent = Real.exact(significands), exponent + exponents.sum(axis=1, dtype=np.int64)
        while factors.shape[1] > 1:
            parts = [_tree(factors[:, start : start + AT_ONCE]) for start in range(0, factors.shape[1], AT_ONCE)]
            factors, more = significand(concatenate([part[:, None] for part in parts], 1))
            exponent = exponent + more.sum(axis=1, dtype=np.int64)
        if factors.shape[1]:
            total, more = significand(total * factors[:, 0])
            exponent = exponent + more
    return total, exponent


def _tree(factors: Real) -> Real:
    """The product over the last axis, which is not empty."""
    while (count := factors.shape[-1]) > 1:
        pairs = factors[..., : count // 2] * factors[..., count // 2 : count // 2 * 2]
        factors = concatenate([pairs, factors[..., count // 2 * 2 :]], -1) if count % 2 else pairs
    return factors[..., 0]


def running_product(pieces: Iterable[np.ndarray], count: int) -> Iterator[tuple[Real, np.ndarray]]:
    """Piece by piece, (p, k) as `product` has it up to and with each column, both [count, m]."""
    carried, at = Real.exact(np.full((count, 1), 0.5)), np.ones((count, 1), np.int64)
    for piece in pieces:
        significands, exponents = np.frexp(piece)
        total, exponent = Real.exact(significands), exponents.astype(np.int64)
        reach = 1
        while reach < piece.shape[1]:  # each product is joined with the one of as many columns before it
            joined, more = significand(total[:, reach:] * total[:, :-reach])
            total = concatenate([total[:, :reach], joined], 1)
            exponent = np.concatenate([exponent[:, :reach], exponent[:, reach:] + exponent[:, :-reach] + more], axis=1)
            reach *= 2
        total, more = significand(total * carried)
        exponent = exponent + at + more
        yield total, exponent
        carried, at = total[:, -1:], exponent[:, -1:]


def held_apart(number: Real, exponent: np.ndarray) -> Scaled:
    """(p, k) as `product` has it, in the form that is rounded without leaving the range of float64."""
    relative = number.radius / np.abs(number.hi) * RAISE
    return Scaled.of(number.hi, number.lo, relative, exponent)


def exact_product(row: Iterable[np.ndarray]) -> Fraction:
    """The exact product of finite float64 numbers, in pieces [m]."""
    numerators, exponent = [1], 0
    for piece in row:
        significands, exponents = np.frexp(piece)
        integers = np.ldexp(significands, 53).astype(np.int64)
        powers = np.where(integers == 0, 1, integers & -integers)  # of two, that divide them
        exponent += int(exponents.sum(dtype=np.int64)) - 53 * piece.size
        exponent += int(np.frexp(powers)[1].sum(dtype=np.int64)) - piece.size
        numerators.append(_balanced((integers // powers).tolist()))
    return _balanced(numerators) * Fraction(2) ** exponent


def _balanced(factors: list[int]) -> int:
    """The product of pairs of pairs: factors stay of one length, so that they are multiplied fast."""
    while len(factors) > 1:
        factors = [prod(factors[at : at + 2]) for at in range(0, len(factors), 2)]
    return factors[0] if factors else 1
