"""The incomplete gamma functions, zeta, polygamma and the multivariate log-gamma: literal operands and results."""

from __future__ import annotations

from math import inf, log, nan, pi

import mpmath
import numpy as np
import pytest

import conform
from conform.errors import ConformError
from conform.numerics.functions import hurwitz, incomplete_gamma
from tests.interp.ops.literal import f32, f64, goldens

EULER = 0.5772156649015329


def value(op: str, *arguments: object) -> list[float]:
    (golden,) = goldens(op, *arguments)
    return golden.value.tolist()


def test_the_documentation_s_examples() -> None:
    """torch.special.gammainc: 0.3528, 0.5665, 0.7350 of a = 4 and x = 3, 4, 5, and what they are less than 1."""
    a, x = f32([4.0]), f32([3.0, 4.0, 5.0])
    assert np.round(value("aten::igamma", a, x), 4).tolist() == [0.3528, 0.5665, 0.7350]
    assert np.round(value("aten::igammac", a, x), 4).tolist() == [0.6472, 0.4335, 0.2650]
    assert np.round(value("aten::special_zeta.self_scalar", 2, f32([1.0, 2.0])), 4).tolist() == [1.6449, 0.6449]
    assert np.round(value("aten::polygamma", 3, f32([1.0, 0.5])), 4).tolist() == [6.4939, 97.4091]


@pytest.mark.parametrize(
    ("a", "x", "lower"),
    [(0.0, 1.0, 1.0), (1.0, 0.0, 0.0), (1.0, -0.0, 0.0), (0.0, 0.0, nan), (-1.0, 2.0, nan), (1.0, -2.0, nan),
     (inf, 3.0, 0.0), (3.0, inf, 1.0), (nan, 0.0, nan), (0.0, nan, nan), (-1.0, inf, nan),
     (1e308, 1e-308, 0.0)],
)  # fmt: skip
def test_incomplete_gamma_at_its_ends(a: float, x: float, lower: float) -> None:
    assert np.array_equal(value("aten::igamma", f64([a]), f64([x])), [lower], equal_nan=True)
    assert np.array_equal(value("aten::igammac", f64([a]), f64([x])), [1 - lower], equal_nan=True)


def test_incomplete_gamma_of_two_infinities_is_open() -> None:
    (golden,) = goldens("aten::igamma", f64([inf, 1.0]), f64([inf, 1.0]))
    assert golden.open.tolist() == [True, False]


def test_incomplete_gamma_of_one_is_one_less_an_exponential() -> None:
    x = f64([2.0**-80, 0.5, 1.0, 30.0, 700.0, 740.0])
    assert value("aten::igammac", f64([1.0]), x) == [float(mpmath.exp(-mpmath.mpf(one))) for one in x.tolist()]
    assert value("aten::igamma", f64([1.0]), x) == [float(-mpmath.expm1(-mpmath.mpf(one))) for one in x.tolist()]


def test_the_upper_one_beside_no_shape_is_a_times_an_exponential_integral() -> None:
    """Q(a, x) = a E1(x) for a tiny a, into the subnormal numbers; E1(1) = 0.2193839343955203."""
    tiny = [1e-200, 2.0**-1060]
    found = value("aten::igammac", f64(tiny), f64([1.0]))
    assert np.allclose(found, np.multiply(tiny, 0.2193839343955203), 1e-12, 1e-323)
    assert value("aten::igammac", f64([5e-324, 1e-300]), f64([3.5])) == [0.0, 6.970139857548394e-303]


def test_half_of_a_square_that_is_a_tie_is_rounded_by_what_follows() -> None:
    """P(2, x) = x^2/2 (1 - 2x/3 + ...): x^2/2 is half way between two doubles, so that the smaller one is nearest."""
    x = float((2**53 - 2**26 - 1) | 1)
    tiny = x * 2.0**-400
    exact = mpmath.mpf(tiny) ** 2 / 2
    (found,) = value("aten::igamma", f64([2.0]), f64([tiny]))
    assert abs(mpmath.mpf(found) - exact) <= abs(mpmath.mpf(np.nextafter(found, 1.0)) - exact)


