"""Which elements of the inputs reach one element of an output."""

from __future__ import annotations

import numpy as np
import pytest

from conform.call.bound import bound_call
from conform.judging.reach import operands_at
from conform.judging.verdict import Operand

GRID = np.arange(12, dtype=np.float32).reshape(3, 4)  # row i: 4i .. 4i + 3


def values(op: str, args: list, index: tuple[int, ...], **kwargs: object) -> list[tuple]:
    return [operand.values for operand in operands_at(bound_call(op, args, kwargs), index)]


def test_an_elementwise_op_reaches_one_element_of_each_broadcast_operand() -> None:
    row, column, single = np.float32([[10, 11, 12, 13]]), np.int64([[20], [21], [22]]), np.float64(0.5)
    assert values("aten::add.Tensor", [GRID, row], (1, 2)) == [(6.0,), (12.0,), (1,)]
    assert values("aten::add.Tensor", [column, row[0]], (2, 3), alpha=2) == [(22,), (13.0,), (2,)]
    assert values("aten::mul.Tensor", [GRID, np.asarray(single)], (0, 1)) == [(1.0,), (0.5,)]


def test_a_reduction_reaches_the_line_along_its_dim_whether_or_not_the_dim_is_kept() -> None:
    assert values("aten::argmax", [GRID, 1], (2,))[0] == (8.0, 9.0, 10.0, 11.0)
    assert values("aten::argmax", [GRID, -1, True], (2, 0))[0] == (8.0, 9.0, 10.0, 11.0)
    assert values("aten::argmax", [GRID, 0], (3,))[0] == (3.0, 7.0, 11.0)
    assert values("aten::_softmax", [GRID, 0, False], (2, 1))[0] == (1.0, 5.0, 9.0)


@pytest.mark.parametrize("op", ["aten::amax", "aten::mean.dim", "aten::var.dim", "aten::linalg_vector_norm"])
def test_a_reduction_over_several_dims_reaches_all_of_them(op: str) -> None:
    box = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    keyword = {"ord": 2} if op == "aten::linalg_vector_norm" else {}
    assert values(op, [box], (1,), dim=[2, 0], **keyword)[0] == (4.0, 5.0, 6.0, 7.0, 16.0, 17.0, 18.0, 19.0)
    kept = values(op, [box], (0, 1, 0), dim=[-1, 0], keepdim=True, **keyword)
    assert kept[0] == (4.0, 5.0, 6.0, 7.0, 16.0, 17.0, 18.0, 19.0)


@pytest.mark.parametrize(("dim", "index", "line"), [(1, (2,), (8.0, 9.0, 10.0, 11.0)), (0, (3,), (3.0, 7.0, 11.0))])
def test_a_line_of_an_output_that_lost_its_dim_and_of_one_that_kept_it(
    dim: int, index: tuple[int], line: tuple[float, ...]
) -> None:
    kept = (*index, 0) if dim == 1 else (0, *index)
    other = (*index, 3) if dim == 1 else (2, *index)  # a place in the line itself
    assert values("aten::amax", [GRID, [dim]], index)[0] == line
    assert values("aten::amax", [GRID, [dim], True], kept)[0] == line
    assert values("aten::cumsum", [GRID, dim], other)[0] == line


def test_a_function_reaches_one_element() -> None:
    assert values("aten::tanh", [GRID], (1, 2)) == [(6.0,)]
    assert values("aten::hypot", [GRID, GRID[0]], (1, 2)) == [(6.0,), (2.0,)]


def test_a_product_reaches_a_row_and_a_column() -> None:
    assert values("aten::mm", [GRID, GRID.T], (1, 2)) == [(4.0, 5.0, 6.0, 7.0), (8.0, 9.0, 10.0, 11.0)]
    assert values("aten::addmm", [GRID[:, :3], GRID, GRID.T], (1, 2))[0] == (6.0,)


def test_anything_else_is_shown_from_its_beginning_with_the_number_of_elements() -> None:
    (operand,) = operands_at(bound_call("aten::sum", [GRID], {}), ())
    assert operand == Operand("self", "float32", (3, 4), tuple(map(float, range(8))), 12)


@pytest.mark.parametrize("index", [(0, 0), (5, 3)])
def test_tensors_in_a_list_have_a_number_and_other_arguments_their_value(index: tuple[int, int]) -> None:
    operands = operands_at(bound_call("aten::cat", [[GRID, GRID + 1], 0], {}), index)
    assert [operand.name for operand in operands] == ["tensors[0]", "tensors[1]", "dim"]
    assert operands[2] == Operand("dim", None, None, (0,))
