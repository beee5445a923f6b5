"""Integers, casts, division, rounding, promotion."""

from __future__ import annotations

from typing import Any

import torch

from planting import Planted, mapped

INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


class IntegersThroughFloat32(Planted):
    """Computes integers in float32 (pytorch#190052)."""

    bug = "M20"
    ops = (
        "aten::add", "aten::mul", "aten::maximum", "aten::neg", "aten::abs", "aten::remainder", "aten::eq", "aten::where",
        "aten::sum", "aten::amax", "aten::argmax", "aten::cumsum", "aten::mm", "aten::addmm", "aten::sort", "aten::cat", "aten::gather",
        "aten::index_put", "aten::bitwise_and", "aten::_to_copy", "aten::div.Tensor_mode",
    )

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dtype not in (torch.int32, torch.int64):
            return tensor
        return tensor.float().double().clamp(-(2.0**63), 2.0**63 - 1024).to(torch.int64).to(tensor.dtype)


class Uint8AsInt8(Planted):
    """Reads uint8 as int8 (pytorch#80009)."""

    bug = "M22"
    ops = ("aten::maximum", "aten::remainder", "aten::div", "aten::sum", "aten::amax", "aten::argmax", "aten::sort", "aten::_to_copy", "aten::cumsum", "aten::exp", "aten::sin")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        def signed(tensor: torch.Tensor) -> torch.Tensor:
            return tensor.view(torch.int8) if tensor.dtype == torch.uint8 and tensor.ndim else tensor

        expected = self.honest(op, args, kwargs)
        results = self.honest(op, mapped(signed, args), kwargs)
        pairs = zip(results, expected, strict=True) if isinstance(results, tuple) else [(results, expected)]
        typed = tuple(result.to(wanted.dtype) for result, wanted in pairs)
        return typed if isinstance(results, tuple) else typed[0]


class RemainderIsFmod(Planted):
    """The remainder with the sign of the dividend (numba#8574, executorch#90)."""

    bug = "M24"
    ops = ("aten::remainder",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        self_, other = (a if isinstance(a, torch.Tensor) else torch.tensor(a) for a in args)
        expected = self.honest(op, args, kwargs)
        return torch.fmod(self_, other).to(expected.dtype)


class FloorIsTrunc(Planted):
    """Floor division toward zero (Paddle#26732)."""

    bug = "M24"
    ops = ("aten::div.Tensor_mode", "aten::div.Scalar_mode")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.honest(op, args, {"rounding_mode": kwargs["rounding_mode"] and "trunc"})


class FloorOfReciprocal(Planted):
    """floor(a * (1 / b)) (pytorch#184408, mlx#4003)."""

    bug = "M25"
    ops = ("aten::div.Tensor_mode",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if not args[0].is_floating_point() or kwargs["rounding_mode"] != "floor":
            return self.honest(op, args, kwargs)
        return torch.floor(args[0] * (1 / args[1]))


class RoundsHalfUp(Planted):
    """floor(x + 0.5) (tvm#18590)."""

    bug = "M26"
    ops = ("aten::round",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if not args[0].is_floating_point():
            return self.honest(op, args, kwargs)
        scale = 10.0 ** kwargs.get("decimals", 0)
        return (torch.floor(args[0] * scale + 0.5) / scale).to(args[0].dtype)


class KeepsFirstDtype(Planted):
    """Results in the first tensor's dtype (pytorch#197091, pytorch#78879)."""

    bug = "M28"
    ops = ("aten::add", "aten::mul", "aten::div", "aten::maximum", "aten::where", "aten::sum", "aten::cumsum", "aten::exp", "aten::sqrt", "aten::sin", "aten::eq", "aten::cat")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        tensors: list[torch.Tensor] = []
        mapped(lambda tensor: tensors.append(tensor) or tensor, args[1:] if op.startswith("aten::where") else args)
        result = self.honest(op, args, kwargs)
        return result.to(tensors[0].dtype) if tensors else result


class TruncatesToHalf(Planted):
    """Casts to a half type by dropping bits."""

    bug = "M26"
    ops = ("aten::_to_copy",)

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if kwargs.get("dtype") != torch.bfloat16 or args[0].dtype != torch.float32:
            return self.honest(op, args, kwargs)
        bits = args[0].contiguous().view(torch.int32) & -65536
        return bits.view(torch.float32).to(torch.bfloat16)


class SaturatesIntegers(Planted):
    """Integer sums and products stop at the largest number instead of wrapping."""

    bug = "M21"
    ops = ("aten::add", "aten::mul", "aten::neg", "aten::abs", "aten::cumsum", "aten::sum", "aten::mm", "aten::addmm")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        if expected.dtype not in INTEGERS:
            return expected
        bounds = torch.iinfo(expected.dtype)
        wide = self.honest(op, mapped(lambda t: t.double() if t.dtype in INTEGERS else t, args), {k: v for k, v in kwargs.items() if k != "dtype"})
        clamped = wide.clamp(bounds.min, bounds.max)
        return torch.where(wide == clamped, expected, torch.where(wide > 0, bounds.max, bounds.min).to(expected.dtype))
