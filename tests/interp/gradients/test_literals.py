"""Gradients of small calls, by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from conform.call.bound import bound_call
from conform.errors import Unjudged
from conform.interp.evaluate import evaluate_call
from conform.interp.golden import Golden
from conform.interp.gradients.evaluation import gradient_call
from conform.numerics.formats import format_named
from conform.numerics.rounding import round_to
from conform.numerics.ulp import ulp

NAN = float("nan")
F32 = np.float32
OPEN = object()  # an element that is left open, or of which nothing is known


def gradients(op: str, args: Sequence[Any], g: Any, kwargs: Mapping[str, Any] | None = None) -> tuple[Golden, ...]:
    call = bound_call(op, [np.array(one, F32) if _is_tensor(one) else one for one in args], kwargs or {})
    return evaluate_call(gradient_call(call, [None if one is None else np.array(one, F32) for one in g])).goldens


def _is_tensor(given: Any) -> bool:
    """Whether it is a list of floats, in lists perhaps; those of integers and of arrays are lists."""
    while isinstance(given, list):
        if not given:
            return True
        given = given[0]
    return isinstance(given, float)


def shown(golden: Golden) -> Any:
    values = golden.value.astype(object)
    if golden.open is not None:
        values[golden.open] = OPEN
    if golden.budget is not None:
        values[np.isinf(golden.budget)] = OPEN
    return values.tolist()


SOME_ROWS = np.repeat(np.array([[1.0], [2.0], [4.0]], F32), 8, axis=1)
SOME_MATRICES = np.array([1.0, 2.0, 3.0], F32)[:, None, None] * np.ones((8, 8), F32)

CALLS = [
    ("aten::exp", ([0.0],), [[3.0]], [[3.0]]),
    ("aten::mul.Tensor", ([1.0, 2.0], [3.0, 5.0]), [[1.0, 10.0]], [[3.0, 50.0], [1.0, 20.0]]),
    # Broadcast: the gradient of one number is the sum of those at all places.
    ("aten::mul.Tensor", ([1.0, 2.0], [3.0]), [[1.0, 10.0]], [[3.0, 30.0], [21.0]]),
    ("aten::sub.Tensor", ([1.0, 2.0], [3.0]), [[1.0, 10.0]], [[1.0, 10.0], [-11.0]]),
    ("aten::div.Tensor", ([4.0], [2.0]), [[3.0]], [[1.5], [-3.0]]),
    ("aten::relu", ([-1.0, 0.0, 2.0],), [[5.0, 5.0, 5.0]], [[0.0, OPEN, 5.0]]),
    ("aten::abs", ([-2.0, -0.0, 2.0],), [[3.0, 3.0, 3.0]], [[-3.0, OPEN, 3.0]]),
    ("aten::sqrt", ([4.0, 0.0],), [[1.0, 1.0]], [[0.25, OPEN]]),
    ("aten::clamp", ([-1.0, 0.0, 0.5, 1.0, 2.0], 0, 1), [[7.0] * 5], [[0.0, OPEN, 7.0, OPEN, 0.0]]),
    ("aten::maximum", ([1.0, 4.0, 3.0], [2.0, 2.0, 3.0]), [[5.0] * 3], [[0.0, 5.0, OPEN], [5.0, 0.0, OPEN]]),
    ("aten::amax", ([[1.0, 3.0], [4.0, 4.0]], [1]), [[5.0, 6.0]], [[[0.0, 5.0], [OPEN, OPEN]]]),
    # NaN is no number of those that are averaged: 6 / 2 beside each of two; 6 / 1, and 0 is open beside NaN.
    ("aten::nanmean", ([[1.0, NAN, 2.0], [NAN, NAN, 4.0]], [1]), [[6.0, 6.0]], [[[3.0, OPEN, 3.0], [OPEN, OPEN, 6.0]]]),
    # Equal elements that nothing chooses between are no kink.
    ("aten::amax", ([[1.0, 1.0, 3.0]], [1]), [[5.0]], [[[0.0, 0.0, 5.0]]]),
    ("aten::sort", ([3.0, 1.0, 2.0],), [[10.0, 20.0, 30.0], None], [[30.0, 10.0, 20.0]]),
    ("aten::median", ([2.0, 2.0, 2.0],), [4.0], [[OPEN, OPEN, OPEN]]),
    ("aten::sum.dim_IntList", ([[1.0, 2.0], [3.0, 4.0]], [0]), [[5.0, 6.0]], [[[5.0, 6.0], [5.0, 6.0]]]),
    ("aten::mean", ([1.0, 2.0, 3.0, 4.0],), [8.0], [[2.0] * 4]),
    ("aten::prod", ([2.0, 0.0, 5.0],), [1.0], [[0.0, 10.0, 0.0]]),
    ("aten::cumsum", ([1.0, 1.0, 1.0], 0), [[1.0, 2.0, 4.0]], [[7.0, 6.0, 4.0]]),
    # 1, 1*2, 1*2*0, 1*2*0*5: d/dx of the sum with weights 1, 10, 100, 1000.
    ("aten::cumprod", ([1.0, 2.0, 0.0, 5.0], 0), [[1.0, 10.0, 100.0, 1000.0]], [[21.0, 10.0, 10200.0, 0.0]]),
    # What a result of infinity over an infinite factor is, none of the forms knows.
    ("aten::prod", ([2.0, math.inf],), [1.0], [[math.inf, OPEN]]),
    ("aten::cumprod", ([math.inf, 2.0], 0), [[1.0, 1.0]], [[OPEN, math.inf]]),
    ("aten::cumprod", ([[0.0, 0.0, 3.0]], 1), [[[1.0, 10.0, 100.0]]], [[[1.0, 0.0, 0.0]]]),
    ("aten::diff", ([1.0, 5.0, 2.0],), [[1.0, 10.0]], [[-1.0, -9.0, 10.0]]),
    # As often as a line has elements, or oftener, nothing is left of it.
    ("aten::diff", ([1.0, 2.0], 5, -1, None, [3.0, 4.0, 5.0]), [[]], [[0.0, 0.0], [0.0, 0.0, 0.0]]),
    ("aten::diff", ([1.0, 2.0], 3, 0, [3.0]), [[]], [[0.0, 0.0], [0.0]]),
    ("aten::diff", ([1.0, 2.0], 2, 0, [3.0]), [[5.0]], [[-10.0, 5.0], [5.0]]),
    ("aten::diff", ([[1.0], [2.0]], 2, 0), [[[]]], [[[0.0], [0.0]]]),
    ("aten::mm", ([[1.0, 2.0]], [[3.0], [4.0]]), [[[10.0]]], [[[30.0, 40.0]], [[10.0], [20.0]]]),
    # Two rows, each times its own matrix, and one behind the last group; a group without a row.
    ("aten::_grouped_mm",
     (SOME_ROWS, SOME_MATRICES, np.array([1, 1, 2], np.int32)), [[[10.0] + [0.0] * 7] * 3],
     [[[10.0] * 8, [30.0] * 8, [OPEN] * 8],
      [[[10.0] + [0.0] * 7] * 8, [[0.0] * 8] * 8, [[20.0] + [0.0] * 7] * 8]]),
    ("aten::transpose.int", ([[1.0, 2.0]], 0, 1), [[[5.0], [6.0]]], [[[5.0, 6.0]]]),
    ("aten::expand", ([7.0], [3]), [[1.0, 2.0, 4.0]], [[7.0]]),
    ("aten::cat", ([np.array([1.0], F32), np.array([2.0, 3.0], F32)],), [[4.0, 5.0, 6.0]], [[4.0], [5.0, 6.0]]),
    ("aten::constant_pad_nd", ([1.0, 2.0], [1, 1], 9.0), [[1.0, 2.0, 3.0, 4.0]], [[2.0, 3.0]]),
    ("aten::gather", ([1.0, 2.0], 0, np.array([1, 1, 0])), [[3.0, 4.0, 5.0]], [[5.0, 7.0]]),
    # What has no dim is as a line of one element.
    ("aten::scatter_add", ([1.0, 2.0, 3.0], 0, np.array(1), [4.0, 5.0]), [[6.0, 7.0, 8.0]],
     [[6.0, 7.0, 8.0], [7.0, 0.0]]),
    ("aten::scatter_add", (np.array(1.0, F32), 0, np.array([0, 0]), [4.0, 5.0, 6.0]), [7.0], [7.0, [7.0, 7.0, 0.0]]),
    ("aten::scatter.src", ([1.0, 2.0], 0, np.array(1), np.array(4.0, F32)), [[5.0, 6.0]], [[5.0, 0.0], 6.0]),
    # Of what is written to one place any may stay, but nothing of what was there.
    ("aten::index_copy", ([1.0, 2.0], 0, np.array([0, 1, 0]), [3.0, 4.0, 5.0]), [[6.0, 7.0]],
     [[0.0, 0.0], [OPEN, 7.0, OPEN]]),
    ("aten::index_copy", (np.array(1.0, F32), 0, np.array([0]), np.array(3.0, F32)), [6.0], [0.0, 6.0]),
    ("aten::scatter.src", ([1.0, 2.0, 3.0], 0, np.array([2, 2, 0]), [4.0] * 4), [[5.0, 6.0, 7.0]],
     [[0.0, 6.0, 0.0], [OPEN, OPEN, 5.0, 0.0]]),
    ("aten::index_put", ([1.0, 2.0], [np.array([1, 1])], [3.0, 4.0]), [[5.0, 6.0]], [[5.0, 0.0], [OPEN, OPEN]]),
    ("aten::index_put", ([1.0, 2.0], [np.array([1, 1])], [3.0]), [[5.0, 6.0]], [[5.0, 0.0], [OPEN]]),
    ("aten::index_put", ([1.0, 2.0], [np.array([1, 1])], [3.0, 4.0], True), [[5.0, 6.0]], [[5.0, 6.0], [6.0, 6.0]]),
    ("aten::_softmax", ([0.0, 0.0], 0, False), [[1.0, 0.0]], [[0.25, -0.25]]),
    # What is left in the running statistics has no cotangent.
    *((f"aten::{norm}_norm", ([[[-1.0, -1.0, 1.0, 1.0]]], [2.0], [0.0], [9.0], [9.0], True, 1, 0, False),
       [[[[1.0, 0.0, 0.0, 0.0]]], None, None], [[[[1.0, -1.0, 0.0, 0.0]]], [-1.0], [1.0]])
      for norm in ("batch", "instance")),
    ("aten::var.correction", ([1.0, 3.0],), [1.0], [[-2.0, 2.0]]),
    ("aten::linalg_vector_norm", ([3.0, 4.0],), [5.0], [[3.0, 4.0]]),
    ("aten::linalg_vector_norm", ([0.0, 0.0],), [5.0], [[OPEN, OPEN]]),
    # An element of 0 among others is a kink of |x| alone.
    ("aten::linalg_vector_norm", ([0.0, 2.0], 3), [5.0], [[0.0, 5.0]]),
    ("aten::linalg_vector_norm", ([0.0, 2.0], 1), [5.0], [[OPEN, 5.0]]),
    ("aten::linalg_vector_norm", ([0.0, 0.0], 3), [5.0], [[OPEN, OPEN]]),
    # Powers of negative numbers and 0 have slopes where the exponent is an integer, and none in the exponent.
    ("aten::pow.Tensor_Tensor", ([-2.0, -2.0, 0.0, 0.0, -2.0, 2.0], [3.0, -1.0, 2.0, 1.0, 0.5, 1.0]), [[1.0] * 6],
     [[12.0, -0.25, 0.0, 1.0, OPEN, 1.0], [OPEN, OPEN, OPEN, OPEN, OPEN, float(F32(2 * math.log(2.0)))]]),
    # Where two pieces meet and have the same slope there is no kink; nor is one where the cotangent is 0.
    ("aten::celu", ([-0.0, 0.0, 1.0], 2.0), [[3.0, 5.0, 7.0]], [[3.0, 5.0, 7.0]]),
    ("aten::elu", ([0.0, 0.0], 1, 1, 1), [[3.0, 0.0]], [[3.0, 0.0]]),
    ("aten::elu", ([0.0, 0.0], 2, 1, 1), [[3.0, 0.0]], [[OPEN, 0.0]]),
    ("aten::relu", ([0.0, NAN],), [[0.0, 0.0]], [[0.0, OPEN]]),
    ("aten::huber_loss", ([3.0, -3.0, 4.0], [1.0, -1.0, 4.0], 0, 2), [[1.0, 1.0, 1.0]],
     [[2.0, -2.0, 0.0], [-2.0, 2.0, 0.0]]),
    ("aten::smooth_l1_loss", ([3.0, -3.0], [1.0, -1.0], 0, 2), [[1.0, 1.0]], [[1.0, -1.0], [-1.0, 1.0]]),
    ("aten::prelu", ([0.0, -2.0], [0.5]), [[3.0, 5.0]], [[OPEN, 2.5], [-10.0]]),
    ("aten::avg_pool1d", ([[1.0, 2.0, 3.0, 4.0]], [2]), [[[2.0, 4.0]]], [[[1.0, 1.0, 2.0, 2.0]]]),
    ("aten::mse_loss", ([1.0, 2.0], [0.0, 0.0]), [3.0], [[3.0, 6.0], [-3.0, -6.0]]),
    ("aten::nll_loss", ([[0.0, 0.0], [0.0, 0.0]], np.array([1, 0])), [2.0], [[[0.0, -1.0], [-1.0, 0.0]]]),
    ("aten::exp", ([],), [[]], [[]]),  # of nothing, nothing
]  # fmt: skip


@pytest.mark.parametrize(("op", "args", "g", "expected"), CALLS)
def test_gradients_by_hand(op: str, args: Sequence[Any], g: Any, expected: Any) -> None:
    assert [shown(one) for one in gradients(op, args, g)] == expected


def test_what_hangs_on_a_kink_through_a_sum_is_open() -> None:
    """copysign's magnitude at 0 is added up over the row that it is broadcast to."""
    (of_self, _) = gradients("aten::copysign.Tensor", ([0.0], [1.0, -1.0]), [[1.0, 1.0]])
    assert shown(of_self) == [OPEN]
    assert of_self.open_rule == "P160"


