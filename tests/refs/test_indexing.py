"""Reading and writing at indices held in tensors: the documentation's examples, then the corners."""

import math

import pytest

from conform.refs import UNSPECIFIED, RefTensor
from tests.refs.helpers import call, same, tensor

inf, nan = math.inf, math.nan


def ints(nested: object) -> RefTensor:
    return tensor("int64", nested)


def bools(nested: object) -> RefTensor:
    return tensor("bool", nested)


CUBE = RefTensor("int64", (2, 3, 2), list(range(12)))
ROWS = ints([[0, 1, 2], [3, 4, 5]])
TABLE = tensor("float32", [[1.0, 2.0], [3.0, 4.0], [5.0, nan]])


@pytest.mark.parametrize(
    ("source", "indices", "expected"),
    [
        (ROWS, [ints([1, -1])], [[3, 4, 5], [3, 4, 5]]),
        (ROWS, [None, ints([[2], [0]])], [[[2], [0]], [[5], [3]]]),
        (ROWS, [bools([[True, False, True], [False, True, False]])], [0, 2, 4]),
        (ROWS, [bools([False, True]), ints([0, 2])], [3, 5]),
        (CUBE, [None, ints([2, 0]), ints([0, 1])], [[4, 1], [10, 7]]),
        (CUBE, [ints([1, 0]), None, ints([0, 1])], [[6, 8, 10], [1, 3, 5]]),  # separated: their dim comes first
        (ROWS, [ints([[]])], RefTensor("int64", (1, 0, 3), [])),
    ],
)
def test_index(source: RefTensor, indices: list, expected: object) -> None:
    result = call("index.Tensor", self=source, indices=indices)
    assert result == (expected if isinstance(expected, RefTensor) else ints(expected))


@pytest.mark.parametrize(
    ("op", "arguments", "expected"),
    [
        ("index_select", {"self": ROWS, "dim": 1, "index": ints([2, 2, 0])}, ints([[2, 2, 0], [5, 5, 3]])),
        ("index_select", {"self": ints(7), "dim": 0, "index": ints(0)}, ints(7)),
        ("index_select", {"self": ROWS, "dim": -2, "index": ints(1)}, ints([[3, 4, 5]])),
        ("take", {"self": ints([[4, 3, 5], [6, 7, 8]]), "index": ints([0, 2, -1])}, ints([4, 5, 8])),
        (
            "take_along_dim",
            {"self": ROWS, "indices": ints([[2], [0]]), "dim": 1},
            ints([[2], [3]]),
        ),
        ("take_along_dim", {"self": ROWS, "indices": ints([[1, 0]]), "dim": 1}, ints([[1, 0], [4, 3]])),
        ("take_along_dim", {"self": ROWS, "indices": ints([[5]]), "dim": None}, ints([5])),
        ("nonzero", {"self": tensor("float32", [1.0, 0.0, nan])}, ints([[0], [2]])),
        ("nonzero", {"self": ints([[0, 1], [2, 3]])}, ints([[0, 1], [1, 0], [1, 1]])),
        ("nonzero", {"self": ints(3)}, RefTensor("int64", (1, 0), [])),
        ("nonzero_static", {"self": ints([[0, 1], [2, 3]]), "size": 2}, ints([[0, 1], [1, 0]])),
        ("nonzero_static", {"self": ints([0, 5]), "size": 3, "fill_value": 9}, ints([[1], [9], [9]])),
        ("nonzero_static", {"self": ints([0]), "size": 1}, ints([[-1]])),
        ("masked_select", {"self": ROWS, "mask": bools([True, False, True])}, ints([0, 2, 3, 5])),
        ("masked_select", {"self": ints([1, 2]), "mask": bools([[True], [False]])}, ints([1, 2])),
        ("one_hot", {"self": ints([2, 0])}, ints([[0, 0, 1], [1, 0, 0]])),
        ("one_hot", {"self": ints(1), "num_classes": 2}, ints([0, 1])),
        ("embedding", {"weight": ROWS, "indices": ints([[1], [0]])}, ints([[[3, 4, 5]], [[0, 1, 2]]])),
    ],
)
def test_choosing(op: str, arguments: dict, expected: RefTensor) -> None:
    assert call(op, **arguments) == expected


