"""Accuracy: short accumulators and inputs, cancellation, wrong approximants."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from conform.selftest.plants.base import HALVES, Planted, in_dtypes_of, mapped, with_argument
from conform.selftest.plants.facts import Op, op_of

PRODUCTS = ("aten::mm", "aten::addmm", "aten::convolution")


class HalfAccumulator(Planted):
    """Sums half types in the half type, one after the other (pytorch#180150, tt-metal#41371)."""

    bug = "M29"
    about = ("dtype",)
    looks_like = ("accumulated", "partial result",)
    ops = ("aten::sum", "aten::cumsum", "aten::mm", "aten::addmm", "aten::convolution", "aten::avg_pool2d")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        if args[0].dtype not in HALVES or kwargs.get("dtype"):
            return expected
        if op == "aten::cumsum":
            return _running(args[0], args[1])
        if op == "aten::mm":
            return _product(*args)
        if op == "aten::addmm":
            return args[0] * kwargs.get("beta", 1) + _product(*args[1:]) * kwargs.get("alpha", 1)
        if op == "aten::convolution":
            return self._by_channel(op, args, expected)
        if op == "aten::avg_pool2d":
            return self._by_window(args, expected)
        return _summed(args[0], args[1] if len(args) > 1 else None, expected)

    def _by_channel(self, op: str, args: list[Any], expected: torch.Tensor) -> torch.Tensor:
        """The convolutions of the single input channels, rounded and added."""
        if args[6] or args[8] != 1:
            return expected
        images, kernels = args[0].split(1, 1), args[1].split(1, 1)
        parts = [self.honest(op, [*pair, None, *args[3:]], {}) for pair in zip(images, kernels, strict=True)]
        total = sum(parts[1:], parts[0])
        return total if args[2] is None else total + args[2].reshape(-1, *[1] * (total.ndim - 2))

    def _by_window(self, args: list[Any], expected: torch.Tensor) -> torch.Tensor:
        """The windows' elements, rounded and added; only where there is neither padding nor another divisor."""
        image, (height, width), stride, padding, _, _, divisor = args
        if padding != [0, 0] or divisor is not None or image.numel() == 0:
            return expected
        step_y, step_x = stride or (height, width)
        windows = args[0].unfold(-2, height, step_y).unfold(-2, width, step_x).flatten(-2)
        return _running(windows, -1)[..., -1] / (height * width)


def _product(lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(lhs.shape[0], rhs.shape[1], dtype=lhs.dtype)
    for k in range(lhs.shape[1]):
        total = total + lhs[:, k : k + 1] * rhs[k : k + 1]
    return total


def _summed(operand: torch.Tensor, dims: list[int] | None, expected: torch.Tensor) -> torch.Tensor:
    for dim in dims or range(operand.ndim):
        if operand.ndim and operand.shape[dim]:
            operand = _running(operand, dim).narrow(dim, operand.shape[dim] - 1, 1)
    return operand.reshape(expected.shape) if operand.numel() == expected.numel() else expected


def _running(operand: torch.Tensor, dim: int) -> torch.Tensor:
    """The running sum along a dim, rounded to the element type at every step."""
    if operand.ndim == 0:
        return operand.clone()
    result = operand.movedim(dim, 0).clone()
    for i in range(1, result.shape[0]):
        result[i] += result[i - 1]
    return result.movedim(0, dim)


class Tf32Inputs(Planted):
    """Rounds the factors of float32 products to 10 mantissa bits (pytorch#53635)."""

    bug = "M30"
    about = ("dtype",)
    looks_like = ("TF32",)

    @classmethod
    def touches(cls, op: Op) -> bool:
        return op.traits.products is not None

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        for factor in op_of(op).traits.products.factors:
            args, kwargs = with_argument(op, args, kwargs, factor, self._short)
        return self.honest(op, args, kwargs)

    @staticmethod
    def _short(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dtype != torch.float32:
            return tensor
        return (tensor.contiguous().view(torch.int32) & -(1 << 13)).view(torch.float32)


class Bfloat16Inputs(Tf32Inputs):
    """Rounds the factors of float32 products to bfloat16."""

    bug = "M30"
    looks_like = ("bfloat16",)

    @staticmethod
    def _short(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.bfloat16().float() if tensor.dtype == torch.float32 else tensor


class NaiveVariance(Planted):
    """E[x^2] - E[x]^2 (burn#5607, onnxruntime#31973)."""

    bug = "M31"
    ops = ("aten::native_layer_norm",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        def rstd(x: torch.Tensor, dims: tuple[int, ...], eps: float) -> torch.Tensor:
            mean = x.mean(dims, keepdim=True)
            return ((x * x).mean(dims, keepdim=True) - mean * mean + eps).rsqrt()

        return _layer_norm(*args, rstd)


class UnbiasedVariance(NaiveVariance):
    """n - 1 for n (tt-metal#25100)."""

    bug = "M31"

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return _layer_norm(*args, lambda x, dims, eps: (x.var(dims, keepdim=True) + eps).rsqrt())


class EpsOutsideRoot(Planted):
    """1 / (sqrt(var) + eps)."""

    bug = "M31"
    ops = ("aten::native_layer_norm",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return _layer_norm(*args, lambda x, dims, eps: 1 / (x.var(dims, correction=0, keepdim=True).sqrt() + eps))


def _layer_norm(
    x: torch.Tensor,
    shape: list[int],
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    eps: float,
    rstd_of: Callable[[torch.Tensor, tuple[int, ...], float], torch.Tensor],
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Layer norm with another 1 / sqrt(variance + eps): `rstd_of` the wide x, the dims and eps."""
    dims = tuple(range(-len(shape), 0))
    wide = x.float() if x.dtype in HALVES else x
    mean, rstd = wide.mean(dims, keepdim=True), rstd_of(wide, dims, eps)
    out = (wide - mean) * rstd
    out = out if weight is None else out * weight
    out = out if bias is None else out + bias
    return out.to(x.dtype), mean.to(x.dtype), rstd.to(x.dtype)


class ExpThroughExp2(Planted):
    """2^(x * log2(e)) with the product rounded (xla's exp2-like errors)."""

    bug = "M32"
    ops = ("aten::exp",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        operand = args[0]
        if not operand.is_floating_point():
            return self.honest(op, args, kwargs)
        return torch.exp2(operand * math.log2(math.e))


class ShortPi(Planted):
    """Reduces angles with a float32 pi, so that large angles are wrong."""

    bug = "M32"
    ops = ("aten::sin",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        operand = args[0]
        if operand.dtype not in (torch.float32, torch.float64):
            return self.honest(op, args, kwargs)
        turn = 2 * torch.tensor(math.pi, dtype=torch.float32).to(operand.dtype)
        return torch.sin(operand - turn * torch.round(operand / turn))


class GeluBySigmoid(Planted):
    """x * sigmoid(1.702 x), good to two digits."""

    bug = "M34"
    ops = ("aten::gelu",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return args[0] * torch.sigmoid(1.702 * args[0])


class EqualWithinTolerance(Planted):
    """Equal up to a relative 1e-5."""

    bug = "M34"
    ops = ("aten::eq",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        lhs, rhs = (arg if isinstance(arg, torch.Tensor) else torch.tensor(arg) for arg in args)
        wide = torch.promote_types(torch.result_type(lhs, rhs), torch.float64)
        return torch.isclose(lhs.to(wide), rhs.to(wide), rtol=1e-5, atol=0)


class HalfIntermediates(Planted):
    """Rounds to the half type after every step (xla#41605 the other way round)."""

    bug = "M35"
    ops = ("aten::_softmax", "aten::native_layer_norm", "aten::gelu")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if args[0].dtype not in HALVES or args[0].ndim == 0:
            return self.honest(op, args, kwargs)
        if op == "aten::_softmax":
            powers = (args[0] - args[0].amax(args[1], keepdim=True)).exp()
            return powers / powers.sum(args[1], keepdim=True)
        if op == "aten::native_layer_norm":
            return self._layer_norm(*args)
        if kwargs.get("approximate", "none") == "tanh":
            inner = math.sqrt(2 / math.pi) * (args[0] + 0.044715 * args[0] ** 3)
            return 0.5 * args[0] * (1 + torch.tanh(inner))
        return 0.5 * args[0] * (1 + torch.erf(args[0] / math.sqrt(2)))

    @staticmethod
    def _layer_norm(
        x: torch.Tensor, shape: list[int], weight: torch.Tensor | None, bias: torch.Tensor | None, eps: float
    ) -> tuple[torch.Tensor, ...]:
        dims = tuple(range(-len(shape), 0))
        mean = x.mean(dims, keepdim=True)
        rstd = ((x - mean) ** 2).mean(dims, keepdim=True).add(eps).rsqrt()
        out = (x - mean) * rstd
        out = out if weight is None else out * weight
        return out if bias is None else out + bias, mean, rstd


class DividesByReciprocal(Planted):
    """a * (1 / b): overflows for small b, loses digits for large b (mlx#4003)."""

    bug = "M25"
    ops = ("aten::div.Tensor",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        return args[0].to(expected.dtype) * (1 / args[1].to(expected.dtype))


class Float64ThroughFloat32(Planted):
    """Computes float64 in float32 (mlx, MPS)."""

    bug = "M35"
    about = ("dtype",)
    looks_like = ("accumulated",)

    @classmethod
    def touches(cls, op: Op) -> bool:
        return "float64" in op.takes

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        def narrow(tensor: torch.Tensor) -> torch.Tensor:
            return tensor.float() if tensor.dtype == torch.float64 else tensor

        result = self.honest(op, mapped(narrow, args), mapped(narrow, kwargs))
        return in_dtypes_of(self.honest(op, args, kwargs), result)


class ArangeInFloat32(Planted):
    """Computes in float32 whatever the dtype. Not aten::arange: 0, 1, 2, ... are exact up to 2^24."""

    bug = "M35"
    ops = ("aten::arange.start", "aten::arange.start_step")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        start = args[0]
        step = args[2] if op == "aten::arange.start_step" else 1
        steps = torch.arange(expected.numel(), dtype=torch.float32)
        return (start + steps * step).double().to(expected.dtype)


class ArangeAddsSteps(Planted):
    """Adds the step again and again, so that its error grows."""

    bug = "M29"
    ops = ("aten::arange.start_step",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        if not expected.is_floating_point():
            return expected
        steps = torch.full_like(expected, args[2])
        steps[:1] = args[0]
        result = steps.clone()
        for i in range(1, len(steps)):
            result[i] = result[i - 1] + steps[i]
        return result
