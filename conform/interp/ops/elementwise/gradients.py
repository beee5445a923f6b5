"""Incoming gradients times the derivatives of activations made of straight pieces (P231 to P233)."""

from __future__ import annotations

import numpy as np

from conform.interp.formulas.number_functions import Functions, Number
from conform.interp.formulas.vector_jacobian import (
    NOT_FINITE,
    Elements,
    gradient,
    in_blocks,
    of_any,
    passed_on,
    settled,
    stopped,
)
from conform.interp.golden import Golden
from conform.interp.operands import numbers
from conform.interp.semantics import pointwise, semantics
from conform.numerics import arithmetic
from conform.numerics.ball import Ball, chosen
from conform.numerics.formats import Format, format_of
from conform.numerics.rounding_errors import held_format


def _operands(grad: np.ndarray, x: np.ndarray) -> tuple[Format, np.ndarray, np.ndarray]:
    fmt = format_of(x)
    return fmt, numbers(grad, fmt), numbers(x, fmt)


# --- Passed on, or stopped --------------------------------------------------------------------------------------------


def _where_passed(grad: np.ndarray, x: np.ndarray, masks: list[np.ndarray]) -> Golden:
    """grad where the first of these masks holds, or another one, else 0; open where x is NaN (P232)."""
    fmt = format_of(grad)
    golden = of_any(masks, lambda mask: stopped(passed_on(fmt, grad), ~mask, numbers(grad, fmt)))
    return golden.opened(np.isnan(x), NOT_FINITE)


@pointwise("aten::threshold_backward", compares=True)
def threshold_backward(grad_output: np.ndarray, self: np.ndarray, threshold: int | float) -> Golden:
    """grad_output where self is above threshold, else 0; at the threshold either (P231 to P233)"""
    _, _, x = _operands(grad_output, self)
    return _where_passed(grad_output, x, [x > threshold, x >= threshold])


@pointwise("aten::hardtanh_backward", compares=True)
def hardtanh_backward(
    grad_output: np.ndarray, self: np.ndarray, min_val: int | float, max_val: int | float
) -> Golden:
    """grad_output where self is between min_val and max_val, else 0; at these either (P231 to P233)"""
    _, _, x = _operands(grad_output, self)
    return _where_passed(grad_output, x, [(min_val < x) & (x < max_val), (min_val <= x) & (x <= max_val)])


def _shrunk(grad: np.ndarray, self: np.ndarray, lambd: int | float) -> Golden:
    """grad where self is beyond lambd or -lambd, else 0; at these either."""
    _, _, x = _operands(grad, self)
    return _where_passed(grad, x, [abs(x) > lambd, abs(x) >= lambd])


@pointwise("aten::softshrink_backward", compares=True)
def softshrink_backward(grad_output: np.ndarray, self: np.ndarray, lambd: int | float) -> Golden:
    """grad_output where self is above lambd or below -lambd, else 0; at these either (P231 to P233)"""
    return _shrunk(grad_output, self, lambd)


@pointwise("aten::hardshrink_backward", compares=True)
def hardshrink_backward(grad_out: np.ndarray, self: np.ndarray, lambd: int | float) -> Golden:
    """grad_out where self is above lambd or below -lambd, else 0; at these either (P231 to P233)"""
    return _shrunk(grad_out, self, lambd)


@pointwise(
    "aten::fake_quantize_per_tensor_affine_cachemask_backward",
    "aten::fake_quantize_per_channel_affine_cachemask_backward",
)
def fake_quantize_backward(grad: np.ndarray, mask: np.ndarray) -> Golden:
    """grad where mask, which tells what was within the quantized range, else 0 (P231, P232)"""
    fmt = format_of(grad)
    return stopped(passed_on(fmt, grad), ~mask, numbers(grad, fmt))


# --- With slopes ------------------------------------------------------------------------------------------------------


def _steeper(fmt: Format, grad: np.ndarray, slope: np.ndarray | float, mask: np.ndarray) -> Golden:
    """grad where the mask holds, slope * grad elsewhere; the slope is an element, or a number that is held first."""
    value, real = arithmetic.mul(fmt, np.where(mask, 1.0, slope), grad)
    g = Ball.exact(grad, held_format(fmt))
    factor = Ball.exact(slope, g.compute) if isinstance(slope, np.ndarray) else g.constant(slope)
    return Golden.derived(fmt, value, real, chosen(mask, g, g * factor), zero_sign_free=True)


def _leaky(grad: np.ndarray, self: np.ndarray, slope: np.ndarray | float) -> Golden:
    """grad from 0 on, slope * grad below; at 0 either; open where self is NaN (P232)."""
    fmt, g, x = _operands(grad, self)
    golden = of_any([x > 0, x >= 0], lambda mask: _steeper(fmt, g, slope, mask))
    return golden.opened(np.isnan(x), NOT_FINITE)