def scattered(op: str, target: list, index: list, source: object, dtype: str = "int64", **more: object) -> list:
    name = "value" if op in ("scatter.value", "scatter.value_reduce") else "src"
    given = source if name == "value" else tensor(dtype, source)
    result = call(op, self=tensor(dtype, target), dim=0, index=ints(index), **{name: given}, **more)
    return result.data


def test_scatter() -> None:
    assert scattered("scatter.src", [0, 0, 0], [2, 0], [7, 8, 9]) == [8, 0, 7]
    assert scattered("scatter.src", [0, 0, 0], [2, 2], [7, 8]) == [0, 0, UNSPECIFIED]
    assert scattered("scatter.value", [0, 0, 0], [2, 2], 5) == [0, 0, 5]
    assert scattered("scatter.value", [0, 0], [1], 1.75) == [0, 1]
    assert scattered("scatter.src", [5, 6], [], []) == [5, 6]
    assert scattered("scatter.value_reduce", [2, 3], [0, 0], 3, reduce="multiply") == [18, 3]
    assert scattered("scatter.value_reduce", [2.0], [0], 0.1, dtype="float16", reduce="add") == [2.099609375]
    assert scattered("scatter.reduce", [2, 3], [0, 0], [3, 4], reduce="add") == [9, 3]
    assert scattered("scatter_add", [100, 0], [0, 0], [100, 100], dtype="int8") == [44, 0]
    assert scattered("scatter_add", [2048.0], [0, 0], [1.0, 1.0], dtype="float16") == [2050.0]  # rounded once
    along_columns = call("scatter.src", self=ROWS, dim=1, index=ints([[1]]), src=ints([[9, 8]]))
    same(along_columns, "int64", [[0, 9, 2], [3, 4, 5]])


@pytest.mark.parametrize(
    ("reduce", "with_self", "without"),
    [
        ("sum", [8.0, 9.0], [6.0, 9.0]),
        ("prod", [16.0, 9.0], [8.0, 9.0]),
        ("mean", [2.6667, 9.0], [3.0, 9.0]),
        ("amax", [4.0, 9.0], [4.0, 9.0]),
        ("amin", [2.0, 9.0], [2.0, 9.0]),
    ],
)
def test_scatter_reduce(reduce: str, with_self: list, without: list) -> None:
    for include, expected in ((True, with_self), (False, without)):
        found = scattered(
            "scatter_reduce.two", [2.0, 9.0], [0, 0], [2.0, 4.0], dtype="float32", reduce=reduce, include_self=include
        )
        assert found == pytest.approx(expected, rel=1e-4)


def test_scatter_reduce_of_nan_of_integers_and_bools() -> None:
    reduced = "scatter_reduce.two"
    assert repr(scattered(reduced, [2.0], [0, 0], [nan, 4.0], dtype="float32", reduce="amin")) == "[nan]"
    assert scattered(reduced, [2], [0], [4], reduce="mean") == [3]
    assert scattered(reduced, [2], [0], [3], reduce="mean") == [UNSPECIFIED]
    assert scattered(reduced, [True], [0], [False], dtype="bool", reduce="prod") == [False]


