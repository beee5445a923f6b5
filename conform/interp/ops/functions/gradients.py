"""Incoming gradients times the derivatives of activations with exponentials (P231 to P233).

The first formula of `either` is the derivative in a form that loses nothing; the others are what implementations
compute.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import gmpy2
import numpy as np

from conform.interp.blocks.assembly import Assembly
from conform.interp.dims import wrap_dim
from conform.interp.formulas.number_functions import Functions, Number, root_of_half
from conform.interp.formulas.vector_jacobian import (
    NOT_FINITE,
    Elements,
    far,
    gradient,
    in_blocks,
    of_any,
    settled,
    stopped,
)
from conform.interp.golden import Golden
from conform.interp.operands import numbers, steps_of
from conform.interp.semantics import pointwise, semantics
from conform.numerics import multiprecision as mp
from conform.numerics.formats import Format, format_of
from conform.numerics.rounding import round_to


def _operands(grad: np.ndarray, x: np.ndarray) -> tuple[Format, np.ndarray, np.ndarray]:
    fmt = format_of(x)
    return fmt, numbers(grad, fmt), numbers(x, fmt)


# --- Of the result ----------------------------------------------------------------------------------------------------


def _of_sigmoid(kind: Functions, x: Elements) -> Number:
    g, y = x["grad"], x["y"]
    rest = kind.number(1.0) - y
    return kind.either(lambda: g * rest * y, lambda: g * (rest * y), lambda: g * y * rest, lambda: g * (y - y * y))


@pointwise("aten::sigmoid_backward")
def sigmoid_backward(grad_output: np.ndarray, output: np.ndarray) -> Golden:
    """grad_output * (1 - output) * output: the derivative of the sigmoid whose value is output (P231, P232)"""
    fmt, g, y = _operands(grad_output, output)
    return gradient(fmt, _of_sigmoid, {"grad": g, "y": y})


def _of_tanh(kind: Functions, x: Elements) -> Number:
    g, y, one = x["grad"], x["y"], kind.number(1.0)
    return kind.either(lambda: g * ((one - y) * (one + y)), lambda: g * (one - y * y), lambda: g - g * y * y)


@pointwise("aten::tanh_backward")
def tanh_backward(grad_output: np.ndarray, output: np.ndarray) -> Golden:
    """grad_output * (1 - output^2): the derivative of the tanh whose value is output (P231, P232)"""
    fmt, g, y = _operands(grad_output, output)
    return gradient(fmt, _of_tanh, {"grad": g, "y": y})


# --- Smooth ones ------------------------------------------------------------------------------------------------------


def _unit_step(x: np.ndarray, border: float) -> np.ndarray:
    """The derivative of what is 0 far down and x far up, where next to nothing is missing."""
    return np.where(np.abs(x) < border, np.nan, (x > 0) * 1.0)


def _silu(kind: Functions, x: Elements) -> Number:
    g, a, one = x["grad"], x["self"], kind.number(1.0)
    s = kind.sigmoid(a)
    return kind.either(
        lambda: g * (s * (one + a * kind.sigmoid(-a))),
        lambda: g * (s * (one + a * (one - s))),
        lambda: g * s * (one + a * (one - s)),
        lambda: g * (s + a * s * (one - s)),
        lambda: g * (a * s + s * (one - a * s)),
    )


@pointwise("aten::silu_backward")
def silu_backward(grad_output: np.ndarray, self: np.ndarray) -> Golden:
    """grad_output * s * (1 + self * (1 - s)), s = 1 / (1 + e^-self) (P231, P232)"""
    fmt, g, a = _operands(grad_output, self)
    return gradient(fmt, _silu, {"grad": g, "self": a}, _unit_step(a, far(fmt)))


def _over_root_of_two_pi() -> gmpy2.mpfr:
    return 1 / gmpy2.sqrt(2 * mp.pi())


def _gelu(kind: Functions, x: Elements) -> Number:
    g, a, half = x["grad"], x["self"], kind.number(0.5)
    density = kind.exp(-(a * a * half)) * kind.constant(_over_root_of_two_pi)
    return kind.either(
        lambda: g * (kind.normal_distribution(a) + a * density),
        lambda: g * (half * (kind.number(1.0) + kind.erf(a * kind.constant(root_of_half))) + a * density),
    )


def _twice_root_of_two_over_pi() -> gmpy2.mpfr:
    return 2 * gmpy2.sqrt(2 / mp.pi())


def _of_cube() -> gmpy2.mpfr:
    return gmpy2.mpfr(44715) / 1000000


def _gelu_tanh(kind: Functions, x: Elements) -> Number:
    """With 1/2 (1 + tanh u) = sigmoid(2 u)."""
    g, a, one, half = x["grad"], x["self"], kind.number(1.0), kind.number(0.5)
    k, c = kind.constant(_twice_root_of_two_over_pi), kind.constant(_of_cube)
    square = a * a
    angle, slope = k * (a + c * square * a), k * (one + kind.number(3.0) * c * square)

    def by_sigmoid() -> Number:
        s = kind.sigmoid(angle)
        return g * (s + a * (s * kind.sigmoid(-angle)) * slope)

    def by_tanh() -> Number:
        t = kind.tanh(angle * half)
        return g * (half * (one + t) + half * a * ((one - t * t) * (slope * half)))

    return kind.either(by_sigmoid, by_tanh)



@pointwise("aten::gelu_backward")
def gelu_backward(grad_output: np.ndarray, self: np.ndarray, approximate: str = "none") -> Golden:
    """grad_output * (Phi(self) + self * phi(self)), Phi the normal distribution, phi its density; with
    approximate=tanh grad_output * (1/2 (1 + t) + self/2 (1 - t^2) k (1 + 3 * 0.044715 self^2)),
    t = tanh(k (self + 0.044715 self^3)), k = sqrt(2/pi) (P231, P232)"""
    fmt, g, a = _operands(grad_output, self)
    derivative = _gelu_tanh if approximate == "tanh" else _gelu

    def formula(kind: Functions, x: Elements) -> Number:
        """At 0 only half a gradient is left, which is rational."""
        return kind.where(x["is_zero"], x["grad"] * kind.number(0.5), derivative(kind, x))

    return gradient(fmt, formula, {"grad": g, "self": a, "is_zero": a == 0}, _unit_step(a, math.sqrt(2 * far(fmt))))


@pointwise("aten::infinitely_differentiable_gelu_backward")
def infinitely_differentiable_gelu_backward(grad: np.ndarray, self: np.ndarray) -> Golden:
    """grad * (Phi(self) + self * phi(self)), Phi the normal distribution, phi its density (P231, P232)"""
    return gelu_backward(grad, self)


def _mish(kind: Functions, x: Elements) -> Number:
    """tanh(log(1 + w)) = (w^2 + 2 w) / (w^2 + 2 w + 2), w = e^self; of large numbers by v = e^-self."""
    g, a, one, two = x["grad"], x["self"], kind.number(1.0), kind.number(2.0)

    def by_exponential() -> Number:
        v = kind.exp(-x["size"])
        square = v * v
        up, down = one + two * v, square + two * v
        whole = kind.where(x["is_positive"], up + two * square, down + two)
        t = kind.where(x["is_positive"], up, down) / whole
        rest = kind.number(4.0) * (one + v) * kind.where(x["is_positive"], square, v) / (whole * whole)
        return g * (t + a * rest)

    def by_tanh() -> Number:
        t, s = kind.tanh(kind.log1p(kind.exp(kind.where(x["is_far"], kind.number(SATURATED), a)))), kind.sigmoid(a)
        return g * (t + a * s * (one - t * t))

    return kind.either(by_exponential, by_tanh)


SATURATED = 40.0  # of log(1 + e^x), which is x itself from there on even where e^x overflows


@pointwise("aten::mish_backward")
def mish_backward(grad_output: np.ndarray, self: np.ndarray) -> Golden:
    """grad_output * (t + self * s * (1 - t^2)), t = tanh(log(1 + e^self)), s = 1 / (1 + e^-self) (P231, P232)"""
    fmt, g, a = _operands(grad_output, self)
    operands = {"grad": g, "self": a, "size": np.abs(a), "is_positive": a > 0, "is_far": a > SATURATED}
    return gradient(fmt, _mish, operands, _unit_step(a, far(fmt)))


def _logit(kind: Functions, x: Elements) -> Number:
    g, a, one = x["grad"], x["self"], kind.number(1.0)
    return kind.either(lambda: g / (a * (one - a)), lambda: g * (one / (a * (one - a))))


@pointwise("aten::logit_backward", compares=True)
def logit_backward(grad_output: np.ndarray, self: np.ndarray, eps: float | None = None) -> Golden:
    """grad_output / (self * (1 - self)) within [0, 1], NaN outside; with eps within [eps, 1 - eps], 0 outside
    (P209, P231 to P233)"""
    fmt, g, a = _operands(grad_output, self)
    is_pole, is_nan = (a == 0) | (a == 1), np.isnan(a)

    def within(mask: np.ndarray) -> Golden:
        kept = gradient(fmt, _logit, {"grad": g, "self": np.where(mask & ~is_pole | is_nan, a, 0.5)})
        outside = ~mask & ~is_nan
        return settled(kept, outside, np.nan) if eps is None else stopped(kept, outside, g)

    masks = [(a >= 0) & (a <= 1)] if eps is None else _between(fmt, a, eps)
    golden = of_any(masks, within).opened(is_pole & ~np.isnan(g), "P233")
    return golden if eps is None else golden.opened(is_nan, NOT_FINITE)


def _between(fmt: Format, a: np.ndarray, eps: float) -> list[np.ndarray]:
    """Where a lies between eps and 1 - eps, which implementations may round, these included or not."""
    highs = dict.fromkeys([1.0 - eps, *(float(round_to(step, np.float64(1.0 - eps))) for step in steps_of(fmt))])
    return [(a >= eps) & (a <= high) for high in highs] + [(a > eps) & (a < high) for high in highs]


# --- In pieces --------------------------------------------------------------------------------------------------------


@pointwise("aten::softplus_backward", compares=True)
def softplus_backward(
    grad_output: np.ndarray, self: np.ndarray, beta: int | float, threshold: int | float
) -> Golden:
    """grad_output / (1 + e^(-beta self)), and grad_output itself where beta * self > threshold (P48, P231, P232)"""
    fmt, g, a = _operands(grad_output, self)
    beta, threshold = float(beta), float(threshold)
    with np.errstate(all="ignore"):
        # Beside the threshold a product that was rounded may lie on its other side.
        band = np.abs(a * beta - threshold) <= 4 * fmt.unit_roundoff * abs(threshold) + fmt.min_subnormal
        exceeds = _exceeds(a, beta, threshold)

    def with_linear(mask: np.ndarray) -> Golden:
        def formula(kind: Functions, x: Elements) -> Number:
            scaled = x["self"] * kind.number(beta)

            def by_growth() -> Number:
                z = kind.exp(scaled)
                return x["grad"] * z / (z + kind.number(1.0))

            s = kind.either(lambda: x["grad"] * kind.sigmoid(scaled), by_growth)
            return kind.where(x["is_linear"], x["grad"], s)

        limit = np.where(mask, 1.0, _unit_step(a * beta, far(fmt)))
        return gradient(fmt, formula, {"grad": g, "self": a, "is_linear": mask}, limit)

    return of_any([exceeds, exceeds ^ band], with_linear)


def _exceeds(a: np.ndarray, beta: float, threshold: float) -> np.ndarray:
    """Where the exact a * beta exceeds the threshold: only a product that rounds to it is in doubt."""
    exceeds = np.asarray(a * beta > threshold)
    for i in map(tuple, np.argwhere((a * beta == threshold) & np.isfinite(a) & np.isfinite(threshold))):
        exceeds[i] = Fraction(float(a[i])) * Fraction(beta) > Fraction(threshold)
    return exceeds


@pointwise("aten::elu_backward", compares=True)
def elu_backward(
    grad_output: np.ndarray,
    alpha: int | float,
    scale: int | float,
    input_scale: int | float,
    is_result: bool,
    self_or_result: np.ndarray,
) -> Golden:
    """grad_output * scale above 0, and below grad_output * scale * alpha * input_scale * e^(input_scale * self); of
    a result y grad_output * input_scale * (y + scale * alpha) there (P231 to P233)"""
    fmt, g, x = _operands(grad_output, self_or_result)

    def from_zero(mask: np.ndarray) -> Golden:
        formula = partial(_elu, alpha=float(alpha), scale=float(scale), input_scale=float(input_scale),
                          is_result=is_result)  # fmt: skip
        vanishes = ~mask & (x * input_scale < -far(fmt, 3)) & (not is_result)
        limit = np.where(vanishes, 0.0, np.nan)
        golden = gradient(fmt, formula, {"grad": g, "self": x, "is_above": mask}, limit)
        return golden.opened(np.isnan(x), NOT_FINITE)

    return of_any([x > 0, x >= 0], from_zero)


def _elu(
    kind: Functions, x: Elements, alpha: float, scale: float, input_scale: float, is_result: bool
) -> Number:
    g, a = x["grad"], kind.where(x["is_above"], kind.number(0.0), x["self"])
    above, steepness = kind.number(scale), kind.number(input_scale)
    depth = above * kind.number(alpha)

    def of_result() -> Number:
        return kind.either(lambda: g * steepness * (a + depth), lambda: g * (steepness * (a + depth)))

    def of_input() -> Number:
        power = kind.exp(a * steepness)
        return kind.either(lambda: g * steepness * depth * power, lambda: g * (steepness * (depth * power)))

    return kind.where(x["is_above"], g * above, of_result() if is_result else of_input())


# --- Gates ------------------------------------------------------------------------------------------------------------


def _of_gated(kind: Functions, x: Elements) -> Number:
    return x["grad"] * kind.sigmoid(x["gate"])


def _of_gate(kind: Functions, x: Elements) -> Number:
    g, a, one, s = x["grad"], x["gated"], kind.number(1.0), kind.sigmoid(x["gate"])
    rest = kind.sigmoid(-x["gate"])
    return kind.either(
        lambda: g * a * (s * rest),
        lambda: g * a * (s * (one - s)),
        lambda: g * a * s * (one - s),
        lambda: g * s * (one - s) * a,
        lambda: g * (s * (one - s)) * a,
        lambda: g * (a * (s * (one - s))),
    )


def _of_halves(fmt: Format, grad: np.ndarray, gate: np.ndarray) -> Golden:
    g, b = numbers(grad, fmt), numbers(gate, fmt)
    return gradient(fmt, _of_gated, {"grad": g, "gate": b}, _unit_step(b, far(fmt)))


def _of_gates(fmt: Format, grad: np.ndarray, gated: np.ndarray, gate: np.ndarray) -> Golden:
    g, a, b = (numbers(x, fmt) for x in (grad, gated, gate))
    limit = np.where(np.abs(b) < far(fmt, 2), np.nan, 0.0)
    return gradient(fmt, _of_gate, {"grad": g, "gated": a, "gate": b}, limit)


@semantics("aten::glu_backward")
def glu_backward(grad_output: np.ndarray, self: np.ndarray, dim: int) -> Golden:
    """Of a, the first half of self along dim, and b, the second: grad_output * s, and then grad_output * a * s *
    (1 - s), s = 1 / (1 + e^-b) (P231, P232)"""
    fmt, axis = format_of(self), wrap_dim(dim, self.ndim)
    gated, gate = np.split(self, 2, axis)
    first = in_blocks(partial(_of_halves, fmt), grad_output, gate)
    second = in_blocks(partial(_of_gates, fmt), grad_output, gated, gate)
    whole = Assembly(*self.shape)
    for start, one in ((0, first), (gate.shape[axis], second)):
        whole.fill((*[slice(None)] * axis, slice(start, start + gate.shape[axis])), one)
    return whole.golden()
