"""Algorithms for transforms of prime lengths, in complex64: honest ones lie within the bound, in whatever way they go;
a chirp whose angles have lost their digits does not at the length that core has."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from conform.contracts.judge import judge
from conform.contracts.tables import OF_MODULE
from conform.interp.evaluate import evaluate
from conform.suites.builtin import files

C64, F32 = np.complex64, np.float32
LONGEST = 4093


def roots(n: int) -> np.ndarray:
    return np.exp(-2j * np.pi * np.arange(n) / n).astype(C64)


def by_halves(x: np.ndarray, forward: bool = True) -> np.ndarray:
    n = len(x)
    if n == 1:
        return x
    even, odd = by_halves(x[::2], forward), by_halves(x[1::2], forward)
    turned = (roots(n)[: n // 2] if forward else roots(n)[: n // 2].conj()) * odd
    return np.concatenate([even + turned, even - turned])


def cycle(x: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """The first numbers of the convolution of two cycles."""
    return by_halves(by_halves(x) * by_halves(y), forward=False)[:count] * F32(1 / len(x))


def term_by_term(x: np.ndarray) -> np.ndarray:
    turns, total = roots(len(x)), np.zeros(len(x), C64)
    for j, number in enumerate(x):
        total = total + number * turns[j * np.arange(len(x)) % len(x)]
    return total


def with_chirp(x: np.ndarray, chirp: np.ndarray) -> np.ndarray:
    n, places = len(x), 1 << (2 * len(x) - 2).bit_length()
    factor, inverse = np.zeros((2, places), C64)
    factor[:n], inverse[:n], inverse[places - n + 1 :] = x * chirp, chirp.conj(), chirp[:0:-1].conj()
    return cycle(factor, inverse, n) * chirp


def bluestein(x: np.ndarray) -> np.ndarray:
    n = len(x)
    return with_chirp(x, np.exp(-1j * np.pi * (np.arange(n) ** 2 % (2 * n)) / n).astype(C64))


def bluestein_of_large_angles(x: np.ndarray) -> np.ndarray:
    """j^2 / n in float32, for the j whose square is the largest some 2^12 turns."""
    j = np.arange(len(x), dtype=F32)
    angles = F32(np.pi) * (j * j / F32(len(x)))
    return with_chirp(x, (np.cos(angles) - 1j * np.sin(angles)).astype(C64))


def rader(x: np.ndarray) -> np.ndarray:
    """By the powers of a primitive root, which give all places but the first."""
    n = len(x)
    powers = next(found for g in range(2, n) if len(set(found := [pow(g, j, n) for j in range(n - 1)])) == n - 1)
    inverses, places = [powers[-j] for j in range(n - 1)], 1 << (2 * n - 4).bit_length()
    numbers, turns, result = np.zeros(places, C64), np.zeros(places, C64), np.zeros(n, C64)
    numbers[: n - 1] = x[powers]
    turns[: n - 1] = roots(n)[inverses]
    turns[places - n + 2 :] = turns[1 : n - 1]
    result[0], result[inverses] = x.sum(), x[0] + cycle(numbers, turns, n - 1)
    return result


def is_right(algorithm: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> bool:
    golden = evaluate("aten::_fft_c2c", (x, [0], 0, True), {}).goldens[0]
    found = judge(golden, algorithm(x).astype(C64), OF_MODULE)
    assert found.compared.any()
    return bool(found.ok.all())


def normal(n: int) -> np.ndarray:
    return np.random.default_rng(n).standard_normal(2 * n).astype(F32).view(C64)


@pytest.mark.parametrize("algorithm", [term_by_term, bluestein, rader, np.fft.fft])
@pytest.mark.parametrize("length", [11, 31, 131, 521])
def test_honest_algorithms(algorithm: Callable[[np.ndarray], np.ndarray], length: int) -> None:
    spike = np.where(np.arange(length) == 3, C64(1e6), normal(length))
    for x in (normal(length), np.full(length, 0.1 + 0.7j, C64), np.arange(length).astype(C64), spike):
        assert is_right(algorithm, x)


def test_a_chirp_of_large_angles_is_wrong_in_core() -> None:
    """Up to some hundred places the bound, which holds for any order of errors, is no smaller than what it loses."""
    assert any(f"shape: [2, {LONGEST}]" in file.read_text() for file in files("core"))
    assert is_right(bluestein, normal(LONGEST))
    assert not is_right(bluestein_of_large_angles, normal(LONGEST))
