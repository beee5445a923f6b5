"""Products of stacks of matrices and of vectors, by hand."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest

from conform.interp.blocks.tiles import Contraction
from conform.interp.evaluate import evaluate
from conform.interp.ops.contraction import matrices
from conform.numerics import matmul
from conform.numerics.formats import FORMATS
from tests.interp.ops.literal import check, f16, f32, i64

M, V = [[1.0, 2.0], [3.0, 4.0]], [10.0, 100.0]


@pytest.mark.parametrize(
    ("op", "operands", "keywords", "expected"),
    [
        ("bmm", [[M, M], [[[1.0], [0.0]], [[0.0], [1.0]]]], {}, [[[1.0], [3.0]], [[2.0], [4.0]]]),
        ("baddbmm", [[[1.0, nan]], [M], [M]], {"beta": 0, "alpha": 2}, [[[14.0, 20.0], [30.0, 44.0]]]),
        ("baddbmm", [[1.0, 2.0], [M], [M]], {"beta": 3}, [[[10.0, 16.0], [18.0, 28.0]]]),
        ("addbmm", [[0.5], [M, M], [M, M]], {}, [[14.5, 20.5], [30.5, 44.5]]),
        ("mv", [M, V], {}, [210.0, 430.0]),
        ("addmv", [[1.0, 2.0], M, V], {"alpha": 2}, [421.0, 862.0]),
        ("dot", [V, V], {}, 10100.0),
        ("vdot", [V, [inf, 1.0]], {}, inf),
        ("outer", [V, [1.0, 2.0, 3.0]], {}, [[10.0, 20.0, 30.0], [100.0, 200.0, 300.0]]),
        ("addr", [[1.0], V, [1.0, 2.0]], {"beta": 2}, [[12.0, 22.0], [102.0, 202.0]]),
        ("linear", [[M], M, [0.5, 0.25]], {}, [[[5.5, 11.25], [11.5, 25.25]]]),
        ("linear", [V, M], {}, [210.0, 430.0]),
        ("inner", [M, V], {}, [210.0, 430.0]),
        ("inner", [[M], M], {}, [[[5.0, 11.0], [11.0, 25.0]]]),
        ("inner", [2.0, M], {}, [[2.0, 4.0], [6.0, 8.0]]),
        ("matmul", [V, V], {}, 10100.0),
        ("matmul", [V, M], {}, [310.0, 420.0]),
        ("matmul", [M, V], {}, [210.0, 430.0]),
        ("matmul", [[[M]], [M, M]], {}, [[[[7.0, 10.0], [15.0, 22.0]]] * 2]),
        ("kron", [[1.0, 2.0], M], {}, [[1.0, 2.0, 2.0, 4.0], [3.0, 4.0, 6.0, 8.0]]),
        ("kron", [M, [[10.0]]], {}, [[10.0, 20.0], [30.0, 40.0]]),
    ],
)
def test_by_hand(op: str, operands: list, keywords: dict, expected: Any) -> None:
    check(f"aten::{op}", *map(f32, operands), **keywords, gives=f32(expected))


@pytest.mark.parametrize(
    ("op", "keywords", "expected"),
    [
        ("conv1d", {}, [[[21.0, 32.0]]]),
        ("conv1d", {"bias": f32([0.5]), "padding": [1], "stride": [2]}, [[[10.5, 32.5]]]),
        ("conv1d.padding", {"padding": "same"}, [[[21.0, 32.0, 3.0]]]),  # of one place more, it is on the right
        ("conv1d.padding", {"padding": "valid", "dilation": [2]}, [[[31.0]]]),
        ("conv_transpose1d", {}, [[[1.0, 12.0, 23.0, 30.0]]]),
    ],
)
def test_convolutions_with_and_without_a_batch(op: str, keywords: dict, expected: list) -> None:
    row, kernel = [[[1.0, 2.0, 3.0]]], f32([[[1.0, 10.0]]])
    check(f"aten::{op}", f32(row), kernel, **keywords, gives=f32(expected))
    check(f"aten::{op}", f32(row[0]), kernel, **keywords, gives=f32(expected[0]))


def test_rounded_once_and_wrapped() -> None:
    check("aten::dot", f16([2048.0, 1.0, 1.0]), f16([1.0, 1.0, 1.0]), gives=f16(2050.0))
    check("aten::bmm", i64([[[2**62]]]), i64([[[4]]]), gives=i64([[[0]]]))
    check("aten::_int_mm", np.int8([[-128, 127]]), np.int8([[-128], [127]]), gives=np.int32([[32513]]))


@pytest.mark.parametrize(
    ("rows", "terms", "columns", "rule"),
    [(17, 8, 16, None), (16, 8, 16, "P158"), (17, 9, 16, "P158"), (17, 8, 4, "P158"), (17, 0, 8, "P158"),
     (17, 8, 0, "P158")],
)  # fmt: skip
def test_products_of_integers_of_some_sizes_may_be_refused(rows: int, terms: int, columns: int, rule: str) -> None:
    factors = np.ones((rows, terms), np.int8), np.ones((terms, columns), np.int8)
    outcome = evaluate("aten::_int_mm", factors, {})
    assert outcome.refusal == rule
    assert (outcome.goldens[0].value == terms).all()


def test_without_terms_or_batch() -> None:
    check("aten::bmm", f32(np.zeros((2, 1, 0))), f32(np.zeros((2, 0, 1))), gives=f32([[[0.0]], [[0.0]]]))
    check("aten::bmm", f32(np.zeros((0, 2, 3))), f32(np.zeros((0, 3, 1))), gives=f32(np.zeros((0, 2, 1))))
    check("aten::baddbmm", f32(1.5), f32(np.zeros((1, 0, 3))), f32(np.zeros((1, 3, 2))), gives=f32(np.zeros((1, 0, 2))))



# A tie that only the second term decides, terms 2^300 apart, an infinity beside 0, a NaN.
STACK = f32([[[1.0, 2.0**-25], [1.0, -(2.0**-24)]], [[2.0**100, 1.0], [inf, 0.0]], [[1.0, 1.0], [0.0, -0.0]]] * 3)
BESIDE = f32([[[1.0 + 2.0**-23], [2.0**-24]], [[2.0**-140], [2.0**100]], [[nan], [1.0]]] * 3)
INTEGERS = i64(1 << 40) * np.arange(36).reshape(9, 2, 2), np.arange(18).reshape(9, 2, 1)


@pytest.mark.parametrize(("name", "lhs", "rhs"), [("float32", STACK, BESIDE), ("int64", *INTEGERS)])
@pytest.mark.parametrize("has_addend", [False, True])
@pytest.mark.parametrize("together", [1, 8, 1 << 18])
@pytest.mark.parametrize("rows", [slice(0, 18), slice(1, 18), slice(3, 8), slice(2, 3)])
def test_a_stack_is_each_of_its_matrices(
    name: str, lhs: np.ndarray, rhs: np.ndarray, has_addend: bool, together: int, rows: slice,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(matmul, "TILE_ELEMENTS", together)

    def of(*index: int) -> Contraction:
        addend = rhs[index] if has_addend else None
        return matrices.products(FORMATS[name], lhs[index], rhs[index], addend, beta=2, alpha=3)

    part, each = of().tile(rows, slice(0, 1)), [of(number).golden() for number in range(9)]
    np.testing.assert_array_equal(part.value, np.concatenate([one.value for one in each])[rows])
    if name == "float32":
        for array in ("hi", "lo"):
            parts = [getattr(one.real, array) for one in each]
            np.testing.assert_array_equal(getattr(part.real, array), np.concatenate(parts)[rows])
        magnitudes = np.concatenate([one.magnitude for one in each])[rows]
        np.testing.assert_allclose(part.magnitude, magnitudes, rtol=2.0**-50, atol=1e-290)  # what is cut off, of all
