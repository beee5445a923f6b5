"""Honest float32 kernels, in whatever order and by whatever formula they compute, pass; nearly right ones do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import conform

F = np.float32
SEEDS = 12


def drawn(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=seed))


def chain(rng: np.random.Generator) -> tuple[conform.Golden, list[np.ndarray], list[np.ndarray]]:
    """Three matrices: from either end, or term by term; without one of the terms."""
    a, b, c = (rng.normal(size=size).astype(F) * F(10.0 ** rng.integers(-3, 4)) for size in ((5, 7), (7, 6), (6, 4)))
    one_by_one = np.zeros((5, 4), F)
    for j, k in np.ndindex(7, 6):
        one_by_one += (a[:, j, None] * b[j, k]) * c[k]
    honest = [(a @ b) @ c, a @ (b @ c), one_by_one]
    return conform.golden("aten::einsum", "ij,jk,kl->il", [a, b, c]), honest, [(a[:, :-1] @ b[:-1]) @ c]


def shares(rng: np.random.Generator) -> tuple[conform.Golden, list[np.ndarray], list[np.ndarray]]:
    """The index in float64 and in float32; of n numbers instead of n - 1."""
    x, q = np.sort(rng.normal(size=int(rng.integers(3, 40))).astype(F)), float(rng.random())
    honest = [np.asarray(np.quantile(x, share)).astype(F) for share in (q, F(q))]
    return conform.golden("aten::quantile.scalar", x, q), honest, [np.asarray(x[int(q * len(x))])]


def grid(rng: np.random.Generator) -> tuple[conform.Golden, list[np.ndarray], list[np.ndarray]]:
    """Divided, or multiplied by the reciprocal, or in float64; cut instead of rounded."""
    x, scale, zero_point = (rng.normal(size=200) * 3).astype(F), float(rng.choice([0.1, 0.03, 0.5])), 2

    def put(quotient: np.ndarray) -> np.ndarray:
        return ((np.clip(quotient + zero_point, -128, 127) - zero_point).astype(F) * F(scale)).astype(F)

    quotients = x / F(scale), x * (F(1) / F(scale)), x.astype(np.float64) / scale
    golden = conform.golden("aten::fake_quantize_per_tensor_affine", x, scale, zero_point, -128, 127)
    return golden, [put(np.rint(quotient)) for quotient in quotients], [put(np.trunc(quotients[0]))]


def halves(rng: np.random.Generator) -> tuple[conform.Golden, list[np.ndarray], list[np.ndarray]]:
    """Ties of a grid as wide as a power of two: rounded before the zero point is added or behind; C's round, or up."""
    scale, zero_point = 2.0 ** float(rng.integers(-40, 40)), int(rng.choice([0, 2, 4]))
    quotient = np.append(rng.integers(-30, 30, 50) + F(0.5), F([0.5, 2.5, -2.5, -1.5])).astype(F)
    honest = [np.rint(quotient) + zero_point, np.rint(quotient + zero_point)]
    away = np.copysign(np.floor(np.abs(quotient) + 0.5), quotient)
    wrong = [away + zero_point, np.floor(quotient + 0.5) + zero_point]
    golden = conform.golden(
        "quantized_decomposed::quantize_per_tensor", quotient * F(scale), scale, zero_point, -128, 127, "int8"
    )
    return golden, honest, wrong


