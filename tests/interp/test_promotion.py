"""Type promotion: the documented examples, and agreement with the references over every pair of operands."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from conform.errors import InvalidArguments, Unjudged
from conform.interp.promotion import Operand, float_result, format_of_operand, promote, result_type
from conform.numerics.formats import FORMATS
from conform.refs.exact import promotion as reference
from conform.refs.exact.tensor import RefTensor

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
          "complex64", "complex128")  # fmt: skip


def tensor(dtype: str, rank: int = 1) -> np.ndarray:
    return np.ones((1,) * rank, FORMATS[dtype].storage)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("uint8", "int8", "int16"),
        ("uint8", "int64", "int64"),
        ("int32", "float16", "float16"),
        ("float16", "bfloat16", "float32"),
        ("complex64", "float64", "complex128"),
        ("complex64", "float16", "complex64"),
        ("complex64", "int64", "complex64"),
        ("bool", "uint8", "uint8"),
    ],
)
def test_promote(a: str, b: str, expected: str) -> None:
    assert promote(FORMATS[a], FORMATS[b]).name == promote(FORMATS[b], FORMATS[a]).name == expected


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        ([tensor("int32"), 5], "int32"),  # examples of "Tensor attributes" in torch's documentation
        ([tensor("int32"), 5.0], "float32"),
        ([tensor("int64", 0), 5], "int64"),
        ([tensor("float32"), tensor("float64", 0)], "float32"),
        ([tensor("float64", 0), tensor("float32", 0)], "float64"),
        ([tensor("int32"), tensor("float64", 0)], "float64"),
        ([tensor("int8"), tensor("int64", 0), 5], "int8"),
        ([tensor("bool"), 5], "int64"),
        ([tensor("bfloat16"), 1j], "complex64"),
        ([tensor("float64"), 1j], "complex128"),
        ([1, 2.0], "float32"),
        ([True], "bool"),
    ],
)
def test_result_type(operands: list[Operand], expected: str) -> None:
    assert result_type(*operands).name == result_type(*reversed(operands)).name == expected


def test_every_pair_of_operands_agrees_with_the_references() -> None:
    scalars: list = [True, 3, 2.5, 1j]
    kinds = [(dtype, rank) for dtype in DTYPES for rank in (0, 1)]
    ours = [tensor(*kind) for kind in kinds] + scalars
    theirs = [RefTensor(dtype, (1,) * rank, [1]) for dtype, rank in kinds] + scalars
    differing = [
        (x, y)
        for (x, a), (y, b) in itertools.product(zip(ours, theirs, strict=True), repeat=2)
        if _ours(x, y) != _theirs(a, b)
    ]
    assert differing == []


def _ours(*operands: Operand) -> str | None:
    """None for complex32, which the kit has not."""
    try:
        return result_type(*operands).name
    except Unjudged:
        return None


def _theirs(*operands: object) -> str | None:
    try:
        return reference.result_type(list(operands))
    except ValueError:
        return None


def test_complex32_is_beyond_the_kit() -> None:
    with pytest.raises(Unjudged, match="complex32"):
        result_type(tensor("float16"), 1j)


def test_float_result() -> None:
    assert float_result(FORMATS["int64"]).name == float_result(FORMATS["bool"]).name == "float32"
    assert float_result(FORMATS["bfloat16"]).name == "bfloat16"
    assert float_result(FORMATS["complex128"]).name == "complex128"


def test_a_bool_is_no_integer_and_a_text_no_number() -> None:
    assert format_of_operand(True).name == "bool"
    assert format_of_operand(1).name == "int64"
    with pytest.raises(InvalidArguments, match="expected a tensor or a number, got str"):
        format_of_operand("1")
