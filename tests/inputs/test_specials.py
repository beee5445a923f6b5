"""The special values of each format."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from conform.errors import UsageError
from conform.inputs import specials
from conform.inputs.specials import CORE_COUNT, special_values
from conform.numerics.formats import FORMATS, format_named

BINARY = ("float16", "bfloat16", "float32", "float64")


def test_small_formats_literally() -> None:
    assert special_values("bool").tolist() == [False, True]
    assert special_values("uint8").tolist() == [0, 1, 255, 128, 2, 3, 254, 127, 85, 5, 10, 100, 129, 200]
    assert special_values("int8").tolist() == [0, 1, -1, -128, 127, 2, 3, 126, -127, -64, 64, 42, -2, 5, -7, 10, 100]


def test_the_core_of_float32_literally() -> None:
    largest = (2 - 2.0**-23) * 2.0**127
    expected = [0.0, -0.0, 1, -1, math.inf, -math.inf, math.nan, largest, -largest, 2.0**-149, 2.0**-126, 0.5]
    core = special_values("float32")[:CORE_COUNT]
    assert core.tobytes() == np.array(expected, np.float32).tobytes()


@pytest.mark.parametrize(("values", "name"), [
    ([2**24 + 1, 2**31 - 1, -(2**31), -(2**31) + 1], "int32"),
    ([2**24 + 1, 2**53 + 1, 2**63 - 1, -(2**63)], "int64"),
    ([2.0**-149, 2.0**-126 - 2.0**-149, 2.0**-126, 1 - 2.0**-24, 1 + 2.0**-23], "float32"),
    ([0.5 - 2.0**-25, 2.0**22 + 0.5, 2.0**24 + 2, 2.0**31, -(2.0**127)], "float32"),
    ([2.0**-1074, 2.0**-1022 - 2.0**-1074, -(2.0**-1022), 1 - 2.0**-53, 1 + 2.0**-52], "float64"),
    ([0.5 - 2.0**-54, 2.0**51 + 0.5, 2.0**53 + 2, 2.0**63], "float64"),
    ([2.0**-24, 2.0**-14 - 2.0**-24, 65504.0, 65472.0, 512.5, 2050.0], "float16"),
])  # fmt: skip
def test_edges_are_among_them(values: list[float], name: str) -> None:
    assert set(values) <= set(special_values(name).tolist())


def test_nans_of_both_signs_and_a_payload() -> None:
    values = special_values("float32")
    codes = values[np.isnan(values)].view(np.uint32).tolist()
    assert sorted(codes) == [0x7FC00000, 0x7FC00001, 0xFFC00000]


@pytest.mark.parametrize("name", FORMATS)
def test_every_value_is_one_of_the_format_and_stands_once(name: str) -> None:
    fmt, values = format_named(name), special_values(name)
    assert values.dtype == fmt.storage
    assert not values.flags.writeable
    codes = values.view(f"V{values.itemsize}").tolist()
    assert len(set(codes)) == len(codes) >= 2
    if fmt.is_float:
        finite = [value for value in values.astype(np.float64).tolist() if math.isfinite(value)]
        assert max(finite) == fmt.max_finite
        assert math.inf in values.astype(np.float64) or not fmt.has_inf


FLOATS = [name for name, fmt in FORMATS.items() if fmt.is_float]


@pytest.mark.parametrize("name", FLOATS)
def test_every_kind_of_value_that_a_float_format_has(name: str) -> None:
    """Both zeros, the subnormals' ends, 1 and its neighbours, powers of two, the largest, infinities, NaN: by code."""
    fmt = format_named(name)
    codes = set(special_values(name).view(fmt.code_storage).tolist())
    first_normal = 1 << fmt.mantissa_bits if fmt.has_subnormals else 0
    one = fmt.bias << fmt.mantissa_bits
    positive = {first_normal, first_normal + 1, one - 1, one, one + 1, fmt.max_code - 1, fmt.max_code}
    if fmt.has_subnormals:
        positive |= {1, first_normal - 1}
    if fmt.has_inf:
        positive.add(fmt.max_code + 1)
    powers_of_two = [code for code in codes if code & (first_normal - 1) == 0] if fmt.mantissa_bits else codes
    sign = 1 << (fmt.bits - 1)
    assert positive <= codes
    assert not fmt.is_signed or {code | sign for code in positive} <= codes
    assert (0 in codes) == fmt.has_zero or not fmt.has_subnormals
    assert not fmt.has_negative_zero or sign in codes
    assert len(powers_of_two) >= 5


@pytest.mark.parametrize("name", FLOATS)
def test_nan_of_every_sign_that_a_float_format_has(name: str) -> None:
    fmt = format_named(name)
    values = special_values(name)
    nans = values[np.isnan(values.astype(np.float64))].view(fmt.code_storage)
    has_both_signs = fmt.is_signed and fmt.has_negative_zero  # formats without -0 spend its code on their only NaN
    signs = {int(code) >> (fmt.bits - 1) for code in nans}
    assert signs == (set() if not fmt.has_nan else {0, 1} if has_both_signs else {1})


@pytest.mark.parametrize("name", BINARY)
def test_thresholds_of_exp_are_straddled(name: str) -> None:
    """exp crosses overflow, the smallest normal value and half the smallest subnormal between two special values."""
    fmt = format_named(name)
    with mpmath.workprec(200):
        two = mpmath.mpf(2)
        limits = [two**fmt.emax * (2 - two**-fmt.precision), two**fmt.emin, two ** (fmt.emin - fmt.precision)]
        thresholds = [mpmath.log(limit) for limit in limits]
    finite = [value for value in special_values(name).astype(np.float64).tolist() if math.isfinite(value)]
    for threshold in thresholds:
        below = max(value for value in finite if value < threshold)
        above = min(value for value in finite if value > threshold)
        assert above - below <= 2 * specials._spacing(fmt, float(threshold))


@pytest.mark.parametrize(("name", "near"), specials._NEAR_PI_MULTIPLES.items())
def test_arguments_near_a_multiple_of_half_pi(name: str, near: tuple[float, ...]) -> None:
    """sin or cos of them is far smaller than one would meet by chance: about 2^-precision for 2^bits arguments."""
    assert set(near) <= set(special_values(name).astype(np.float64).tolist())
    with mpmath.workprec(2000):
        for value in near:
            x = mpmath.mpf(value)
            assert min(abs(mpmath.sin(x)), abs(mpmath.cos(x))) < mpmath.mpf(2) ** -(format_named(name).precision + 4)


def test_complex_values_have_special_parts() -> None:
    values = special_values("complex64")
    assert values.dtype == np.complex64
    assert 36 <= len(values) <= 64
    signs = {(np.signbit(value.real), np.signbit(value.imag)) for value in values if value == 0}
    assert len(signs) == 4


def test_an_unknown_format_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="float31"):
        special_values("float31")
