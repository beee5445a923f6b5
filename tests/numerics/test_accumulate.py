"""Accumulation: literals, classes in any order, and exact fractions on easy, cancelling and extreme terms."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from conform.numerics import accumulate
from conform.numerics import matmul as matmul_module
from conform.numerics.accumulate import (
    Accumulated,
    decide_sum,
    dot,
    dot_of,
    exact_dot,
    exact_total,
    running,
    running_of,
    total,
    total_at,
    total_of,
)
from conform.numerics.formats import FORMATS
from conform.numerics.matmul import matmul
from conform.numerics.rounding import round_fraction

F16, BF16, F32, F64 = (FORMATS[name] for name in ("float16", "bfloat16", "float32", "float64"))
INF, NAN = float("inf"), float("nan")


def terms_of(kind: str, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    normal = rng.standard_normal(shape)
    with np.errstate(all="ignore"):
        return {
            "float32": normal.astype(np.float32).astype(np.float64),
            "float64": normal,
            "float32 range": np.ldexp(normal, rng.integers(-149, 127, shape)).astype(np.float32).astype(np.float64),
            "float64 range": np.ldexp(normal, rng.integers(-1074, 1020, shape)),
            "small": np.ldexp(normal, rng.integers(-1074, -1000, shape)),
            "integers": rng.integers(-3, 4, shape).astype(np.float64),
            "sparse": normal * (rng.random(shape) < 0.2),
        }[kind]


KINDS = ["float32", "float64", "float32 range", "float64 range", "small", "integers", "sparse"]


def underflow(*factors: np.ndarray) -> Fraction:
    """What `magnitude` may add for terms that underflow beside the largest: 2^-1056 of that."""
    slack = Fraction(1, 2**1056)
    for factor in factors:
        slack *= max(Fraction(1), Fraction(np.abs(factor).max(initial=0.0)))
    return slack


def assert_encloses(
    accumulated: Accumulated, exact: list[Fraction], magnitudes: list[Fraction], slack: Fraction
) -> None:
    parts = (accumulated.real.hi, accumulated.real.lo, accumulated.real.radius, accumulated.magnitude)
    for number, magnitude, *found in zip(exact, magnitudes, *(part.ravel().tolist() for part in parts), strict=True):
        hi, lo, radius, found_magnitude = found
        if radius != INF:
            assert hi + lo == hi
            assert abs(number - Fraction(hi) - Fraction(lo)) <= Fraction(radius)
        else:
            assert abs(number) > Fraction(F64.max_finite) * Fraction(99, 100)
        if found_magnitude == INF:
            assert magnitude * (1 + Fraction(1, 2**30)) > Fraction(F64.max_finite)
        else:
            assert magnitude <= Fraction(found_magnitude) <= magnitude * (1 + Fraction(1, 2**30)) + slack


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [0, 1, 2, 17, 65])
def test_total_and_running(kind, count):
    x = terms_of(kind, np.random.default_rng(count), (count, 4))
    columns = [list(map(Fraction, column)) for column in x.T.tolist()]
    sums = total(x, 0)
    assert sums.terms == count
    magnitudes = [sum(map(abs, c), Fraction(0)) for c in columns]
    assert_encloses(sums, [sum(c, Fraction(0)) for c in columns], magnitudes, underflow(x))
    prefixes = running(np.ascontiguousarray(x.T))
    assert prefixes.terms.tolist() == [list(range(1, count + 1))]
    beginnings = [column[: i + 1] for column in columns for i in range(count)]
    exact, magnitudes = [sum(c) for c in beginnings], [sum(map(abs, c)) for c in beginnings]
    assert_encloses(prefixes, exact, magnitudes, underflow(x))


@pytest.mark.parametrize("kind", KINDS)
def test_total_at_places(kind):
    rng = np.random.default_rng(3)
    places, terms = rng.integers(0, 5, 60), terms_of(kind, rng, (60,))
    sums = total_at([(places[cut], terms[cut]) for cut in (slice(0, 7), slice(7, 7), slice(7, 60))], 6)
    groups = [list(map(Fraction, terms[places == place].tolist())) for place in range(6)]  # nothing at the last
    assert sums.terms.tolist() == [len(group) for group in groups]
    exact, magnitudes = [sum(g, Fraction(0)) for g in groups], [sum(map(abs, g), Fraction(0)) for g in groups]
    assert_encloses(sums, exact, magnitudes, underflow(terms))


def test_special_terms_at_places():
    pieces = [([0, 1, 2], [INF, INF, NAN]), ([3, 0, 1], [2.0, 1.0, -INF])]
    sums = total_at([(np.array(places), np.array(terms)) for places, terms in pieces], 5)
    np.testing.assert_array_equal(sums.real.hi, [INF, NAN, NAN, 2.0, 0.0])
    np.testing.assert_allclose(sums.magnitude, [1.0, 0.0, 0.0, 2.0, 0.0], rtol=1e-14)  # of the finite terms


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", ["float32", "float64", "float64 range", "integers"])
def test_dot_and_matmul(kind, other):
    rng = np.random.default_rng(1)
    for m, k, n in [(3, 40, 2), (2, 1, 3), (1, 0, 2)] + 20 * [(1, 2, 1)]:  # what is far apart may be alone
        a, b = terms_of(kind, rng, (m, k)), terms_of(other, rng, (k, n))
        products = [
            [Fraction(x) * Fraction(y) for x, y in zip(row, column, strict=True)]
            for row in a.tolist() for column in b.T.tolist()
        ]  # fmt: skip
        exact, magnitudes = [sum(p, Fraction(0)) for p in products], [sum(map(abs, p), Fraction(0)) for p in products]
        assert_encloses(matmul(a, b), exact, magnitudes, underflow(a, b))
        left, right = np.broadcast_arrays(a[:, :, None], b[None, :, :])
        assert_encloses(dot(left, right, 1), exact, magnitudes, underflow(a, b))


def test_sums_in_the_middle_of_the_range_are_exact():
    rng = np.random.default_rng(2)
    a, b = terms_of("float32", rng, (20, 300)), terms_of("float32", rng, (300, 20))
    assert not matmul(a, b).real.radius.any()
    assert not total(a, 1).real.radius.any()
    many = rng.random((1, 20_000))
    sums = total(many, 1).real
    assert Fraction(sums.hi[0]) + Fraction(sums.lo[0]) == exact_total(many)
    cancelling = np.concatenate([a, -a[:, ::-1]], axis=1)
    for zero in (total(cancelling, 1), matmul(cancelling, np.ones((600, 1)))):
        assert not zero.real.hi.any()
        assert not zero.real.radius.any()


def test_slices_stay_exact_at_their_limit():
    """All elements at the end of their slices, so that every partial sum of slices is as large as it can be."""
    for count in (2, 256, 257, 1024):
        largest = np.full((1, count), 1 - 2.0**-53)
        product = matmul(largest, largest.T)
        exact = count * (1 - Fraction(1, 2**53)) ** 2
        hi, lo, radius = (Fraction(part[0, 0]) for part in (product.real.hi, product.real.lo, product.real.radius))
        assert abs(exact - hi - lo) <= radius <= count * Fraction(1, 2**100)
        sums = total(largest, 1).real
        assert Fraction(sums.hi[0]) + Fraction(sums.lo[0]) == count * (1 - Fraction(1, 2**53))


def test_literals():
    x = np.array([1e16, 1.0, -1e16, 1e-30])
    assert [part.tolist() for part in (total(x, 0).real.hi, total(x, 0).real.lo)] == [1.0, 1e-30]
    assert running(x).real.hi.tolist() == [1e16, 1e16, 1.0, 1.0]
    assert total(x, 0).magnitude >= 2e16 + 1
    overflowing = total(np.array([1.7e308, 1.7e308, -1.7e308]), 0)
    assert (overflowing.real.hi, overflowing.real.radius, overflowing.magnitude) == (1.7e308, 0.0, INF)
    assert total(np.array([1.7e308, 1.7e308]), 0).real.radius == INF
    assert total(np.empty((0, 2)), 0).real.hi.tolist() == [0.0, 0.0]
    faint = matmul(np.array([[1.0, 0.0, 2.0**-600]]), np.array([[0.0], [1.0], [2.0**-600]]))
    assert (faint.magnitude > 0).all()


SPECIAL_TERMS = [
    ([1.0, INF], INF),
    ([-INF, 1e308], -INF),
    ([INF, INF], INF),
    ([INF, -INF], NAN),
    ([NAN, 1.0], NAN),
    ([INF, 1.0, -INF, 1.0], NAN),
]


@pytest.mark.parametrize(("terms", "expected"), SPECIAL_TERMS)
def test_special_terms(terms, expected):
    for order in (terms, terms[::-1]):
        array = np.array(order)
        ones = np.ones_like(array)
        for sums in (total(array, 0), dot(array, ones, 0), dot(-ones, -array, 0)):
            np.testing.assert_array_equal(sums.real.hi, expected)
            assert (sums.real.lo, sums.real.radius) == (0.0, 0.0)
        for product in (matmul(array[None], ones[:, None]), matmul(-ones[None], -array[:, None])):
            np.testing.assert_array_equal(product.real.hi, [[expected]])
        np.testing.assert_array_equal(running(array).real.hi[-1], expected)


def test_special_products():
    a = np.array([[INF, 0.0, 1.0], [-2.0, 3.0, 0.5]])
    b = np.array([[1.0, 0.0, 2.0, 2.0], [INF, 1.0, 1.0, 1.0], [1.0, 1.0, NAN, 1.0]])
    expected = [[NAN, NAN, NAN, INF], [INF, 3.5, NAN, -0.5]]
    np.testing.assert_array_equal(matmul(a, b).real.hi, expected)
    left, right = np.broadcast_arrays(a[:, :, None], b[None])
    np.testing.assert_array_equal(dot(left, right, 1).real.hi, expected)


def test_finite_prefixes_and_neighbours_of_special_terms():
    assert running(np.array([1.0, 2.0, INF, 1.0, -INF])).real.hi[:4].tolist() == [1.0, 3.0, INF, INF]
    product = matmul(np.array([[1.0, NAN], [1.0, 2.0]]), np.array([[3.0], [4.0]]))
    assert product.real.hi[1, 0] == 11.0
    assert product.magnitude[0, 0] == pytest.approx(3.0)  # the finite terms


def test_decide_sum_asks_for_what_the_real_leaves_open():
    x = np.array([[1.0, 2.0**-11, 2.0**-200, 0.0], [1.0, 2.0**-11, -(2.0**-200), 2.0**-400], [1.0, 2.0, 3.0, 4.0]])
    asked = []

    def exactly(index: tuple[int, ...]) -> Fraction:
        asked.append(index)
        return exact_total(x[index])

    assert decide_sum(F16, total(x, 1), exactly)[0].tolist() == [1 + 2.0**-10, 1.0, 10.0]
    assert (2,) not in asked
    one = np.array([1e308, 1e308])
    assert decide_sum(F64, total(one, 0), lambda index: exact_total(one))[0].tolist() == INF


@pytest.mark.parametrize("fmt", [F16, BF16, F32, F64], ids=lambda fmt: fmt.name)
def test_decided_sums_are_correctly_rounded(fmt):
    rng = np.random.default_rng(4)
    a, b = (terms_of(kind, rng, (30, 30)) for kind in ("integers", "float32 range"))
    a[:, 15:], b[15:] = a[:, 14::-1], -b[14::-1] * (1 + 2.0**-20 * (rng.random((15, 30)) < 0.5))
    value, _ = decide_sum(fmt, matmul(a, b), lambda index: exact_dot(a[index[0]], b[:, index[1]]))
    expected = [[round_fraction(fmt, exact_dot(row, column)) for column in b.T] for row in a]
    np.testing.assert_array_equal(value.astype(np.float64), np.array(expected).astype(np.float64))


def test_exact_sums():
    assert exact_total(np.array([1.0, 2.0**-1074, 1e308])) == 1 + Fraction(1, 2**1074) + Fraction(1e308)
    assert exact_dot(np.array([0.5, 3.0]), np.array([0.25, -1.0])) == Fraction(-23, 8)
    assert exact_total(np.empty(0)) == 0
    assert accumulate.fraction(np.float32(0.1)) == Fraction(13421773, 2**27)


@pytest.mark.parametrize("kind", KINDS)
def test_sums_in_pieces_are_the_sums(kind):
    rng = np.random.default_rng(5)
    x, y = terms_of(kind, rng, (3, 40)), terms_of("float64 range", rng, (3, 40))
    x[1, 30], x[2, [3, 35]], y[0, 0] = np.inf, [np.inf, -np.inf], np.nan
    cuts = [slice(0, 7), slice(7, 8), slice(8, 31), slice(31, 40)]
    in_pieces = [total_of([x[:, cut] for cut in cuts]), dot_of([(x[:, cut], y[:, cut]) for cut in cuts])]
    for expected, actual in zip([total(x, 1), dot(x, y, 1)], in_pieces, strict=True):
        assert_same(actual, expected)
    whole = running(x)
    for cut, part in zip(cuts, running_of([x[:, cut] for cut in cuts]), strict=True):
        expected = Accumulated(whole.real[:, cut], whole.magnitude[:, cut], whole.terms[:, cut])
        assert_same(part, expected)


@pytest.mark.parametrize("shape", [(300, 5, 150), (257, 1, 129), (2, 9000, 40), (1, 7, 400)])
def test_a_product_in_tiles_and_pieces_is_the_product(monkeypatch, shape):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(shape[:2]), rng.standard_normal(shape[1:])
    a[0, 0] = np.inf
    monkeypatch.setattr(matmul_module, "TILE_ROWS", 10**9)
    monkeypatch.setattr(matmul_module, "TILE_COLUMNS", 10**9)
    monkeypatch.setattr(matmul_module, "TILE_ELEMENTS", 10**9)
    whole = matmul(a, b)
    for tile, elements in ((100, 10**9), (10**9, 2000), (64, 150)):
        monkeypatch.setattr(matmul_module, "TILE_ROWS", tile)
        monkeypatch.setattr(matmul_module, "TILE_COLUMNS", tile)
        monkeypatch.setattr(matmul_module, "TILE_ELEMENTS", elements)
        assert_same(matmul(a, b), whole)


def assert_same(actual: Accumulated, expected: Accumulated) -> None:
    """But for the magnitude, a sum of float64 in any order."""
    for part in ("hi", "lo", "radius"):
        np.testing.assert_array_equal(getattr(actual.real, part), getattr(expected.real, part))
    np.testing.assert_allclose(actual.magnitude, expected.magnitude, rtol=1e-12)
    np.testing.assert_array_equal(actual.terms, expected.terms)
