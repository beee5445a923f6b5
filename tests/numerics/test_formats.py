"""Formats: the derived properties against literals, ml_dtypes' and numpy's finfo, and every code of up to 16 bits."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from conform.errors import UsageError
from conform.numerics.formats import FORMATS, Format, format_named, format_of

FLOATS = [fmt for fmt in FORMATS.values() if fmt.is_float]
SMALL_FLOATS = [fmt for fmt in FLOATS if fmt.bits <= 16]


def decoded(fmt: Format, code: int) -> float:
    """The number a code stands for, written from the definition at the head of formats.py."""
    sign = code >> (fmt.bits - 1) if fmt.is_signed else 0
    top = (1 << fmt.exponent_bits) - 1
    exponent, mantissa = code >> fmt.mantissa_bits & top, code & ((1 << fmt.mantissa_bits) - 1)
    if fmt.has_inf and exponent == top:
        return float("nan") if mantissa else (-1) ** sign * float("inf")
    if fmt.has_nan and fmt.name.endswith("fnuz") and code == 1 << (fmt.bits - 1):
        return float("nan")
    all_ones = exponent == top and mantissa == (1 << fmt.mantissa_bits) - 1
    if fmt.has_nan and fmt.name.endswith(("fn", "fnu")) and all_ones:
        return float("nan")
    fraction = mantissa / 2**fmt.mantissa_bits
    if exponent == 0 and fmt.has_subnormals:
        return (-1.0) ** sign * 2.0 ** (1 - fmt.bias) * fraction
    return (-1.0) ** sign * 2.0 ** (exponent - fmt.bias) * (1 + fraction)


@pytest.mark.parametrize(
    ("name", "max_finite", "min_normal", "min_subnormal", "precision"),
    [
        ("float64", float.fromhex("0x1.fffffffffffffp1023"), 2.0**-1022, 2.0**-1074, 53),
        ("float32", float.fromhex("0x1.fffffep127"), 2.0**-126, 2.0**-149, 24),
        ("float16", 65504.0, 2.0**-14, 2.0**-24, 11),
        ("bfloat16", float.fromhex("0x1.fep127"), 2.0**-126, 2.0**-133, 8),
        ("float8_e4m3fn", 448.0, 2.0**-6, 2.0**-9, 4),
        ("float8_e4m3", 240.0, 2.0**-6, 2.0**-9, 4),
        ("float8_e4m3fnuz", 240.0, 2.0**-7, 2.0**-10, 4),
        ("float8_e4m3b11fnuz", 30.0, 2.0**-10, 2.0**-13, 4),
        ("float8_e5m2", 57344.0, 2.0**-14, 2.0**-16, 3),
        ("float8_e5m2fnuz", 57344.0, 2.0**-15, 2.0**-17, 3),
        ("float8_e3m4", 15.5, 0.25, 2.0**-6, 5),
        ("float8_e8m0fnu", 2.0**127, 2.0**-127, 2.0**-127, 1),
        ("float6_e2m3fn", 7.5, 1.0, 0.125, 4),
        ("float6_e3m2fn", 28.0, 0.25, 0.0625, 3),
        ("float4_e2m1fn", 6.0, 1.0, 0.5, 2),
    ],
)
def test_derived_properties(name, max_finite, min_normal, min_subnormal, precision):
    fmt = FORMATS[name]
    assert (fmt.max_finite, fmt.min_normal, fmt.min_subnormal) == (max_finite, min_normal, min_subnormal)
    assert (fmt.precision, fmt.unit_roundoff) == (precision, 2.0**-precision)
    assert 2.0**fmt.emax <= max_finite < 2.0 ** (fmt.emax + 1) if fmt.emax < 1023 else fmt.emax == 1023


@pytest.mark.parametrize("fmt", FLOATS, ids=lambda fmt: fmt.name)
def test_properties_agree_with_finfo(fmt):
    info = ml_dtypes.finfo(fmt.storage)
    assert (float(info.max), float(info.smallest_normal)) == (fmt.max_finite, fmt.min_normal)
    assert float(info.smallest_subnormal) == fmt.min_subnormal
    assert info.bits == fmt.bits


@pytest.mark.parametrize("fmt", SMALL_FLOATS, ids=lambda fmt: fmt.name)
def test_every_code_decodes_as_its_row_says(fmt):
    codes = np.arange(1 << fmt.bits, dtype=fmt.code_storage)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        stored = codes.view(fmt.storage).astype(np.float64)
    expected = np.array([decoded(fmt, code) for code in codes.tolist()])
    np.testing.assert_array_equal(stored, expected)
    np.testing.assert_array_equal(np.signbit(stored[expected == 0]), np.signbit(expected[expected == 0]))
    assert fmt.has_nan == np.isnan(expected).any()
    assert fmt.has_inf == np.isinf(expected).any()
    assert fmt.has_zero == (expected == 0).any()
    assert fmt.has_negative_zero == ((expected == 0) & np.signbit(expected)).any()


def test_integers():
    assert [(FORMATS[n].min_value, FORMATS[n].max_value) for n in ("int4", "uint4", "int8", "uint64")] == [
        (-8, 7), (0, 15), (-128, 127), (0, 2**64 - 1),
    ]  # fmt: skip


def test_names():
    assert format_named("bfloat16").storage == ml_dtypes.bfloat16
    assert [format_of(x).name for x in (np.float32(1), np.zeros(2, ml_dtypes.int4), np.dtype(bool))] == [
        "float32", "int4", "bool",
    ]  # fmt: skip
    assert all(format_of(fmt.storage) is fmt for fmt in FORMATS.values())
    names = ("bool", "int8", "uint4", "float32", "bfloat16", "float8_e4m3b11fnuz", "float4_e2m1fn", "complex128")
    assert [FORMATS[name].stablehlo_name for name in names] == [
        "i1", "si8", "ui4", "f32", "bf16", "f8E4M3B11FNUZ", "f4E2M1FN", "complex<f64>",
    ]  # fmt: skip
    assert FORMATS["complex64"].component is FORMATS["float32"]


def test_unknown_names_are_usage_errors():
    with pytest.raises(UsageError, match="no dtype 'float23'; did you mean 'float32'"):
        format_named("float23")
    with pytest.raises(UsageError, match="numpy dtype object is not the storage of a format"):
        format_of(np.dtype(object))
