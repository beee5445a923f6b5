"""cat, permute, slice, gather, index_put, sort, arange: the documentation's examples, then the corners."""

import math

import pytest

from conform.refs import UNSPECIFIED, RefTensor, lookup, names
from conform.refs.references import reference
from tests.refs.helpers import call, same, tensor

inf, nan = math.inf, math.nan


def test_lookup() -> None:
    assert "aten::cat" in names()
    with pytest.raises(LookupError, match=r"no reference for 'aten::adm'; did you mean 'aten::"):
        lookup("aten::adm")
    with pytest.raises(ValueError, match="two references: mm and"):
        reference("aten::mm")(lambda: None)
    with pytest.raises(ValueError, match="holds 6 elements, found 5"):
        RefTensor("int8", (2, 3), [0] * 5)


def test_cat() -> None:
    x = tensor("int64", [[1, 2], [3, 4]])
    same(call("cat", tensors=[x, x], dim=0), "int64", [[1, 2], [3, 4], [1, 2], [3, 4]])
    same(call("cat", tensors=[x, tensor("int64", [[5], [6]])], dim=-1), "int64", [[1, 2, 5], [3, 4, 6]])
    promoted = call("cat", tensors=[tensor("int64", [2049]), tensor("float16", [0.5])], dim=0)
    same(promoted, "float16", [2048.0, 0.5])
    same(call("cat", tensors=[tensor("float64", []), x], dim=1), "float64", [[1.0, 2.0], [3.0, 4.0]])
    same(call("cat", tensors=[tensor("int8", []), tensor("int8", [])], dim=0), "int8", [])


def test_permute() -> None:
    x = RefTensor("int64", (2, 3, 5), list(range(30)))
    result = call("permute", self=x, dims=[2, 0, -2])
    assert result.shape == (5, 2, 3)
    assert result.data[:7] == [0, 5, 10, 15, 20, 25, 1]
    same(call("permute", self=tensor("int8", 7), dims=[]), "int8", 7)


@pytest.mark.parametrize(
    ("start", "end", "step", "expected"),
    [
        (None, None, 1, [0, 1, 2, 3, 4]),
        (1, 4, 2, [1, 3]),
        (-3, -1, 1, [2, 3]),
        (-100, 100, 3, [0, 3]),
        (3, 1, 1, []),
        (5, 9, 1, []),
        (0, 2**63 - 1, 4, [0, 4]),
    ],
)
def test_slice(start: int | None, end: int | None, step: int, expected: list[int]) -> None:
    x = RefTensor("int64", (5,), [0, 1, 2, 3, 4])
    same(call("slice.Tensor", self=x, dim=0, start=start, end=end, step=step), "int64", expected)


def test_slice_of_an_inner_dim() -> None:
    x = tensor("int64", [[1, 2, 3], [4, 5, 6]])
    same(call("slice.Tensor", self=x, dim=-1, start=1, end=None, step=1), "int64", [[2, 3], [5, 6]])


def test_gather() -> None:
    x, index = tensor("int64", [[1, 2], [3, 4]]), tensor("int64", [[0, 0], [1, 0]])
    same(call("gather", self=x, dim=1, index=index, sparse_grad=False), "int64", [[1, 1], [4, 3]])
    same(call("gather", self=x, dim=-2, index=tensor("int64", [[1], [0], [1]])), "int64", [[3], [1], [3]])
    same(call("gather", self=tensor("float16", -0.0), dim=0, index=tensor("int64", [0, 0])), "float16", [-0.0, -0.0])
    same(call("gather", self=tensor("int8", [5, 6]), dim=0, index=tensor("int64", 1)), "int8", 6)
    same(call("gather", self=x, dim=0, index=tensor("int64", [])), "int64", [])


def put(self: object, indices: list, values: object, accumulate: bool = False, dtype: str = "int64") -> RefTensor:
    return call(
        "index_put",
        self=tensor(dtype, self),
        indices=indices,
        values=tensor(dtype, values),
        accumulate=accumulate,
    )


