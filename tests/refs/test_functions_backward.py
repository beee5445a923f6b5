"""Gradients of the activation functions: rational ones by hand, others by mpmath, then what is open."""

import math
import random

import mpmath
import pytest

from conform.refs import UNSPECIFIED
from tests.refs.helpers import call, rounded_mpf, same, tensor

inf, nan = math.inf, math.nan
u = UNSPECIFIED


@pytest.mark.parametrize(
    ("op", "name", "grad", "other", "expected"),
    [
        ("sigmoid", "output", [4.0, 4.0, -4.0, inf, 0.0], [0.5, 0.25, 0.0, 0.5, 0.5], [1.0, 0.75, -0.0, inf, 0.0]),
        ("sigmoid", "output", [nan, 1.0, inf, 1.0], [0.5, nan, 0.0, inf], [nan, nan, nan, u]),
        ("tanh", "output", [4.0, 4.0, -4.0, inf, inf], [0.5, 1.0, 1.0, 0.5, 1.0], [3.0, 0.0, -0.0, inf, nan]),
        ("silu", "self", [4.0, 3.0, -3.0, 1.0, inf], [0.0, 3000.0, -3000.0, inf, -2.0], [2.0, 3.0, 0.0, u, -inf]),
        ("gelu", "self", [4.0, 3.0, -3.0, 1.0, inf], [0.0, 3000.0, -3000.0, inf, -2.0], [2.0, 3.0, 0.0, u, -inf]),
        ("gelu", "self", [nan, 1.0, 0.0], [0.0, nan, -1.0], [nan, nan, -0.0]),
    ],
)
def test_values(op: str, name: str, grad: list, other: list, expected: list) -> None:
    operands = {"grad_output": tensor("float64", grad), name: tensor("float64", other)}
    same(call(f"{op}_backward", **operands), "float64", expected)


def test_threshold() -> None:
    grad, x = tensor("float32", [1.0, 2.0, -0.0, 4.0, nan]), tensor("float32", [0.5, 0.75, 1.0, nan, inf])
    same(call("threshold_backward", grad_output=grad, self=x, threshold=0.5), "float32", [0.0, 2.0, -0.0, u, nan])
    whole = tensor("int64", [1, 2])
    same(call("threshold_backward", grad_output=whole, self=whole, threshold=1), "int64", [0, 2])


@pytest.mark.parametrize(
    ("op", "options", "function"),
    [
        ("silu", {}, lambda x: x / (1 + mpmath.exp(-x))),
        ("gelu", {}, lambda x: x * mpmath.ncdf(x)),
        (
            "gelu",
            {"approximate": "tanh"},
            lambda x: x / 2 * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf("0.044715") * x**3))),
        ),
    ],
)
def test_slopes_are_derivatives(op: str, options: dict, function: object) -> None:
    stream = random.Random(0)
    xs = [stream.uniform(-30, 30) for _ in range(10)] + [1e-20, -0.75, -38.0]
    out = call(f"{op}_backward", grad_output=tensor("float64", 3.0), self=tensor("float64", xs), **options)
    for x, actual in zip(xs, out.data, strict=True):
        with mpmath.workprec(6000):
            assert actual == rounded_mpf("float64", 3 * mpmath.diff(function, x))


def test_refused() -> None:
    one, whole = tensor("float32", [1.0]), tensor("int64", [1])
    with pytest.raises(ValueError, match="approximate"):
        call("gelu_backward", grad_output=one, self=one, approximate="erf")
    with pytest.raises(ValueError, match="not defined"):
        call("silu_backward", grad_output=whole, self=whole)
