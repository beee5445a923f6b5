"""Tensors of one number, tensors whose elements nobody sets, and a number out of a tensor."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest

from conform.errors import InvalidArguments
from tests.interp.ops.literal import boolean, c64, check, f16, f32, f64, goldens, i8, i64, tensor, u8

CASES: list[tuple[str, tuple[Any, ...], dict[str, Any], np.ndarray]] = [
    ("full", ([2], True), {}, boolean([True, True])),
    ("full", ([1], 3), {}, i64([3])),
    ("full", ([], 0.5), {}, f32(0.5)),
    ("full", ([1], 1j), {}, c64([1j])),
    ("full", ([1], 2.9), {"dtype": "int8"}, i8([2])),
    ("full", ([1], -1), {"dtype": "uint8"}, u8([255])),
    ("full", ([1], nan), {"dtype": "bool"}, boolean([True])),
    ("full", ([0, 2], 1), {}, i64(np.empty((0, 2)))),
    ("full_like", (f16([1, 2]), inf), {}, f16([inf, inf])),
    ("full_like", (f16([1]), 1), {"dtype": "int64"}, i64([1])),
    ("scalar_tensor", (3,), {}, f32(3)),
    ("scalar_tensor", (3,), {"dtype": "int64"}, i64(3)),
    ("ones", ([2],), {}, f32([1, 1])),
    ("zeros", ([],), {"dtype": "bool"}, boolean(False)),
    ("ones_like", (i8([5]),), {}, i8([1])),
    ("zeros_like", (f32([-0.0]),), {}, f32([0.0])),
    ("zero", (f32([nan, -0.0]),), {}, f32([0.0, 0.0])),
    ("new_full", (i8([5]), [2], 2.5), {}, i8([2, 2])),
    ("new_full", (i8([5]), [1], -0.0), {"dtype": "float16"}, f16([-0.0])),
    ("new_ones", (boolean([True]), [1, 2]), {}, boolean([[True, True]])),
    ("new_zeros", (c64([1j]), []), {}, c64(0)),
    ("tril_indices", (2, 3), {}, i64([[0, 1, 1], [0, 0, 1]])),
    ("tril_indices", (2, 3, 1), {}, i64([[0, 0, 1, 1, 1], [0, 1, 0, 1, 2]])),
    ("triu_indices", (3, 2, -1), {}, i64([[0, 0, 1, 1, 2], [0, 1, 0, 1, 1]])),
    ("triu_indices", (2, 2, 5), {}, i64([[], []])),
    ("eye", (2,), {}, f32([[1, 0], [0, 1]])),
    ("eye.m", (1, 2), {"dtype": "int64"}, i64([[1, 0]])),
    ("_local_scalar_dense", (u8([[200]]),), {}, i64(200)),
    ("_local_scalar_dense", (f16(0.5),), {}, f64(0.5)),
    ("_local_scalar_dense", (c64([1j]),), {}, tensor("complex128", 1j)),
]


@pytest.mark.parametrize(("op", "arguments", "keywords", "expected"), CASES)
def test_values(op: str, arguments: tuple[Any, ...], keywords: dict[str, Any], expected: np.ndarray) -> None:
    check(f"aten::{op}", *arguments, **keywords, gives=expected)


@pytest.mark.parametrize(
    ("op", "arguments", "keywords"),
    [("full", ([1], 300), {"dtype": "int8"}), ("full", ([1], nan), {"dtype": "int64"}), ("full", ([-1], 1), {}),
     ("new_full", (i8([5]), [1], 300), {}), ("tril_indices", (-1, 2), {}), ("empty_permuted", ([2, 3], [0, 0]), {}),
     ("full", ([1], 2.0**63), {"dtype": "int64"}), ("eye", (-1,), {})],
)  # fmt: skip
def test_refused(op: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    with pytest.raises(InvalidArguments):
        goldens(f"aten::{op}", *arguments, **keywords)


def test_nobody_sets_the_elements_of_empty_tensors() -> None:
    (golden,) = goldens("aten::empty_strided", [2, 3], [1, 2], dtype="float16")
    assert (golden.value.shape, golden.format.name, golden.strides) == ((2, 3), "float16", (1, 2))
    assert golden.open.all()
    assert golden.open_rule == "P100"
    (golden,) = goldens("aten::empty_permuted", [2, 3, 4], [2, 0, 1])
    assert (golden.value.shape, golden.format.name, golden.strides) == ((2, 3, 4), "float32", (3, 1, 6))
    (golden,) = goldens("aten::new_empty", i8([1]), [2])
    assert (golden.value.shape, golden.format.name, golden.open.all()) == ((2,), "int8", True)
