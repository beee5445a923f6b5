"""Rounding: literals; every code, midpoint and neighbour of the formats up to 16 bits; Fractions for the wide ones."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conform.numerics import rounding
from conform.numerics.formats import FORMATS, Format
from conform.numerics.real import Real
from conform.numerics.rounding import (
    DOWN,
    NEAREST_EVEN,
    TOWARD_ZERO,
    UP,
    Mode,
    convert,
    decide,
    in_integer_range,
    round_fraction,
    round_to,
)

F16, BF16, F32, F64 = (FORMATS[name] for name in ("float16", "bfloat16", "float32", "float64"))
E4M3FN, E8M0FNU, E2M1FN = (FORMATS[name] for name in ("float8_e4m3fn", "float8_e8m0fnu", "float4_e2m1fn"))
SMALL_FLOATS = [fmt for fmt in FORMATS.values() if fmt.is_float and fmt.bits <= 16]
INF, NAN = float("inf"), float("nan")


def slowly_rounded(fmt: Format, x: Fraction, mode: Mode = NEAREST_EVEN) -> float:
    """x rounded to a format with infinities, from IEEE 754-2019 4.3: the two neighbours, then a choice."""
    exponent = max(fmt.emin, x.numerator.bit_length() - x.denominator.bit_length() - 1)
    while abs(x) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    unit = Fraction(2) ** (exponent - fmt.mantissa_bits)
    below, above = x // unit * unit, -(-x // unit) * unit
    if mode is NEAREST_EVEN:
        even = below if below / unit % 2 == 0 else above
        chosen = below if x - below < above - x else above if x - below > above - x else even
    else:
        chosen = {UP: above, DOWN: below, TOWARD_ZERO: below if x > 0 else above}[mode]
    if abs(chosen) > Fraction(fmt.max_finite):
        outward = mode is NEAREST_EVEN or (mode is UP and x > 0) or (mode is DOWN and x < 0)
        magnitude = INF if outward else fmt.max_finite
    else:
        magnitude = float(abs(chosen))
    return -magnitude if x < 0 else magnitude


def assert_same(actual: np.ndarray, expected: np.ndarray) -> None:
    """Equal values, signs of zeros included; NaN equals NaN."""
    actual, expected = np.asarray(actual).astype(np.float64), np.asarray(expected).astype(np.float64)
    np.testing.assert_array_equal(actual, expected)
    zero = expected == 0
    np.testing.assert_array_equal(np.signbit(actual[zero]), np.signbit(expected[zero]))


@pytest.mark.parametrize(
    ("fmt", "hi", "lo", "expected"),
    [
        (F16, 65519.99999, 0.0, 65504.0),
        (F16, 65520.0, 0.0, INF),
        (F16, 65520.0, -(2.0**-60), 65504.0),
        (F16, 1 + 2.0**-11, 0.0, 1.0),
        (F16, 1 + 2.0**-11, 2.0**-70, 1 + 2.0**-10),
        (F16, 2.0**-25, 0.0, 0.0),
        (F16, -(2.0**-25), -(2.0**-80), -(2.0**-24)),
        (F16, -1e-300, 0.0, -0.0),
        (BF16, 1 + 2.0**-8 + 2.0**-32, 0.0, 1 + 2.0**-7),  # through float32 it would be 1
        (F32, 1 + 2.0**-24 + 2.0**-52, -(2.0**-60), 1 + 2.0**-23),
        (F32, 2.0**-149 * 0.5, 2.0**-203, 2.0**-149),
        (F64, 1.0, 2.0**-53, 1.0),
        (F64, 1 + 2.0**-52, 2.0**-53, 1 + 2.0**-51),
        (F64, 1.7976931348623157e308, 2.0**970, INF),
        (F64, -0.0, 0.0, -0.0),
        (E4M3FN, 464.0, 0.0, 448.0),
        (E4M3FN, 464.0, 2.0**-45, NAN),
        (E4M3FN, -INF, 0.0, NAN),
        (E2M1FN, 1e9, 0.0, 6.0),
        (E2M1FN, -INF, 0.0, -6.0),
        (E2M1FN, NAN, 0.0, 0.0),
        (E8M0FNU, 1.5, 0.0, 2.0),  # one digit: ties away, IEEE 754-2019 4.3.1
        (E8M0FNU, 0.0, 0.0, 2.0**-127),
        (E8M0FNU, -1.0, 0.0, NAN),
    ],
)
def test_single_roundings(fmt, hi, lo, expected):
    assert_same(round_to(fmt, np.float64(hi), np.float64(lo)), expected)


@pytest.mark.parametrize(
    ("fmt", "x", "nearest", "toward_zero", "up", "down", "saturated"),
    [
        (F16, 1e6, INF, 65504.0, INF, 65504.0, 65504.0),
        (F16, -1e6, -INF, -65504.0, -65504.0, -INF, -65504.0),
        (F16, -INF, -INF, -INF, -INF, -INF, -65504.0),
        (F64, -INF, -INF, -INF, -INF, -INF, -F64.max_finite),
        (F32, -1e-60, -0.0, -0.0, -0.0, -(2.0**-149), -0.0),
        (F64, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0),
        (E4M3FN, 1e6, NAN, 448.0, NAN, 448.0, 448.0),
        (E4M3FN, INF, NAN, NAN, NAN, NAN, 448.0),
        (E4M3FN, NAN, NAN, NAN, NAN, NAN, NAN),
        (FORMATS["float8_e5m2fnuz"], -1e-9, 0.0, 0.0, 0.0, -(2.0**-17), 0.0),
        (FORMATS["float6_e2m3fn"], 1e6, 7.5, 7.5, 7.5, 7.5, 7.5),
    ],
)
def test_directed_modes_and_saturation(fmt, x, nearest, toward_zero, up, down, saturated):
    x = np.float64(x)
    for mode, expected in ((NEAREST_EVEN, nearest), (TOWARD_ZERO, toward_zero), (UP, up), (DOWN, down)):
        assert_same(round_to(fmt, x, mode=mode), expected)
    assert_same(round_to(fmt, x, saturate=True), saturated)


# -- exhaustion of the formats up to 16 bits --------------------------------------------------------------------------


def positive_numbers(fmt: Format) -> np.ndarray:
    """The positive numbers of a format in order, and the one that would follow the largest."""
    codes = np.arange(1 << (fmt.bits - fmt.is_signed), dtype=fmt.code_storage)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        values = codes.view(fmt.storage).astype(np.float64)
    values = values[np.isfinite(values) & (values > 0)]
    return np.append(values, values[-1] + (values[-1] - values[-2] if fmt.mantissa_bits else values[-1]))


def magnitude_by_table(fmt: Format, numbers: np.ndarray, x: np.ndarray, mode: Mode) -> np.ndarray:
    """|rounded| for x >= 0, by looking up both neighbours among 0 and `numbers`; `mode` is that for |x|."""
    table = np.concatenate([[0.0], numbers])
    index = np.minimum(np.searchsorted(table, x, side="right") - 1, len(table) - 2)
    below, above = table[index], table[index + 1]
    middle = below + (above - below) / 2
    even = np.where(index % 2 == 0, below, above) if fmt.mantissa_bits else above
    nearest = np.where(x < middle, below, np.where(x > middle, above, even))
    return {
        NEAREST_EVEN: nearest,
        TOWARD_ZERO: np.where(x >= above, above, below),
        DOWN: np.where(x >= above, above, below),
        UP: np.where(x == below, below, above),
    }[mode]


def rounded_by_table(fmt: Format, numbers: np.ndarray, x: np.ndarray, mode: Mode) -> np.ndarray:
    mirrored = {UP: DOWN, DOWN: UP}.get(mode, mode)
    magnitude = np.where(
        np.signbit(x),
        magnitude_by_table(fmt, numbers, np.abs(x), mirrored),
        magnitude_by_table(fmt, numbers, np.abs(x), mode),
    )
    outward = (mode is NEAREST_EVEN) | ((mode is UP) & ~np.signbit(x)) | ((mode is DOWN) & np.signbit(x))
    overflow = fmt.max_finite if not fmt.has_nan else np.where(outward, INF if fmt.has_inf else NAN, fmt.max_finite)
    magnitude = np.where(magnitude > fmt.max_finite, overflow, magnitude)
    if not fmt.has_zero:
        return np.where(x < 0, NAN, np.maximum(magnitude, fmt.min_normal))
    signed = np.copysign(magnitude, x)
    return signed if fmt.has_negative_zero else signed + 0.0


@pytest.mark.parametrize("fmt", SMALL_FLOATS, ids=lambda fmt: fmt.name)
def test_every_number_midpoint_and_neighbour(fmt):
    numbers = positive_numbers(fmt)
    lower = np.concatenate([[0.0], numbers[:-1]])
    middles = lower + (numbers - lower) / 2
    points = np.concatenate([[0.0], numbers, middles, numbers[-1:] * 1.5, [1e300]])
    points = np.concatenate([points, np.nextafter(points, 0), np.nextafter(points, INF)])
    x = np.concatenate([points, -points])
    for mode in Mode:
        assert_same(round_to(fmt, x, mode=mode), rounded_by_table(fmt, numbers, x, mode))


@pytest.mark.parametrize("fmt", SMALL_FLOATS, ids=lambda fmt: fmt.name)
def test_lo_tells_the_side_of_every_number_and_midpoint(fmt):
    """hi + lo with the smallest lo rounds as hi's float64 neighbour on that side does."""
    numbers = positive_numbers(fmt)
    lower = np.concatenate([[0.0], numbers[:-1]])
    points = np.concatenate([numbers, lower + (numbers - lower) / 2])
    x = np.concatenate([points, -points])
    for lo in (2.0**-1074, -(2.0**-1074)):
        neighbour = np.nextafter(x, np.copysign(INF, lo))
        for mode in Mode:
            expected = rounded_by_table(fmt, numbers, neighbour, mode)
            assert_same(round_to(fmt, x, np.full_like(x, lo), mode), expected)