def test_along_one_dim() -> None:
    source = ints([[10, 20, 30]])
    same(
        call("index_add", self=ROWS, dim=0, index=ints([1]), source=source, alpha=2), "int64", [[0, 1, 2], [23, 44, 65]]
    )
    twice = call("index_add", self=ints([1, 2]), dim=0, index=ints([0, 0]), source=ints([10, 20]))
    same(twice, "int64", [31, 2])
    third = call(
        "index_add", self=tensor("float16", [1.0]), dim=0, index=ints(0), source=tensor("float16", [3.0]), alpha=0.1
    )
    same(third, "float16", [1.2998046875])
    same(call("index_copy", self=ROWS, dim=0, index=ints([1]), source=source), "int64", [[0, 1, 2], [10, 20, 30]])
    open_ = call("index_copy", self=ints([1, 2]), dim=0, index=ints([0, 0]), source=ints([5, 5]))
    same(open_, "int64", [UNSPECIFIED, 2])
    same(
        call("index_fill.int_Scalar", self=ROWS, dim=1, index=ints([0, 2]), value=-1),
        "int64",
        [[-1, 1, -1], [-1, 4, -1]],
    )
    mask = bools([True, False, True])
    same(call("masked_scatter", self=ROWS, mask=mask, source=ints([6, 7, 8, 9, 10])), "int64", [[6, 1, 7], [8, 4, 9]])


@pytest.mark.parametrize(
    ("reduce", "include_self", "expected"),
    [
        ("prod", True, [[0.0, 24.0], [3.0, 4.0]]),
        ("prod", False, [[0.0, 12.0], [3.0, 4.0]]),
        ("mean", True, [[2.0, 5.0], [3.0, 4.0]]),
        ("mean", False, [[2.5, 6.5], [3.0, 4.0]]),
        ("amax", False, [[5.0, 12.0], [3.0, 4.0]]),
        ("amin", True, [[0.0, 1.0], [3.0, 4.0]]),
    ],
)  # fmt: skip
def test_index_reduce(reduce: str, include_self: bool, expected: list) -> None:
    table = tensor("float32", [[1.0, 2.0], [3.0, 4.0]])
    source = tensor("float32", [[5.0, 1.0], [0.0, 12.0]])
    given = {"self": table, "dim": 0, "index": ints([0, 0]), "source": source}
    same(call("index_reduce", reduce=reduce, include_self=include_self, **given), "float32", expected)


def test_put() -> None:
    same(call("put", self=ROWS, index=ints([1, -1]), source=ints([10, 20])), "int64", [[0, 10, 2], [3, 4, 20]])
    same(call("put", self=ROWS, index=ints([1, -5]), source=ints([8, 8])), "int64", [[0, UNSPECIFIED, 2], [3, 4, 5]])
    bytes_ = {"self": tensor("uint8", [1, 2]), "index": ints([0, -2, 1]), "source": tensor("uint8", [200, 100, 3])}
    same(call("put", accumulate=True, **bytes_), "uint8", [45, 5])
    same(call("put", self=ints(7), index=ints(0), source=ints(9)), "int64", 9)


def test_gradient_of_an_embedding() -> None:
    grad = tensor("float32", [[1.0, 2.0], [4.0, 8.0], [16.0, 32.0]])
    arguments = {"grad_output": grad, "indices": ints([2, 0, 2]), "num_weights": 3}
    plain = call("embedding_dense_backward", padding_idx=-1, scale_grad_by_freq=False, **arguments)
    same(plain, "float32", [[4.0, 8.0], [0.0, 0.0], [17.0, 34.0]])
    scaled = call("embedding_dense_backward", padding_idx=0, scale_grad_by_freq=True, **arguments)
    same(scaled, "float32", [[0.0, 0.0], [0.0, 0.0], [8.5, 17.0]])


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, [[4.0, 6.0], [0.0, 0.0], [5.0, nan]]),
        ({"mode": 1}, [[2.0, 3.0], [0.0, 0.0], [5.0, nan]]),
        ({"mode": 2}, [[3.0, 4.0], [0.0, 0.0], [5.0, nan]]),
        ({"include_last_offset": True}, [[4.0, 6.0], [0.0, 0.0]]),
        ({"mode": 1, "padding_idx": 0}, [[3.0, 4.0], [0.0, 0.0], [5.0, nan]]),
        ({"padding_idx": 2}, [[4.0, 6.0], [0.0, 0.0], [0.0, 0.0]]),
        ({"per_sample_weights": tensor("float32", [0.5, 2.0, -1.0])}, [[6.5, 9.0], [0.0, 0.0], [-5.0, nan]]),
    ],
)
def test_embedding_bag(more: dict, expected: list) -> None:
    result, *others = call("_embedding_bag", weight=TABLE, indices=ints([0, 1, 2]), offsets=ints([0, 2, 2]), **more)
    same(result, "float32", expected)
    assert others == [UNSPECIFIED] * 3


