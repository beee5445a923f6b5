"""Products of matrices, stacks, vectors; convolutions by dims; einsum: literal results, then what is refused."""

import math
from typing import Any

import pytest

from conform.refs import RefTensor
from tests.refs.helpers import call, same, tensor

inf, nan = math.inf, math.nan
A, B = [[1, 2], [3, 4]], [[5, 6], [7, 8]]
PRODUCTS = [
    ("bmm", {"self": [A, B], "mat2": [B, A]}, [[[19, 22], [43, 50]], [[23, 34], [31, 46]]]),
    ("baddbmm", {"self": [1, 0], "batch1": [A], "batch2": [B], "beta": 2, "alpha": 3}, [[[59, 66], [131, 150]]]),
    ("addbmm", {"self": [[1], [0]], "batch1": [A, B], "batch2": [B, A]}, [[43, 57], [74, 96]]),
    ("mv", {"self": A, "vec": [5, 6]}, [17, 39]),
    ("addmv", {"self": [1, 2], "mat": A, "vec": [5, 6], "beta": 10, "alpha": 2}, [44, 98]),
    ("dot", {"self": [1, 2, 3], "tensor": [4, 5, 6]}, 32),
    ("vdot", {"self": [1, 2, 3], "other": [4, 5, 6]}, 32),
    ("outer", {"self": [1, 2], "vec2": [3, 4, 5]}, [[3, 4, 5], [6, 8, 10]]),
    ("addr", {"self": [10, 20], "vec1": [1, 2], "vec2": [3, 4], "beta": 1, "alpha": -1}, [[7, 16], [4, 12]]),
    ("linear", {"input": [A], "weight": B, "bias": [100, 200]}, [[[117, 223], [139, 253]]]),
    ("linear", {"input": A, "weight": [5, 6]}, [17, 39]),
    ("matmul", {"self": [1, 2], "other": [3, 4]}, 11),
    ("matmul", {"self": A, "other": [5, 6]}, [17, 39]),
    ("matmul", {"self": [5, 6], "other": [A, B]}, [[23, 34], [67, 78]]),
    ("matmul", {"self": [[A]], "other": [B, A]}, [[[[19, 22], [43, 50]], [[7, 10], [15, 22]]]]),
    ("inner", {"self": A, "other": B}, [[17, 23], [39, 53]]),
    ("inner", {"self": 2, "other": B}, [[10, 12], [14, 16]]),
    ("kron", {"self": [1, 2], "other": [[1], [3]]}, [[1, 2], [3, 6]]),
    ("trace", {"self": [[1, 2, 3], [4, 5, 6]]}, 6),
    ("linalg_cross", {"self": [[1, 0, 0]], "other": [[0, 1, 0], [0, 0, 1]]}, [[0, 0, 1], [0, -1, 0]]),
    ("cross", {"self": [[1], [2], [3]], "other": [[4], [5], [6]]}, [[-3], [6], [-3]]),
    ("conv1d", {"input": [[1, 2, 3, 4]], "weight": [[[1, 10]]], "stride": [2]}, [[21, 43]]),
    ("conv1d.padding", {"input": [[1, 2, 3]], "weight": [[[1, 10]]], "padding": "same"}, [[21, 32, 3]]),
    ("conv_transpose1d", {"input": [[1, 2]], "weight": [[[1, 10]]], "stride": [2]}, [[1, 10, 2, 20]]),
]


@pytest.mark.parametrize(("op", "arguments", "expected"), PRODUCTS)
def test_products_of_integers(op: str, arguments: dict[str, Any], expected: object) -> None:
    scalars = {"alpha", "beta", "stride", "padding"}
    given = {name: x if name in scalars else tensor("int64", x) for name, x in arguments.items()}
    same(call(op, **given), "int64", expected)


