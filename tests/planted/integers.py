"""Integers, casts, division, rounding, promotion."""

from __future__ import annotations

from typing import Any

import torch
from planting import (
    BINARY,
    FUNCTIONS,
    FUNCTIONS_OF_TWO,
    HALVES,
    INTEGERS,
    MOVES,
    PAIRS,
    WITHOUT_BOUND,
    Planted,
    base,
    in_dtypes_of,
    mapped,
    tensors_in,
)

REDUCTIONS = ("aten::sum", "aten::amax", "aten::argmax", "aten::cumsum")
SUMS = ("aten::sum", "aten::cumsum", "aten::mm", "aten::addmm", "aten::add", "aten::mul")


class IntegersThroughFloat32(Planted):
    """Reads integers as float32 (pytorch#190052).

    Not permute and slice, which compute nothing, true division, which is in float32, nor
    where.Scalar and round.decimals, which read no integers.
    """

    bug = "M20"
    ops = (
        *BINARY, *REDUCTIONS, *MOVES, "aten::neg", "aten::abs", "aten::mm", "aten::addmm", "aten::sort",
        "aten::_to_copy", "aten::round", "aten::avg_pool2d",
    )  # fmt: skip
    but_not = (
        "aten::where.Scalar", "aten::permute", "aten::slice", "aten::div.Tensor", "aten::div.Scalar",
        "aten::round.decimals",
    )  # fmt: skip

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        index = {"aten::gather": 2, "aten::index_put": 1}.get(op)
        read = [arg if place == index else mapped(self.operand, arg) for place, arg in enumerate(args)]
        return self.honest(op, read, kwargs)

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dtype not in (torch.int32, torch.int64):
            return tensor
        return tensor.float().double().clamp(-(2.0**63), 2.0**63 - 1024).to(torch.int64).to(tensor.dtype)


class IntegerSumsInFloat64(Planted):
    """Computes sums and products of int64 in float64 (pytorch#190651)."""

    bug = "M20"
    ops = SUMS

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        if expected.dtype != torch.int64 or args[0].dtype != torch.int64:
            return expected
        wide = self.honest(op, mapped(torch.Tensor.double, args), kwargs)
        return torch.where(wide.abs() < 2.0**63, wide.clamp(-(2.0**63), 2.0**63 - 1024).to(torch.int64), expected)


class SaturatesIntegers(Planted):
    """Integer sums and products stop at the largest number instead of wrapping."""

    bug = "M21"
    ops = (*SUMS, "aten::neg", "aten::abs")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        if expected.dtype not in INTEGERS:
            return expected
        bounds = torch.iinfo(expected.dtype)
        keywords = {name: value for name, value in kwargs.items() if name != "dtype"}
        wide = self.honest(op, mapped(lambda t: t.double() if t.dtype in INTEGERS else t, args), keywords)
        clamped = wide.clamp(bounds.min, bounds.max)
        ends = torch.where(wide > 0, bounds.max, bounds.min).to(expected.dtype)
        return torch.where(wide == clamped, expected, ends)


