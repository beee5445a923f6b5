"""einsum and products with quantized weights: hand-computed sums."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.call.subscripts import equation
from conform.errors import InvalidArguments
from tests.interp.ops.literal import bf16, check, check_open, f32, f64, goldens, i8, i64

X, Y = i64([[1, 2], [3, 4]]), i64([[5, 6], [7, 8]])


@pytest.mark.parametrize(
    ("text", "operands", "expected"),
    [
        ("ij,jk->ik", [X, Y], [[19, 22], [43, 50]]),
        ("ij,jk", [X, Y], [[19, 22], [43, 50]]),
        ("ji,jk->ik", [X, Y], [[26, 30], [38, 44]]),
        ("ii->i", [X], [1, 4]),
        ("ii", [X], 5),
        ("ba", [X], [[1, 3], [2, 4]]),
        ("ij->", [X], 10),
        (" i , j -> i j ", [X[0], Y[0]], [[5, 6], [10, 12]]),
        ("...i->...", [X], [3, 7]),
        ("i...,i...", [X, Y[:, :1]], [26, 38]),
        ("ij,jk,k->i", [X, Y, X[0]], [63, 143]),
    ],
)
def test_einsum(text: str, operands: list[np.ndarray], expected: object) -> None:
    check("aten::einsum", text, operands, gives=i64(expected))


def test_sums_are_rounded_once() -> None:
    """1 + 2^-24 - 1; 2^600 * 2^600 * 2^-1100, of which two factors are beyond the range, and so open (P35)."""
    check("aten::einsum", "i,i", [f32([1.0, 2.0**-24, -1.0]), f32([1.0, 1.0, 1.0])], gives=f32(2.0**-24))
    check("aten::einsum", "i,i,i", [f64([3.0, 1.0]), f64([1.0, 2.0**-80]), f64([1.0, 1.0])], gives=f64(3.0))
    check("aten::einsum", "i,i,i", [f64([inf, 1.0]), f64([0.0, 1.0]), f64([1.0, 1.0])], gives=f64(nan))
    check("aten::einsum", "i,i,i", [f64([inf, 1.0]), f64([-2.0, 1.0]), f64([1.0, 1.0])], gives=f64(-inf))
    huge = [f64([2.0**600]), f64([2.0**600]), f64([2.0**-1100])]
    check_open("aten::einsum", "i,i,i", huge, gives=f64(2.0**100), where_open=True, rule="P35")


def test_a_product_that_vanishes_beside_an_infinity() -> None:
    """2^-100 * 2^-100 is 0 in float32, and 0 times an infinity NaN."""
    small = [f32([2.0**-100]), f32([2.0**-100]), f32([inf])]
    check_open("aten::einsum", "i,i,i", small, gives=f32(inf), where_open=True, rule="P35")


@pytest.mark.parametrize("text", ["i,j->k", "i->ii", "1->1", "i......", "i.j"])
def test_what_is_no_equation(text: str) -> None:
    assert equation(text) is None
    with pytest.raises(InvalidArguments, match="length\\(tensors\\)"):
        goldens("aten::einsum", text, [X])


def test_what_does_not_fit() -> None:
    other = i64([[1, 2, 3], [4, 5, 6]])
    for text, operands in (("ij,jk", [X]), ("ijk", [X]), ("ii", [X[:, :1]]), ("ij,ij", [X, other])):
        with pytest.raises(InvalidArguments, match="tensors"):
            goldens("aten::einsum", text, operands)


def test_weight_int8pack_mm() -> None:
    x, weights = np.zeros((1, 32)), np.zeros((2, 32))
    x[0, :2], weights[:, :2] = (0.5, 3.0), ((2, -1), (126, -20))
    gives = bf16([[-0.5, 9.0]])
    check("aten::_weight_int8pack_mm", bf16(x), i8(weights), bf16([0.25, 3.0]), gives=gives)


def test_infinities_of_three_operands_may_meet_a_partial_sum_first() -> None:
    """1 * 1 * inf + 2 * -1 * inf by the sum of all products, and (1 - 2) * inf in pairs: P162. Without a subscript that
    an operand lacks there is no partial sum, and a NaN stays one."""
    ones, infinite = f32([1.0, -1.0]), f32(inf)
    open_by = {"gives": f32(nan), "where_open": True, "rule": "P162"}
    check_open("aten::einsum", "n,n,->", [f32([1.0, 2.0]), ones, infinite], **open_by)
    held = [f32([0.0, 1.0]), f32([[1.0], [1.0]]), f32([inf])]
    check_open("aten::einsum", "n,nm,m->", held, **open_by)
    check("aten::einsum", "n,n,->", [f32([1.0, 2.0]), -f32([1.0, 1.0]), infinite], gives=f32(-inf))
    check("aten::einsum", "n,n,->", [f32([0.0]), f32([1.0]), infinite], gives=f32(nan))
    check("aten::einsum", "n,n,->", [f32([nan, 2.0]), ones, infinite], gives=f32(nan))
    check("aten::einsum", "n,n->", [f32([inf, -inf]), f32([1.0, 1.0])], gives=f32(nan))
