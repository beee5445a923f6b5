"""Gradients of small calls, by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from conform.call.bound import bound_call
from conform.errors import Unjudged
from conform.interp.evaluate import evaluate_call
from conform.interp.golden import Golden
from conform.interp.gradients.evaluation import gradient_call

NAN = float("nan")
F32 = np.float32
OPEN = object()  # an element that is left open


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
    return values.tolist()


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
    # Equal elements that nothing chooses between are no kink.
    ("aten::amax", ([[1.0, 1.0, 3.0]], [1]), [[5.0]], [[[0.0, 0.0, 5.0]]]),
    ("aten::sort", ([3.0, 1.0, 2.0],), [[10.0, 20.0, 30.0], None], [[30.0, 10.0, 20.0]]),
    ("aten::median", ([2.0, 2.0, 2.0],), [4.0], [[OPEN, OPEN, OPEN]]),
    ("aten::sum.dim_IntList", ([[1.0, 2.0], [3.0, 4.0]], [0]), [[5.0, 6.0]], [[[5.0, 6.0], [5.0, 6.0]]]),
    ("aten::mean", ([1.0, 2.0, 3.0, 4.0],), [8.0], [[2.0] * 4]),
    ("aten::prod", ([2.0, 0.0, 5.0],), [1.0], [[0.0, 10.0, 0.0]]),
    ("aten::cumsum", ([1.0, 1.0, 1.0], 0), [[1.0, 2.0, 4.0]], [[7.0, 6.0, 4.0]]),
    ("aten::diff", ([1.0, 5.0, 2.0],), [[1.0, 10.0]], [[-1.0, -9.0, 10.0]]),
    ("aten::mm", ([[1.0, 2.0]], [[3.0], [4.0]]), [[[10.0]]], [[[30.0, 40.0]], [[10.0], [20.0]]]),
    ("aten::transpose.int", ([[1.0, 2.0]], 0, 1), [[[5.0], [6.0]]], [[[5.0, 6.0]]]),
    ("aten::expand", ([7.0], [3]), [[1.0, 2.0, 4.0]], [[7.0]]),
    ("aten::cat", ([np.array([1.0], F32), np.array([2.0, 3.0], F32)],), [[4.0, 5.0, 6.0]], [[4.0], [5.0, 6.0]]),
    ("aten::constant_pad_nd", ([1.0, 2.0], [1, 1], 9.0), [[1.0, 2.0, 3.0, 4.0]], [[2.0, 3.0]]),
    ("aten::gather", ([1.0, 2.0], 0, np.array([1, 1, 0])), [[3.0, 4.0, 5.0]], [[5.0, 7.0]]),
    ("aten::_softmax", ([0.0, 0.0], 0, False), [[1.0, 0.0]], [[0.25, -0.25]]),
    ("aten::var.correction", ([1.0, 3.0],), [1.0], [[-2.0, 2.0]]),
    ("aten::linalg_vector_norm", ([3.0, 4.0],), [5.0], [[3.0, 4.0]]),
    ("aten::linalg_vector_norm", ([0.0, 0.0],), [5.0], [[OPEN, OPEN]]),
    ("aten::avg_pool1d", ([[1.0, 2.0, 3.0, 4.0]], [2]), [[[2.0, 4.0]]], [[[1.0, 1.0, 2.0, 2.0]]]),
    ("aten::mse_loss", ([1.0, 2.0], [0.0, 0.0]), [3.0], [[3.0, 6.0], [-3.0, -6.0]]),
    ("aten::nll_loss", ([[0.0, 0.0], [0.0, 0.0]], np.array([1, 0])), [2.0], [[[0.0, -1.0], [-1.0, 0.0]]]),
    ("aten::exp", ([],), [[]], [[]]),  # of nothing, nothing
]


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


def test_an_integer_operand_has_no_gradient() -> None:
    call = bound_call("aten::mul.Tensor", [np.ones(2, F32), np.array([2, 3])], {})
    (golden,) = evaluate_call(gradient_call(call, [np.ones(2, F32)])).goldens
    assert golden.value.tolist() == [2.0, 3.0]


def test_an_op_without_a_rule_is_named() -> None:
    with pytest.raises(Unjudged, match="no gradient of aten::digamma"):
        gradients("aten::digamma", ([1.0],), [[1.0]])
