"""Functions and arithmetic of one element of each operand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from conform.call.binding import DTYPE_NAMES
from conform.errors import NoGolden
from conform.interp import semantics
from conform.interp.program.choice import either, is_unknown
from conform.interp.program.functions.elementary import sigmoid
from conform.interp.program.number import Number
from conform.interp.program.storage import stored
from conform.interp.stablehlo.reals.exact import is_exact, known
from conform.interp.stablehlo.reals.freedom import freely
from conform.interp.stablehlo.reals.rules import rule, torch
from conform.interp.stablehlo.registry import Call
from conform.numerics.ball import ULPS, Ball
from conform.numerics.formats import compute_format

# Ops that mean what one of torch's operators means, on floats.
SAME = {
    "stablehlo.add": "add.Tensor", "stablehlo.subtract": "sub.Tensor", "stablehlo.multiply": "mul.Tensor",
    "stablehlo.divide": "div.Tensor", "stablehlo.negate": "neg", "stablehlo.abs": "abs", "stablehlo.sign": "sign",
    "stablehlo.exponential": "exp", "stablehlo.exponential_minus_one": "expm1", "stablehlo.log": "log",
    "stablehlo.log_plus_one": "log1p", "stablehlo.sine": "sin", "stablehlo.cosine": "cos", "stablehlo.tanh": "tanh",
    "stablehlo.sqrt": "sqrt", "stablehlo.rsqrt": "rsqrt",
    "stablehlo.floor": "floor", "stablehlo.ceil": "ceil", "stablehlo.round_nearest_even": "round",
    "chlo.erf": "erf", "chlo.erfc": "erfc", "chlo.square": "square",
}  # fmt: skip


def _same(torch_name: str) -> Any:
    return lambda call: torch(torch_name, *call.operands)


for _name, _torch_name in SAME.items():
    rule(_name)(_same(_torch_name))


@rule("stablehlo.logistic")
def logistic(call: Call) -> Number:
    """1 / (1 + e^-x), each step rounded to the element type: so the specification has it."""
    (x,) = call.operands
    result, fmt = torch("sigmoid", x), x.format
    if compute_format(fmt) == fmt:
        return result
    with np.errstate(all="ignore"):
        stepwise = sigmoid(stored(x).ball(fmt)).rad
    beyond = (x.real.hi < 0) & (np.exp(-x.real.hi) > fmt.max_finite / 2)
    stepwise = stepwise if fmt.has_inf else np.where(beyond, np.inf, stepwise)
    return replace(result, rad=np.where(np.isnan(x.real.hi), result.rad, np.maximum(result.rad, stepwise)), array=None)


@rule("stablehlo.convert")
def convert(call: Call) -> Number:
    """A rounding, or a step to integers, toward zero."""
    dtype = call.results[0].dtype
    if call.operands[0].array is not None:
        return freely(call)[0]
    if dtype not in DTYPE_NAMES:
        raise NoGolden(f"{call.op.name}: no rule tells what becomes of errors where numbers are rounded to {dtype}")
    return torch("_to_copy", *call.operands, dtype=dtype)


@rule("stablehlo.tan", "chlo.tan")
def tan(call: Call) -> Number:
    """A function of known numbers; of others sin / cos, which errs by more."""
    (x,) = call.operands
    if x.array is not None:
        return _function(call, "tan", ULPS["tan"])
    return torch("div.Tensor", torch("sin", x), torch("cos", x))


def _classified(is_such: Callable[[np.ndarray], np.ndarray]) -> Callable[[Call], Number]:
    """The rule of a class of numbers: decided where the number is bounded."""

    def classified(call: Call) -> Number:
        (x,) = call.operands
        return either(is_such(x.real.hi), is_unknown(x))

    return classified


rule("stablehlo.is_finite")(_classified(np.isfinite))
rule("chlo.is_inf")(_classified(np.isinf))
rule("chlo.is_pos_inf")(_classified(np.isposinf))
rule("chlo.is_neg_inf")(_classified(np.isneginf))


@rule("chlo.conj")
def conj(call: Call) -> Number:
    """A real number itself."""
    (x,) = call.operands
    if not x.format.is_float:
        raise NoGolden(f"{call.op.name}: nothing is known of the errors of complex numbers")
    return x


@rule("stablehlo.power")
def power(call: Call) -> Number:
    """A function of known numbers; of others to a power that is one known number, or of positive ones to any."""
    x, y = call.operands
    if is_exact(call):
        return _function(call, "pow.Tensor_Tensor", POWER_ULPS)
    if y.array is not None and y.array.size and (y.array == y.array.flat[0]).all():
        return torch("pow.Tensor_Scalar", x, exponent=float(y.array.flat[0]))
    return torch("pow.Tensor_Tensor", x, y)


# --- Functions of known numbers, and of others where their slope is known ---------------------------------------------

POWER_ULPS = 16.0
FUNCTIONS = {
    "stablehlo.cbrt": "cbrt", "stablehlo.atan2": "atan2", "chlo.acos": "acos", "chlo.acosh": "acosh",
    "chlo.asin": "asin", "chlo.asinh": "asinh", "chlo.atan": "atan", "chlo.atanh": "atanh", "chlo.cosh": "cosh",
    "chlo.sinh": "sinh",
}  # fmt: skip


def _function(call: Call, torch_name: str, ulps: float) -> Number:
    """A correctly rounded function of numbers that are known, off by so many ulps of the compute type. NoGolden of
    others: nothing tells how steep it is there."""
    arrays = [known(call, one).array for one in call.operands]
    golden = semantics.find(f"aten::{torch_name}").function(*arrays)
    if golden.real is None or not golden.format.is_float:
        raise NoGolden(f"{call.op.name}: nothing is known of its errors on {call.operands[0].dtype} numbers")
    exact = Ball.exact(golden.real.hi, compute_format(golden.format))
    with np.errstate(all="ignore"):
        rad = exact.rounded(exact.mid, np.zeros(exact.mid.shape), ulps).rad
    determined = ~np.isfinite(golden.real.hi) | (golden.real.hi == 0) & (golden.real.radius == 0)
    unknown = golden.open if golden.open is not None else np.zeros(golden.value.shape, bool)
    rad = np.where(unknown, np.inf, np.where(determined, 0.0, rad))
    return Number(golden.format, golden.real, rad, may_round=True)


def _of_function(torch_name: str) -> Callable[[Call], Any]:
    def function(call: Call) -> Any:
        if is_exact(call):
            return _function(call, torch_name, ULPS[torch_name])
        return torch(torch_name, *call.operands)

    return function


for _name, _torch_name in FUNCTIONS.items():
    rule(_name)(_of_function(_torch_name))