EQUATIONS = [
    ("ij,jk->ik", [A, B], [[19, 22], [43, 50]]),
    ("ji, kj", [A, B], [[23, 31], [34, 46]]),  # "ik", the letters that occur once, in alphabetical order
    ("ii->i", [A], [1, 4]),
    ("ii", [A], 5),
    ("ba", [A], [[1, 3], [2, 4]]),
    ("...j,j->...", [[A], [1, 10]], [[21, 43]]),
    ("...j->j", [A], [4, 6]),
    ("i,j,ij->", [[1, 2], [1, 10], A], 107),
    ("ij,ij->ij", [A, [[1], [10]]], [[1, 2], [30, 40]]),
]


@pytest.mark.parametrize(("equation", "operands", "expected"), EQUATIONS)
def test_einsum(equation: str, operands: list, expected: object) -> None:
    tensors = [tensor("int64", operand) for operand in operands]
    same(call("einsum", equation=equation, tensors=tensors), "int64", expected)


def test_sums_round_once_and_wrap() -> None:
    u = 2.0**-12
    row, column = tensor("float32", [1 + u, -1.0]), tensor("float32", [1 - u, 1.0])
    same(call("dot", self=row, tensor=column), "float32", -(2.0**-24))
    same(call("einsum", equation="i,i", tensors=[row, column]), "float32", -(2.0**-24))
    same(call("addmv", self=tensor("float32", [nan]), mat=RefTensor("float32", (1, 2), [1.0, inf]), vec=column, beta=0),
         "float32", [inf])  # fmt: skip
    same(call("mv", self=tensor("int8", [[100]]), vec=tensor("int8", [3])), "int8", [44])
    same(call("_int_mm", self=tensor("int8", [[100]]), mat2=tensor("int8", [[3]])), "int32", [[300]])
    same(call("outer", self=tensor("float32", [0.0]), vec2=tensor("int8", [-3])), "float32", [[-0.0]])
    true = tensor("bool", [True])
    same(call("addr", self=tensor("bool", [[False]]), vec1=true, vec2=true, alpha=False), "bool", [[False]])
    nothing = RefTensor("float16", (1, 2, 0), []), RefTensor("float16", (1, 0, 1), [])
    same(call("bmm", self=nothing[0], mat2=nothing[1]), "float16", [[[0.0], [0.0]]])


REFUSED = [
    ("bmm", {"self": [A], "mat2": [B, A]}),
    ("mv", {"self": A, "vec": [1, 2, 3]}),
    ("dot", {"self": [1, 2], "tensor": [1]}),
    ("matmul", {"self": 1, "other": A}),
    ("linear", {"input": A, "weight": B, "bias": [1]}),
    ("linalg_cross", {"self": A, "other": B}),
    ("conv1d.padding", {"input": [[1, 2, 3]], "weight": [[[1, 10]]], "padding": "same", "stride": [2]}),
]


@pytest.mark.parametrize(("op", "arguments"), REFUSED)
def test_refused(op: str, arguments: dict[str, Any]) -> None:
    given = {name: x if name in {"stride", "padding"} else tensor("int64", x) for name, x in arguments.items()}
    with pytest.raises(ValueError, match=r"found|shapes"):
        call(op, **given)


@pytest.mark.parametrize("equation", ["ij->ik", "ij->ii", "i->i", "ij,j", "i1", "iij"])
def test_equations_that_do_not_fit_a_matrix(equation: str) -> None:
    with pytest.raises(ValueError, match=r"subscript|equation|output"):
        call("einsum", equation=equation, tensors=[tensor("int64", [[1, 2]])])


def test_products_by_other_names() -> None:
    a = tensor("float64", [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    b = tensor("float64", [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    assert call("tensordot", self=a, other=b, dims_self=[1], dims_other=[0]).data == [10, 13, 28, 40]
    assert call("tensordot", self=a, other=b, dims_self=[0, 1], dims_other=[1, 0]).data == [50]
    assert call("linalg_vecdot", x=a, y=a).data == [5, 50]
    assert call("linalg_vecdot", x=a, y=a, dim=0).data == [9, 17, 29]
    assert call("linalg_diagonal", A=a, offset=1).data == [1, 5]
    assert call("frobenius_norm.dim", self=tensor("float64", [[3.0, 0.0], [0.0, 4.0]]), dim=[0, 1]).data == [5]