# -- the wide formats --------------------------------------------------------------------------------------------------

finite = st.floats(allow_nan=False, allow_infinity=False)
near_float32_bits = st.builds(
    lambda code, half, nudge: float(np.uint32(code).view(np.float32)) * (1 + half * 2.0**-24 + nudge * 2.0**-52),
    st.integers(0, 0xFF7FFFFF).filter(lambda code: code & 0x7F800000 != 0x7F800000),
    st.sampled_from([0, 1, -1]),
    st.sampled_from([0, 1, -1]),
)


@st.composite
def sums(draw) -> tuple[float, float]:
    """(hi, lo) with |lo| <= ulp(hi) / 2: half an ulp, next to it, arbitrary or zero."""
    hi = draw(finite | near_float32_bits)
    half = math.ulp(hi) / 2
    lo = draw(st.sampled_from([0.0, half, -half, half * (1 - 2.0**-53), -half / 3, half * 2.0**-300]))
    total = hi + lo
    return (hi, lo) if total == hi else (hi, 0.0)


@settings(max_examples=1500, deadline=None)
@given(pair=sums(), fmt=st.sampled_from([F16, BF16, F32, F64]), mode=st.sampled_from(list(Mode)))
@example((1.7976931348623157e308, 2.0**969), F64, UP)
@example((5e-324, 0.0), F32, UP)
@example((-5e-324, 0.0), F32, DOWN)
def test_wide_formats_against_fractions(pair, fmt, mode):
    hi, lo = pair
    exact = Fraction(hi) + Fraction(lo)
    expected = np.copysign(0.0, hi) if exact == 0 else slowly_rounded(fmt, exact, mode)
    assert_same(round_to(fmt, np.float64(hi), np.float64(lo), mode), expected)


