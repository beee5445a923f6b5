"""Constructed near-ties: results beside a midpoint of the format, nearer than any rung but the last can tell.

Random operands come no nearer to a midpoint than their number allows (2^-12 ulp of some thousands). Each family below
is built to come as near as operands of the format can, and says by which identity; every expectation is exact, by
integers, Fractions or Arb at thousands of bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import gcd

import mpmath
import numpy as np
import pytest
from flint import ctx

from conform.interp.evaluate import evaluate
from conform.numerics import functions
from conform.numerics.formats import FORMATS, Format
from conform.numerics.functions import complex_parts, ladder
from conform.numerics.functions.table import FUNCTIONS
from conform.numerics.real import Real
from conform.numerics.rounding import round_fraction
from tests.numerics.functions.arb_formulas import rounded
from tests.numerics.functions.draws import BINARY
from tests.numerics.functions.test_complex_parts import check as check_complex
from tests.numerics.functions.test_ladder import unreachable

FLOAT32, FLOAT64 = FORMATS["float32"], FORMATS["float64"]
BOTH = pytest.mark.parametrize("fmt", [FLOAT32, FLOAT64], ids=lambda fmt: fmt.name)
Gaussian = tuple[Fraction, Fraction]
PRECISION = 9000  # bits: the squares of two doubles differ by 2^4200 at most


@pytest.fixture(autouse=True)
def precise() -> Iterator[None]:
    before, ctx.prec = ctx.prec, PRECISION
    yield
    ctx.prec = before


def assert_rounded(fmt: Format, value: np.ndarray, real: Real, expected: list[Fraction], what: str) -> None:
    """Each value is the exact number rounded once, and the real holds that number."""
    for i, exact in enumerate(expected):
        assert value[i].tobytes() == round_fraction(fmt, exact).tobytes(), f"{what}, number {i}: got {value[i]!r}"
        off = abs(exact - Fraction(float(real.hi[i])) - Fraction(float(real.lo[i])))
        assert off <= Fraction(float(real.radius[i])), f"{what}, number {i}: {float(off)} beyond the radius"


def odd(rng: np.random.Generator, bits: int) -> int:
    """An odd integer of exactly so many bits."""
    return int(rng.integers(1 << (bits - 2), 1 << (bits - 1))) * 2 + 1


def times(a: Gaussian, b: Gaussian) -> Gaussian:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


# Complex powers: a^n is a midpoint, and -n (n - 1) / 2 a^(n - 2) b^2 takes it off; n a^(n - 1) b likewise


def power_bases(fmt: Format, n: int, count: int) -> Iterator[tuple[float, float]]:
    """(a, b) with a^n of one bit more than the format has, or n a^(n-1) b so, and |b/a| of any size below it."""
    rng = np.random.default_rng([11, n, fmt.bits])
    sizes = [-2 * fmt.precision, -4 * fmt.precision] if fmt == FLOAT32 else [-60, -130, -200, -340, -400]
    while count:
        a = odd(rng, int(rng.integers(2, -(-fmt.precision // n) + 2)))
        b = odd(rng, int(rng.integers(fmt.precision - 10, fmt.precision + 1)))
        length = (a**n).bit_length(), (n * a ** (n - 1) * b).bit_length()
        trailing = ((n & -n).bit_length() - 1) if n else 0
        if length[0] == fmt.precision + 1 or length[1] - trailing == fmt.precision + 1:
            count -= 1
            yield float(a), float(b) * 2.0 ** (int(rng.choice(sizes)) - fmt.precision)


def power(z: Gaussian, n: int) -> Gaussian:
    result = Fraction(1), Fraction(0)
    for _ in range(n):
        result = times(result, z)
    return result


@BOTH
@pytest.mark.parametrize("n", [2, 3, 4, 5, 7])
def test_integer_powers_of_complex_numbers(fmt: Format, n: int) -> None:
    bases = list(power_bases(fmt, n, 40))
    if (fmt, n) == (FLOAT64, 3):
        bases.append((2.0, float.fromhex("0x1.3f21067317d8dp-200")))  # 12 b is a midpoint, less b^3
    a, b = (np.array(part) for part in zip(*bases, strict=True))
    parts = complex_parts.apply("pow", fmt, a, b, np.full(a.shape, float(n)), np.zeros(a.shape))
    exact = [power((Fraction(x), Fraction(y)), n) for x, y in bases]
    for i, which in enumerate(("real", "imaginary")):
        assert_rounded(fmt, parts.value[:, i], parts.real[:, i], [z[i] for z in exact], f"{which} part of z^{n}")


# Products and quotients of complex numbers: a midpoint, and a term that is tiny beside it


def evaluated(op: str, fmt: Format, lhs: list[Gaussian], rhs: list[Gaussian]) -> tuple[np.ndarray, Real]:
    """The parts [n, 2] of a complex op, and the reals."""
    storage = {"float32": np.complex64, "float64": np.complex128}[fmt.name]
    operands = [np.array([complex(*map(float, z)) for z in side]).astype(storage) for side in (lhs, rhs)]
    golden = evaluate(op, tuple(operands), {}).goldens[0]
    return golden.value.view(fmt.storage).reshape(-1, 2), golden.real


@BOTH
def test_products_of_complex_numbers(fmt: Format) -> None:
    """a c is odd and of one bit more than the format has: a midpoint; b d is far below it. The imaginary part of
    a c + b d i has the midpoint from a d."""
    rng, lhs, rhs = np.random.default_rng(21), [], []
    half = (fmt.precision + 1) // 2
    while len(lhs) < 60:
        a, c, b, d = odd(rng, fmt.precision + 1 - half), odd(rng, half), odd(rng, 9), odd(rng, 9)
        tiny = Fraction(int(rng.choice([-1, 1])), 2 ** int(rng.integers(40, 100)))
        if (a * c).bit_length() == fmt.precision + 1:
            lhs += [(Fraction(a), b * tiny), (b * tiny, Fraction(a))]
            rhs += [(Fraction(c), Fraction(d)), (Fraction(d), Fraction(c))]
    value, real = evaluated("aten::mul.Tensor", fmt, lhs, rhs)
    for i in (0, 1):
        exact = [times(z, w)[i] for z, w in zip(lhs, rhs, strict=True)]
        assert_rounded(fmt, value[:, i], real[:, i], exact, f"part {i} of a product")


@BOTH
def test_quotients_of_complex_numbers(fmt: Format) -> None:
    """(a + b i) / (1 + d i) has the real part (a + b d) / (1 + d^2): b d is half an ulp of a, d^2 is tiny."""
    rng, lhs, rhs = np.random.default_rng(22), [], []
    for _ in range(60):
        a, scale = odd(rng, fmt.precision), Fraction(2) ** int(rng.integers(-20, 20))
        shift = int(rng.integers(20, 40 if fmt == FLOAT32 else 300))
        b, d = Fraction(2) ** shift, Fraction(int(rng.choice([-1, 1])), 2 ** (shift + 1))
        lhs.append((Fraction(a), b))
        rhs.append((scale, scale * d))
    value, real = evaluated("aten::div.Tensor", fmt, lhs, rhs)
    for i in (0, 1):
        exact = [
            times(z, (w[0], -w[1]))[i] / (w[0] ** 2 + w[1] ** 2) for z, w in zip(lhs, rhs, strict=True)
        ]  # fmt: skip
        assert_rounded(fmt, value[:, i], real[:, i], exact, f"part {i} of a quotient")


# Parts of other complex functions, by the first terms of their series


@pytest.mark.parametrize("j", [0, 1, 100, 400, 511])
def test_square_roots_with_a_subnormal_part(j: int) -> None:
    """sqrt(4^j + b i) has the imaginary part b / 2^(j + 1) (1 - b^2 / (8 16^j)), b / 2^(j + 1) halfway between two
    subnormals."""
    b = np.array([n * 2.0 ** (j - 1074) for n in (1, 3, 5, 7, 1001)])
    check_complex("sqrt", FLOAT64, np.full(b.shape, 4.0**j), b)


def products_of_one_bit_more(fmt: Format, seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Tiny x and y of about half the bits, whose product is a midpoint."""
    rng, pairs = np.random.default_rng(seed), []
    half = (fmt.precision + 1) // 2
    while len(pairs) < count:
        x, y = odd(rng, half), odd(rng, fmt.precision + 1 - half)
        if (x * y).bit_length() == fmt.precision + 1:
            scale = -fmt.precision - rng.integers(0, 60 if fmt == FLOAT64 else 12, 2)
            pairs.append((x * 2.0 ** scale[0], y * 2.0 ** scale[1]))
    x, y = zip(*pairs, strict=True)
    return np.array(x), np.array(y)


