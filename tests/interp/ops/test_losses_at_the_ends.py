"""Losses and gradients of normalizations whose terms or results leave float64's range, beside numbers of 3000 bits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from conform.interp.evaluate import evaluate
from conform.interp.formulas import losses
from conform.numerics.formats import FORMATS
from conform.numerics.rounding import nearest_of

FLOAT64 = FORMATS["float64"]
NONE = 0


def _rounded(number: mpmath.mpf) -> float:
    if abs(number) >= mpmath.mpf(2) ** 1025:
        return float(mpmath.sign(number)) * np.inf
    return float(number) if abs(number) > mpmath.mpf(2) ** -1200 else 0.0


def _wide(random: np.random.Generator, count: int) -> np.ndarray:
    size = np.ldexp(random.uniform(1, 2, count), random.integers(-1074, 1024, count))
    return size * random.choice([-1.0, 1.0], count)


def test_divergence_of_logarithms_that_are_no_number_of_float64() -> None:
    """e^t (t - x): beyond float64 of t = 10^6, 0 of -10^6; e^-700 10^300 is a number though neither factor is near."""
    x, t = np.array([1.0, 2e6, 1.0, -1e300, 1e-300]), np.array([1e6, 1e6, -1e6, -700.0, -745.0])
    (golden,) = evaluate("aten::kl_div", (x, t, NONE), {"log_target": True}).goldens
    with mpmath.workprec(3000):
        pairs = zip(map(mpmath.mpf, x[3:]), map(mpmath.mpf, t[3:]), strict=True)
        small = [float(mpmath.exp(b) * (b - a)) for a, b in pairs]
    assert golden.value.tolist() == [np.inf, -np.inf, 0.0, *small]


def test_divergences_over_the_range() -> None:
    random = np.random.default_rng(2)
    x = _wide(random, 300)
    t = np.where(random.integers(2, size=300) == 0, _wide(random, 300), random.uniform(-800, 800, 300))
    (golden,) = evaluate("aten::kl_div", (x, t, NONE), {"log_target": True}).goldens
    with mpmath.workprec(3000):
        for a, b, found in zip(x.tolist(), t.tolist(), golden.value.tolist(), strict=True):
            true = mpmath.exp(mpmath.mpf(max(min(b, 1e5), -1e5))) * (mpmath.mpf(b) - mpmath.mpf(a))
            assert found == _rounded(true)


def test_divergences_of_targets_over_the_range() -> None:
    """t (log t - x), and of x near log t what little is left."""
    random = np.random.default_rng(7)
    t = np.abs(_wide(random, 300))
    x = np.where(random.integers(2, size=300) == 0, _wide(random, 300), np.log(t))
    (golden,) = evaluate("aten::kl_div", (x, t, NONE), {}).goldens
    with mpmath.workprec(3000):
        for a, b, found in zip(x.tolist(), t.tolist(), golden.value.tolist(), strict=True):
            assert found == _rounded(mpmath.mpf(b) * (mpmath.log(mpmath.mpf(b)) - mpmath.mpf(a)))


def test_logits_over_the_range() -> None:
    random = np.random.default_rng(3)
    x = random.choice([-1.0, 1.0], 300) * np.ldexp(random.uniform(1, 2, 300), random.integers(-60, 6, 300))
    t, w, p = (_wide(random, 300) for _ in range(3))
    (golden,) = evaluate("aten::binary_cross_entropy_with_logits", (x, t, w, p, NONE), {}).goldens
    with mpmath.workprec(9000):
        for row, found in zip(np.stack([x, t, w, p], -1).tolist(), golden.value.tolist(), strict=True):
            logit, target, weight, factor = map(mpmath.mpf, row)
            softplus = mpmath.log1p(mpmath.exp(-logit))
            assert found == _rounded(weight * ((1 - target) * logit + (1 + (factor - 1) * target) * softplus))


@pytest.mark.parametrize("rstd", [5e-324, 1e-318, 1e-200, 1e200, 1.7e308])
def test_gradients_of_a_normalization_of_such_a_deviation(rstd: float) -> None:
    """rstd (g - mean(g) - z mean(g z)), z = (x - mean) rstd."""
    random = np.random.default_rng(4)
    x, grad = random.uniform(-2, 2, (2, 3, 5))
    x = x / rstd if 1e-200 < rstd < 1e300 else x
    mean, rstds = np.zeros((3, 1)), np.full((3, 1), rstd)
    arguments = (grad, x, [5], mean, rstds, None, None, [True, False, False])
    golden = evaluate("aten::native_layer_norm_backward", arguments, {}).goldens[0]
    for i in range(3):
        g, z = [Fraction(each) for each in grad[i]], [Fraction(each) * Fraction(rstd) for each in x[i]]
        mean_g, mean_gz = sum(g) / 5, sum(a * b for a, b in zip(g, z, strict=True)) / 5
        expected = [Fraction(rstd) * (a - mean_g - b * mean_gz) for a, b in zip(g, z, strict=True)]
        assert golden.value[i].tolist() == [nearest_of(FLOAT64, number) for number in expected]


def test_such_terms_need_no_numbers_of_any_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(terms: losses.Terms, i: int) -> None:
        raise AssertionError(f"element {i} is asked for at rising precision")

    monkeypatch.setattr(losses.Terms, "mp", refuse)
    x, t = np.linspace(1e271, 3e271, 50), np.linspace(4e6, 5e6, 50)
    evaluate("aten::kl_div", (x, t, NONE), {"log_target": True})
    ones = np.ones(50)
    evaluate("aten::binary_cross_entropy_with_logits", (ones / 3, -t * 1e260, ones * 1e9, ones * 1e300, NONE), {})
