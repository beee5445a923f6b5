"""Extremes, truth, counts, prefixes, distances, order statistics and searches: examples and corners."""

import math

import numpy as np
import pytest

from conform.refs import UNSPECIFIED, RefTensor
from tests.refs.helpers import call, same, tensor

inf, nan = math.inf, math.nan


def ints(nested: object) -> RefTensor:
    return tensor("int64", nested)


def floats(nested: object) -> RefTensor:
    return tensor("float32", nested)


MATRIX = floats([[3.0, 1.0, 3.0], [nan, 2.0, -inf]])


@pytest.mark.parametrize(
    ("op", "arguments", "expected"),
    [
        ("amin", {"self": MATRIX, "dim": [1], "keepdim": True}, floats([[1.0], [nan]])),
        ("amin", {"self": ints([[3, 1], [2, 5]]), "dim": []}, ints(1)),
        ("min", {"self": floats([2.0, -0.0, 7.0])}, floats(-0.0)),
        ("max", {"self": tensor("bool", [False, True])}, tensor("bool", True)),
        ("max", {"self": MATRIX}, floats(nan)),
        ("argmin", {"self": MATRIX, "dim": 1}, ints([1, 0])),
        ("argmin", {"self": ints([[3, 1], [1, 5]]), "dim": None, "keepdim": True}, ints([[1]])),
        ("any", {"self": floats([0.0, -0.0])}, tensor("bool", False)),
        ("any.dim", {"self": MATRIX, "dim": 0}, tensor("bool", [True, True, True])),
        ("any", {"self": RefTensor("int64", (0,), [])}, tensor("bool", False)),
        ("all", {"self": RefTensor("int64", (0,), [])}, tensor("bool", True)),
        ("all.dims", {"self": tensor("uint8", [[1, 0], [2, 2]]), "dim": [1]}, tensor("uint8", [0, 1])),
        ("all.dims", {"self": MATRIX, "dim": None, "keepdim": True}, tensor("bool", [[True]])),
        ("count_nonzero", {"self": floats([0.0, nan, -0.0, 2.0])}, ints(2)),
        ("count_nonzero.dim_IntList", {"self": ints([[0, 1], [2, 3]]), "dim": [0]}, ints([1, 2])),
        ("nansum", {"self": floats([1.0, nan, 2.0])}, floats(3.0)),
        ("nansum", {"self": tensor("int8", [100, 100])}, ints(200)),
        ("nanmean", {"self": floats([[1.0, nan], [nan, nan]]), "dim": [1]}, floats([1.0, nan])),
        ("cumprod", {"self": ints([[2, 3], [4, 5]]), "dim": 1}, ints([[2, 6], [4, 20]])),
        ("cumprod", {"self": floats([1e30, 1e30, 0.0]), "dim": 0}, floats([1e30, UNSPECIFIED, UNSPECIFIED])),
        ("logcumsumexp", {"self": floats([-inf, 0.0, 0.0]), "dim": 0}, floats([-inf, 0.0, 0.6931471824645996])),
        ("bincount", {"self": ints([1, 3, 1])}, ints([0, 2, 0, 1])),
        ("bincount", {"self": ints([1]), "weights": tensor("float64", [0.5]), "minlength": 3}, None),
        ("histc", {"self": floats([1.0, 2.0, 1.0]), "bins": 4, "min": 0, "max": 3}, floats([0.0, 2.0, 1.0, 0.0])),
        ("histc", {"self": floats([1.0, 5.0, 9.0, 4.999]), "bins": 2}, floats([2.0, 2.0])),
        ("median", {"self": floats([4.0, 1.0, 3.0, 2.0])}, floats(2.0)),
        ("median", {"self": floats([1.0, nan])}, floats(nan)),
        ("nanmedian", {"self": floats([3.0, nan, 1.0])}, floats(1.0)),
        ("nanmedian", {"self": floats([nan])}, floats(nan)),
    ],
)
def test_one_result(op: str, arguments: dict, expected: RefTensor | None) -> None:
    result = call(op, **arguments)
    expected = expected or tensor("float64", [0.0, 0.5, 0.0])
    assert repr(result) == repr(RefTensor(expected.dtype, expected.shape, _rounded(expected)))


