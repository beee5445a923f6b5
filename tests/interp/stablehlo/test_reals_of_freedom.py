"""What the specification leaves free in programs on real numbers: integers out of range, the order of equal elements
and of updates, and what infinities and NaN make of sums of products."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jaxlib", reason="StableHLO needs the extra conform[stablehlo]")

from conform.contracts.judge import judge
from conform.contracts.tables import OF_MODULE
from conform.errors import NoGolden, Unjudged
from conform.numerics.formats import FORMATS
from tests.interp.stablehlo.on_reals import computed, goldens, judged, stepwise

F32 = np.float32
NAN = float("nan")


def binary(op: str, type_: str) -> str:
    body = f'%0 = "stablehlo.{op}"(%x, %y) : ({type_}, {type_}) -> {type_}'
    return f"func.func @main(%x: {type_}, %y: {type_}) -> {type_} {{\n  {body}\n  return %0 : {type_}\n}}\n"


@pytest.mark.parametrize(
    ("op", "lhs", "rhs", "free"),
    [
        ("divide", [7, 7, -128, -128], [2, 0, -1, 1], [False, True, True, False]),
        ("remainder", [7, 7, -128, -128], [2, 0, -1, 1], [False, True, True, False]),
        ("power", [2, 2, 1, 0], [3, -1, -1, 0], [False, True, True, False]),
        ("shift_left", [1, 1, 1, 1], [7, 8, 100, -1], [False, True, True, True]),
        ("shift_right_logical", [1, 1, 1, 1], [7, 8, 100, -1], [False, True, True, True]),
        ("shift_right_arithmetic", [1, 1, 1, 1], [7, 8, 100, -1], [False, True, True, True]),
    ],
)
def test_integers_that_the_specification_leaves_open(op: str, lhs: list[int], rhs: list[int], free: list[bool]) -> None:
    x, y = np.array(lhs, np.int8), np.array(rhs, np.int8)
    (golden,) = goldens(binary(op, "tensor<4xi8>"), x, y)
    assert golden.open.tolist() == free
    assert golden.open_rule == "P151"


def test_amounts_of_a_shift_beyond_what_has_a_sign() -> None:
    x, y = np.ones(4, np.uint64), np.array([63, 64, 2**63, 2**64 - 1], np.uint64)
    (golden,) = goldens(binary("shift_left", "tensor<4xui64>"), x, y)
    assert golden.open.tolist() == [False, True, True, True]


@pytest.mark.parametrize(("type_", "dtype"), [("f32", F32), ("complex<f32>", np.complex64)])
def test_floats_that_no_integer_is(type_: str, dtype: type) -> None:
    text = f"""func.func @main(%x: tensor<6x{type_}>) -> tensor<6xi8> {{
      %0 = stablehlo.convert %x : (tensor<6x{type_}>) -> tensor<6xi8>
      return %0 : tensor<6xi8>
    }}"""
    (golden,) = goldens(text, np.array([-128.9, 127.9, 128, -129, np.nan, np.inf], dtype))
    assert golden.open.tolist() == [False, False, True, True, True, True]
    assert golden.value[:2].tolist() == [-128, 127]


SORT = """func.func @main(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %0:2 = "stablehlo.sort"(%x, %y) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
      %less = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
  }) {dimension = 0 : i64, is_stable = STABLE} : (tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
  return %0#0, %0#1 : tensor<4xi32>, tensor<4xi32>
}"""


def test_the_order_of_equal_elements() -> None:
    keys, values = np.array([3, 1, 3, 2], np.int32), np.arange(4, dtype=np.int32)
    first, second = goldens(SORT.replace("STABLE", "true"), keys, values)
    assert (first.value.tolist(), second.value.tolist()) == ([1, 2, 3, 3], [1, 3, 0, 2])
    assert second.open is None
    with pytest.raises(Unjudged, match="honest implementations make either way"):
        goldens(SORT.replace("STABLE", "false"), keys, values)
    distinct = np.array([3, 1, 4, 2], np.int32)
    assert goldens(SORT.replace("STABLE", "false"), distinct, values)[1].value.tolist() == [1, 3, 0, 2]


@pytest.mark.parametrize("line", [[1, NAN, 2, 3], [NAN, 1, 2, 3], [1, 2, 3, NAN], [1, 2, NAN, 3]], ids=str)
@pytest.mark.parametrize("stable", ["true", "false"])
def test_a_nan_beside_which_nothing_is_less_or_greater_leaves_no_order(line: list[float], stable: str) -> None:
    """By LT a NaN is equal to 1 and to 2, so algorithms have it elsewhere; among equal elements it is one of them."""
    text = SORT.replace("i32", "f32").replace(", SIGNED", "").replace("STABLE", stable)
    with pytest.raises(Unjudged, match="its comparator is no order of these elements"):
        stepwise(text, np.array(line, F32), np.zeros(4, F32))
    of_equal_ones = stepwise(text, np.array([1, NAN, 1, 1], F32), np.array([4, 3, 2, 1], F32))
    assert of_equal_ones[1].tolist() == [4, 3, 2, 1]


def test_equal_elements_that_read_alike_from_both_ends() -> None:
    """0 5 5 0 in the place of 5 0 0 5 is as right, and 0 0 0 0 of equal ones can be nothing else."""
    keys, text = np.full(4, 7, np.int32), SORT.replace("STABLE", "false")
    with pytest.raises(Unjudged, match="honest implementations make either way"):
        goldens(text, keys, np.array([5, 0, 0, 5], np.int32))
    assert goldens(text, keys, np.zeros(4, np.int32))[1].value.tolist() == [0, 0, 0, 0]


def test_lines_are_free_one_by_one() -> None:
    """The first line holds equal elements that are not the same, the second none."""
    text = SORT.replace("4x", "2x4x").replace("dimension = 0", "dimension = 1").replace("STABLE", "false")
    text = text.replace("i32", "f32").replace(", SIGNED", "")
    zeros = np.array([[0.0, -0.0, 1, 2], [1, 0.0, 3, 2]], F32)
    first, _ = goldens(text, zeros, zeros)
    assert np.isinf(first.budget).tolist() == [[True] * 4, [False] * 4]
    assert first.value[1].tolist() == [0, 1, 2, 3]


SCATTER = """func.func @main(%x: tensor<4xTYPE>, %y: tensor<2xTYPE>) -> tensor<4xTYPE> {
  %places = stablehlo.constant dense<[[1], [PLACE]]> : tensor<2x1xi32>
  %0 = "stablehlo.scatter"(%x, %places, %y) ({
    ^bb0(%a: tensor<TYPE>, %b: tensor<TYPE>):
      stablehlo.return %b : tensor<TYPE>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<4xTYPE>, tensor<2x1xi32>, tensor<2xTYPE>) -> tensor<4xTYPE>
  return %0 : tensor<4xTYPE>
}"""  # noqa: E501


@pytest.mark.parametrize("type_", ["i32", "f32"])
def test_updates_of_one_element(type_: str) -> None:
    dtype = {"i32": np.int32, "f32": F32}[type_]
    x, y = np.array([10, 11, 12, 13], dtype), np.array([1, 2], dtype)
    (apart,) = goldens(SCATTER.replace("TYPE", type_).replace("PLACE", "3"), x, y)
    assert apart.value.tolist() == [10, 1, 12, 2]
    (together,) = goldens(SCATTER.replace("TYPE", type_).replace("PLACE", "1"), x, y)
    free = together.open if type_ == "i32" else np.isinf(together.budget)
    assert free.tolist() == [False, True, False, False]


# --- Infinities and NaN in sums of products ---------------------------------------------------------------------------

DOT = """func.func @main(%x: tensor<1x2xf32>, %y: tensor<2x1xf32>) -> tensor<1x1xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<1x2xf32>, tensor<2x1xf32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}"""  # noqa: E501
CONVOLUTION = """func.func @main(%x: tensor<1x1x4xf32>, %w: tensor<1x1x3xf32>) -> tensor<1x1x4xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x4xf32>, tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
  return %0 : tensor<1x1x4xf32>
}"""  # noqa: E501


@pytest.mark.parametrize(
    ("x", "y", "value", "is_known"),
    [
        ([np.inf, 2], [-1, 3], -np.inf, True),
        ([np.inf, 3e38], [-1, 3e38], -np.inf, False),  # the other product may be infinite, and the sum NaN
        ([np.inf, 3e38], [0, 3e38], np.nan, True),
    ],
)
def test_an_infinity_beside_products_that_may_overflow(
    x: list[float], y: list[float], value: float, is_known: bool
) -> None:
    (golden,) = goldens(DOT, np.array([x], F32), np.array(y, F32)[:, None])
    assert np.array_equal(golden.value, [[value]], equal_nan=True)
    assert np.isfinite(golden.budget).tolist() == [[is_known]]


@pytest.mark.parametrize(("kernel", "is_known"), [
    ([NAN, 1, 1], [False, True, True, True]), ([1, 1, np.inf], [True, True, True, False]), ([1, NAN, 1], [True] * 4),
], ids=str)  # fmt: skip
def test_padding_beside_a_weight_that_is_no_number(kernel: list[float], is_known: list[bool]) -> None:
    """Kernels multiply padding, which gives NaN, or leave it out."""
    (golden,) = goldens(CONVOLUTION, np.array([[[1, 2, 3, 4]]], F32), np.array([[kernel]], F32))
    assert np.isfinite(golden.budget[0, 0]).tolist() == is_known


# --- Updates that join ------------------------------------------------------------------------------------------------

SUMS = SCATTER.replace("stablehlo.return %b", "%s = stablehlo.JOIN %a, %b : tensor<TYPE>\n      stablehlo.return %s")


@pytest.mark.parametrize(
    ("join", "together", "apart"),
    [("add", [10, 14, 12, 13], [10, 12, 12, 15]), ("maximum", [10, 11, 12, 13], [10, 11, 12, 13]),
     ("minimum", [10, 1, 12, 13], [10, 1, 12, 2])],
)  # fmt: skip
@pytest.mark.parametrize("type_", ["i32", "f32", "bf16"])
def test_updates_that_join(join: str, together: list[int], apart: list[int], type_: str) -> None:
    dtype = {"i32": np.int32, "f32": F32, "bf16": FORMATS["bfloat16"].storage}[type_]
    x, y = np.array([10, 11, 12, 13]).astype(dtype), np.array([1, 2]).astype(dtype)
    program = SUMS.replace("TYPE", type_).replace("JOIN", join)
    assert goldens(program.replace("PLACE", "1"), x, y)[0].value.tolist() == together
    assert goldens(program.replace("PLACE", "3"), x, y)[0].value.tolist() == apart
    assert goldens(program.replace("PLACE", "9"), x, y)[0].value.tolist() == [
        10, {"add": 12, "maximum": 11, "minimum": 1}[join], 12, 13
    ]  # fmt: skip


def test_updates_that_are_added_one_by_one_are_honest() -> None:
    text = computed(SUMS.replace("TYPE", "f32").replace("JOIN", "add").replace("PLACE", "1"))
    x, y = np.array([0, 1e8, 0, 0], F32), np.array([4, 4], F32)
    (found,) = judged(text, [np.array([0, 1e8, 0, 0], F32)], x, y)
    assert found.ok.all()
    assert not judged(text, [np.array([0, 1e8 + 64, 0, 0], F32)], x, y)[0].ok.all()


def test_updates_that_join_in_a_wider_type() -> None:
    """2048 + 1 is no number of float16, but of float32."""
    text = SUMS.replace("JOIN", "add").replace("PLACE", "1").replace("tensor<TYPE>", "tensor<f32>")
    text = text.replace("-> tensor<4xTYPE>", "-> tensor<4xf32>").replace("%0 : tensor<4xTYPE>", "%0 : tensor<4xf32>")
    x, y = np.array([10, 2048, 12, 13], np.float16), np.array([1, 2], np.float16)
    (golden,) = goldens(text.replace("TYPE", "f16"), x, y)
    assert golden.value.tolist() == [10, 2051, 12, 13]
    assert not judge(golden, np.array([10, 2050, 12, 13], F32), OF_MODULE).ok[1]


def test_updates_that_divide_are_not_known() -> None:
    text = SUMS.replace("TYPE", "f32").replace("JOIN", "divide").replace("PLACE", "1")
    with pytest.raises(NoGolden, match=r"expected the update, or one of stablehlo.add"):
        goldens(text, np.ones(4, F32), np.ones(2, F32))


@pytest.mark.parametrize("updates", [1, 4, 40])
def test_updates_that_multiply(updates: int) -> None:
    """In any order each product is rounded; a factor that is left out, or counts twice, is found."""
    indices = ", ".join(["[1]"] * updates)
    text = SUMS.replace("TYPE", "f32").replace("JOIN", "multiply").replace("[[1], [PLACE]]", f"[{indices}]")
    text = text.replace("2x1xi32", f"{updates}x1xi32").replace("tensor<2xf32>", f"tensor<{updates}xf32>")
    rng = np.random.default_rng(updates)
    x, y = np.array([1, 1.7, -0.0, np.inf], F32), rng.uniform(0.9, 1.2, updates).astype(F32)
    (golden,) = goldens(text, x, y)
    assert golden.value[[0, 2, 3]].tolist() == [1, 0, np.inf]
    for factors in (y, y[::-1], np.sort(y)):
        product = np.multiply.reduce(np.concatenate([x[1:2], factors]))
        assert judge(golden, np.array([1, product, -0.0, np.inf], F32), OF_MODULE).ok.all()
    for factor in (1 / y[-1], y[0], 1 + F32(2e-6) * updates):
        assert not judge(golden, np.array([1, product * factor, -0.0, np.inf], F32), OF_MODULE).ok.all()
