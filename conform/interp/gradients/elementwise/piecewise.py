"""Gradients of functions made of straight pieces."""

from __future__ import annotations

from typing import Any

import numpy as np

from conform.interp.gradients.evaluation import summed_to
from conform.interp.gradients.kinks import as_float, by_side, chosen_by, distance, kinked, zeros
from conform.interp.gradients.rules import gradient
from conform.interp.program.number import Number


def between(x: Number, low: Any, high: Any, inside: Number, outside: Number) -> Number:
    """`inside` where low < x < high, `outside` elsewhere, kinks at both ends; None: no end."""
    found = inside if high is None else by_side(x, high, outside, inside, inside)
    return found if low is None else by_side(x, low, found, outside, inside)


@gradient("aten::relu")
def relu(g: Number, self: Number) -> Number:
    """g where self > 0, 0 below"""
    return by_side(self, 0.0, g, 0, g)


@gradient("aten::leaky_relu")
def leaky_relu(g: Number, self: Number, negative_slope: float) -> Number:
    """g where self > 0, g negative_slope below"""
    return by_side(self, 0.0, g, g * negative_slope, g)


@gradient("aten::prelu", of=("self", "weight"))
def prelu(g: Number, self: Number, weight: Number) -> Any:
    """g where self > 0, g weight below; and of the weight g self where self < 0, added up over all dims but dim 1"""
    shape = [1] * self.ndim
    if self.ndim > 1 and weight.real.size > 1:
        shape[1] = weight.real.size
    beside = weight.moved(lambda part: part.reshape(shape))
    of_weight = summed_to(by_side(self, 0.0, 0, g * self, g), tuple(shape))
    return by_side(self, 0.0, g, g * beside, g), of_weight.moved(lambda part: part.reshape(weight.shape))


@gradient("aten::hardtanh")
def hardtanh(g: Number, self: Number, min_val: float, max_val: float) -> Number:
    """g between min_val and max_val, 0 elsewhere"""
    return between(self, float(min_val), float(max_val), g, zeros(g))


@gradient("aten::relu6")
def relu6(g: Number, self: Number) -> Number:
    """g between 0 and 6, 0 elsewhere"""
    return between(self, 0.0, 6.0, g, zeros(g))


@gradient("aten::clamp")
def clamp(g: Number, self: Number, min: float | None, max: float | None) -> Number:
    """g between min and max, 0 elsewhere"""
    low, high = (None if end is None else float(end) for end in (min, max))
    if low is not None and high is not None and low > high:
        return zeros(g)
    return between(self, low, high, g, zeros(g))


@gradient("aten::clamp_min")
def clamp_min(g: Number, self: Number, min: float) -> Number:
    """g above min, 0 below"""
    return between(self, float(min), None, g, zeros(g))


@gradient("aten::clamp_max")
def clamp_max(g: Number, self: Number, max: float) -> Number:
    """g below max, 0 above"""
    return between(self, None, float(max), g, zeros(g))


@gradient("aten::clamp_min.Tensor", of=("self", "min"))
def clamp_min_of_tensor(g: Number, self: Number, min: Number) -> Any:
    """g where self > min, and of min g where min > self; 0 elsewhere"""
    return by_side(self, min, g, 0, g), by_side(min, self, g, 0, g)


@gradient("aten::clamp_max.Tensor", of=("self", "max"))
def clamp_max_of_tensor(g: Number, self: Number, max: Number) -> Any:
    """g where self < max, and of max g where max < self; 0 elsewhere"""
    return by_side(self, max, 0, g, g), by_side(max, self, 0, g, g)


@gradient("aten::clamp.Tensor", of=("self", "min", "max"))
def clamp_of_tensors(g: Number, self: Number, min: Number | None, max: Number | None) -> Any:
    """g of self where min < self < max, of min where self < min < max, of max below self or min; 0 elsewhere"""
    nothing = zeros(g)
    if min is None or max is None:
        of_min = None if min is None else by_side(min, self, g, 0, g)
        of_max = None if max is None else by_side(max, self, 0, g, g)
        return between(self, min, max, g, nothing), of_min, of_max
    ordered = distance(min, max)
    of_self = chosen_by(*ordered, above=nothing, below=between(self, min, max, g, nothing), like=g)
    of_min = chosen_by(*ordered, above=nothing, below=by_side(self, min, 0, g, g), like=g)
    of_max = chosen_by(*ordered, above=g, below=by_side(self, max, g, 0, g), like=g)
    return of_self, of_min, of_max


@gradient("aten::threshold")
def threshold_(g: Number, self: Number, threshold: float) -> Number:
    """g above the threshold, 0 below"""
    return by_side(self, float(threshold), g, 0, g)


@gradient("aten::hardshrink", "aten::softshrink")
def shrink(g: Number, self: Number, lambd: float) -> Number:
    """0 between -lambd and lambd, g elsewhere"""
    return between(self, -float(lambd), float(lambd), zeros(g), g)


@gradient("aten::hardsigmoid")
def hardsigmoid(g: Number, self: Number) -> Number:
    """g / 6 between -3 and 3, 0 elsewhere"""
    return between(self, -3.0, 3.0, g / 6, zeros(g))


@gradient("aten::hardswish")
def hardswish(g: Number, self: Number) -> Number:
    """g (2 self + 3) / 6 between -3 and 3, g above, 0 below"""
    inner = g * ((self * 2 + 3) / 6)
    return by_side(self, 3.0, g, by_side(self, -3.0, inner, 0, g), g)


@gradient("aten::glu")
def glu(g: Number, self: Number, dim: int) -> Number:
    """of the halves a and b along dim g sigmoid(b), and g a s (1 - s), s = sigmoid(b)"""
    a, b = self.chunk(2, dim)
    s = b.sigmoid()
    return _apply_cat([g * s, g * a * (s * (1 - s))], dim)


def _apply_cat(parts: list[Number], dim: int) -> Number:
    from conform.interp.program.apply import apply

    return apply("aten::cat", parts, dim)


@gradient("aten::floor", "aten::ceil", "aten::trunc")
def steps(g: Number, self: Number) -> Number:
    """0"""
    return kinked(zeros(g), self.real.hi == np.floor(self.real.hi))


@gradient("aten::round")
def round_(g: Number, self: Number) -> Number:
    """0"""
    return kinked(zeros(g), self.real.hi - np.floor(self.real.hi) == 0.5)


@gradient("aten::floor_divide", "aten::floor_divide.Scalar", of=("self", "other"))
def floor_divide(g: Number, self: Number, other: Any) -> Any:
    """0"""
    quotient = (as_float(self).real / as_float(other).real).hi
    nothing = kinked(zeros(g), (quotient == np.floor(quotient)) | ~np.isfinite(quotient))
    return nothing, nothing


@gradient("aten::angle", "aten::sign")
def sign(g: Number, self: Number) -> Number:
    """0"""
    return kinked(zeros(g), self.real.hi == 0)


@gradient("aten::nan_to_num")
def nan_to_num(g: Number, self: Number) -> Number:
    """g"""
    return kinked(g, ~np.isfinite(self.real.hi))


@gradient("aten::copysign.Tensor", "aten::copysign.Scalar", of=("self", "other"))
def copysign(g: Number, self: Number, result: Number) -> Any:
    """g where result has the sign of self, -g elsewhere; of other 0"""
    same = np.sign(result.real.hi) == np.sign(self.real.hi)
    return chosen_by(np.where(same, 1.0, -1.0), self.real.hi == 0, g, -g, g), zeros(g)