def resized(rng: np.random.Generator) -> tuple[conform.Golden, list[np.ndarray], list[np.ndarray]]:
    """(1 - t) a + t b, or a + t (b - a), which makes NaN of infinities; t between the outermost elements."""
    x = rng.normal(size=(1, 1, 7)).astype(F)
    x[0, 0, rng.integers(1, 6)] = rng.choice([np.inf, -np.inf])

    def between(place: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        low = np.clip(np.floor(place), 0, 6).astype(int)
        return np.clip(place - low, 0, 1).astype(F), x[..., low], x[..., np.minimum(low + 1, 6)]

    with np.errstate(invalid="ignore"):
        t, a, b = between((np.arange(14) + F(0.5)) / 2 - F(0.5))
        honest = [(1 - t) * a + t * b, a + t * (b - a)]
        t, a, b = between(np.arange(14) * F(6 / 13))
        wrong = [(1 - t) * a + t * b]
    return conform.golden("aten::upsample_linear1d", x, [14], False), honest, wrong


def alignments(rng: np.random.Generator) -> tuple[conform.Golden, list[np.ndarray], list[np.ndarray]]:
    """Probabilities added up in float32 and float64; off by 3e-5."""
    numbers = rng.normal(size=(12, 1, 5))
    numbers = (numbers - np.log(np.exp(numbers).sum(-1, keepdims=True))).astype(F)
    labels = rng.integers(1, 5, (1, 3))
    honest = [forward(numbers[:, 0], labels[0], dtype).astype(F) for dtype in (F, np.float64)]
    golden = conform.golden("aten::ctc_loss.IntList", numbers, labels, [12], [3], 0, 0)
    return golden, honest, [honest[1] * F(1 + 3e-5)]


def forward(numbers: np.ndarray, labels: np.ndarray, dtype: type) -> np.ndarray:
    states = [0, *(state for label in labels for state in (label, 0))]
    alpha = np.zeros(len(states), dtype)
    alpha[:2] = np.exp(numbers[0, states[:2]].astype(dtype))
    for own in numbers[1:]:
        moved = alpha.copy()
        moved[1:] += alpha[:-1]
        for s in range(3, len(states), 2):
            moved[s] += alpha[s - 2] if states[s] != states[s - 2] else dtype(0)
        alpha = moved * np.exp(own[states].astype(dtype))
    return -np.log(alpha[-1:] + alpha[-2:-1])


def triplets(rng: np.random.Generator) -> tuple[conform.Golden, list[np.ndarray], list[np.ndarray]]:
    """The margin added first or last; no eps."""
    anchor, near, far = (rng.normal(size=(4, 9)).astype(F) for _ in range(3))

    def distance(x: np.ndarray, y: np.ndarray, eps: float = 0.5) -> np.ndarray:
        return np.sqrt(((x - y + F(eps)) ** 2).sum(-1, dtype=F))

    pair = distance(anchor, near), distance(anchor, far)
    honest = [F(4) + pair[0] - pair[1], F(4) - (pair[1] - pair[0])]
    golden = conform.golden("aten::triplet_margin_loss", anchor, near, far, 4.0, 2.0, 0.5, False, 0)
    return golden, honest, [F(4) + distance(anchor, near, 0.0) - distance(anchor, far, 0.0)]


def angles(rng: np.random.Generator) -> tuple[conform.Golden, list[np.ndarray], list[np.ndarray]]:
    """Divided at the end, with a guard, or before; without the margin."""
    x, y = (rng.normal(size=(4, 9)).astype(F) for _ in range(2))
    x[::2] += 2 * y[::2]
    squares = [(one * one).sum(-1) + F(1e-12) for one in (x, y)]
    lines = [one / np.linalg.norm(one, axis=-1, keepdims=True) for one in (x, y)]
    cosines = (x * y).sum(-1) / np.sqrt(squares[0] * squares[1]), (lines[0] * lines[1]).sum(-1)
    golden = conform.golden("aten::cosine_embedding_loss", x, y, np.full(4, -1, F), 0.25, 0)
    return golden, [np.maximum(cosine - F(0.25), 0) for cosine in cosines], [np.maximum(cosines[0], 0)]


KERNELS = chain, shares, grid, halves, resized, alignments, triplets, angles


@pytest.mark.parametrize("kernels", KERNELS)
def test_honest_kernels_pass_and_nearly_right_ones_fail(kernels: Callable) -> None:
    def verdicts(which: int) -> Iterator[str]:
        for seed in range(SEEDS):
            made = kernels(drawn(seed))
            yield from (made[0].verdict(np.asarray(result, made[0].value.dtype)).status for result in made[which])

    assert set(verdicts(1)) == {"pass"}
    assert set(verdicts(2)) == {"fail"}