@settings(max_examples=500, deadline=None)
@given(
    st.fractions() | st.builds(lambda x, k: Fraction(x) * Fraction(2) ** k, finite, st.integers(-1200, 200)),
    st.sampled_from([F16, BF16, F32, F64]),
)
def test_round_fraction(number, fmt):
    assert_same(round_fraction(fmt, number), slowly_rounded(fmt, number))


def test_round_fraction_of_specials():
    assert_same(round_fraction(F32, Fraction(0), zero_sign=-1.0), -0.0)
    assert_same(round_fraction(F64, Fraction(-1, 10**400)), -0.0)
    assert_same(round_fraction(F64, Fraction(2) ** 1024 - Fraction(2) ** 970), INF)
    assert_same(round_fraction(F64, Fraction(2) ** 1024 - Fraction(2) ** 970 - 1), F64.max_finite)
    assert_same(round_fraction(E4M3FN, Fraction(465)), NAN)
    assert_same(round_fraction(E2M1FN, Fraction(465)), 6.0)
    assert_same(round_fraction(E8M0FNU, Fraction(1, 10**99)), 2.0**-127)
    assert_same(round_fraction(E8M0FNU, Fraction(-1, 10**99)), NAN)


# -- decide ------------------------------------------------------------------------------------------------------------