def _rounded(expected: RefTensor) -> list:
    """Literals of float32, which stand as doubles."""
    if expected.dtype != "float32":
        return expected.data
    return [x if x is UNSPECIFIED else float(np.float32(x)) for x in expected.data]


@pytest.mark.parametrize(
    ("op", "arguments", "values", "indices"),
    [
        ("max.dim", {"self": MATRIX, "dim": 1}, floats([3.0, nan]), ints([0, 0])),
        ("min.dim", {"self": ints([[2, 1, 1]]), "dim": -1, "keepdim": True}, ints([[1]]), ints([[1]])),
        ("max.dim", {"self": ints(5), "dim": 0}, ints(5), ints(0)),
        ("topk", {"self": MATRIX, "k": 2}, floats([[3.0, 3.0], [nan, 2.0]]), ints([[0, 2], [0, 1]])),
        ("topk", {"self": ints([3, 1, 2]), "k": 2, "largest": False}, ints([1, 2]), ints([1, 2])),
        ("topk", {"self": ints([[3], [5]]), "k": 1, "dim": 0}, ints([[5]]), ints([[1]])),
        ("kthvalue", {"self": floats([nan, 1.0, -1.0]), "k": 3}, floats(nan), ints(0)),
        ("kthvalue", {"self": ints([[4, 2]]), "k": 1, "keepdim": True}, ints([[2]]), ints([[1]])),
        ("cummax", {"self": floats([1.0, 3.0, 2.0, nan, 4.0]), "dim": 0}, None, ints([0, 1, 1, 3, 3])),
        ("cummin", {"self": ints([2, 1, 1, 3]), "dim": 0}, ints([2, 1, 1, 1]), ints([0, 1, 2, 2])),
        ("median.dim", {"self": MATRIX, "dim": 1}, floats([3.0, nan]), ints([0, 0])),
        ("nanmedian.dim", {"self": MATRIX, "dim": 1}, floats([3.0, -inf]), ints([0, 2])),
    ],
)
def test_values_and_indices(op: str, arguments: dict, values: RefTensor | None, indices: RefTensor) -> None:
    expected = values or floats([1.0, 3.0, 3.0, nan, nan])
    assert repr(call(op, **arguments)) == repr((expected, indices))


def test_moments() -> None:
    x = floats([[1.0, 3.0], [5.0, 5.0]])
    deviation, mean = call("std_mean.correction", self=x, dim=[1], correction=0, keepdim=True)
    same(deviation, "float32", [[1.0], [0.0]])
    same(mean, "float32", [[2.0], [5.0]])
    variance, mean = call("var_mean.correction", self=x, dim=[0])
    same(variance, "float32", [8.0, 2.0])
    same(mean, "float32", [3.0, 4.0])


@pytest.mark.parametrize(
    ("p", "expected"),
    [(0.0, [1.0, 2.0]), (1.0, [3.0, 7.0]), (2.0, [3.0, 5.0]), (inf, [3.0, 4.0]), (0.5, [3.0, 13.928203582763672])],
)
def test_distances(p: float, expected: list) -> None:
    origin, others = floats([[1.0, 1.0]]), floats([[1.0, 4.0], [5.0, -2.0]])
    same(call("_cdist_forward", x1=origin, x2=others, p=p, compute_mode=None), "float32", [expected])
    rows = floats([[1.0, 1.0], [1.0, 4.0], [5.0, -2.0]])
    assert call("_pdist_forward", self=rows, p=p).data[:2] == expected


