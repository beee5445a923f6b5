"""Operands in the common dtype of an op."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from conform.errors import InvalidArguments, Unjudged
from conform.interp.evaluate import evaluate
from conform.interp.operands import (
    broadcast_converted,
    broadcast_numbers,
    complex_numbers,
    compute_format,
    converted,
    numbers,
    steps_of,
)
from conform.numerics.formats import FORMATS


def test_halves_are_computed_in_float32() -> None:
    assert [compute_format(FORMATS[name]).name for name in ("float16", "bfloat16", "float8_e5m2", "float32")] == [
        "float32"
    ] * 4
    assert compute_format(FORMATS["float64"]).name == "float64"
    assert [fmt.name for fmt in steps_of(FORMATS["bfloat16"])] == ["float32", "bfloat16"]
    assert [fmt.name for fmt in steps_of(FORMATS["float32"])] == ["float32"]


@pytest.mark.parametrize(
    ("operand", "dtype", "expected"),
    [
        (np.int64([2049, 2051]), "float16", [2048.0, 2052.0]),  # ties to even
        (np.int64([2**62 + 1]), "float32", [2.0**62]),
        (np.int64([300, -1]), "uint8", [44, 255]),
        (-1, "uint8", 255),
        (2**40 + 7, "int32", 7),
        (0.1, "bfloat16", 0.10009765625),
        (1 + 2.0**-24 + 2.0**-40, "float32", 1 + 2.0**-23),
        (1e6, "float16", np.inf),
        (2, "bool", True),
        (1.5 - 2j, "complex64", 1.5 - 2j),
        (np.array([True]), "float64", [1.0]),
    ],
)
def test_conversion_rounds_once_and_wraps(operand: object, dtype: str, expected: object) -> None:
    result = converted(operand, FORMATS[dtype])
    assert result.dtype == FORMATS[dtype].storage
    assert result.astype(np.complex128).tolist() == np.asarray(expected, np.complex128).tolist()


def test_a_python_number_or_a_wider_0d_tensor_stands_for_its_own_value() -> None:
    f16 = FORMATS["float16"]
    assert numbers(0.1, f16) == 0.1
    assert numbers(np.asarray(0.1), f16) == 0.1
    assert numbers(np.array([0.1]), f16).tolist() == [0.0999755859375]
    assert numbers(np.asarray(2049), f16) == 2048.0  # an integer is converted first
    assert numbers(np.array([2049]), f16).tolist() == [2048.0]
    assert numbers(np.array([0.1], ml_dtypes.bfloat16), FORMATS["float32"]).tolist() == [0.10009765625]
    with pytest.raises(Unjudged, match="complex"):
        numbers(0.1, FORMATS["complex64"])


def test_complex_numbers_likewise() -> None:
    c64 = FORMATS["complex64"]
    tenth = float(np.float32(0.1))
    assert complex_numbers(0.1 + 1j, c64) == 0.1 + 1j
    assert complex_numbers(np.array(0.1), c64) == 0.1
    assert complex_numbers(np.array([0.1]), c64).tolist() == [complex(tenth)]
    assert complex_numbers(np.array([0.1 + 0.1j]), c64).tolist() == [complex(tenth, tenth)]


def test_broadcasting() -> None:
    column, row = broadcast_numbers(FORMATS["float32"], np.float32([[1], [2]]), np.float32([3, 4, 5]))
    assert column.tolist() == [[1, 1, 1], [2, 2, 2]]
    assert row.tolist() == [[3, 4, 5], [3, 4, 5]]
    empty, one = broadcast_converted(FORMATS["int8"], np.int8([]), 1)
    assert (empty.shape, one.shape) == ((0,), (0,))


@pytest.mark.parametrize(
    ("dtype", "value", "accepted"),
    [
        ("int32", 2, True),
        ("int32", 2.0, False),
        ("float32", 2.5, True),
        ("float32", 1j, False),
        ("complex64", 1j, True),
        ("int8", 128, False),
        ("int8", -128, True),
        ("int8", -129, False),
        ("uint8", -255, True),  # torch's overflow check lets a magnitude through that the type holds
        ("uint8", -256, False),
        ("uint8", 256, False),
    ],
)
def test_a_scalar_parameter_must_fit_the_dtype(dtype: str, value: complex, accepted: bool) -> None:
    operand = np.ones(1, FORMATS[dtype].storage)
    if accepted:
        assert evaluate("aten::add.Tensor", [operand, operand], {"alpha": value}).goldens
    else:
        with pytest.raises(InvalidArguments, match="argument alpha: found "):
            evaluate("aten::add.Tensor", [operand, operand], {"alpha": value})
