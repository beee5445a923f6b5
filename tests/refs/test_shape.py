"""References of views, parts, joins, rearrangements and pads: literal cases worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from conform.refs import UNSPECIFIED
from tests.refs.helpers import call, same, tensor

MATRIX = [[1, 2, 3], [4, 5, 6]]
ONE_ROW = [[1, 2, 3]]

CASES: list[tuple[str, Any, dict[str, Any], Any]] = [
    ("transpose.int", MATRIX, {"dim0": 0, "dim1": -1}, [[1, 4], [2, 5], [3, 6]]),
    ("t", MATRIX, {}, [[1, 4], [2, 5], [3, 6]]),
    ("t", [1, 2], {}, [1, 2]),
    ("movedim.int", [[[1, 2], [3, 4]]], {"source": 0, "destination": -1}, [[[1], [2]], [[3], [4]]]),
    ("movedim.intlist", [[[1, 2]]], {"source": [2, 0], "destination": [0, 1]}, [[[1]], [[2]]]),
    ("expand", ONE_ROW, {"size": [2, -1]}, [[1, 2, 3], [1, 2, 3]]),
    ("expand", 7, {"size": [2]}, [7, 7]),
    ("expand", [7], {"size": [0]}, []),
    ("narrow", MATRIX, {"dim": -1, "start": -2, "length": 1}, [[2], [5]]),
    ("narrow_copy", [1, 2], {"dim": 0, "start": 2, "length": 0}, []),
    ("channel_shuffle", [[[1], [2], [3], [4]]], {"groups": 2}, [[[1], [3], [2], [4]]]),
    ("view", MATRIX, {"size": [3, -1]}, [[1, 2], [3, 4], [5, 6]]),
    ("reshape", MATRIX, {"shape": [-1]}, [1, 2, 3, 4, 5, 6]),
    ("reshape", [7], {"shape": []}, 7),
    ("flatten.using_ints", [[[1, 2], [3, 4]]], {"start_dim": 1}, [[1, 2, 3, 4]]),
    ("flatten.using_ints", 7, {}, [7]),
    ("unsqueeze", [1, 2], {"dim": -1}, [[1], [2]]),
    ("squeeze", [[[1], [2]]], {}, [1, 2]),
    ("squeeze.dim", [[[1], [2]]], {"dim": 0}, [[1], [2]]),
    ("squeeze.dims", [[[1], [2]]], {"dim": [1, 2]}, [[1, 2]]),
    ("as_strided", [0, 1, 2, 3], {"size": [2, 2], "stride": [1, 1], "storage_offset": 1}, [[1, 2], [2, 3]]),
    ("select.int", MATRIX, {"dim": 1, "index": -1}, [3, 6]),
    ("diagonal", MATRIX, {"offset": 1}, [2, 6]),
    ("diagonal", MATRIX, {"offset": -1}, [4]),
    ("diagonal", MATRIX, {"dim1": 1, "dim2": 0, "offset": 1}, [4]),
    ("unfold", [1, 2, 3, 4], {"dimension": 0, "size": 2, "step": 2}, [[1, 2], [3, 4]]),
    ("unfold", MATRIX, {"dimension": 1, "size": 2, "step": 1}, [[[1, 2], [2, 3]], [[4, 5], [5, 6]]]),
    ("unfold", 7, {"dimension": 0, "size": 1, "step": 1}, [7]),
    ("repeat", [1, 2], {"repeats": [2, 2]}, [[1, 2, 1, 2], [1, 2, 1, 2]]),
    ("repeat", [1, 2], {"repeats": [0]}, []),
    ("tile", [[1], [2]], {"dims": [2]}, [[1, 1], [2, 2]]),
    ("flip", MATRIX, {"dims": [-1]}, [[3, 2, 1], [6, 5, 4]]),
    ("roll", [1, 2, 3], {"shifts": [1]}, [3, 1, 2]),
    ("roll", MATRIX, {"shifts": [-1], "dims": []}, [[2, 3, 4], [5, 6, 1]]),
    ("roll", MATRIX, {"shifts": [1, -1], "dims": [0, 1]}, [[5, 6, 4], [2, 3, 1]]),
    ("roll", [1, 2, 3], {"shifts": [1, 1], "dims": [0, 0]}, [2, 3, 1]),
    ("rot90", [[1, 2], [3, 4]], {}, [[2, 4], [1, 3]]),
    ("rot90", [[1, 2], [3, 4]], {"k": -1}, [[3, 1], [4, 2]]),
    ("rot90", MATRIX, {"dims": [1, 0]}, [[4, 1], [5, 2], [6, 3]]),
    ("tril", MATRIX, {}, [[1, 0, 0], [4, 5, 0]]),
    ("triu", MATRIX, {"diagonal": 1}, [[0, 2, 3], [0, 0, 6]]),
    ("diag_embed", [1, 2], {}, [[1, 0], [0, 2]]),
    ("diag_embed", [1, 2], {"offset": 1}, [[0, 1, 0], [0, 0, 2], [0, 0, 0]]),
    ("diag_embed", [1], {"offset": 1, "dim1": 1, "dim2": 0}, [[0, 0], [1, 0]]),
    ("pixel_shuffle", [[[1]], [[2]], [[3]], [[4]]], {"upscale_factor": 2}, [[[1, 2], [3, 4]]]),
    ("pixel_unshuffle", [[[1, 2], [3, 4]]], {"downscale_factor": 2}, [[[1]], [[2]], [[3]], [[4]]]),
    ("constant_pad_nd", MATRIX, {"pad": [1, 0]}, [[0, 1, 2, 3], [0, 4, 5, 6]]),
    ("constant_pad_nd", [[1, 2]], {"pad": [-1, 1, 0, 1], "value": 9.7}, [[2, 9], [9, 9]]),
    ("constant_pad_nd", [1, 2, 3], {"pad": [-4, 2]}, [0]),
    ("reflection_pad1d", ONE_ROW, {"padding": [2, 1]}, [[3, 2, 1, 2, 3, 2]]),
    ("reflection_pad1d", ONE_ROW, {"padding": [-1, 2]}, [[2, 3, 2, 1]]),
    ("reflection_pad2d", [[[1, 2], [3, 4]]], {"padding": [1, 0, 0, 1]}, [[[2, 1, 2], [4, 3, 4], [2, 1, 2]]]),
    ("reflection_pad3d", [[[[1, 2]]]], {"padding": [0, 1, 0, 0, 0, 0]}, [[[[1, 2, 1]]]]),
    ("replication_pad1d", ONE_ROW, {"padding": [2, 1]}, [[1, 1, 1, 2, 3, 3]]),
    ("replication_pad1d", ONE_ROW, {"padding": [-4, 2]}, [[3]]),
    ("replication_pad2d", [[[1, 2]]], {"padding": [0, 1, 1, 0]}, [[[1, 2, 2], [1, 2, 2]]]),
    ("replication_pad3d", [[[[1, 2]]]], {"padding": [0, 0, 0, 0, 1, 0]}, [[[[1, 2]], [[1, 2]]]]),
    ("select_scatter", MATRIX, {"src": tensor("int64", [8, 9]), "dim": 1, "index": 0}, [[8, 2, 3], [9, 5, 6]]),
    ("slice_scatter", MATRIX, {"src": tensor("float32", [[8.5, 9.0, 7.0]]), "start": 1}, [[1, 2, 3], [8, 9, 7]]),
    ("diagonal_scatter", MATRIX, {"src": tensor("float32", [8.5, 9.0]), "offset": 1}, [[1, 8, 3], [4, 5, 9]]),
    ("diagonal_scatter", MATRIX, {"src": tensor("int32", [7]), "dim1": 1, "dim2": 0, "offset": 1},
     [[1, 2, 3], [7, 5, 6]]),
    ("as_strided_scatter", MATRIX, {"src": tensor("float32", [8.5, 9.0]), "size": [2], "stride": [2],
                                    "storage_offset": 1}, [[1, 8, 3], [9, 5, 6]]),
    ("as_strided_scatter", [1, 2, 3], {"src": tensor("int32", [[7, 8], [8, 9]]), "size": [2, 2], "stride": [1, 1]},
     [7, UNSPECIFIED, 9]),
]  # fmt: skip


@pytest.mark.parametrize(("op", "self", "arguments", "expected"), CASES)
def test_moved(op: str, self: object, arguments: dict[str, Any], expected: object) -> None:
    same(call(op, self=tensor("int32", self), **arguments), "int32", expected)


def test_empty_results() -> None:
    assert call("diagonal", self=tensor("int8", [[1]]), offset=3).shape == (0,)
    assert call("unfold", self=tensor("int8", [1, 2]), dimension=0, size=0, step=1).shape == (3, 0)
    assert call("diag_embed", self=tensor("int8", []), offset=-1).data == [0]
    assert call("view", self=tensor("int8", []), size=[2, -1]).shape == (2, 0)
    assert call("triu", self=tensor("bool", [[True, True], [True, True]])).data == [True, True, False, True]


@pytest.mark.parametrize(
    ("op", "arguments", "expected"),
    [
        ("split_with_sizes", {"split_sizes": [0, 2, 1]}, [[], [1, 2], [3]]),
        ("split.Tensor", {"split_size": 2}, [[1, 2], [3]]),
        ("chunk", {"chunks": 2}, [[1, 2], [3]]),
        ("chunk", {"chunks": 5}, [[1], [2], [3]]),
        ("unbind.int", {}, [1, 2, 3]),
    ],
)
def test_parts(op: str, arguments: dict[str, Any], expected: list) -> None:
    parts = call(op, self=tensor("int16", [1, 2, 3]), **arguments)
    for part, values in zip(parts, expected, strict=True):
        same(part, "int16", values)


def test_parts_of_nothing() -> None:
    empty = tensor("int8", [])
    assert [part.shape for part in call("split.Tensor", self=empty, split_size=0)] == [(0,)]
    assert [part.shape for part in call("chunk", self=empty, chunks=3)] == [(0,)] * 3
    assert call("unbind.int", self=empty) == ()


def test_joined() -> None:
    pair = [tensor("int8", [1, 2]), tensor("float16", [3.0, 4.0])]
    same(call("stack", tensors=pair, dim=-1), "float16", [[1.0, 3.0], [2.0, 4.0]])
    same(call("block_diag", tensors=[tensor("float16", [[3.0], [4.0]]), tensor("int8", [1, 2])]), "float16",
         [[3.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 1.0, 2.0]])  # fmt: skip
    same(call("block_diag", tensors=[tensor("int8", 5), tensor("int8", [])]), "int8", [[5], [0]])
    rows = [tensor("int8", [[1, 2], [3, 4], [5, 6]]), tensor("int8", [7])]
    same(call("_chunk_cat", tensors=rows, dim=0, num_chunks=2), "int8", [[1, 2, 3, 4, 7], [5, 6, 0, 0, 0]])
    same(call("_chunk_cat", tensors=[tensor("int8", [[1, 2, 3], [4, 5, 6]])], dim=1, num_chunks=2), "int8",
         [[[1, 2], [3, 0]], [[4, 5], [6, 0]]])  # fmt: skip
    grid = [tensor("int8", [1, 2]), tensor("int8", 7)]
    for grids, expected in (
        (call("meshgrid", tensors=grid), [[[1], [2]], [[7], [7]]]),
        (call("meshgrid.indexing", tensors=grid, indexing="xy"), [[[1, 2]], [[7, 7]]]),
    ):
        for found, values in zip(grids, expected, strict=True):
            same(found, "int8", values)


@pytest.mark.parametrize(
    ("op", "self", "arguments"),
    [
        ("t", [[[1]]], {}),
        ("transpose.int", 1, {"dim0": 0, "dim1": 1}),
        ("movedim.intlist", [[1]], {"source": [0, 0], "destination": [0, 1]}),
        ("expand", [1, 2], {"size": [3]}),
        ("expand", [1], {"size": [-1, 1]}),
        ("expand", [[1]], {"size": [1]}),
        ("view", [1, 2], {"size": [3]}),
        ("view", [], {"size": [-1, 0]}),
        ("reshape", [1, 2], {"shape": [-1, -1]}),
        ("flatten.using_ints", [[1]], {"start_dim": 1, "end_dim": 0}),
        ("unsqueeze", [1], {"dim": 2}),
        ("squeeze.dims", [[1]], {"dim": [0, -2]}),
        ("as_strided", [1, 2], {"size": [2], "stride": [2]}),
        ("as_strided", [1, 2], {"size": [2], "stride": [-1]}),
        ("select.int", 1, {"dim": 0, "index": 0}),
        ("select.int", [1], {"dim": 0, "index": 1}),
        ("select_scatter", [1], {"src": tensor("int32", [1]), "dim": 0, "index": 0}),
        ("slice_scatter", [1, 2], {"src": tensor("int32", [1])}),
        ("diagonal_scatter", [[1]], {"src": tensor("int32", [1, 2])}),
        ("as_strided_scatter", [1, 2], {"src": tensor("int32", [1]), "size": [2], "stride": [1]}),
        ("narrow", [1, 2], {"dim": 0, "start": 1, "length": 2}),
        ("channel_shuffle", [[[1], [2]]], {"groups": 3}),
        ("split_with_sizes", [1, 2], {"split_sizes": [3, -1]}),
        ("split_with_sizes", [1, 2], {"split_sizes": [1]}),
        ("split.Tensor", [1], {"split_size": 0}),
        ("chunk", [1], {"chunks": 0}),
        ("unbind.int", 1, {}),
        ("diagonal", [[1]], {"dim1": 0, "dim2": -2}),
        ("unfold", [1, 2], {"dimension": 0, "size": 3, "step": 1}),
        ("unfold", [1, 2], {"dimension": 0, "size": 1, "step": 0}),
        ("repeat", [[1]], {"repeats": [2]}),
        ("tile", [1], {"dims": [-1]}),
        ("flip", [[1]], {"dims": [0, -2]}),
        ("roll", [1], {"shifts": [1, 2], "dims": [0]}),
        ("roll", [[1]], {"shifts": [1, 2], "dims": []}),
        ("rot90", [1], {}),
        ("rot90", [[1]], {"dims": [0, 0]}),
        ("tril", [1], {}),
        ("diag_embed", [1], {"dim1": 0, "dim2": 0}),
        ("pixel_shuffle", [[[1]]], {"upscale_factor": 2}),
        ("pixel_unshuffle", [[[1]]], {"downscale_factor": 0}),
        ("constant_pad_nd", [1], {"pad": [1]}),
        ("constant_pad_nd", [1], {"pad": [1, 1, 1, 1]}),
        ("constant_pad_nd", [1], {"pad": [-1, -1]}),
        ("constant_pad_nd", [1], {"pad": [1, 1], "value": 2**31}),
        ("reflection_pad1d", ONE_ROW, {"padding": [3, 0]}),
        ("reflection_pad1d", ONE_ROW, {"padding": [-2, -1]}),
        ("reflection_pad2d", [[[1, 2, 3]]], {"padding": [0, 0, 1, 0]}),
        ("replication_pad1d", [1, 2], {"padding": [1, 1]}),
        ("replication_pad2d", [[[]]], {"padding": [1, 1, 1, 1]}),
    ],
)
def test_refused(op: str, self: object, arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        call(op, self=tensor("int32", self), **arguments)


def test_joins_refused() -> None:
    one, two = tensor("int8", [1]), tensor("int8", [1, 2])
    for op, arguments in (
        ("stack", {"tensors": []}),
        ("stack", {"tensors": [one, two]}),
        ("block_diag", {"tensors": [tensor("int8", [[[1]]])]}),
        ("_chunk_cat", {"tensors": [one, tensor("int16", [1])], "dim": 0, "num_chunks": 1}),
        ("meshgrid", {"tensors": [one, tensor("int16", [1])]}),
        ("meshgrid.indexing", {"tensors": [one], "indexing": "ji"}),
    ):
        with pytest.raises(ValueError, match=r"\w"):
            call(op, **arguments)