def test_the_dtype_is_that_of_the_operand() -> None:
    half, double = np.ones(3, np.float16), np.ones(3, np.float64)
    call = bound_call("aten::mul.Tensor", [half, double], {})
    goldens = evaluate_call(gradient_call(call, [np.full(3, 0.1)])).goldens
    assert [golden.format.name for golden in goldens] == ["float16", "float64"]
    assert goldens[0].value.tolist() == [float(np.float16(0.1))] * 3


PROMOTED = [
    ("aten::outer", ([1.0, 2.0], [3.0]), [[5.0], [7.0]], [[15.0, 21.0], [19.0]]),
    ("aten::addr", ([[1.0]], [2.0], [3.0]), [[5.0]], [[[5.0]], [15.0], [10.0]]),
]


@pytest.mark.parametrize(("op", "operands", "g", "expected"), PROMOTED)
@pytest.mark.parametrize("narrow", [np.float32, np.float16])
def test_operands_of_two_dtypes_are_promoted(op: str, operands: Any, g: Any, expected: Any, narrow: Any) -> None:
    """Whichever of them is the narrow one, the gradient of each has its dtype."""
    for number in range(len(operands)):
        given = [np.array(one, narrow if at == number else np.float64) for at, one in enumerate(operands)]
        goldens = evaluate_call(gradient_call(bound_call(op, given, {}), [np.array(g)])).goldens
        assert [golden.value.tolist() for golden in goldens] == expected
        assert [golden.value.dtype for golden in goldens] == [one.dtype for one in given]