def test_distances_of_batches_of_no_elements_and_beyond_numbers() -> None:
    batch = RefTensor("float64", (2, 1, 1), [1.0, inf])
    same(
        call("_cdist_forward", x1=batch, x2=tensor("float64", [[3.0]]), p=2.0, compute_mode=1),
        "float64",
        [[[2.0]], [[inf]]],
    )
    nothing = RefTensor("float64", (1, 0), [])
    same(call("_cdist_forward", x1=nothing, x2=nothing, p=2.0, compute_mode=2), "float64", [[0.0]])


@pytest.mark.parametrize(("p", "expected"), [(0, 2.0), (1, 7.0), (2, 5.0), (inf, 4.0)])
def test_dist(p: float, expected: float) -> None:
    same(call("dist", self=tensor("float32", [[4.0], [5.0]]), other=tensor("float32", [1.0]), p=p), "float32", expected)
    same(call("_pdist_forward", self=tensor("float64", [[inf], [inf]]), p=2.0), "float64", [nan])
    same(call("_pdist_forward", self=tensor("float64", [[inf], [inf]]), p=0.0), "float64", [UNSPECIFIED])
    same(call("_pdist_forward", self=tensor("float64", [[1e308], [-1e308]]), p=inf), "float64", [inf])


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, [[1, 3], [0, UNSPECIFIED]]),
        ({"right": True}, [[2, 3], [0, UNSPECIFIED]]),
        ({"side": "right"}, [[2, 3], [0, UNSPECIFIED]]),
        ({"sorter": ints([0, 1, 2])}, [[1, 3], [0, UNSPECIFIED]]),
        ({"sorter": ints([2, 1, 0])}, [[UNSPECIFIED] * 2] * 2),
    ],
)
def test_searchsorted(more: dict, expected: list) -> None:
    boundaries, values = floats([1.0, 3.0, 5.0]), floats([[3.0, inf], [-1.0, nan]])
    same(call("searchsorted.Tensor", sorted_sequence=boundaries, self=values, **more), "int64", expected)


def test_searches_in_rows_and_buckets() -> None:
    rows, values = ints([[1, 3], [2, 4]]), ints([[3], [3]])
    same(call("searchsorted.Tensor", sorted_sequence=rows, self=values, out_int32=True), "int32", [[1], [1]])
    same(call("bucketize.Tensor", self=ints(3), boundaries=ints([1, 3]), right=True), "int64", 2)
    same(call("bucketize.Tensor", self=ints([3]), boundaries=ints([]), right=True), "int64", [0])


def test_unique() -> None:
    values, inverse, counts = call("_unique2", self=ints([[3, 1], [3, 2]]), return_inverse=True, return_counts=True)
    same(values, "int64", [1, 2, 3])
    same(inverse, "int64", [[2, 0], [2, 1]])
    same(counts, "int64", [1, 1, 2])
    _, *unasked = call("_unique2", self=ints([4, 4]))
    assert unasked == [None, None]


def test_isin() -> None:
    elements, tests = floats([-0.0, nan, inf, 1.5]), floats([[0.0, nan], [inf, 2.0]])
    same(call("isin.Tensor_Tensor", elements=elements, test_elements=tests), "bool", [True, False, True, False])
    same(call("isin.Tensor_Tensor", elements=ints([1, 2]), test_elements=floats([1.5, 2.0]), invert=True), "bool",
         [True, False])  # fmt: skip
    same(call("isin.Tensor_Tensor", elements=ints([1]), test_elements=ints([]), invert=True), "bool", [True])
    same(call("isin.Tensor_Scalar", elements=ints([2**53 + 1, 3]), test_element=2**53 + 1), "bool", [True, False])
    same(call("isin.Tensor_Scalar", elements=floats([nan]), test_element=nan, invert=True), "bool", [True])
    same(call("isin.Scalar_Tensor", element=2.5, test_elements=ints([2, 3])), "bool", False)
    same(call("isin.Scalar_Tensor", element=3, test_elements=floats([2.0, 3.0]), invert=True), "bool", False)