def test_index_put() -> None:
    x = [[0, 1, 2], [3, 4, 5]]
    one = tensor("int64", [1])
    same(put(x, [one, tensor("int64", [-1])], [9]), "int64", [[0, 1, 2], [3, 4, 9]])
    same(put(x, [tensor("int32", 0)], [7, 8, 9]), "int64", [[7, 8, 9], [3, 4, 5]])
    same(put(x, [None, tensor("int64", [2, 0])], [[7, 8]]), "int64", [[8, 1, 7], [8, 4, 7]])
    mask = tensor("bool", [[True, False, True], [False, True, False]])
    same(put(x, [mask], [7, 8, 9]), "int64", [[7, 1, 8], [3, 9, 5]])
    same(put(x, [tensor("bool", [False, True]), tensor("int64", [0])], 7), "int64", [[0, 1, 2], [7, 4, 5]])
    column_by_row = [tensor("int64", [[0], [1]]), tensor("int64", [0, 2])]
    same(put(x, column_by_row, [[6, 7], [8, 9]]), "int64", [[6, 1, 7], [8, 4, 9]])
    same(put(x, [tensor("int64", [])], 7), "int64", x)


def test_index_put_dims_of_separated_indices_come_first() -> None:
    zeros = [[[0, 0], [0, 0], [0, 0]]]  # shape (1, 3, 2); x[[0, 0], :, [0, 1]] has shape (2, 3)
    indices = [tensor("int64", [0, 0]), None, tensor("int64", [0, 1])]
    same(put(zeros, indices, [[1, 2, 3], [4, 5, 6]]), "int64", [[[1, 4], [2, 5], [3, 6]]])
    together = [None, tensor("int64", [2, 0]), tensor("int64", [0, 1])]  # x[:, [2, 0], [0, 1]] has shape (1, 2)
    same(put(zeros, together, [[1, 2]]), "int64", [[[0, 2], [0, 0], [1, 0]]])


def test_index_put_at_a_repeated_index() -> None:
    twice = [tensor("int64", [0, 1, 0])]
    same(put([10, 20], twice, [1, 2, 3]), "int64", [UNSPECIFIED, 2])
    same(put([10, 20], twice, [1, 2, 3], accumulate=True), "int64", [14, 22])
    same(put([250, 0], twice, [4, 1, 4], accumulate=True, dtype="uint8"), "uint8", [2, 1])
    same(put([False, False], twice, [True, False, False], accumulate=True, dtype="bool"), "bool", [True, False])
    # 2048 + 1 + 1 in one rounding; with two it stays 2048
    same(put([2048.0, -0.0], twice, [1.0, -0.0, 1.0], accumulate=True, dtype="float16"), "float16", [2050.0, -0.0])
    same(put([inf, -0.0], twice, [-inf, 0.0, 1.0], accumulate=True, dtype="float16"), "float16", [nan, 0.0])


def test_sort() -> None:
    alternating = tensor("int64", [0, 1] * 9)
    values, indices = call("sort.stable", self=alternating, stable=True, dim=0, descending=False)
    same(values, "int64", [0] * 9 + [1] * 9)
    same(indices, "int64", [0, 2, 4, 6, 8, 10, 12, 14, 16, 1, 3, 5, 7, 9, 11, 13, 15, 17])
    values, indices = call("sort.stable", self=alternating, stable=True, dim=0, descending=True)
    same(indices, "int64", [1, 3, 5, 7, 9, 11, 13, 15, 17, 0, 2, 4, 6, 8, 10, 12, 14, 16])


def test_sort_special() -> None:
    x = tensor("float32", [0.0, nan, -0.0, -inf, inf, nan, -1.0])
    values, indices = call("sort", self=x, dim=-1, descending=False)
    same(values, "float32", [-inf, -1.0, 0.0, -0.0, inf, nan, nan])
    same(indices, "int64", [3, 6, 0, 2, 4, 1, 5])
    values, indices = call("sort", self=x, dim=-1, descending=True)
    same(values, "float32", [nan, nan, inf, 0.0, -0.0, -1.0, -inf])
    same(indices, "int64", [1, 5, 4, 0, 2, 6, 3])
    values, indices = call("sort", self=tensor("bool", [[True, True], [False, True]]), dim=0, descending=False)
    same(values, "bool", [[False, True], [True, True]])
    same(indices, "int64", [[1, 0], [0, 1]])
    values, indices = call("sort", self=tensor("int8", 5), dim=0, descending=False)
    same(values, "int8", 5)
    same(indices, "int64", 0)


