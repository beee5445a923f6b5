"""Gradients of activations made of straight pieces: the incoming one times the slope of the piece, rounded once.

At an end of a piece the slope is that of the piece which the first reading of P233 takes.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isnan

from conform.refs.exact.products import each_alike, of_alike, round_product, round_rational, special
from conform.refs.exact.promotion import Scalar
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified
from conform.refs.references import reference


def real_numbers(op: str, *numbers: Scalar) -> list[float]:
    """The numbers as floats; ValueError for a complex one."""
    if any(isinstance(number, complex) for number in numbers):
        raise ValueError(f"{op} needs real numbers, found {numbers}")
    return [float(number) for number in numbers]


def _sloped(op: str, grad: RefTensor, self: RefTensor, slope: Callable[[float], float]) -> RefTensor:
    """grad * slope(x); open where x is NaN, which lies in no piece."""

    def element(dtype: str, g: float, x: float) -> float | Unspecified:
        return UNSPECIFIED if isnan(x) else round_product(dtype, g, float(slope(x)))

    return each_alike(op, element, grad, self)


@reference("aten::threshold_backward")
def threshold_backward(grad_output: RefTensor, self: RefTensor, threshold: Scalar) -> RefTensor:
    """The slope is 1 above the threshold, else 0."""
    (limit,) = real_numbers("threshold_backward", threshold)
    return _sloped("threshold_backward", grad_output, self, lambda x: x > limit)


@reference("aten::hardtanh_backward")
def hardtanh_backward(grad_output: RefTensor, self: RefTensor, min_val: Scalar, max_val: Scalar) -> RefTensor:
    """The slope is 1 between min_val and max_val, else 0."""
    low, high = real_numbers("hardtanh_backward", min_val, max_val)
    return _sloped("hardtanh_backward", grad_output, self, lambda x: low < x < high)


@reference("aten::softshrink_backward")
def softshrink_backward(grad_output: RefTensor, self: RefTensor, lambd: Scalar) -> RefTensor:
    """The slope is 0 between -lambd and lambd, else 1; a lambd below 0 is refused."""
    (width,) = real_numbers("softshrink_backward", lambd)
    if not width >= 0:
        raise ValueError(f"softshrink_backward needs lambd >= 0, found {width}")
    return _sloped("softshrink_backward", grad_output, self, lambda x: x > width or x < -width)


@reference("aten::hardshrink_backward")
def hardshrink_backward(grad_out: RefTensor, self: RefTensor, lambd: Scalar) -> RefTensor:
    """The slope is 0 between -lambd and lambd, else 1."""
    (width,) = real_numbers("hardshrink_backward", lambd)
    if not width >= 0:
        raise NotImplementedError(f"the reference of hardshrink_backward is of lambd >= 0, found {width}")
    return _sloped("hardshrink_backward", grad_out, self, lambda x: x > width or x < -width)


@reference("aten::leaky_relu_backward")
def leaky_relu_backward(
    grad_output: RefTensor, self: RefTensor, negative_slope: Scalar, self_is_result: bool
) -> RefTensor:
    """The slope is 1 above 0, else negative_slope; of a result a negative one is refused, which would hide the side."""
    (slope,) = real_numbers("leaky_relu_backward", negative_slope)
    if self_is_result and slope < 0:
        raise ValueError(f"leaky_relu_backward of a result needs a slope >= 0, found {slope}")
    return _sloped("leaky_relu_backward", grad_output, self, lambda x: 1.0 if x > 0 else slope)


@reference("aten::_prelu_kernel")
def prelu_kernel(self: RefTensor, weight: RefTensor) -> RefTensor:
    """self from 0 on, weight * self below."""

    def element(dtype: str, x: float, w: float) -> float | Unspecified:
        if x == 0 and not abs(w) < float("inf"):
            return UNSPECIFIED
        return x if not x < 0 and not isnan(x) else round_product(dtype, x, w)

    return each_alike("_prelu_kernel", element, self, weight)


@reference("aten::_prelu_kernel_backward")
def prelu_kernel_backward(
    grad_output: RefTensor, self: RefTensor, weight: RefTensor
) -> tuple[RefTensor, RefTensor]:
    """grad times 1 above 0 or the weight, and grad times 0 above 0 or self."""
    of_alike("_prelu_kernel_backward", grad_output, self, weight)

    def of_self(dtype: str, g: float, x: float, w: float) -> float | Unspecified:
        return UNSPECIFIED if isnan(x) else round_product(dtype, g, 1.0 if x > 0 else w)

    def of_weight(dtype: str, g: float, x: float) -> float | Unspecified:
        return UNSPECIFIED if isnan(x) else round_product(dtype, g, 0.0 if x > 0 else x)

    name = "_prelu_kernel_backward"
    return each_alike(name, of_self, grad_output, self, weight), each_alike(name, of_weight, grad_output, self)


@reference("aten::rrelu_with_noise_backward")
def rrelu_with_noise_backward(
    grad_output: RefTensor,
    self: RefTensor,
    noise: RefTensor,
    lower: Scalar,
    upper: Scalar,
    training: bool,
    self_is_result: bool,
) -> RefTensor:
    """In training grad times the noise; else as leaky_relu_backward with the slope in the middle of lower and upper."""
    low, high = real_numbers("rrelu_with_noise_backward", lower, upper)
    of_alike("rrelu_with_noise_backward", grad_output, self, noise)
    if not training:
        return leaky_relu_backward(grad_output, self, (low + high) / 2, self_is_result)
    return each_alike("rrelu_with_noise_backward", round_product, grad_output, noise)


def _gate(dtype: str, g: float, number: Fraction) -> float | Unspecified:
    """g times a fraction that is not 0."""
    found = special(g)
    return round_rational(dtype, Fraction(g) * number) if found is None else found


@reference("aten::hardsigmoid_backward")
def hardsigmoid_backward(grad_output: RefTensor, self: RefTensor) -> RefTensor:
    """The slope is 1/6 between -3 and 3, else 0."""

    def element(dtype: str, g: float, x: float) -> float | Unspecified:
        if isnan(x):
            return UNSPECIFIED
        return _gate(dtype, g, Fraction(1, 6)) if abs(x) < 3 else round_product(dtype, g, 0.0)

    return each_alike("hardsigmoid_backward", element, grad_output, self)


@reference("aten::hardswish_backward")
def hardswish_backward(grad_output: RefTensor, self: RefTensor) -> RefTensor:
    """The slope is (2 x + 3) / 6 between -3 and 3, 0 below and 1 above."""

    def element(dtype: str, g: float, x: float) -> float | Unspecified:
        if isnan(x):
            return UNSPECIFIED
        if abs(x) < 3:
            return _gate(dtype, g, (2 * Fraction(x) + 3) / 6)
        return round_product(dtype, g, float(x > 0))

    return each_alike("hardswish_backward", element, grad_output, self)


@reference(
    "aten::fake_quantize_per_tensor_affine_cachemask_backward",
    "aten::fake_quantize_per_channel_affine_cachemask_backward",
)
def fake_quantize_backward(grad: RefTensor, mask: RefTensor) -> RefTensor:
    """grad times 1 where the mask is set, else times 0."""
    if mask.dtype != "bool":
        raise ValueError(f"a mask is bool, found {mask.dtype}")
    if mask.shape != grad.shape:
        raise NotImplementedError(f"the reference is of a mask of {grad.shape}, found {mask.shape}")
    of_alike("fake_quantize", grad)
    data = [round_product(grad.dtype, g, float(m)) for g, m in zip(grad.data, mask.data, strict=True)]
    return RefTensor(grad.dtype, grad.shape, data)
