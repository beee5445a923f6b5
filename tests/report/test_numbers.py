"""Decimals are the shortest that read back, hex shows the bits, and JSON never holds what it cannot."""

from __future__ import annotations

import json
import math

import ml_dtypes
import numpy as np
import pytest

from conform.report.numbers import decimal, element_json, element_text, hexadecimal, json_value, percent, ulps


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (0.10000000149011612, "float32", "0.1"),
        (0.1, "float64", "0.1"),
        (0.0999755859375, "float16", "0.1"),
        (0.10009765625, "bfloat16", "0.1"),
        (16777216.0, "float32", "16777216.0"),
        (3.4028234663852886e38, "float32", "3.4028235e+38"),
        (1.401298464324817e-45, "float32", "1e-45"),
        (5.960464477539063e-08, "float16", "6e-08"),
        (-0.0, "float32", "-0.0"),
        (math.inf, "bfloat16", "inf"),
        (math.nan, "float16", "nan"),
        (-9223372036854775808, "int64", "-9223372036854775808"),
    ],
)
def test_decimal(value: float, dtype: str, expected: str) -> None:
    assert decimal(value, dtype) == expected


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (0.10000000149011612, "float32", "0x1.99999ap-4"),
        (1.0, "float64", "0x1p+0"),
        (-0.0, "float16", "-0x0p+0"),
        (5e-324, "float64", "0x0.0000000000001p-1022"),
        (math.inf, "float32", "inf"),
        (-1, "int8", "0xff"),
        (-1, "int64", "0xffffffffffffffff"),
        (200, "uint8", "0xc8"),
    ],
)
def test_hexadecimal(value: float, dtype: str, expected: str) -> None:
    assert hexadecimal(value, dtype) == expected


@pytest.mark.parametrize("storage", [np.float16, ml_dtypes.bfloat16])
def test_every_16_bit_float_reads_back_from_its_decimal_and_its_hex(storage: type) -> None:
    codes = np.arange(65536, dtype=np.uint16).view(storage)
    dtype = np.dtype(storage).name
    values = [float(value) for value in codes]
    finite = np.array([math.isfinite(value) for value in values])
    # From the text through float64: no double rounding, since both steps are far finer than half an ulp of 16 bits.
    back = np.array([float(decimal(value, dtype)) for value in values]).astype(storage)
    assert (back.view(np.uint16) == codes.view(np.uint16))[finite].all()
    assert all(float.fromhex(hexadecimal(value, dtype)) == value for value in np.array(values)[finite].tolist())


def test_float32_neighbours_of_a_power_of_two_read_back() -> None:
    around = [np.nextafter(np.float32(2.0**k), np.float32(to)) for k in (-126, -24, 0, 60) for to in (0, np.inf)]
    for value in [*around, np.float32(2.0**-126), np.float32(2.0**60), np.float32(2.0**-140)]:
        assert np.float32(decimal(float(value), "float32")) == value


def test_elements_in_json_and_in_text() -> None:
    complex_value = complex(1.0, -math.inf)
    assert element_json(3, "int32") == {"decimal": "3", "hex": "0x00000003"}
    assert element_json(True, "bool") is True
    assert element_json(complex_value, "complex64") == {
        "real": {"decimal": "1.0", "hex": "0x1p+0"},
        "imag": {"decimal": "-inf", "hex": "-inf"},
    }
    assert element_text(element_json(0.5, "float16")) == "0.5 = 0x1p-1"
    assert element_text(element_json(math.nan, "float16")) == "nan"
    assert element_text(element_json(complex_value, "complex64")) == "(1.0 = 0x1p+0) + (-inf)j"
    assert element_text(element_json("floor", None)) == "floor"


def test_json_value_writes_only_what_json_has() -> None:
    written = json_value({"bound": math.inf, "error": math.nan, "index": (1, 2), "n": 2**70})
    assert json.loads(json.dumps(written, allow_nan=False)) == {
        "bound": "inf", "error": "nan", "index": [1, 2], "n": 2**70,
    }  # fmt: skip
    with pytest.raises(TypeError, match="no JSON form"):
        json_value(np.float32(1))


def test_ulps_and_percent_at_a_glance() -> None:
    assert [ulps(value) for value in (0.5, 3.0, 0.0, 12.3456, 1234.5, 3e-5, 3e-257, "inf", None)] == [
        "0.50", "3", "0", "12.35", "1.23e+03", "3e-05", "0", "inf", "-",
    ]  # fmt: skip
    assert percent(99_999, 100_000) == "99.99 %"  # never rounded up to all
    assert [percent(1, 1), percent(0, 7), percent(0, 0)] == ["100 %", "0.00 %", "-"]