def test_an_integer_operand_has_no_gradient() -> None:
    call = bound_call("aten::mul.Tensor", [np.ones(2, F32), np.array([2, 3])], {})
    (golden,) = evaluate_call(gradient_call(call, [np.ones(2, F32)])).goldens
    assert golden.value.tolist() == [2.0, 3.0]


def _forms_of_kl_div(g: Any, x: Any, t: Any, log_target: bool) -> list[Any]:
    """The gradient of the target as a product, and as the sums that the product rule makes of it."""
    if log_target:
        return [g * (np.exp(t) * (t + 1 - x)), g * (t - x) * np.exp(t) + g * np.exp(t)]
    return [g * (np.log(t) + 1 - x), g * np.log(t) + g - g * x, (g * t / t - g * x) + g * np.log(t)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("log_target", [True, False])
def test_each_form_of_a_gradient_is_within_its_bound_where_its_terms_cancel(log_target: bool, dtype: Any) -> None:
    """Its bound is still that of a few roundings of these terms."""
    g, x, t = np.random.default_rng(0).standard_normal((3, 1 << 14))
    t = t if log_target else np.abs(t) + 1e-3
    x[::2] = ((t if log_target else np.log(t)) + 1)[::2] * (1 + 1e-5 * x[::2])
    g, x, t = (one.astype(dtype) for one in (g, x, t))
    call = bound_call("aten::kl_div", [x, t], {"reduction": 0, "log_target": log_target})
    _, of_target = evaluate_call(gradient_call(call, [g])).goldens
    for actual in _forms_of_kl_div(g, x, t, log_target):
        assert (np.abs(actual.astype(np.float64) - of_target.real.hi - of_target.real.lo) <= of_target.budget).all()
    with np.errstate(all="ignore"):
        size = np.abs(g) * ((np.exp(t) if log_target else 1) * (np.abs(t if log_target else np.log(t)) + 1 + np.abs(x)))
    assert (of_target.budget <= 20 * np.finfo(dtype).eps * size).all()


@pytest.mark.parametrize("args", [[], [1]])
def test_a_product_may_be_divided_by_each_factor(args: list[int]) -> None:
    """The result is rounded by then, and so is it times the cotangent; no more is allowed."""
    bfloat16 = format_named("bfloat16")
    x = np.random.default_rng(0).uniform(1, 2, (64 if args else 1, 5)).astype(bfloat16.storage)
    call = bound_call("aten::prod.dim_int" if args else "aten::prod", [x, *args], {})
    g = np.ones(len(x) if args else (), bfloat16.storage)
    (golden,) = evaluate_call(gradient_call(call, [g])).goldens
    result = round_to(bfloat16, x.astype(np.float64).prod(1, keepdims=True)).astype(np.float64)
    divided = round_to(bfloat16, result / x.astype(np.float64)).astype(np.float64)
    allowed = golden.budget + ulp(bfloat16, golden.real.hi) / 2
    assert (np.abs(divided - golden.real.hi) <= allowed).all()
    assert (allowed <= 5 * bfloat16.unit_roundoff * np.abs(golden.real.hi)).all()


@pytest.mark.parametrize(("op", "args"), [("prod", []), ("prod.dim_int", [0]), ("cumprod", [0])])
def test_an_operand_that_is_converted_first_has_the_gradient_of_the_converted_one(op: str, args: list[Any]) -> None:
    """As of three times a number that bfloat16 does not hold."""
    bfloat16 = format_named("bfloat16").storage
    third, g = np.full(3, 1 / 3), np.ones(3 if op == "cumprod" else (), bfloat16)
    call, plain = (
        bound_call(f"aten::{op}", [one, *args], {"dtype": "bfloat16"}) for one in (third, third.astype(bfloat16))
    )
    (wide,), (narrow,) = (evaluate_call(gradient_call(one, [g])).goldens for one in (call, plain))
    assert wide.value.dtype == np.float64
    assert wide.real.hi.tolist() == narrow.real.hi.tolist()
    assert (wide.budget >= narrow.budget).all()


@pytest.mark.parametrize(("op", "x", "expected"), [("logaddexp", 1.0, 0.5), ("pow.Tensor_Tensor", 3.0, 1.0)])
def test_a_bool_operand_is_promoted(op: str, x: float, expected: float) -> None:
    call = bound_call(f"aten::{op}", [np.full(2, x), np.array([True, True])], {})
    (golden,) = evaluate_call(gradient_call(call, [np.ones(2)])).goldens
    assert golden.value.tolist() == [expected] * 2


def test_an_op_without_a_rule_is_named() -> None:
    with pytest.raises(Unjudged, match="no gradient of aten::digamma"):
        gradients("aten::digamma", ([1.0],), [[1.0]])