def test_arange() -> None:
    same(call("arange", end=5, dtype=None, device=None), "int64", [0, 1, 2, 3, 4])
    same(call("arange.start", start=1, end=4, dtype=None), "int64", [1, 2, 3])
    same(call("arange.start_step", start=1, end=2.5, step=0.5, dtype=None), "float32", [1.0, 1.5, 2.0])
    same(call("arange.start_step", start=5, end=0, step=-2, dtype="float16"), "float16", [5.0, 3.0, 1.0])
    same(call("arange.start_step", start=3, end=3, step=-1, dtype=None), "int64", [])
    same(call("arange.start", start=126, end=130, dtype="int8"), "int8", [126, 127, -128, -127])
    same(call("arange.start", start=2**53, end=2**53 + 3, dtype=None), "int64", [2**53, 2**53 + 1, 2**53 + 2])
    # P83: truncated first; an infinite step reaches no end, ceil(1 / inf) = 0; the zeros' signs are those of IEEE 754
    same(call("arange.start_step", start=1.5, end=9.7, step=2.0, dtype="int64"), "int64", [1, 3, 5, 7])
    same(call("arange.start_step", start=0.0, end=1.0, step=math.inf, dtype=None), "float32", [])
    same(call("arange.start_step", start=-0.0, end=-1.0, step=-1.0, dtype=None), "float32", [-0.0])
    # 3 * 0.1 as a double is 0.3000000000000000166, whose float32 is 0.3's
    result = call("arange.start_step", start=0.0, end=0.35, step=0.1, dtype=None)
    same(result, "float32", [0.0, 0.10000000149011612, 0.20000000298023224, 0.30000001192092896])


@pytest.mark.parametrize(
    ("op", "arguments"),
    [
        ("cat", {"tensors": [], "dim": 0}),
        ("cat", {"tensors": [tensor("int8", 1)], "dim": 0}),
        ("cat", {"tensors": [tensor("int8", [[1]]), tensor("int8", [1])], "dim": 0}),
        ("cat", {"tensors": [tensor("int8", [[1]]), tensor("int8", [[1, 2]])], "dim": 0}),
        ("cat", {"tensors": [tensor("int8", [1])], "dim": 1}),
        ("permute", {"self": tensor("int8", [[1]]), "dims": [0, -2]}),
        ("permute", {"self": tensor("int8", [[1]]), "dims": [0]}),
        ("slice.Tensor", {"self": tensor("int8", 1)}),
        ("slice.Tensor", {"self": tensor("int8", [1]), "step": 0}),
        ("gather", {"self": tensor("int8", [1, 2]), "dim": 0, "index": tensor("int64", [2])}),
        ("gather", {"self": tensor("int8", [1, 2]), "dim": 0, "index": tensor("int64", [-1])}),
        ("gather", {"self": tensor("int8", [1, 2]), "dim": 0, "index": tensor("int64", [[0]])}),
        ("gather", {"self": tensor("int8", [[1], [2]]), "dim": 0, "index": tensor("int64", [[0, 0]])}),
        ("index_put", {"self": tensor("int8", [1]), "indices": [tensor("int64", [1])], "values": tensor("int8", 1)}),
        ("index_put", {"self": tensor("int8", [1]), "indices": [tensor("int64", [0])], "values": tensor("int16", 1)}),
        ("index_put", {"self": tensor("int8", 1), "indices": [tensor("int64", [0])], "values": tensor("int8", 1)}),
        ("index_put", {"self": tensor("int8", [1]), "indices": [tensor("int8", [0])], "values": tensor("int8", 1)}),
        (
            "index_put",
            {"self": tensor("int8", [1, 2]), "indices": [tensor("bool", [True])], "values": tensor("int8", 1)},
        ),
        (
            "index_put",
            {"self": tensor("int8", [1]), "indices": [tensor("int64", [0])], "values": tensor("int8", [1, 2])},
        ),
        ("sort", {"self": tensor("complex64", [1j]), "dim": 0}),
        ("sort", {"self": tensor("int8", [1]), "dim": 1}),
        ("arange.start_step", {"start": 0, "end": 3, "step": 0}),
        ("arange.start_step", {"start": 0, "end": 3, "step": -1}),
        ("arange", {"end": inf}),
        ("arange", {"end": 3, "dtype": "bool"}),
    ],
)
def test_refused(op: str, arguments: dict) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        call(op, **arguments)