@BOTH
@pytest.mark.parametrize("name", ["cosh", "cos"])
def test_products_of_tiny_sines(name: str, fmt: Format) -> None:
    """sinh x sin y = x y (1 + (x^2 - y^2) / 6 + ...)."""
    check_complex(name, fmt, *products_of_one_bit_more(fmt, 31, 20))


@BOTH
@pytest.mark.parametrize("name", ["log", "log1p"])
def test_logarithms_beside_the_unit_circle(name: str, fmt: Format) -> None:
    """log |1 + y i| = y^2 / 2 - y^4 / 4 + ..."""
    rng = np.random.default_rng(32)
    bits = fmt.precision // 2 + 1
    y = np.array([odd(rng, bits) for _ in range(20)]) * 2.0 ** -rng.integers(bits + 10, bits + 30, 20)
    check_complex(name, fmt, np.full(20, float(name == "log")), y)


@BOTH
@pytest.mark.parametrize("name", ["exp", "expm1"])
def test_sines_times_powers_of_e(name: str, fmt: Format) -> None:
    """e^x sin y = y (1 + x + x^2 / 2 - y^2 / 6 + ...), y a power of two and x half an ulp of 1."""
    y = 2.0 ** -np.arange(fmt.precision // 2, fmt.precision + 30)
    for x in (fmt.unit_roundoff, -fmt.unit_roundoff / 2, 3 * fmt.unit_roundoff):
        check_complex(name, fmt, np.full(y.shape, x), y)


# Functions of two real numbers


def check_real(name: str, fmt: Format, pairs: list[tuple[float, float]]) -> None:
    """Against Arb."""
    value, real = functions.apply(name, fmt, *(np.array(side) for side in zip(*pairs, strict=True)))
    ends = [rounded(name, fmt, pair) for pair in pairs]
    assert [v.tobytes() for v in value] == [expected.tobytes() for expected, _, _ in ends]
    for i, (_, low, high) in enumerate(ends):
        middle, radius = Fraction(float(real.hi[i])) + Fraction(float(real.lo[i])), Fraction(float(real.radius[i]))
        assert middle - radius <= high, f"{name}{pairs[i]} lies below hi + lo - radius"
        assert low <= middle + radius, f"{name}{pairs[i]} lies above hi + lo + radius"


def near_pythagorean(fmt: Format, sign: int, rng: np.random.Generator) -> tuple[int, int, int]:
    """x, y and p with x^2 + y^2 = p^2 - sign, by factors of (p - x) (p + x) = y^2 + sign.

    y^2 + 1 is the norm of (a + b i)(c + d i) = y + i, so that a d + b c = 1; y^2 - 1 is (u s)(v t) with u s = y - 1 and
    v t = y + 1.
    """
    size = fmt.precision // 2 + 1
    first, second = odd(rng, size), odd(rng, size)
    if gcd(first, second) != 1:
        return near_pythagorean(fmt, sign, rng)
    if sign > 0:
        a, b = first, second - 1
        if gcd(a, b) != 1:
            return near_pythagorean(fmt, sign, rng)
        d = pow(a, -1, b)
        c = (1 - a * d) // b
        factors, y = (a * a + b * b, c * c + d * d), abs(a * c - b * d)
    else:
        u, v = first, second
        y = 1 + u * (-2 * pow(u, -1, v) % v)
        factors = u * (y + 1) // v, v * (y - 1) // u
    return abs(factors[0] - factors[1]) // 2, y, sum(factors) // 2


@BOTH
@pytest.mark.parametrize("sign", [-1, 1])
def test_hypotenuses(fmt: Format, sign: int) -> None:
    """sqrt(p^2 +- 1), p a midpoint: 1 / 2p from it."""
    rng, pairs, midpoints = np.random.default_rng(41), [], []
    while len(pairs) < 40:
        x, y, p = near_pythagorean(fmt, sign, rng)
        is_midpoint = p % 2 == 1 and p.bit_length() == fmt.precision + 1
        if is_midpoint and x * x + y * y == p * p - sign and max(x, y) < 2**fmt.precision:
            pairs.append((float(x), float(y)))
            midpoints.append(p)
    value, _ = functions.apply("hypot", fmt, *(np.array(side) for side in zip(*pairs, strict=True)))
    for got, p in zip(value, midpoints, strict=True):
        assert got.tobytes() == round_fraction(fmt, p - Fraction(sign, 4)).tobytes()
    check_real("hypot", fmt, pairs)


def convergents(number: mpmath.mpf, largest: int) -> tuple[int, int]:
    """The last convergent p / q of the number's continued fraction with p and q below `largest`."""
    before, last, rest = (0, 1), (1, 0), number
    while True:
        digit = int(mpmath.floor(rest))
        p, q = (digit * n + m for m, n in zip(before, last, strict=True))
        if max(p, q) >= largest:
            return last
        before, last, rest = last, (p, q), 1 / (rest - digit)


@BOTH
def test_angles(fmt: Format) -> None:
    """atan2(y, x), y / x a convergent of tan m, m a midpoint."""
    rng, pairs = np.random.default_rng(42), []
    with mpmath.workprec(400):
        for _ in range(40):
            m = mpmath.ldexp(odd(rng, fmt.precision + 1), -fmt.precision - int(rng.integers(0, 6)))
            pairs.append(tuple(map(float, convergents(mpmath.tan(m), 2**fmt.precision))))
    check_real("atan2", fmt, pairs)


@BOTH
def test_products_with_logarithms(fmt: Format) -> None:
    """x log y, k / x a convergent of 2 log y and k odd: k / 2 is a midpoint where it has one bit too many."""
    rng, pairs = np.random.default_rng(43), []
    with mpmath.workprec(400):
        while len(pairs) < 25:
            y = 1 + odd(rng, fmt.precision) * 2.0**-fmt.precision
            y = float(np.float64(y).astype(fmt.storage))
            scaled = 2 * mpmath.log(y)
            scaled = mpmath.ldexp(scaled, 1 - mpmath.mag(scaled))  # 1 <= scaled < 2
            k, x = convergents(scaled, 2 ** (fmt.precision + 1))
            if k % 2 and k.bit_length() == fmt.precision + 1 and x < 2**fmt.precision:
                pairs.append((float(x), y))
    check_real("xlogy", fmt, pairs)


@BOTH
def test_sums_of_exponentials(fmt: Format) -> None:
    """x + log(1 + e^(y - x)), the logarithm next to half an ulp of x: the nearest of some hundreds of y."""
    rng, drawn = np.random.default_rng(44), []
    with mpmath.workprec(400):
        for _ in range(400):
            x = odd(rng, fmt.precision) * 2.0 ** (int(rng.integers(-3, 4)) - fmt.precision)
            half_ulp = mpmath.mpf(float(np.spacing(fmt.storage.type(x)))) / 2
            best = x + mpmath.log(mpmath.expm1(half_ulp))
            y = float(fmt.storage.type(float(best)))
            drawn.append((abs(best - y), (x, y)))
    check_real("logaddexp", fmt, [pair for _, pair in sorted(drawn)[:25]])


@BOTH
def test_powers_beside_one(fmt: Format) -> None:
    """(1 + d)^y = 1 + y d + y (y - 1) d^2 / 2 + ..., y d an odd multiple of half an ulp of 1."""
    ulp = 2.0**-fmt.mantissa_bits
    halves = [(1 + n * ulp, y) for n in (1, -1, 3, -5) for y in (0.5, 1.5, -2.5, 7.5, 1001.5)]
    wider = [(1 + n * 2**k * ulp, m / 2 ** (k + 1)) for n in (1, 3) for m in (1, 3, -7) for k in (1, 2, 5, 9)]
    check_real("pow", fmt, [(x, y) for x, y in halves + wider if Fraction(x) != 1])


@pytest.mark.parametrize("name", ["gelu", "silu"])
def test_halves_of_the_smallest_numbers(name: str) -> None:
    """x / 2 + c x^2, x / 2 halfway between two subnormals."""
    for fmt in (FLOAT32, FLOAT64):
        x = np.array([n * fmt.min_subnormal for n in (1, 3, -1, -3, 5, 1001, -1003)])
        value, _ = functions.apply(name, fmt, x)
        exact = [Fraction(float(number)) / 2 + Fraction(1, 2**1300) for number in x]
        assert [v.tobytes() for v in value] == [round_fraction(fmt, number).tobytes() for number in exact]


# Asymptotes: an operand, or 1, and a term that no precision can add to it


def over_the_whole_range(count: int, seed: int) -> np.ndarray:
    """float64 of every exponent, half of them between 2^-80 and 2^80."""
    rng = np.random.default_rng(seed)
    exponent = np.where(rng.random(count) < 0.5, rng.uniform(-1074, 1023, count), rng.uniform(-80, 80, count))
    significand = rng.choice([1.0, 1.5, 1.25], count) + rng.choice([0.0, 2.0**-30], count)
    return np.ldexp(significand, np.floor(exponent).astype(int)) * rng.choice([-1.0, 1.0], count)


@pytest.mark.parametrize("name", functions.names())
def test_the_whole_range_is_answered(name: str) -> None:
    """None is Unjudged, and the last rung alone, which has to tell x from x + e^(-10^300), says the same."""
    operands = tuple(over_the_whole_range(150, seed) for seed in ((51, 52) if name in BINARY else (51,)))
    value, _ = functions.apply(name, FLOAT64, *operands)
    alone = replace(FUNCTIONS[name], float64_error=np.inf, double_double=unreachable)
    again, _ = ladder.evaluate(alone, FLOAT64, operands)
    np.testing.assert_array_equal(value, again)


@BOTH
def test_an_operand_and_a_vanishing_exponential(fmt: Format) -> None:
    x = np.array([10.723546504974365, -10.723546504974365, 1.0, -1.0, 2.0**-100, -(2.0**-120), 2.0**100])
    x = x.astype(fmt.storage).astype(np.float64)
    for y in (-2.385344434410619e17, -1e30, -2.0**127 if fmt == FLOAT32 else -1e300):
        value, real = functions.apply("logaddexp", fmt, x, np.full_like(x, float(fmt.storage.type(y))))
        assert value.tolist() == x.tolist()
        assert (real.radius > 0).all()  # x is not the sum


@pytest.mark.parametrize("k", [0, 40, 100])
def test_a_midpoint_and_a_vanishing_logarithm(k: int) -> None:
    """(1 - target) x, 3 (2^23 + 3) units, is halfway between two float32; to it comes log(1 + e^-x)."""
    x, target = (2.0**23 + 3) * 2.0**k, 1 - 3 * 2.0**-24
    operands = np.array([x], np.float32), np.array([target], np.float32)
    golden = evaluate("aten::binary_cross_entropy_with_logits", (*operands, None, None, 0), {}).goldens[0]
    assert golden.value.tolist() == [25165834 * 2.0 ** (k - 24)]
    assert golden.real.radius[0] > 0
