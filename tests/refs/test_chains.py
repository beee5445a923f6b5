"""Products of several matrices, powers, and sums above zero: literal results, and what is refused."""

from math import inf, nan

import pytest

from conform.refs.exact.tensor import UNSPECIFIED
from tests.refs.helpers import call, same, tensor

A, B, C = ([[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]], [[1.0, 0.0], [1.0, 1.0]])


def test_products() -> None:
    matrices = [tensor("float32", one) for one in (A, B, C)]
    same(call("chain_matmul", matrices=matrices), "float32", [[41.0, 22.0], [93.0, 50.0]])
    vectors = [tensor("float32", [1.0, 1.0]), matrices[0], tensor("float32", [1.0, 10.0])]
    same(call("linalg_multi_dot", tensors=vectors), "float32", 64.0)
    same(call("chain_matmul", matrices=[tensor("int8", [[100]])] * 3), "int8", [[64]])  # 1000000 = 3906 * 256 + 64


def test_infinities_are_open_and_nan_is_not() -> None:
    rest = [tensor("float32", A), tensor("float32", B)]
    infinite = call("chain_matmul", matrices=[tensor("float32", [[inf, 1.0], [1.0, 1.0]]), *rest])
    assert infinite.data == [UNSPECIFIED, UNSPECIFIED, 62.0, 72.0]
    same(call("chain_matmul", matrices=[tensor("float32", [[nan, inf]]), *rest]), "float32", [[nan, nan]])


def test_powers() -> None:
    same(call("matrix_power", self=tensor("float32", A), n=3), "float32", [[37.0, 54.0], [81.0, 118.0]])
    same(call("matrix_power", self=tensor("float64", [[2.0, 0.0], [0.0, 4.0]]), n=-2), "float64",
         [[0.25, 0.0], [0.0, 0.0625]])  # fmt: skip
    assert call("matrix_power", self=tensor("float32", [[1.0, 1.0], [1.0, 1.0]]), n=-1).data == [UNSPECIFIED] * 4
    same(call("linalg_vander", x=tensor("int8", [2, 10]), N=3), "int64", [[1, 2, 4], [1, 10, 100]])


def test_sums_above_zero() -> None:
    same(call("_add_relu.Tensor", self=tensor("int8", [100, -5]), other=tensor("int8", [100, 9])), "int8", [0, 4])
    x, w = tensor("float32", [[[1.0]], [[2.0]]]), tensor("float32", [[[10.0]], [[1.0]]])
    same(call("conv_tbc", self=x, weight=w, bias=tensor("float32", [0.5]), pad=1), "float32",
         [[[1.5]], [[12.5]], [[20.5]]])  # fmt: skip


@pytest.mark.parametrize(
    ("op", "arguments"),
    [
        ("chain_matmul", {"matrices": []}),
        ("linalg_multi_dot", {"tensors": [tensor("float32", A)]}),
        ("chain_matmul", {"matrices": [tensor("float32", A), tensor("float32", [[1.0]])]}),
        ("matrix_power", {"self": tensor("float32", [[1.0, 2.0]]), "n": 2}),
        ("linalg_vander", {"x": tensor("float32", [1.0])}),
    ],
)
def test_what_is_refused(op: str, arguments: dict) -> None:
    with pytest.raises(ValueError, match=r"matri|product|powers"):
        call(op, **arguments)
