"""Codes, classes and neighbours: literals, then every code of up to 16 bits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conform.numerics.codes import NumberClass, classify, decode, encode, next_down, next_up
from conform.numerics.formats import FORMATS, Format

FLOATS = [fmt for fmt in FORMATS.values() if fmt.is_float]
SMALL_FLOATS = [fmt for fmt in FLOATS if fmt.bits <= 16]
WIDE_FLOATS = [fmt for fmt in FLOATS if fmt.bits > 16]
INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("name", "code", "number"),
    [
        ("float16", 0x3C00, 1.0),
        ("float16", 0x8001, -(2.0**-24)),
        ("bfloat16", 0x7F80, INF),
        ("float32", 0x80000000, -0.0),
        ("float64", 0x7FEFFFFFFFFFFFFF, float.fromhex("0x1.fffffffffffffp1023")),
        ("float8_e4m3fn", 0x7E, 448.0),
        ("float8_e4m3fn", 0x7F, NAN),
        ("float8_e5m2fnuz", 0x80, NAN),
        ("float8_e8m0fnu", 0x00, 2.0**-127),
        ("float4_e2m1fn", 0xF, -6.0),
    ],
)
def test_codes(name: str, code: int, number: float) -> None:
    np.testing.assert_array_equal(decode(FORMATS[name], np.array([code], np.uint64)), [number])
    assert encode(FORMATS[name], np.array([number])).tolist() == [code]


@pytest.mark.parametrize(
    ("name", "number", "below", "above"),
    [
        ("float16", 1.0, 1 - 2.0**-11, 1 + 2.0**-10),
        ("float16", 65504.0, 65472.0, INF),
        ("float32", -0.0, -(2.0**-149), 2.0**-149),
        ("float32", -(2.0**-149), -(2.0**-148), -0.0),
        ("bfloat16", INF, float.fromhex("0x1.fep127"), INF),
        ("float8_e4m3fn", 448.0, 416.0, 448.0),
        ("float8_e4m3fnuz", -(2.0**-10), -(2.0**-9), 0.0),
        ("float8_e8m0fnu", 2.0**-127, 2.0**-127, 2.0**-126),
        ("float64", NAN, NAN, NAN),
    ],
)
def test_neighbours(name: str, number: float, below: float, above: float) -> None:
    fmt, numbers = FORMATS[name], np.array([number])
    for found, expected in ((next_down(fmt, numbers), below), (next_up(fmt, numbers), above)):
        np.testing.assert_array_equal(found, [expected])
        assert np.signbit(found[0]) == np.signbit(expected)


def test_classes() -> None:
    numbers = np.array([-0.0, 2.0**-149, -(2.0**-126), INF, NAN])
    assert [each.value for each in classify(FORMATS["float32"], numbers)] == [
        "zero", "subnormal", "normal", "infinite", "nan",
    ]  # fmt: skip
    assert classify(FORMATS["float16"], np.array([2.0**-15]))[0] is NumberClass.SUBNORMAL


@pytest.mark.parametrize(
    ("name", "number"),
    [("float16", 1 + 2.0**-11), ("float16", 1e300), ("float8_e4m3fn", INF), ("float8_e8m0fnu", 0.0),
     ("float8_e8m0fnu", -1.0), ("float8_e5m2fnuz", -0.0), ("float4_e2m1fn", NAN)],
)  # fmt: skip
def test_only_numbers_of_the_format_have_a_code(name: str, number: float) -> None:
    with pytest.raises(ValueError, match=f"{name} does not have .*: round it first"):
        encode(FORMATS[name], np.array([1.0, number]))


@pytest.mark.parametrize("fmt", SMALL_FLOATS, ids=lambda fmt: fmt.name)
def test_every_code(fmt: Format) -> None:
    codes = np.arange(1 << fmt.bits, dtype=fmt.code_storage)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        stored = codes.view(fmt.storage).astype(np.float64)
    numbers = decode(fmt, codes)
    np.testing.assert_array_equal(numbers, stored)
    is_number = ~np.isnan(numbers)
    assert (np.signbit(numbers) == np.signbit(stored))[is_number].all()
    assert (encode(fmt, numbers)[is_number] == codes[is_number]).all()
    assert np.isnan(decode(fmt, encode(fmt, numbers[~is_number]))).all()


@pytest.mark.parametrize("fmt", SMALL_FLOATS, ids=lambda fmt: fmt.name)
def test_every_neighbour_and_class(fmt: Format) -> None:
    numbers = decode(fmt, np.arange(1 << fmt.bits))
    finite = np.unique(numbers[np.isfinite(numbers)])
    largest, lowest = (INF, -INF) if fmt.has_inf else (finite[-1], finite[0])
    np.testing.assert_array_equal(next_up(fmt, finite), [*finite[1:], largest])
    np.testing.assert_array_equal(next_down(fmt, finite), [lowest, *finite[:-1]])
    counted = [int((classify(fmt, numbers) == each).sum()) for each in NumberClass]
    signs = 2 if fmt.is_signed else 1
    subnormals = signs * ((1 << fmt.mantissa_bits) - 1) if fmt.has_subnormals else 0
    zeros = (2 if fmt.has_negative_zero else 1) if fmt.has_zero else 0
    infinite = 2 if fmt.has_inf else 0
    assert counted == [zeros, subnormals, signs * (fmt.max_code + 1) - signs * fmt.has_zero - subnormals, infinite,
                       (1 << fmt.bits) - signs * (fmt.max_code + 1) - infinite + (zeros == 1)]  # fmt: skip


@pytest.mark.parametrize("fmt", WIDE_FLOATS, ids=lambda fmt: fmt.name)
@given(data=st.data())
def test_wide_formats_against_the_hosts(fmt: Format, data: st.DataObject) -> None:
    ends = [0, 1, fmt.max_code, fmt.max_code + 1, fmt.max_code + 2]  # the last is a signalling NaN
    signed = [code + sign for code in ends for sign in (0, 1 << (fmt.bits - 1))]
    code = data.draw(st.sampled_from(signed) | st.integers(0, 2**fmt.bits - 1))
    number = np.array([code], fmt.code_storage).view(fmt.storage)
    with np.errstate(invalid="ignore", over="ignore"):  # IEEE 754 flags a signalling NaN, and what follows the largest
        wide = number.astype(np.float64)
        above, below = (np.nextafter(number, fmt.storage.type(end)) for end in (INF, -INF))
    np.testing.assert_array_equal(decode(fmt, np.array([code], fmt.code_storage)), wide)
    np.testing.assert_array_equal(next_up(fmt, wide), above)
    np.testing.assert_array_equal(next_down(fmt, wide), below)
    assert np.isnan(wide[0]) or encode(fmt, wide)[0] == code
