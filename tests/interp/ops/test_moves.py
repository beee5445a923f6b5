"""Views, parts, rearrangements and pads: one table of inputs and outputs, worked out by hand from the definitions."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest

from conform.errors import InvalidArguments, Unjudged
from tests.interp.ops.literal import boolean, check, f16, f32, f64, goldens, i8, i64, u8

M = i64([[1, 2, 3], [4, 5, 6]])
LINE = i64([1, 2, 3])

ONE_RESULT: list[tuple[str, tuple[Any, ...], np.ndarray]] = [
    ("transpose.int", (M, 0, -1), i64([[1, 4], [2, 5], [3, 6]])),
    ("transpose.int", (i64(7), 0, -1), i64(7)),
    ("swapaxes", (M, 1, 0), i64([[1, 4], [2, 5], [3, 6]])),
    ("t", (LINE,), LINE),
    ("movedim.int", (i64([[[1, 2], [3, 4]]]), 0, -1), i64([[[1], [2]], [[3], [4]]])),
    ("movedim.intlist", (i64([[[1, 2]]]), [2, 0], [0, 1]), i64([[[1]], [[2]]])),
    ("expand", (i64([[1], [2]]), [2, -1, 3]), i64([[[1, 1, 1], [2, 2, 2]]] * 2)),
    ("expand", (i64([7]), [0]), i64([])),
    ("view", (M, [3, -1]), i64([[1, 2], [3, 4], [5, 6]])),
    ("reshape", (i64([7]), []), i64(7)),
    ("reshape", (i64([[]]), [0, 3]), i64(np.empty((0, 3)))),
    ("flatten.using_ints", (i64([[[1, 2], [3, 4]]]), 1), i64([[1, 2, 3, 4]])),
    ("flatten.using_ints", (i64(7),), i64([7])),
    ("unsqueeze", (LINE, -1), i64([[1], [2], [3]])),
    ("squeeze", (i64([[[1], [2]]]),), i64([1, 2])),
    ("squeeze.dim", (i64([[[1], [2]]]), 1), i64([[[1], [2]]])),
    ("squeeze.dims", (i64([[[1], [2]]]), [0, -1]), i64([1, 2])),
    ("diagonal", (M, 1), i64([2, 6])),
    ("diagonal", (M, -5), i64([])),
    ("unfold", (i64([1, 2, 3, 4, 5]), 0, 2, 2), i64([[1, 2], [3, 4]])),
    ("unfold", (i64(7), 0, 1, 1), i64([7])),
    ("as_strided", (M, [2, 2], [1, 2], 1), i64([[2, 4], [3, 5]])),
    ("as_strided", (LINE, [2], [0]), i64([1, 1])),
    ("select.int", (M, 1, -1), i64([3, 6])),
    ("select.int", (LINE, 0, 1), i64(2)),
    ("select_scatter", (M, i64([8, 9]), 1, 0), i64([[8, 2, 3], [9, 5, 6]])),
    ("slice_scatter", (LINE, i64([8, 9]), 0, None, None, 2), i64([8, 2, 9])),
    ("repeat", (LINE, [2, 1]), i64([[1, 2, 3], [1, 2, 3]])),
    ("repeat", (LINE, [0]), i64([])),
    ("tile", (i64([[1], [2]]), [2]), i64([[1, 1], [2, 2]])),
    ("flip", (M, [0, 1]), i64([[6, 5, 4], [3, 2, 1]])),
    ("roll", (M, [1]), i64([[6, 1, 2], [3, 4, 5]])),
    ("roll", (M, [-1, 1], [1, 0]), i64([[5, 6, 4], [2, 3, 1]])),
    ("roll", (LINE, [1, 1], [0, 0]), i64([2, 3, 1])),
    ("rot90", (M,), i64([[3, 6], [2, 5], [1, 4]])),
    ("rot90", (M, -1), i64([[4, 1], [5, 2], [6, 3]])),
    ("tril", (f32([[nan, inf], [-0.0, 2]]),), f32([[nan, 0.0], [-0.0, 2]])),
    ("triu", (M, 1), i64([[0, 2, 3], [0, 0, 6]])),
    ("diag_embed", (i64([1, 2]), -1), i64([[0, 0, 0], [1, 0, 0], [0, 2, 0]])),
    ("diag_embed", (i64([[1, 2]]), 0, 0, 2), i64([[[1, 0]], [[0, 2]]])),
    ("pixel_shuffle", (i64([[[1]], [[2]], [[3]], [[4]]]), 2), i64([[[1, 2], [3, 4]]])),
    ("pixel_unshuffle", (i64([[[1, 2], [3, 4]]]), 2), i64([[[1]], [[2]], [[3]], [[4]]])),
    ("constant_pad_nd", (LINE, [1, -2], 9), i64([9, 1])),
    ("constant_pad_nd", (u8([1]), [0, 1], -1), u8([1, 255])),
    ("constant_pad_nd", (i8([1]), [1, 0], 2.9), i8([2, 1])),
    ("constant_pad_nd", (f16([1]), [1, 0], -inf), f16([-inf, 1])),
    ("constant_pad_nd", (M, [0, 0, 1, 0]), i64([[0, 0, 0], [1, 2, 3], [4, 5, 6]])),
    ("reflection_pad1d", (i64([[1, 2, 3]]), [2, 1]), i64([[3, 2, 1, 2, 3, 2]])),
    ("replication_pad1d", (i64([[1, 2, 3]]), [2, 1]), i64([[1, 1, 1, 2, 3, 3]])),
    ("replication_pad2d", (i64([[[1, 2]]]), [0, 1, 1, 0]), i64([[[1, 2, 2], [1, 2, 2]]])),
    ("stack", ([i64([1, 2]), i64([3, 4])], -1), i64([[1, 3], [2, 4]])),
    ("stack", ([i8([1]), f32([2.5])],), f32([[1], [2.5]])),
    ("concat", ([i64([1]), i64([2])],), i64([1, 2])),
]  # fmt: skip


@pytest.mark.parametrize(("op", "arguments", "expected"), ONE_RESULT)
def test_one_result(op: str, arguments: tuple[Any, ...], expected: np.ndarray) -> None:
    check(f"aten::{op}", *arguments, gives=expected)


SEVERAL: list[tuple[str, tuple[Any, ...], dict[str, Any], tuple[np.ndarray, ...]]] = [
    ("unbind.int", (M,), {}, (i64([1, 2, 3]), i64([4, 5, 6]))),
    ("unbind.int", (M, 1), {}, (i64([1, 4]), i64([2, 5]), i64([3, 6]))),
    ("split_with_sizes", (LINE, [0, 1, 2]), {}, (i64([]), i64([1]), i64([2, 3]))),
    ("split.Tensor", (LINE, 2), {}, (i64([1, 2]), i64([3]))),
    ("split.Tensor", (i64([]), 2), {}, (i64([]),)),
    ("chunk", (i64([1, 2, 3, 4, 5]), 4), {}, (i64([1, 2]), i64([3, 4]), i64([5]))),
    ("chunk", (i64([]), 2), {}, (i64([]), i64([]))),
    ("meshgrid", ([i64([1, 2]), i64(3)],), {}, (i64([[1], [2]]), i64([[3], [3]]))),
    ("meshgrid.indexing", ([i64([1, 2]), i64([3])],), {"indexing": "xy"}, (i64([[1, 2]]), i64([[3, 3]]))),
]  # fmt: skip


@pytest.mark.parametrize(("op", "arguments", "keywords", "expected"), SEVERAL)
def test_several_results(
    op: str, arguments: tuple[Any, ...], keywords: dict[str, Any], expected: tuple[np.ndarray, ...]
) -> None:
    check(f"aten::{op}", *arguments, **keywords, gives=expected)


REFUSED: list[tuple[str, tuple[Any, ...]]] = [
    ("transpose.int", (M, 0, 2)),
    ("t", (i64([[[1]]]),)),
    ("movedim.intlist", (M, [0, 0], [0, 1])),
    ("expand", (LINE, [2])),
    ("expand", (LINE, [-1, 3])),
    ("view", (M, [-1, -1])),
    ("view", (M, [4, -1])),
    ("reshape", (i64([[]]), [-1, 0])),
    ("flatten.using_ints", (M, 1, 0)),
    ("unsqueeze", (LINE, 2)),
    ("diagonal", (M, 0, 0, -2)),
    ("unfold", (LINE, 0, 4, 1)),
    ("as_strided", (LINE, [2], [3])),
    ("select.int", (M, 0, 2)),
    ("split_with_sizes", (LINE, [1, 1])),
    ("split.Tensor", (LINE, 0)),
    ("chunk", (LINE, 0)),
    ("repeat", (M, [2])),
    ("flip", (M, [0, 0])),
    ("roll", (M, [1, 1])),
    ("rot90", (M, 1, [0, 0])),
    ("tril", (LINE,)),
    ("pixel_shuffle", (i64([[[1]]]), 2)),
    ("constant_pad_nd", (i8([1]), [1, 0], 300)),
    ("constant_pad_nd", (LINE, [1])),
    ("reflection_pad1d", (i64([[1, 2]]), [2, 0])),
    ("replication_pad1d", (boolean([[True]]), [1, 0])),
    ("stack", ([LINE, i64([1])],)),
    ("meshgrid", ([LINE, f64([1])],)),
]


@pytest.mark.parametrize(("op", "arguments"), REFUSED)
def test_refused(op: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(InvalidArguments):
        goldens(f"aten::{op}", *arguments)


def test_what_implementations_do_differently_is_not_judged() -> None:
    for op, arguments in (("constant_pad_nd", (LINE, [3, -6])), ("reflection_pad1d", (i64([[1, 2]]), [-1, 0]))):
        with pytest.raises(Unjudged):
            goldens(f"aten::{op}", *arguments)


def test_0d_tensors_stacked_have_their_common_dtype() -> None:
    check("aten::stack", [f16(1), f64(2)], gives=f64([1, 2]))
