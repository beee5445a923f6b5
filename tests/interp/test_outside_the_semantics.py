"""What a definition does not cover ends as Unjudged: never as a golden that nobody defined, never as a crash."""

from __future__ import annotations

import re

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
        ("aten::sum", [X]),
        ("aten::prod", [X, 0]),
        ("aten::cumsum", [X, 0]),
        ("aten::mm", [X, X]),
        ("aten::addmm", [X, X, X]),
        ("aten::index_put", [X, [np.array([0])], X[:1], True]),
    ],
)
def test_complex_operands_of_what_is_defined_for_real_ones(op: str, args: list) -> None:
    with pytest.raises(Unjudged, match=r"^no semantics for .*( of complex numbers$|\(torch takes complex numbers)"):
        evaluate(op, args, {})


FLOATS = "float16, bfloat16, float32, float64"
NUMBERS = f"uint8, int8, int16, int32, int64, {FLOATS}"


@pytest.mark.parametrize(
    ("op", "args", "broken"),
    [
        ("aten::round", [X], f"dtype(self) in {{{NUMBERS}}}"),
        ("aten::erf", [X], f"dtype(self) in {{bool, {NUMBERS}}}"),
        ("aten::mish", [X], f"dtype(self) in {{{FLOATS}}}"),
        ("aten::div.Tensor_mode", [X, X, "floor"], "dtype(self) not in {complex64, complex128} if rounding_mode"),
        ("aten::remainder.Tensor", [X, X], f"dtype(self) in {{bool, {NUMBERS}}}"),
        ("aten::maximum", [X, X], f"dtype(self) in {{bool, {NUMBERS}}}"),
        ("aten::amax", [X], f"dtype(self) in {{bool, {NUMBERS}}}"),
        ("aten::argmax", [X], f"dtype(self) in {{bool, {NUMBERS}}}"),
        ("aten::atan2", [X, X], f"dtype(self) in {{bool, {NUMBERS}}}"),
        ("aten::sort", [X], f"dtype(self) in {{bool, {NUMBERS}}}"),
        ("aten::avg_pool2d", [IMAGES, [2, 2]], f"dtype(self) in {{int64, {FLOATS}}}"),
        (
            "aten::convolution",
            [IMAGES, IMAGES, None, [1], [0], [1], False, [0], 1],
            "dtype(input) not in {bool, complex64, complex128}",
        ),
    ],
)
def test_complex_operands_of_what_torch_refuses(op: str, args: list, broken: str) -> None:
    kwargs = {"rounding_mode": args.pop()} if op.endswith("_mode") else {}
    with pytest.raises(InvalidArguments, match=rf": found complex64\[[\d, ]+\], expected {re.escape(broken)}$"):
        evaluate(op, args, kwargs)


def test_a_python_number_where_a_tensor_is_meant() -> None:
    with pytest.raises(Unjudged, match=r"^no semantics for aten::mm of a Python number as mat2$"):
        evaluate("aten::mm", [X, 2], {})
    assert evaluate("aten::add.Tensor", [np.float32([1]), 2], {}).goldens[0].value.tolist() == [3]
