"""Norms of any order, and logarithms of softmax of any logits, over the whole range: bit for bit what mpmath says at
thousands of bits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden
from conform.numerics import escalate
from conform.numerics.formats import FORMATS
from conform.numerics.rounding import round_fraction

BITS = 7000
LEAST = mpmath.mpf(2) ** -2300  # what is less only says on which side of a boundary a number lies
FARTHEST = 1300  # 2^1300 rounds like what is beyond


def fraction(number: mpmath.mpf) -> Fraction:
    sign, mantissa, exponent, bits = number._mpf_
    if mantissa and abs(exponent + bits) > FARTHEST:
        mantissa, exponent = 1, FARTHEST if exponent + bits > 0 else -FARTHEST
    return (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** exponent


def assert_is(golden: Golden, i: int, true: Fraction) -> None:
    value, real = golden.value.reshape(-1)[i], golden.real.reshape(-1)[i]
    assert float(value) == float(round_fraction(golden.format, true)), (float(true), value)
    if np.isinf(real.hi):
        assert abs(true) >= Fraction(2) ** 1024
    else:
        off = abs(true - Fraction(float(real.hi)) - Fraction(float(real.lo)))
        assert off <= Fraction(float(real.radius)) + abs(true) / 2**350 + Fraction(1, 2**1250)


def rows(dtype: str, exponent: int, spread: int, seed: int, shape: tuple[int, int] = (6, 5)) -> np.ndarray:
    """Numbers of full and of few bits, a few binades apart."""
    rng = np.random.default_rng([seed, exponent + 5000, spread])
    significands = np.where(rng.random(shape) < 0.5, rng.integers(4, 8, shape) / 4, rng.uniform(1, 2, shape))
    numbers = np.ldexp(significands * rng.choice([-1.0, 1.0], shape), exponent - rng.integers(0, spread + 1, shape))
    limit = np.finfo(dtype).max
    return np.clip(numbers, -limit, limit).astype(dtype)


def true_norm(row: list[float], order: float) -> mpmath.mpf:
    if order == 1:
        return mpmath.fsum(map(mpmath.mpf, row), absolute=True)
    largest = max(map(abs, row)) if order > 0 else min(map(abs, row))
    ratios = [mpmath.log(abs(mpmath.mpf(x)) / mpmath.mpf(largest)) * order for x in row if x]
    total = mpmath.fsum(mpmath.exp(max(each, -20000)) for each in ratios)
    return mpmath.mpf(largest) * mpmath.exp(mpmath.log(total) / order)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("order", [1.0, 2.0, 3.0, 2.5, 0.7, 1e-3, -1.0, -2.5, 1e5, -1e6, 2.0**24 + 1, 1e300, -1e300])
def test_norms(dtype: str, order: float) -> None:
    fmt = FORMATS[dtype]
    for exponent in (fmt.emin - fmt.mantissa_bits + 3, fmt.emin, -200 if dtype == "float64" else -40, 0, fmt.emax - 1):
        for spread in (0, 3):
            x = rows(dtype, exponent, spread, 3)
            x[x == 0] = fmt.min_subnormal
            (golden,) = evaluate("aten::linalg_vector_norm", [x, order, [1]], {}).goldens
            with mpmath.workprec(400):
                for i, row in enumerate(x.astype(np.float64).tolist()):
                    assert_is(golden, i, fraction(true_norm(row, order)))


def test_norms_of_single_numbers_and_zeros_are_exact() -> None:
    x = np.array([[0.0, 3.0, 0.0], [5e-324, 0.0, 0.0], [0.0, 0.0, -1.7e308]])
    for order in (5e-324, 1e-300, 0.7, 3.0, 1e5, 1e300):
        (golden,) = evaluate("aten::linalg_vector_norm", [x, order, [1]], {}).goldens
        assert golden.value.tolist() == [3.0, 5e-324, 1.7e308]


def true_log_softmax(row: list[float]) -> list[mpmath.mpf]:
    largest = max(row)
    place = row.index(largest)
    others = [mpmath.exp(mpmath.mpf(x) - mpmath.mpf(largest)) for i, x in enumerate(row) if i != place]
    log_sum = max(mpmath.log1p(mpmath.fsum(others)), LEAST)
    return [(mpmath.mpf(x) - mpmath.mpf(largest)) - log_sum for x in row]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_log_softmax(dtype: str) -> None:
    """float64 from 2^-1074 to 2^1023; differences that are ties of the format, which a logarithm of any size breaks."""
    fmt = FORMATS[dtype]
    for exponent in {min(each, fmt.emax) for each in (-20, 3, 8, 9, 10, 15, 40, 100, 700, 1022, 1023)}:
        x = rows("float64", exponent, 12, 4).astype(fmt.storage)
        x = np.where(np.isfinite(x), x, fmt.storage.type(1))
        (golden,) = evaluate("aten::_log_softmax", [x, 1, False], {}).goldens
        with mpmath.workprec(BITS):
            for i, row in enumerate(x.astype(np.float64).tolist()):
                for j, true in enumerate(true_log_softmax(row)):
                    assert_is(golden, i * len(row) + j, fraction(true))


@pytest.mark.parametrize("op", ["_log_softmax", "logsumexp"])
def test_logarithms_that_are_subnormal(op: str) -> None:
    """Beside a largest logit of 0 the logarithm of the sum is e^x, to -745 and below."""
    x = np.zeros((20, 3))
    x[:, 1:] = np.random.default_rng(8).uniform(-750, -600, (20, 2))
    arguments = [x, 1, False] if op == "_log_softmax" else [x, [1]]
    (golden,) = evaluate(f"aten::{op}", arguments, {}).goldens
    with mpmath.workprec(BITS):
        for i, row in enumerate(x.tolist()):
            true = -true_log_softmax(row)[0]
            assert_is(golden, i, fraction(true)) if op == "logsumexp" else assert_is(golden, 3 * i, fraction(-true))


def test_mpmath_is_not_asked_for_huge_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a golden by mpmath")

    monkeypatch.setattr(escalate, "decided", refuse)
    for exponent in (40, 300, 1000, 1023):
        evaluate("aten::_log_softmax", [rows("float64", exponent, 2, 5), 1, False], {})
        evaluate("aten::linalg_vector_norm", [rows("float64", exponent, 2, 5), 1e6, [1]], {})