def test_decide_literals():
    hi = np.array([1 + 2.0**-11, 1 + 2.0**-11, 1.5, 0.0, 0.0, 1e300, INF, NAN, 0.0, -0.0, 70000.0])
    lo = np.zeros_like(hi)
    radius = np.array([0.0, 2.0**-80, 2.0**-80, 2.0**-80, INF, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    value, undecided = decide(F16, Real(hi, lo, radius))
    assert undecided.tolist() == [False, True, False, True, True, *[False] * 6]
    assert_same(value[~undecided], [1.0, 1.5, INF, INF, NAN, 0.0, -0.0, INF])


@pytest.mark.parametrize("radius", [1e9, INF])
@pytest.mark.parametrize("fmt", SMALL_FLOATS, ids=lambda fmt: fmt.name)
def test_an_enclosure_of_all_numbers_decides_nothing(fmt, radius):
    assert decide(fmt, Real(*np.array([[0.0], [0.0], [radius * 2.0**128]])))[1].tolist() == [True]


@settings(max_examples=500, deadline=None)
@given(sums(), st.sampled_from([0.0, 2.0**-60, 2.0**-53, 2.0**-25, 0.75, 1.5]), st.sampled_from([F16, F32, F64]))
def test_decide_is_right_wherever_it_decides(pair, relative_radius, fmt):
    hi, lo = pair
    radius = abs(hi) * relative_radius
    if not np.isfinite(radius):
        return
    value, undecided = decide(fmt, Real(*np.array([[hi], [lo], [radius]])))
    ends = [Fraction(hi) + Fraction(lo) + sign * Fraction(radius) for sign in (-1, 1)]
    rounded = [np.copysign(0.0, hi) if end == 0 else slowly_rounded(fmt, end) for end in ends]
    if not undecided[0]:
        assert_same(rounded, [value[0]] * 2)
    else:
        slack = (Fraction(radius) + abs(Fraction(lo))) / 2**45
        below, above = slowly_rounded(fmt, ends[0] - slack), slowly_rounded(fmt, ends[1] + slack)
        assert below != above or math.copysign(1, below) != math.copysign(1, above)


@pytest.mark.parametrize("fmt", [F16, BF16, F32], ids=lambda fmt: fmt.name)
@pytest.mark.parametrize("share", [0.0, 2.0**-80, 2.0**-51, 2.0**-40])
def test_what_float64_decides_is_what_the_ends_decide(fmt, share):
    """Beside midpoints of every binade: of a radius, of none, of zeros, infinities and NaN."""
    codes = np.arange(0, 1 << (fmt.bits - 1), 1 << max(0, fmt.bits - 17), dtype=fmt.code_storage)
    near = rounding.widened(codes.view(fmt.storage), fmt)
    near = near[np.isfinite(near)]
    moved = (near * (1 + 2.0 ** -(fmt.mantissa_bits + 1))).view(np.int64) + np.arange(-2, 3)[:, None]
    hi = np.concatenate([near, -near, *moved.view(np.float64), [np.inf, -np.inf, np.nan]])
    lo = np.where(np.isfinite(hi), np.spacing(hi) * 2.0**-3, 0.0) * (np.arange(hi.size) % 3 - 1)
    finite = np.where(np.isfinite(hi), hi, 0.0)
    radius = np.where(np.isfinite(hi), np.abs(finite) * share + 2.0**-1074, 0.0)
    real = Real(hi, np.where(hi + lo == hi, lo, 0.0), radius)
    value, undecided = decide(fmt, real)
    expected, open_ = rounding._by_ends(fmt, real)
    np.testing.assert_array_equal(undecided, open_)
    np.testing.assert_array_equal(value[~open_].view(fmt.code_storage), expected[~open_].view(fmt.code_storage))
    assert undecided.any()
    assert not undecided.all()


# -- conversion --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "target", "numbers", "expected"),
    [
        ("int64", "float32", [2**24 + 1, 2**63 - 1, -(2**63)], [2.0**24, 2.0**63, -(2.0**63)]),
        ("int64", "float32", [2**60 + 2**36 + 1], [2.0**60 + 2.0**37]),  # through float64 it would be 2^60
        ("int64", "float64", [2**53 + 1, 2**53 + 3, 2**63 - 1], [2.0**53, 2.0**53 + 4, 2.0**63]),
        ("int64", "bfloat16", [2**40 + 2**32 + 1], [2.0**40 + 2.0**33]),  # through float32 it would be 2^40
        ("uint64", "float64", [2**64 - 1, 2**64 - 1025, 2**63 + 1], [2.0**64, 2.0**64 - 2048, 2.0**63]),
        ("uint64", "float16", [65519, 65520], [65504.0, INF]),
        ("bool", "bfloat16", [True, False], [1.0, 0.0]),
        ("float64", "int8", [1.9, -1.9, 127.9, -128.9, -0.5], [1, -1, 127, -128, 0]),
        ("float32", "uint8", [255.5, -0.9], [255, 0]),
        ("float64", "int64", [-(2.0**63), 2.0**62], [-(2**63), 2**62]),
        ("float64", "uint64", [2.0**63, 2.0**64 - 2048], [2**63, 2**64 - 2048]),
        ("int64", "int8", [128, -129, 2**32 + 5], [-128, 127, 5]),
        ("int16", "uint64", [-1], [2**64 - 1]),
        ("uint64", "int64", [2**63], [-(2**63)]),
        ("int32", "int4", [7, 8, -9], [7, -8, 7]),
        ("int32", "uint4", [15, 16, -1], [15, 0, 15]),
        ("float32", "bool", [0.0, -0.0, 1e-45, NAN, INF], [False, False, True, True, True]),
        ("complex64", "bool", [0, 1j, complex(NAN, 0)], [False, True, True]),
        ("complex128", "float16", [1 + 2j, complex(-0.0, 1)], [1.0, -0.0]),
        ("complex128", "int32", [-2.7 + 9j], [-2]),
        ("float64", "complex64", [1 + 2.0**-24, NAN], [1.0, NAN]),
        ("int64", "complex128", [2**53 + 1], [2.0**53]),
        ("float8_e5m2", "float8_e4m3fn", [448.0, 512.0, INF, -0.0], [448.0, NAN, NAN, -0.0]),
        ("float16", "float64", [65504.0, 2.0**-24], [65504.0, 2.0**-24]),
    ],
)  # fmt: skip
def test_conversions(source, target, numbers, expected):
    array = np.array(numbers).astype(FORMATS[source].storage)
    result = convert(array, FORMATS[source], FORMATS[target])
    assert result.dtype == FORMATS[target].storage
    if FORMATS[target].is_float:
        assert_same(result, expected)
    else:
        np.testing.assert_array_equal(result, np.array(expected, dtype=result.dtype))


def test_complex_parts_are_rounded_one_by_one():
    array = np.array([complex(1 + 2.0**-24 + 2.0**-50, -1e-60)])
    result = convert(array, FORMATS["complex128"], FORMATS["complex64"])
    assert_same([result[0].real, result[0].imag], [1 + 2.0**-23, -0.0])


def test_conversion_copies():
    array = np.zeros(2)
    assert not np.shares_memory(convert(array, F64, F64), array)
    assert not np.shares_memory(round_to(F64, array), array)


@pytest.mark.parametrize(
    ("target", "numbers", "fits"),
    [
        ("int8", [127.99, 128.0, -128.99, -129.0, NAN, INF], [True, False, True, False, False, False]),
        ("uint8", [-0.99, -1.0, 255.5, 256.0], [True, False, True, False]),
        ("int64", [2.0**63, -(2.0**63), 2.0**63 - 1024], [False, True, True]),
        ("uint64", [2.0**64, 2.0**64 - 2048], [False, True]),
    ],
)
def test_integer_range(target, numbers, fits):
    array = np.array(numbers)
    assert in_integer_range(array, FORMATS[target]).tolist() == fits
    assert (convert(array, F64, FORMATS[target])[~np.array(fits)] == 0).all()


def test_integer_range_of_integers():
    assert in_integer_range(np.array([2**63], np.uint64), FORMATS["int64"]).tolist() == [False]
    assert in_integer_range(np.array([-1, 255]), FORMATS["uint8"]).tolist() == [False, True]


@pytest.mark.parametrize("source", SMALL_FLOATS, ids=lambda fmt: fmt.name)
def test_between_the_small_formats(source):
    """All codes of a format into every other small format: what the exact value rounds to."""
    codes = np.arange(1 << source.bits, dtype=source.code_storage).view(source.storage)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        values = codes.astype(np.float64)
    values = values[np.isfinite(values)]
    for target in SMALL_FLOATS:
        expected = rounded_by_table(target, positive_numbers(target), values, NEAREST_EVEN)
        assert_same(convert(values.astype(source.storage), source, target), expected)


def test_a_zero_dimensional_array_stays_one():
    for result in (round_to(F16, np.float64(1.0)), round_to(F64, np.float64(1.0)), decide(F16, Real.exact(1.0))[0]):
        assert isinstance(result, np.ndarray)
        assert result.shape == ()
    assert convert(np.array(3, ml_dtypes.int4), FORMATS["int4"], F32).shape == ()
