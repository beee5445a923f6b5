"""What ops element by element are composed of: sums of products, choices and replacements."""

from __future__ import annotations

from typing import Any

import numpy as np

from conform.interp.program.apply import apply
from conform.interp.program.forms import either_form
from conform.interp.program.functions.elementary import PI, by_constant, constant
from conform.interp.program.number import Number
from conform.interp.program.rules import composition, open_beside_infinities, rule
from conform.interp.program.storage import stored

PER_PI = constant(0.3183098861837907, -1.9678676675182486e-17)


def where(condition: Number, own: Any, other: Any) -> Number:
    return apply("aten::where", condition, own, other)


@composition("aten::addcmul")
def addcmul(self: Number, tensor1: Number, tensor2: Number, value: float = 1) -> Number:
    return self + tensor1 * tensor2 * value


@composition("aten::addcdiv")
def addcdiv(self: Number, tensor1: Number, tensor2: Number, value: float = 1) -> Number:
    return self + tensor1 / tensor2 * value


@rule("aten::lerp.Scalar", "aten::lerp.Tensor")
def lerp(self: Number, end: Number, weight: Any) -> Any:
    """self + weight (end - self), or from the other end. torch's decomposition would round the weight to float32."""
    if all(getattr(one, "array", 0) is not None for one in (self, end, weight)):
        return NotImplemented
    distance = end - self
    return open_beside_infinities(either_form(self + distance * weight, end - distance * (1 - weight)), self, end)


@composition("aten::positive", "aten::real")
def positive(self: Number) -> Number:
    return self


@composition("aten::deg2rad")
def deg2rad(self: Number) -> Number:
    return by_constant(self, PI) / 180


@composition("aten::rad2deg")
def rad2deg(self: Number) -> Number:
    return by_constant(self * 180, PER_PI)


@composition("aten::clamp_min", "aten::clamp_min.Tensor")
def clamp_min(self: Number, min: Any) -> Number:
    return apply("aten::clamp", self, min=min)


@composition("aten::clamp_max", "aten::clamp_max.Tensor")
def clamp_max(self: Number, max: Any) -> Number:
    return apply("aten::clamp", self, max=max)


@composition("aten::masked_fill.Scalar", "aten::masked_fill.Tensor")
def masked_fill(self: Number, mask: Number, value: Any) -> Number:
    return where(mask, value.to(self.dtype) if isinstance(value, Number) else value, self)


@composition("aten::nan_to_num")
def nan_to_num(
    self: Number, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Number:
    """0, the largest finite number and the lowest one, or what is given, for NaN and the infinities."""
    largest = self.format.max_finite
    number = where(self.isnan(), 0.0 if nan is None else nan, self)
    number = where(self == np.inf, largest if posinf is None else posinf, number)
    return where(self == -np.inf, -largest if neginf is None else neginf, number)


@composition("aten::diff")
def diff(self: Number, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Number:
    """The differences of neighbours along `dim`, n times: each time a tensor of the dtype."""
    result = apply("aten::cat", [one for one in (prepend, self, append) if one is not None], dim)
    for _ in range(min(n, result.shape[dim])):
        length = result.shape[dim]
        result = result.slice(dim, 1, length) - result.slice(dim, 0, length - 1)
        result = stored(result) if n > 1 else result
    return result