@pointwise("aten::leaky_relu_backward", compares=True, ignores=("self_is_result",))
def leaky_relu_backward(grad_output: np.ndarray, self: np.ndarray, negative_slope: int | float) -> Golden:
    """grad_output above 0, negative_slope * grad_output below; at 0 either (P231 to P233)"""
    return _leaky(grad_output, self, float(negative_slope))


@pointwise("aten::_prelu_kernel")
def prelu_kernel(self: np.ndarray, weight: np.ndarray) -> Golden:
    """max(0, self) + weight * min(0, self) (P95)"""
    fmt, slope, x = _operands(weight, self)
    value, real = arithmetic.mul(fmt, np.where(x >= 0, 1.0, slope), x)
    ball = Ball.exact(x, held_format(fmt))
    golden = Golden.derived(fmt, value, real, chosen(x >= 0, ball, ball * Ball.exact(slope, ball.compute)),
                            zero_sign_free=True)  # fmt: skip
    return golden.opened((x == 0) & ~np.isfinite(slope), "P95")


@semantics("aten::_prelu_kernel_backward", compares=True)
def prelu_kernel_backward(
    grad_output: np.ndarray, self: np.ndarray, weight: np.ndarray
) -> tuple[Golden, ...]:
    """Of self: grad_output above 0, weight * grad_output below; of weight: 0 above 0, self * grad_output below; at 0
    either (P231 to P233)"""
    of_each = (lambda g, x, w: _leaky(g, x, numbers(w, format_of(x))), lambda g, x, w: _of_weight(g, x))
    return tuple(in_blocks(one, grad_output, self, weight) for one in of_each)


def _of_weight(grad: np.ndarray, self: np.ndarray) -> Golden:
    fmt, g, x = _operands(grad, self)
    value, real = arithmetic.mul(fmt, g, x)
    ball = Ball.exact(g, held_format(fmt)) * Ball.exact(x, held_format(fmt))
    product = Golden.derived(fmt, value, real, ball, zero_sign_free=True)
    return of_any([x > 0, x >= 0], lambda mask: stopped(product, mask, g)).opened(np.isnan(x), NOT_FINITE)


@pointwise("aten::rrelu_with_noise_backward", compares=True, ignores=("self_is_result",))
def rrelu_with_noise_backward(
    grad_output: np.ndarray,
    self: np.ndarray,
    noise: np.ndarray,
    lower: int | float,
    upper: int | float,
    training: bool,
) -> Golden:
    """grad_output times noise, the slopes that were drawn, in training; else grad_output above 0 and below
    (lower + upper) / 2 * grad_output, at 0 either (P231 to P233)"""
    if not training:
        return _leaky(grad_output, self, (float(lower) + float(upper)) / 2)
    fmt, g, drawn = _operands(grad_output, noise)
    value, real = arithmetic.mul(fmt, g, drawn)
    return Golden.derived(fmt, value, real, Ball.exact(g, held_format(fmt)) * Ball.exact(drawn, held_format(fmt)),
                          zero_sign_free=True)  # fmt: skip


# --- Hard gates -------------------------------------------------------------------------------------------------------


def _hardsigmoid(kind: Functions, x: Elements) -> Number:
    g, six = x["grad"], kind.number(6.0)
    return kind.either(lambda: g / six, lambda: g * (kind.number(1.0) / six))


@pointwise("aten::hardsigmoid_backward", compares=True)
def hardsigmoid_backward(grad_output: np.ndarray, self: np.ndarray) -> Golden:
    """grad_output / 6 between -3 and 3, else 0; at these either (P231 to P233)"""
    fmt, g, x = _operands(grad_output, self)

    def between(mask: np.ndarray) -> Golden:
        return stopped(gradient(fmt, _hardsigmoid, {"grad": g}), ~mask, g)

    return of_any([abs(x) < 3, abs(x) <= 3], between).opened(np.isnan(x), NOT_FINITE)


def _hardswish(kind: Functions, x: Elements) -> Number:
    g, a, half, six = x["grad"], x["self"], kind.number(0.5), kind.number(6.0)
    three, two = kind.number(3.0), kind.number(2.0)
    return kind.either(
        lambda: g * (a / three + half),
        lambda: g * ((two * a + three) / six),
        lambda: g * (a * (kind.number(1.0) / three) + half),
        lambda: g * (two * a + three) / six,
    )


@pointwise("aten::hardswish_backward", compares=True)
def hardswish_backward(grad_output: np.ndarray, self: np.ndarray) -> Golden:
    """grad_output * (self / 3 + 1 / 2) between -3 and 3, 0 below, grad_output above; at these either (P231 to P233)"""
    fmt, g, x = _operands(grad_output, self)

    def between(mask: np.ndarray) -> Golden:
        formula = gradient(fmt, _hardswish, {"grad": g, "self": np.where(mask, x, 0.0)})
        return stopped(settled(formula, ~mask & (x > 0), g), ~mask & (x < 0), g)

    return of_any([abs(x) < 3, abs(x) <= 3], between).opened(np.isnan(x), NOT_FINITE)
