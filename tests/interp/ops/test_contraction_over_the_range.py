"""Sums of products of numbers from the whole range of a format, against fractions: terms cancel, ever smaller ones are
left, and what is left counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from conform.interp.golden import Golden
from conform.numerics.formats import FORMATS
from conform.refs.exact.reals import round_exact
from tests.interp.ops.literal import check, f64, goldens

FLOATS = ("float16", "bfloat16", "float32", "float64")
PLAIN = {"stride": [1], "padding": [0], "dilation": [1], "transposed": False, "output_padding": [0], "groups": 1}


@pytest.mark.parametrize(
    ("lhs", "rhs", "expected"),
    [
        ([1e-200, 1e150], [1e190, 0.0], 1e-200 * 1e190),
        ([2.0**600, -(2.0**600), 2.0**-480], [1.0, 1.0, 1.0], 2.0**-480),
        ([2.0**1000, 2.0**1000, 2.0**-1074], [2.0**1000, -(2.0**1000), 2.0**1000], 2.0**-74),
        ([2.0**1000, 2.0**1000, 2.0**-1074], [2.0**1000, -(2.0**1000), 2.0**-1074], 0.0),
        ([1.0, 2.0**-53, 2.0**-1000], [1.0, 1.0, 2.0**-1000], 1 + 2.0**-52),  # above a midpoint
        ([1.0, 2.0**-53, 2.0**-1000], [1.0, 1.0, -(2.0**-1000)], 1.0),
        ([2.0**-540, 2.0**-600], [2.0**-535, 2.0**-600], 2.0**-1074),  # above the one below the smallest number
    ],
)
def test_no_term_is_lost(lhs: list[float], rhs: list[float], expected: float) -> None:
    for scale in (1.0, -1.0):
        a, b, gives = f64([lhs]), f64(rhs)[:, None] * scale, f64([[expected]]) * scale if expected else f64([[0.0]])
        value = goldens("aten::mm", a, b)[0].value
        assert value.tolist() == gives.tolist()
        if max(lhs) < 2.0**1000:  # elsewhere P35 leaves it open
            check("aten::addmm", f64([[0.0]]), a, b, gives=gives)
            check("aten::convolution", a[None], b.T[None], None, **PLAIN, gives=gives[None])


@pytest.mark.parametrize("left", [2.0**-480, -(2.0**-480), 0.0])
@pytest.mark.parametrize("alpha", [np.inf, -np.inf, np.nan])
def test_only_the_sign_of_a_sum_counts_beside_an_infinite_factor(alpha: float, left: float) -> None:
    lhs = f64([[2.0**600, -(2.0**600), left]])
    for rhs in ([[1.0], [1.0], [1.0]], [[1.0], [1.0], [2.0**-700]]):  # the sum is below the smallest number
        for beta in (0, 1):
            (golden,) = goldens("aten::addmm", f64([[1.0]]), lhs, f64(rhs), beta=beta, alpha=alpha)
            with np.errstate(invalid="ignore"):
                np.testing.assert_array_equal(golden.value, [[alpha * np.sign(left)]])


def over_the_range(rng: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    """Numbers with any exponent; half of them have half a significand."""
    fmt = FORMATS[dtype]
    exponents = rng.integers(0, (1 << (fmt.bits - 1 - fmt.mantissa_bits)) - 1, shape)
    significands = rng.integers(0, 1 << fmt.mantissa_bits, shape)
    short = fmt.mantissa_bits // 2
    significands = np.where(rng.random(shape) < 0.5, significands, significands >> short << short)
    signs = rng.integers(0, 2, shape).astype(np.uint64) << np.uint64(fmt.bits - 1)
    codes = signs | (exponents << fmt.mantissa_bits | significands).astype(np.uint64)
    return codes.astype(fmt.code_storage).view(fmt.storage)


def pairs_that_cancel(rng: np.random.Generator, dtype: str, m: int, k: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """[m, 2 k + 3] and [2 k + 3, n]: k products, the same once more with the other sign, but for one in four of another
    last bit; a few of the rest are zero."""
    (a, b), (rest, other) = (
        (over_the_range(rng, dtype, m, terms), over_the_range(rng, dtype, terms, n)) for terms in (k, 3)
    )
    rest = np.where(rng.random(rest.shape) < 0.3, rest.dtype.type(0), rest)
    against = np.where(rng.random(b.shape) < 0.25, np.nextafter(b.astype(np.float64), 0).astype(b.dtype), b)
    lhs, rhs = np.concatenate([a, rest, a], 1), np.concatenate([b, other, -against], 0)
    order = rng.permutation(2 * k + 3)
    return lhs[:, order], rhs[order]


Terms = Iterator[list[Fraction]]
Call = tuple[str, list[Any], dict[str, Any], Terms]


def fractions(array: np.ndarray) -> list:
    """Nested lists of exact values."""
    return np.vectorize(lambda x: Fraction(float(x)), otypes=[object])(array).tolist()


def products(lhs: np.ndarray, rhs: np.ndarray) -> Terms:
    return ([x * y for x, y in zip(row, column, strict=True)] for row in fractions(lhs) for column in fractions(rhs.T))


def mm(rng: np.random.Generator, dtype: str) -> Iterator[Call]:
    for m, k, n in [(12, 0, 12), (9, 2, 12), (3, 30, 5)] + 40 * [(1, 0, 1), (1, 1, 1), (1, 2, 1)]:
        lhs, rhs = pairs_that_cancel(rng, dtype, m, k, n)
        yield "aten::mm", [lhs, rhs], {}, products(lhs, rhs)


def addmm(rng: np.random.Generator, dtype: str) -> Iterator[Call]:
    for (beta, alpha), (m, k, n) in product(
        ((1, 1), (0, -1), (2.0**-30, 0.1), (-0.3, 3)), [(8, 2, 9)] + 5 * [(1, 1, 1)]
    ):
        lhs, rhs = pairs_that_cancel(rng, dtype, m, k, n)
        addend = over_the_range(rng, dtype, m, n)
        added = (Fraction(beta) * x for row in fractions(addend) for x in row)
        terms = ([Fraction(alpha) * x for x in row] + [x] for row, x in zip(products(lhs, rhs), added, strict=True))
        yield "aten::addmm", [addend, lhs, rhs], {"beta": beta, "alpha": alpha}, terms


def convolution(rng: np.random.Generator, dtype: str) -> Iterator[Call]:
    """Of one dimension, kernels of 2 taps: forward and transposed, in one group and two, with a bias and without."""
    taps = 2
    for transposed, groups, bias, (outputs, size) in product((False, True), (1, 2), (False, True), [(6, 4), (2, 2)]):
        weight, input_ = pairs_that_cancel(rng, dtype, outputs // groups, 2, size)
        input_ = np.concatenate([input_] * groups)[None]
        weight = np.stack([np.concatenate([weight] * groups)] * taps, -1)  # [outputs, channels / groups, taps]
        added = over_the_range(rng, dtype, outputs) if bias else np.zeros(outputs)
        operand = in_torch_order(weight, groups) if transposed else weight
        terms = windows(input_[0], weight, added, groups, transposed)
        options = {**PLAIN, "transposed": transposed, "groups": groups}
        yield "aten::convolution", [input_, operand, added if bias else None], options, terms


def in_torch_order(weight: np.ndarray, groups: int) -> np.ndarray:
    """Weights [outputs, channels / groups, taps] as [channels, outputs / groups, taps]."""
    return np.concatenate([part.swapaxes(0, 1) for part in np.split(weight, groups)])


def windows(input_: np.ndarray, weight: np.ndarray, added: np.ndarray, groups: int, transposed: bool) -> Terms:
    x, w, rest = fractions(input_), fractions(weight), fractions(added)
    size, taps, share, per_group = len(x[0]), len(w[0][0]), len(w[0]), len(w) // groups
    for o in range(len(w)):
        for place in range(size + taps - 1 if transposed else size - taps + 1):
            met = [(c, k, place - k if transposed else place + k) for c, k in product(range(share), range(taps))]
            yield [x[o // per_group * share + c][i] * w[o][c][k] for c, k, i in met if 0 <= i < size] + [rest[o]]


CALLS: dict[str, Callable[[np.random.Generator, str], Iterator[Call]]] = {
    "mm": mm, "addmm": addmm, "convolution": convolution,
}  # fmt: skip


@pytest.mark.rotating(130)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", CALLS)
def test_the_exact_sum_is_rounded_and_enclosed(name: str, dtype: str) -> None:
    for seed in range(6):
        for op, arguments, keywords, terms in CALLS[name](np.random.default_rng(seed), dtype):
            arguments = [None if x is None else x.astype(FORMATS[dtype].storage) for x in arguments]
            (golden,) = goldens(op, *arguments, **keywords)
            assert_rounded_and_enclosed(golden, [sum(each, Fraction(0)) for each in terms])


def assert_rounded_and_enclosed(golden: Golden, sums: list[Fraction]) -> None:
    """Where the radius is 0 the sum is the real, elsewhere it is within the radius."""
    found = (golden.value.astype(np.float64), golden.real.hi, golden.real.lo, golden.real.radius)
    for exact, value, hi, lo, radius in zip(sums, *(part.ravel().tolist() for part in found), strict=True):
        assert value == expected(golden.format.name, exact), f"{exact} gives {value}"
        if np.isfinite(hi) and np.isfinite(radius):
            assert abs(exact - Fraction(hi) - Fraction(lo)) <= Fraction(radius)
        else:
            assert abs(exact) > Fraction(FORMATS["float64"].max_finite)


def expected(dtype: str, number: Fraction) -> float:
    """Rounded by the independent references; the denominator is a power of two."""
    return round_exact(dtype, (number.numerator, 1 - number.denominator.bit_length()))