@pytest.mark.parametrize(
    ("s", "q", "sum_"),
    [(2.0, 1.0, pi**2 / 6), (2.0, 0.5, pi**2 / 2), (1.0, 3.0, inf), (2.0, 0.0, inf), (3.0, -0.0, inf), (2.0, -1.0, inf),
     (2.5, -0.5, nan), (3.0, -0.5, 0.41439832211716),
     (2.0, -0.5, pi**2 / 2 + 4), (3.0, 1e300, 0.0), (1e300, 1.0, 1.0),
     (nan, 0.0, nan), (1.0, nan, nan)],
)  # fmt: skip
def test_zeta(s: float, q: float, sum_: float) -> None:
    assert np.allclose(value("aten::special_zeta", f64([s]), f64([q])), [sum_], rtol=1e-15, atol=0, equal_nan=True)


def test_zeta_is_open_where_the_series_says_nothing() -> None:
    s, q = f64([0.5, -inf, inf, 2.0, 2.5, 1.0, 2.0]), f64([2.0, 2.0, 2.0, inf, -1.0, -0.5, 2.0])
    (golden,) = goldens("aten::special_zeta", s, q)
    assert golden.open.tolist() == [True] * 6 + [False]


def test_half_way_between_poles_odd_powers_cancel() -> None:
    """zeta(3, 1/2 - n) = zeta(3, 1/2 + n): the terms on both sides of 0 have opposite signs."""
    assert value("aten::special_zeta", f64([3.0]), f64([-4.5, -(2.0**51) - 0.5])) == value(
        "aten::special_zeta", f64([3.0]), f64([5.5, 2.0**51 + 1.5])
    )


def test_polygamma() -> None:
    assert value("aten::polygamma", 0, f64([1.0])) == [-EULER]
    trigamma = value("aten::polygamma", 1, f64([1.0, 0.5, -0.5]))
    assert np.allclose(trigamma, [pi**2 / 6, pi**2 / 2, pi**2 / 2 + 4], rtol=1e-15)
    assert value("aten::polygamma", 1, f64([0.0, -0.0, -3.0, 1e300])) == [inf, inf, inf, 1e-300]
    (golden,) = goldens("aten::polygamma", 2, f64([0.0, -1.0, inf, 1.0]))
    assert golden.open.tolist() == [True, True, True, False]


def test_polygamma_of_a_negative_order_is_refused() -> None:
    with pytest.raises(ConformError, match="0 <= n"):
        conform.golden("aten::polygamma", -1, f32([1.0]))


def test_multivariate_gamma() -> None:
    """Gamma_2(3/2) = sqrt(pi) Gamma(3/2) Gamma(1) = pi/2"""
    assert np.allclose(value("aten::mvlgamma", f64([1.5]), 2), log(pi / 2), rtol=1e-15)
    assert value("aten::mvlgamma", f64([1.0, 2.0, inf]), 1) == [0.0, 0.0, inf]
    (golden,) = goldens("aten::mvlgamma", f64([0.5, 0.75, nan]), 2)
    assert (golden.open.tolist(), np.isnan(golden.value).tolist()) == ([True, False, False], [False, False, True])


@pytest.mark.parametrize("seed", range(3))
def test_double_double_lies_within_what_it_claims(seed: int) -> None:
    """Against mpmath, where the regions of the kernels meet."""
    draws = np.random.default_rng(seed)
    a = np.concatenate([draws.uniform(0.01, 3, 20), draws.uniform(900, 1200, 10)])
    x = a * draws.uniform(0.9, 1.15, a.size)
    with np.errstate(all="ignore"), mpmath.workprec(300):
        for is_upper in (False, True):
            (hi, lo), error = incomplete_gamma._double_double(is_upper, (a, 0 * a), (x, 0 * x))
            for i in range(a.size):
                ends = (x[i], mpmath.inf) if is_upper else (0, x[i])
                true = mpmath.gammainc(mpmath.mpf(a[i]), *map(mpmath.mpf, ends), regularized=True)
                assert abs(mpmath.mpf(hi[i]) + mpmath.mpf(lo[i]) - true) <= error[i] * true


@pytest.mark.parametrize("seed", range(3))
def test_the_powers_lie_within_what_is_claimed(seed: int) -> None:
    draws = np.random.default_rng(seed)
    s, q = draws.uniform(1.001, 60, 30), draws.uniform(0.01, 60, 30)
    with np.errstate(all="ignore"), mpmath.workprec(800):  # mpmath counts its bits from 1 on
        (hi, lo), error = hurwitz.zeta(s, q, (np.float64(1), np.float64(0)))
        for i in range(s.size):
            true = mpmath.zeta(mpmath.mpf(s[i]), mpmath.mpf(q[i]))
            assert abs(mpmath.mpf(hi[i]) + mpmath.mpf(lo[i]) - true) <= error[i] * true
