"""ULP errors: literals at the powers of two, subnormals, overflow and the classes; Fraction in between."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from conform.numerics.formats import FORMATS, Format
from conform.numerics.parts import parts_of
from conform.numerics.real import Real
from conform.numerics.rounding import round_fraction, round_to
from conform.numerics.ulp import error_ulp, ulp

F16, BF16, F32, F64 = (FORMATS[name] for name in ("float16", "bfloat16", "float32", "float64"))
E4M3FN, E5M2FNUZ, E2M1FN = (FORMATS[name] for name in ("float8_e4m3fn", "float8_e5m2fnuz", "float4_e2m1fn"))
INF, NAN = float("inf"), float("nan")


def error(
    fmt: Format, actual: float, hi: float, lo: float = 0.0, radius: float = 0.0, rest: float | None = None
) -> float:
    real = Real(*np.array([[hi], [lo], [radius]]), None if rest is None else np.array([rest]))
    return float(error_ulp(fmt, np.array([actual]).astype(fmt.storage), real)[0])


@pytest.mark.parametrize(
    ("fmt", "x", "expected"),
    [
        (F32, 1.0, 2.0**-23),
        (F32, -1.9999999, 2.0**-23),
        (F32, 2.0, 2.0**-22),
        (F32, 0.0, 2.0**-149),
        (F32, 1e-45, 2.0**-149),
        (F32, 1e300, 2.0**104),
        (F16, 2.0**-15, 2.0**-24),
        (BF16, 3.0, 2.0**-6),
        (F64, 5e-324, 2.0**-1074),
        (F64, 1.7e308, 2.0**971),
        (E4M3FN, 448.0, 32.0),
        (E2M1FN, 0.3, 0.5),
        (F32, INF, NAN),
        (F32, NAN, NAN),
    ],
)
def test_ulp(fmt, x, expected):
    np.testing.assert_array_equal(ulp(fmt, np.float64(x)), expected)


@pytest.mark.parametrize(
    ("fmt", "actual", "hi", "lo", "expected"),
    [
        (F32, 1.0, 1 + 2.0**-24, 0.0, 0.5),
        (F32, 1.0, 1.0, -(2.0**-60), 2.0**-36),  # just below 1 the unit is half as large
        (F32, 1.0, 1.0, 2.0**-60, 2.0**-37),
        (F64, 1.0, 1.0, 2.0**-54, 0.25),
        (F64, 1 + 2.0**-52, 1.0, 2.0**-54, 0.75),
        (F64, 1.0, 1.0, -(2.0**-55), 0.25),
        (F64, 0.0, 5e-324, 0.0, 1.0),
        (F32, 0.0, 2.0**-150, 0.0, 0.5),
        (F32, -0.0, 0.0, 0.0, 0.0),
        (F32, 2.0**-149, 0.0, 0.0, 1.0),
        (F16, -1.0, 1.0, 0.0, 2048.0),
        (E2M1FN, 6.0, 100.0, 0.0, 0.0),
        (E2M1FN, 4.0, 100.0, 0.0, 1.0),
    ],
)
def test_errors(fmt, actual, hi, lo, expected):
    assert error(fmt, actual, hi, lo) == expected


@pytest.mark.parametrize(
    ("fmt", "actual", "hi", "expected"),
    [
        (F16, INF, 65504.0, 1.0),
        (F16, INF, 65520.0, 0.5),
        (F16, 65504.0, 65520.0, 0.5),
        (F16, INF, 65536.0, 0.0),
        (F16, INF, 1e300, 0.0),
        (F16, 65504.0, 1e300, 1.0),
        (F16, -INF, 1e300, 4096.0),
        (F16, INF, 1.0, 65536 * 1024.0 - 1024),
        (F64, INF, 1.7976931348623157e308, 1.0),
        (E4M3FN, NAN, 448.0, 1.0),
        (E4M3FN, NAN, -1000.0, 0.0),
        (E4M3FN, 448.0, 1000.0, 1.0),
        (E4M3FN, NAN, 1.0, INF),
        (E5M2FNUZ, NAN, 61440.0, 0.5),
    ],
)
def test_around_the_largest_number(fmt, actual, hi, expected):
    assert error(fmt, actual, hi) == expected


@pytest.mark.parametrize(
    ("actual", "hi", "radius", "expected"),
    [
        (NAN, NAN, 0.0, 0.0),
        (1.0, NAN, 0.0, INF),
        (INF, NAN, 0.0, INF),
        (NAN, 1.0, 0.0, INF),
        (NAN, INF, 0.0, INF),
        (INF, INF, 0.0, 0.0),
        (-INF, INF, 0.0, INF),
        (3e38, INF, 0.0, INF),  # a pole
        (INF, INF, INF, 0.0),  # a finite number beyond float64
        (-INF, -INF, INF, 0.0),
        (1.0, 0.0, INF, NAN),  # nothing known
    ],
)
def test_classes(actual, hi, radius, expected):
    np.testing.assert_array_equal(error(F32, actual, hi, 0.0, radius), expected)


def test_a_finite_number_beyond_float64_is_one_unit_from_the_largest():
    assert error(F64, F64.max_finite, INF, 0.0, INF) == 1.0


@pytest.mark.parametrize("fmt", [F16, BF16, F32, F64, E4M3FN], ids=lambda fmt: fmt.name)
def test_against_fractions(fmt):
    rng = np.random.default_rng(1)
    low, high = max(fmt.emin - fmt.precision, -1060), min(fmt.emax, 1000)
    hi = np.ldexp(rng.uniform(-2, 2, 800), rng.integers(low, high, 800))
    lo = np.spacing(hi) * rng.uniform(-0.5, 0.5, 800)
    lo = np.where(hi + lo == hi, lo, 0.0)
    actual = round_to(fmt, hi * rng.choice([1.0, 1 + 2.0**-fmt.precision, 1.5, -1.0], 800))
    errors = error_ulp(fmt, actual, Real(hi, lo, np.zeros(800)))
    for value, h, low_part, found in zip(actual.astype(float), hi, lo, errors, strict=True):
        exact = Fraction(float(h)) + Fraction(float(low_part))
        exponent = max(fmt.emin, exact.numerator.bit_length() - exact.denominator.bit_length() - 1)
        while abs(exact) >= Fraction(2) ** (exponent + 1):
            exponent += 1
        expected = abs(Fraction(float(value)) - exact) / Fraction(2) ** (exponent - fmt.mantissa_bits)
        assert abs(Fraction(float(found)) - expected) <= expected / 2**50


@pytest.mark.parametrize(
    ("actual", "hi", "lo", "rest", "expected"),
    [
        (5e-324, 5e-324, 0.0, 0.271, 0.271),
        (0.0, 0.0, 0.0, 0.25, 0.25),
        (-0.0, -0.0, 0.0, -0.25, 0.25),
        (5e-324, 0.0, 0.0, 0.4, 0.6),
        (2.0**-1022, 2.0**-1022, 0.0, -0.5, 0.5),
        (2.0**-1021, 2.0**-1021, 5e-324, 0.5, 0.75),  # the ulp is two units there
        (INF, F64.max_finite, 2.0**970, None, 0.5),  # between the largest number and 2^1024
        (F64.max_finite, F64.max_finite, 2.0**970, None, 0.5),
        (INF, F64.max_finite, 2.0**971 - 2.0**918, None, 2.0**-53),
        (F64.max_finite, F64.max_finite, 2.0**970 * 1.5, None, 0.75),
        (-INF, -F64.max_finite, -(2.0**970) * 1.5, None, 0.25),
        (F64.max_finite, F64.max_finite, -(2.0**969), None, 0.25),
    ],
)
def test_what_float64_alone_cannot_hold(actual, hi, lo, rest, expected):
    assert error(F64, actual, hi, lo, 5e-324, rest) == expected


def exact_error(fmt: Format, actual: float, real: Fraction) -> Fraction | float:
    """|actual - real| / ulp(real) by the definition, on fractions alone: the ulp is 2^(e - mantissa_bits), e the
    exponent of the real between emin and emax; an overflow, and all beyond it, is the number after the largest."""
    largest, last_ulp = Fraction(fmt.max_finite), Fraction(2) ** (fmt.emax - fmt.mantissa_bits)
    edge = largest + last_ulp if fmt.has_inf or fmt.has_nan else largest
    exponent = abs(real).numerator.bit_length() - real.denominator.bit_length() - 1  # or one more
    exponent = min(max(exponent, fmt.emin), fmt.emax) if real else fmt.emin
    while exponent < fmt.emax and abs(real) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    real = max(min(real, edge), -edge)
    if np.isnan(actual):  # the overflow of a format without infinity
        if fmt.has_inf or abs(real) <= edge / 2:
            return INF
        number = edge if real > 0 else -edge
    else:
        number = Fraction(actual) if np.isfinite(actual) else edge * (1 if actual > 0 else -1)
    return abs(number - real) / Fraction(2) ** (exponent - fmt.mantissa_bits)


def edges(fmt: Format) -> list[Fraction]:
    """Zero, the subnormals and what lies between them, powers of two, the largest number and its overflow."""
    least, normal, largest = (Fraction(x) for x in (fmt.min_subnormal, fmt.min_normal, fmt.max_finite))
    last_ulp = Fraction(2) ** (fmt.emax - fmt.mantissa_bits)
    small = [least * Fraction(n, 16) for n in (0, 1, 4, 7, 8, 9, 16, 20, 24, 40)]
    normal_edge = [normal + least * Fraction(n, 8) for n in (-12, -4, -1, 0, 1, 4, 12)]
    exponents = {e for e in (fmt.emin + 1, (fmt.emin + fmt.emax) // 2, 0, fmt.emax) if fmt.emin <= e <= fmt.emax}
    powers = [Fraction(2) ** e * (1 + Fraction(n, 2**60)) for e in exponents for n in (-1, 0, 1)]
    overflow = [largest + last_ulp * Fraction(n, 8) for n in (-12, -4, -1, 0, 1, 3, 4, 5, 7)]
    numbers = [x for x in (*small, *normal_edge, *powers, *overflow) if x >= 0]
    return numbers + [-x for x in numbers if x] if fmt.is_signed else numbers


@pytest.mark.parametrize("fmt", [fmt for fmt in FORMATS.values() if fmt.is_float], ids=lambda fmt: fmt.name)
def test_the_definition_at_every_edge(fmt):
    reals = edges(fmt)
    codes = {float(round_fraction(fmt, real)) for real in reals}
    actuals = sorted(x for x in codes if np.isfinite(x)) + [-INF, INF] * fmt.has_inf + [NAN] * fmt.has_nan
    for real in reals:
        parts = parts_of(real)
        for actual in actuals:
            found = error(fmt, actual, *parts)
            expected = exact_error(fmt, actual, real)
            where = f"{actual!r} against {parts}"
            if expected > Fraction(F64.max_finite):  # INF, or more ulps than float64 can count
                assert found == INF, where
            else:
                assert abs(Fraction(found) - expected) <= expected / 2**48, f"{where}: {found}, {float(expected)}"


def test_rounded_results_are_within_half_an_ulp():
    hi = np.random.default_rng(2).standard_normal(1000) * np.geomspace(1e-9, 1e5, 1000)
    for fmt in (F16, BF16, F32, F64):
        errors = error_ulp(fmt, round_to(fmt, hi), Real.exact(hi))
        assert (errors <= 0.5).all()


@pytest.mark.parametrize("fmt", [F16, BF16, F32, E4M3FN, E5M2FNUZ, E2M1FN], ids=lambda fmt: fmt.name)
def test_an_error_is_the_same_whatever_stands_beside_it(fmt):
    """Arrays of plain numbers take a shorter way; a number with lo among them makes all of them take the other."""
    rng = np.random.default_rng(2)
    edges = [0.0, -0.0, 5e-324, -1e-310, 1e-300, fmt.min_normal, -fmt.min_subnormal / 2, 1.0]
    hi = np.append(np.ldexp(rng.uniform(-2, 2, 500), rng.integers(fmt.emin - 30, fmt.emax - 1, 500)), edges)
    actual = round_to(fmt, hi * rng.choice([0.0, 1.0, 1.5, -1.0], hi.size))
    assert np.isfinite(actual.astype(np.float64)).all()
    zeros = np.zeros(hi.size)
    plain = error_ulp(fmt, actual, Real(hi, zeros, zeros))
    lo = np.append(zeros, 2.0**-60)
    among = error_ulp(fmt, np.append(actual, actual[:1]), Real(np.append(hi, 1.0), lo, np.zeros(lo.size)))
    assert plain.tobytes() == among[:-1].tobytes()