def test_unique_of_nan_and_in_no_order() -> None:
    values, inverse, counts = call(
        "_unique2", self=floats([nan, 2.0, nan, 1.0]), return_inverse=True, return_counts=True
    )
    same(values, "float32", [1.0, 2.0, nan, nan])
    assert inverse.data == [UNSPECIFIED, 1, UNSPECIFIED, 0]
    same(counts, "int64", [1, 1, 1, 1])
    assert call("_unique2", self=ints([2, 1]), sorted=False)[0].data == [UNSPECIFIED, UNSPECIFIED]


@pytest.mark.parametrize("data", [[inf, 1.0], [nan, 1.0], [1.0, 1.0]])
def test_data_without_a_range_leave_a_histogram_open(data: list[float]) -> None:
    assert call("histc", self=floats(data), bins=2).data == [UNSPECIFIED, UNSPECIFIED]


@pytest.mark.parametrize(
    ("op", "arguments"),
    [
        ("amin", {"self": RefTensor("int64", (0,), [])}),
        ("max", {"self": RefTensor("int64", (0,), [])}),
        ("max.dim", {"self": RefTensor("int64", (2, 0), []), "dim": 1}),
        ("argmin", {"self": tensor("bool", [True])}),
        ("min.dim", {"self": tensor("complex64", [1j]), "dim": 0}),
        ("topk", {"self": ints([1]), "k": 2}),
        ("kthvalue", {"self": ints([1]), "k": 0}),
        ("median", {"self": tensor("bool", [True])}),
        ("median.dim", {"self": RefTensor("float32", (0,), []), "dim": 0}),
        ("cumprod", {"self": ints([1]), "dim": 1}),
        ("nansum", {"self": tensor("complex64", [1j])}),
        ("nanmean", {"self": ints([1])}),
        ("_cdist_forward", {"x1": floats([[1.0]]), "x2": floats([[1.0]]), "p": -1.0, "compute_mode": None}),
        ("dist", {"self": floats([1.0]), "other": floats([1.0]), "p": -1.0}),
        ("dist", {"self": floats([]), "other": floats([]), "p": inf}),
        ("_cdist_forward", {"x1": floats([[1.0]]), "x2": floats([[1.0, 2.0]]), "p": 1.0, "compute_mode": None}),
        ("_pdist_forward", {"self": floats([1.0])}),
        ("searchsorted.Tensor", {"sorted_sequence": ints([1]), "self": floats([1.0])}),
        ("searchsorted.Tensor", {"sorted_sequence": ints([1]), "self": ints([1]), "right": True, "side": "left"}),
        ("bucketize.Tensor", {"self": ints([1]), "boundaries": ints([[1]])}),
        ("bincount", {"self": ints([-1])}),
        ("histc", {"self": floats([1.0]), "bins": 0}),
        ("histc", {"self": floats([1.0]), "min": 0.0, "max": inf}),
    ],
)
def test_refused(op: str, arguments: dict) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        call(op, **arguments)


def test_diff_and_mode() -> None:
    same(call("diff", self=ints([1, 3, 2]), append=ints([4, 5])), "int64", [2, -1, 2, 1])
    same(call("diff", self=floats([[1.0, inf], [0.0, 2.0], [-0.5, inf]]), n=2, dim=0), "float32", [[0.5, inf]])
    same(call("diff", self=tensor("uint8", [0, 1, 0]), n=2), "uint8", [254])
    with pytest.raises(ValueError, match="n >= 0"):
        call("diff", self=floats(1.0))
    values, indices = call("mode", self=floats([[1.0, 2.0, 2.0], [nan, 3.0, nan], [1.0, 2.0, 3.0]]))
    assert values.data == [2.0, UNSPECIFIED, UNSPECIFIED]
    assert indices.data == [1, UNSPECIFIED, 0]