@pytest.mark.parametrize(
    ("op", "arguments"),
    [
        ("index.Tensor", {"self": ROWS, "indices": [ints([2])]}),
        ("index.Tensor", {"self": ROWS, "indices": [bools([True])]}),
        ("index.Tensor", {"self": ROWS, "indices": [ints([0, 1]), ints([0, 1, 2])]}),
        ("index_select", {"self": ROWS, "dim": 0, "index": ints([-1])}),
        ("index_select", {"self": ROWS, "dim": 0, "index": ints([[0]])}),
        ("take", {"self": ROWS, "index": ints([6])}),
        ("take_along_dim", {"self": ROWS, "indices": ints([0]), "dim": 0}),
        ("masked_select", {"self": ROWS, "mask": ints([1, 0, 1])}),
        ("one_hot", {"self": ints([2]), "num_classes": 2}),
        ("one_hot", {"self": ints([-1])}),
        ("embedding", {"weight": ROWS, "indices": ints([2])}),
        ("embedding", {"weight": ints([1]), "indices": ints([0])}),
        ("scatter.src", {"self": ROWS, "dim": 0, "index": ints([[0]]), "src": tensor("int8", [[1]])}),
        ("scatter.src", {"self": ROWS, "dim": 0, "index": ints([[0, 0]]), "src": ints([[1]])}),
        ("scatter.src", {"self": ROWS, "dim": 0, "index": ints([[2]]), "src": ints([[1]])}),
        ("scatter.src", {"self": ROWS, "dim": 0, "index": ints([[0] * 4]), "src": ints([[1] * 4])}),
        ("scatter.value", {"self": ROWS, "dim": 0, "index": ints([[0]]), "value": 1j}),
        ("scatter.reduce", {"self": ROWS, "dim": 0, "index": ints([[0]]), "src": ROWS, "reduce": "mean"}),
        ("scatter_reduce.two", {"self": ROWS, "dim": 0, "index": ints([[0]]), "src": ROWS, "reduce": "add"}),
        ("index_add", {"self": ROWS, "dim": 0, "index": ints([0]), "source": ints([[1, 2]])}),
        ("index_add", {"self": ROWS, "dim": 0, "index": ints([0]), "source": ints([[1, 2, 3]]), "alpha": 1.5}),
        ("index_copy", {"self": ROWS, "dim": 0, "index": ints([2]), "source": ints([[1, 2, 3]])}),
        ("index_reduce", {"self": ROWS, "dim": 0, "index": ints([2]), "source": ints([[1, 2, 3]]), "reduce": "amax"}),
        ("index_reduce", {"self": ROWS, "dim": 0, "index": ints([0]), "source": ints([[1, 2, 3]]), "reduce": "sum"}),
        ("put", {"self": ROWS, "index": ints([6]), "source": ints([1])}),
        ("put", {"self": ROWS, "index": ints([0]), "source": ints([1, 2])}),
        ("nonzero_static", {"self": ROWS, "size": -1}),
        ("index_fill.int_Scalar", {"self": ROWS, "dim": 0, "index": ints([2]), "value": 1}),
        ("masked_scatter", {"self": ROWS, "mask": bools([True, True, True]), "source": ints([1])}),
        (
            "_embedding_bag",
            {"weight": TABLE, "indices": ints([0]), "offsets": ints([1])},
        ),
        (
            "_embedding_bag",
            {"weight": TABLE, "indices": ints([0]), "offsets": ints([0]), "mode": 1, "per_sample_weights": TABLE},
        ),
    ],
)
def test_refused(op: str, arguments: dict) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        call(op, **arguments)