class CastSaturates(Planted):
    """Casts of integers stop at the ends of the narrower type (torch-xpu-ops#889)."""

    bug = "M21"
    ops = ("aten::_to_copy",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if kwargs.get("dtype") not in INTEGERS or args[0].dtype not in INTEGERS:
            return self.honest(op, args, kwargs)
        bounds = torch.iinfo(kwargs["dtype"])
        low, high = max(bounds.min, torch.iinfo(args[0].dtype).min), min(bounds.max, torch.iinfo(args[0].dtype).max)
        return self.honest(op, [args[0].clamp(low, high)], kwargs)


class CastRounds(Planted):
    """Casts of floats to integers go to the nearest integer instead of toward zero."""

    bug = "M21"
    ops = ("aten::_to_copy",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        to_integer = kwargs.get("dtype") in INTEGERS and args[0].is_floating_point()
        return self.honest(op, [args[0].round()] if to_integer else args, kwargs)


class CastToBoolOfTruncated(Planted):
    """Casts to bool by way of an integer: 0.5 is False."""

    bug = "M21"
    ops = ("aten::_to_copy",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        to_bool = kwargs.get("dtype") == torch.bool and args[0].is_floating_point()
        return self.honest(op, [args[0].trunc()] if to_bool else args, kwargs)


class Uint8AsInt8(Planted):
    """Reads uint8 as int8 (pytorch#80009, pytorch#80049). Of the ops to which the sign matters, some for promotion.

    Not sinc, which is 0 at all integers but one, nor special_ndtri, which is NaN at most.
    """

    bug = "M22"
    ops = (
        "aten::maximum", "aten::remainder", "aten::div", *REDUCTIONS, "aten::sort", "aten::_to_copy", "aten::exp",
        "aten::sin", "aten::sqrt", "aten::abs", "aten::add", "aten::mul", "aten::where.self", "aten::cat", *FUNCTIONS,
        "aten::atan2", "aten::xlogy", "aten::special_xlogy", "aten::pow",
    )  # fmt: skip
    but_not = (
        "aten::sinc", "aten::special_sinc", "aten::special_ndtri",
        *(op for op in WITHOUT_BOUND if not op.endswith("erfinv")),
    )  # fmt: skip

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        def signed(tensor: torch.Tensor) -> torch.Tensor:
            return tensor.view(torch.int8) if tensor.dtype == torch.uint8 else tensor

        return in_dtypes_of(self.honest(op, args, kwargs), self.honest(op, mapped(signed, args), kwargs))


class RemainderIsFmod(Planted):
    """The remainder with the sign of the dividend (numba#8574, executorch#90)."""

    bug = "M24"
    ops = ("aten::remainder",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return torch.fmod(*_as_tensors(args)).to(self.honest(op, args, kwargs).dtype)


class FloorIsTrunc(Planted):
    """Floor division toward zero (Paddle#26732)."""

    bug = "M24"
    ops = ("aten::div.Tensor_mode", "aten::div.Scalar_mode")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.honest(op, args, {"rounding_mode": kwargs["rounding_mode"] and "trunc"})


class TruncIsFloor(Planted):
    """Truncating division toward -inf."""

    bug = "M24"
    ops = ("aten::div.Tensor_mode", "aten::div.Scalar_mode")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.honest(op, args, {"rounding_mode": kwargs["rounding_mode"] and "floor"})


class TrueDivisionOfIntegersTruncates(Planted):
    """7 / 2 is 3."""

    bug = "M24"
    ops = ("aten::div.Tensor", "aten::div.Scalar")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = self.honest(op, args, kwargs)
        return result if any(arg.is_floating_point() for arg in _as_tensors(args)) else result.trunc()


class FloorOfReciprocal(Planted):
    """floor(a * (1 / b)) (pytorch#184408, mlx#4003)."""

    bug = "M25"
    ops = ("aten::div.Tensor_mode", "aten::div.Scalar_mode")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if not args[0].is_floating_point() or kwargs["rounding_mode"] != "floor":
            return self.honest(op, args, kwargs)
        return torch.floor(args[0] * (1 / args[1])).to(args[0].dtype)


class RemainderByQuotient(Planted):
    """a - b * floor(a / b) in the element type: all digits are lost where a / b is large (pytorch#177926)."""

    bug = "M25"
    ops = ("aten::remainder",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        if not expected.is_floating_point():
            return expected
        lhs, rhs = (arg.to(expected.dtype) for arg in _as_tensors(args))
        return lhs - rhs * torch.floor(lhs / rhs)


class RoundsHalfUp(Planted):
    """floor(x + 0.5) (tvm#18590)."""

    bug = "M26"
    ops = ("aten::round",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if not args[0].is_floating_point():
            return self.honest(op, args, kwargs)
        scale = 10.0 ** kwargs.get("decimals", 0)
        return (self.nearest(args[0] * scale) / scale).to(args[0].dtype)

    @staticmethod
    def nearest(tensor: torch.Tensor) -> torch.Tensor:
        return torch.floor(tensor + 0.5)


class RoundsHalfAway(RoundsHalfUp):
    """Ties away from zero (tvm#18590)."""

    @staticmethod
    def nearest(tensor: torch.Tensor) -> torch.Tensor:
        whole = tensor.trunc()
        return whole + torch.where((tensor - whole).abs() >= 0.5, tensor.sign(), 0)


class TruncatesToHalf(Planted):
    """Casts float32 to bfloat16 by dropping bits (webnn#817)."""

    bug = "M26"
    ops = ("aten::_to_copy",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if kwargs.get("dtype") != torch.bfloat16 or args[0].dtype != torch.float32:
            return self.honest(op, args, kwargs)
        bits = args[0].contiguous().view(torch.int32) & -(1 << 16)
        return bits.view(torch.float32).to(torch.bfloat16)


class KeepsFirstDtype(Planted):
    """Results in the first tensor's dtype (pytorch#197091, pytorch#78879). where: the first that can be chosen.

    Of the ops whose result can have another dtype than its first tensor.
    """

    bug = "M28"
    ops = (
        *BINARY, "aten::exp", "aten::sqrt", "aten::sin", "aten::sum", "aten::cumsum", "aten::argmax", "aten::cat",
        "aten::where", *FUNCTIONS, *FUNCTIONS_OF_TWO,
    )  # fmt: skip
    but_not = ("aten::where.Scalar", "aten::bitwise_and.*Scalar*")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        first = tensors_in(args[1:] if base(op) == "aten::where" else args)[0]
        return self.honest(op, args, kwargs).to(first.dtype)


class ZeroDimPromotes(Planted):
    """Counts a 0-d operand as if it had dims: float32 + 0-d float64 is float64 (pytorch#74400)."""

    bug = "M28"
    ops = (
        "aten::add.Tensor", "aten::mul.Tensor", "aten::div.Tensor", "aten::maximum", "aten::remainder.Tensor",
        "aten::where.self", *PAIRS,
    )  # fmt: skip
    but_not = ("aten::special_xlogy.*",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        operands = args[1:] if op == "aten::where.self" else args
        common = torch.promote_types(operands[0].dtype, operands[1].dtype)
        return expected.to(common) if common.is_floating_point else expected


class NumberPromotes(Planted):
    """Takes a Python float for a float64 operand and an int for an int64 one (pytorch#93784)."""

    bug = "M28"
    ops = (
        "aten::add.Scalar", "aten::mul.Scalar", "aten::div.Scalar", "aten::div.Scalar_mode", "aten::remainder.Scalar",
        "aten::remainder.Scalar_Tensor", "aten::bitwise_and.Scalar", "aten::bitwise_and.Scalar_Tensor",
        "aten::where.ScalarSelf", "aten::where.ScalarOther", "aten::pow.Tensor_Scalar", "aten::pow.Scalar",
        "aten::xlogy.Scalar_*", "aten::special_xlogy.*",
    )  # fmt: skip

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        operands = args[1:] if base(op) == "aten::where" else args
        dtypes = [operand.dtype for operand in _as_tensors(operands)]
        result, wide = self.honest(op, args, kwargs), torch.promote_types(*dtypes)
        of_one_kind = wide.is_floating_point == result.is_floating_point() and not wide.is_complex
        return result.to(wide) if of_one_kind else result


class HalvesPromoteToHalf(Planted):
    """float16 with bfloat16 gives bfloat16 instead of float32."""

    bug = "M28"
    ops = ("aten::add.Tensor",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = self.honest(op, args, kwargs)
        is_mixed = {args[0].dtype, args[1].dtype} == set(HALVES)
        return result.to(torch.bfloat16) if is_mixed else result


def _as_tensors(values: list[Any]) -> list[torch.Tensor]:
    """Python numbers as 0-d float64, int64 or bool tensors."""
    return [value if isinstance(value, torch.Tensor) else _as_tensor(value) for value in values]


def _as_tensor(number: bool | int | float) -> torch.Tensor:
    return torch.tensor(number, dtype={float: torch.float64, int: torch.int64, bool: torch.bool}[type(number)])
