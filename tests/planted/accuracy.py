"""Accuracy: short accumulators and inputs, cancellation, wrong approximants."""

from __future__ import annotations

import math
from typing import Any

import torch

from planting import Planted, mapped

HALVES = (torch.float16, torch.bfloat16)
PRODUCTS = ("aten::mm", "aten::addmm", "aten::convolution")


class HalfAccumulator(Planted):
    """Sums half types in the half type, one after the other (pytorch#180150, tt-metal#41371)."""

    bug = "M29"
    ops = ("aten::sum", "aten::cumsum", "aten::mm", "aten::addmm")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        if args[0].dtype not in HALVES or expected.dtype not in HALVES:
            return expected
        if op in ("aten::mm", "aten::addmm"):
            lhs, rhs = args[-2:]
            total = torch.zeros(lhs.shape[0], rhs.shape[1], dtype=lhs.dtype)
            for k in range(lhs.shape[1]):
                total = total + lhs[:, k : k + 1] * rhs[k : k + 1]
            return total if op == "aten::mm" else args[0] * kwargs.get("beta", 1) + total * kwargs.get("alpha", 1)
        if op == "aten::cumsum":
            return self._running(args[0], args[1])
        dims = args[1] if len(args) > 1 and args[1] else list(range(args[0].ndim))
        running = args[0]
        for dim in dims:
            running = self._running(running, dim).narrow(dim, running.shape[dim] - 1, 1) if running.shape[dim] else running
        return running.reshape(expected.shape) if args[0].numel() else expected

    @staticmethod
    def _running(operand: torch.Tensor, dim: int) -> torch.Tensor:
        rows = operand.movedim(dim, 0) if operand.ndim else operand.reshape(1)
        result = rows.clone()
        for i in range(1, rows.shape[0]):
            result[i] = result[i - 1] + rows[i]
        return result.movedim(0, dim) if operand.ndim else result.reshape(())


class Tf32Inputs(Planted):
    """Rounds the factors of float32 products to 10 mantissa bits (pytorch#53635)."""

    bug = "M30"
    ops = PRODUCTS

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        first = 1 if op == "aten::addmm" else 0
        factors = [self._short(factor) for factor in args[first : first + 2]]
        return self.honest(op, [*args[:first], *factors, *args[first + 2 :]], kwargs)

    @staticmethod
    def _short(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dtype != torch.float32:
            return tensor
        return (tensor.contiguous().view(torch.int32) & -(1 << 13)).view(torch.float32)


class Bfloat16Inputs(Tf32Inputs):
    """Rounds the factors of float32 products to bfloat16."""

    bug = "M30"

    @staticmethod
    def _short(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.bfloat16().float() if tensor.dtype == torch.float32 else tensor


class NaiveVariance(Planted):
    """E[x^2] - E[x]^2 (burn#5607, onnxruntime#31973)."""

    bug = "M31"
    ops = ("aten::native_layer_norm",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        x, shape, weight, bias, eps = args
        dims = tuple(range(-len(shape), 0))
        wide = x.float() if x.dtype in HALVES else x
        mean = wide.mean(dims, keepdim=True)
        rstd = ((wide * wide).mean(dims, keepdim=True) - mean * mean + eps).rsqrt()
        out = (wide - mean) * rstd
        out = out if weight is None else out * weight
        out = out if bias is None else out + bias
        return out.to(x.dtype), mean.to(x.dtype), rstd.to(x.dtype)


class UnbiasedVariance(NaiveVariance):
    """n - 1 for n (tt-metal#25100)."""

    bug = "M31"

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        x, shape, weight, bias, eps = args
        dims = tuple(range(-len(shape), 0))
        wide = x.float() if x.dtype in HALVES else x
        mean, rstd = wide.mean(dims, keepdim=True), (wide.var(dims, keepdim=True) + eps).rsqrt()
        out = (wide - mean) * rstd
        out = out if weight is None else out * weight
        out = out if bias is None else out + bias
        return out.to(x.dtype), mean.to(x.dtype), rstd.to(x.dtype)


class EpsOutsideRoot(Planted):
    """1 / (sqrt(var) + eps)."""

    bug = "M31"
    ops = ("aten::native_layer_norm",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        x, shape, weight, bias, eps = args
        dims = tuple(range(-len(shape), 0))
        wide = x.float() if x.dtype in HALVES else x
        mean = wide.mean(dims, keepdim=True)
        rstd = 1 / (wide.var(dims, correction=0, keepdim=True).sqrt() + eps)
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


class GeluTanhAlways(Planted):
    """The tanh form whatever is asked for (coremltools#2863)."""

    bug = "M34"
    ops = ("aten::gelu",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.honest(op, args, {"approximate": "tanh"})


class GeluErfAlways(Planted):
    """The erf form whatever is asked for (tvm#18750)."""

    bug = "M34"
    ops = ("aten::gelu",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.honest(op, args, {"approximate": "none"})


class Float64ThroughFloat32(Planted):
    """Computes float64 in float32 (mlx, MPS)."""

    bug = "M35"

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        narrow = mapped(lambda t: t.float() if t.dtype == torch.float64 else t, args)
        results = self.honest(op, narrow, kwargs)
        pairs = zip(results, expected, strict=True) if isinstance(results, tuple) else [(results, expected)]
        typed = tuple(result.to(wanted.dtype) for result, wanted in pairs)
        return typed if isinstance(results, tuple) else typed[0]
