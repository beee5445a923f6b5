"""What a definition does not cover ends as Unjudged: never as a golden that nobody defined, never as a crash."""

from __future__ import annotations

import numpy as np
import pytest

from conform.errors import InvalidArguments, Unjudged
from conform.interp.evaluate import evaluate

X = np.array([[3 + 4j, 1 - 2j], [0.5j, 2]], np.complex64)
IMAGES = np.ones((1, 1, 2, 2), np.complex64)


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("aten::sinc", [X]),
        ("aten::silu", [X]),
        ("aten::logaddexp", [X, X]),
        ("aten::logsumexp", [X, [0]]),
        ("aten::mm", [X, X]),
        ("aten::addmm", [X, X, X]),
        ("aten::index_put", [X, [np.array([0])], X[:1], True]),
    ],
)
def test_complex_operands_of_what_is_defined_for_real_ones(op: str, args: list) -> None:
    with pytest.raises(Unjudged, match=r"^no semantics for .* of complex numbers$"):
        evaluate(op, args, {})


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("aten::round", [X]),
        ("aten::erf", [X]),
        ("aten::mish", [X]),
        ("aten::div.Tensor_mode", [X, X, "floor"]),
        ("aten::remainder.Tensor", [X, X]),
        ("aten::maximum", [X, X]),
        ("aten::amax", [X]),
        ("aten::argmax", [X]),
        ("aten::atan2", [X, X]),
        ("aten::sort", [X]),
        ("aten::avg_pool2d", [IMAGES, [2, 2]]),
        ("aten::convolution", [IMAGES, IMAGES, None, [1], [0], [1], False, [0], 1]),
    ],
)
def test_complex_operands_of_what_torch_refuses(op: str, args: list) -> None:
    kwargs = {"rounding_mode": args.pop()} if op.endswith("_mode") else {}
    with pytest.raises(InvalidArguments, match=r" is not defined for complex64$"):
        evaluate(op, args, kwargs)


def test_a_python_number_where_a_tensor_is_meant() -> None:
    with pytest.raises(Unjudged, match=r"^no semantics for aten::mm of a Python number as mat2$"):
        evaluate("aten::mm", [X, 2], {})
    assert evaluate("aten::add.Tensor", [np.float32([1]), 2], {}).goldens[0].value.tolist() == [3]
