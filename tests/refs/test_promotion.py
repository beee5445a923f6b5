"""torch's promotion rules by the examples of its documentation, and the conversions of the policy."""

import math

import pytest

from conform.refs import UNSPECIFIED, RefTensor
from conform.refs.exact.promotion import Operand, common_operands, convert, promote_types, result_type

inf, nan = math.inf, math.nan


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("int32", "float32", "float32"),  # torch.promote_types' examples
        ("uint8", "int64", "int64"),
        ("uint8", "int8", "int16"),
        ("uint8", "int16", "int16"),
        ("float16", "bfloat16", "float32"),
        ("bfloat16", "int64", "bfloat16"),
        ("bool", "uint8", "uint8"),
        ("complex64", "float64", "complex128"),
        ("complex64", "int64", "complex64"),
        ("complex64", "complex128", "complex128"),
    ],
)
def test_promote_types(a: str, b: str, expected: str) -> None:
    assert promote_types(a, b) == promote_types(b, a) == expected


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        (["int32[]", 5], "int32"),  # examples of "Tensor Attributes"
        (["int32[1]", 5], "int32"),
        (["int32[1]", 5.0], "float32"),
        (["int64[1]", "int32[]"], "int64"),
        (["float32[1]", "float64[]"], "float32"),
        (["int32[1]", "float64[]"], "float64"),
        (["bool[1]", 5], "int64"),
        (["int8[]", True], "int8"),
        (["bool[1]", "float64[]"], "float64"),
        (["float16[1]", 1.5], "float16"),
        (["uint8[1]", "int64[]", 2.5], "float32"),
        (["float64[1]", 1j], "complex128"),
        (["bfloat16[1]", 1j], "complex64"),
        ([1, 2.5], "float32"),
    ],
)
def test_result_type(operands: list, expected: str) -> None:
    made = []
    for operand in operands:
        if isinstance(operand, str):
            dtype, size = operand.rstrip("]").split("[")
            operand = RefTensor(dtype, (1,) if size else (), [1])
        made.append(operand)
    assert result_type(made) == result_type(made[::-1]) == expected


@pytest.mark.parametrize(
    ("dtype", "other", "expected"),
    [
        ("float32", RefTensor("int64", (1,), [2**24 + 1]), 16777216.0),
        ("float32", RefTensor("int64", (), [2**24 + 1]), 16777216.0),
        ("float32", RefTensor("float64", (), [0.1]), 0.1),  # P30: more bits, so its own value
        ("float32", 0.1, 0.1),
        ("float32", 2**24 + 1, 16777217.0),
        ("float16", RefTensor("float32", (), [2.0**-30]), 2.0**-30),
        ("complex64", RefTensor("float64", (), [0.1]), 0.1 + 0j),
        ("complex64", RefTensor("complex128", (), [0.1j]), 0.1j),
        ("bfloat16", RefTensor("float16", (), [1025.0]), 1024.0),  # as many bits
        ("float16", RefTensor("bfloat16", (), [2.0**-30]), 0.0),
        ("int8", RefTensor("int64", (), [300]), 44),
        ("int8", 300, 44),
        ("uint8", -1, 255),
    ],
)
def test_operands_are_converted_unless_0d_of_more_bits(dtype: str, other: Operand, expected: complex) -> None:
    common, _, (_, values) = common_operands(RefTensor(dtype, (1,), [1]), other)
    assert (common, values) == (dtype, [expected])


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (300, "uint8", 44),
        (200, "int8", -56),
        (-1.9, "int8", -1),
        (127.9, "int8", 127),
        (128.0, "int8", UNSPECIFIED),
        (-0.9, "uint8", 0),
        (-1.0, "uint8", UNSPECIFIED),
        (nan, "int32", UNSPECIFIED),
        (-inf, "int64", UNSPECIFIED),
        (2.0**63, "int64", UNSPECIFIED),
        (-(2.0**63), "int64", -(2**63)),
        (nan, "bool", True),
        (-0.0, "bool", False),
        (0.1, "bool", True),
        (1j, "bool", True),
        (2.5 + 1j, "float16", 2.5),
        (2.5 + 1j, "int8", 2),
        (True, "float32", 1.0),
        (True, "int8", 1),
        (0.1, "complex64", complex(0.10000000149011612, 0.0)),
        (2**24 + 1, "complex64", complex(16777216.0, 0.0)),
    ],
)
def test_convert(value: complex, dtype: str, expected: object) -> None:
    assert repr(convert(value, dtype)) == repr(expected)


def test_dtypes_out_of_reach_are_refused() -> None:
    with pytest.raises(ValueError, match="complex32"):
        result_type([RefTensor("float16", (1,), [1.0]), 1j])
    with pytest.raises(ValueError, match="float8"):
        convert(1.0, "float8_e4m3fn")
