"""Integers, casts, division, rounding, promotion."""

from __future__ import annotations

from typing import Any

import torch

from conform.interp.semantics import traits_of
from conform.selftest.plants.base import HALVES, INTEGERS, Planted, in_dtypes_of, mapped, on_data, value_of
from conform.selftest.plants.facts import Op, op_of

SUMS = ("aten::sum", "aten::cumsum", "aten::mm", "aten::addmm", "aten::add", "aten::mul")


class IntegersThroughFloat32(Planted):
    """Reads integers as float32 (pytorch#190052), but for those that choose elements."""

    bug = "M20"
    about = ("beyond 2^24", "dtype",)

    @classmethod
    def touches(cls, op: Op) -> bool:
        return "int64" in op.takes and bool(op.gives & {"int64", "bool"})

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.honest(op, *on_data(op, args, kwargs, self.operand))

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dtype not in (torch.int32, torch.int64):
            return tensor
        return tensor.float().double().clamp(-(2.0**63), 2.0**63 - 1024).to(torch.int64).to(tensor.dtype)


class IntegerSumsInFloat64(Planted):
    """Computes sums and products of int64 in float64 (pytorch#190651)."""

    bug = "M20"
    about = ("beyond 2^53", "dtype",)
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
    """Reads uint8 as int8 (pytorch#80009, pytorch#80049). No defect where the elements of one tensor move: their bits
    pass unchanged."""

    bug = "M22"
    about = ("dtype",)

    @classmethod
    def touches(cls, op: Op) -> bool:
        return "uint8" in op.takes and not _moves_one(op)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        def signed(tensor: torch.Tensor) -> torch.Tensor:
            return tensor.view(torch.int8) if tensor.dtype == torch.uint8 else tensor

        return in_dtypes_of(self.honest(op, args, kwargs), self.honest(op, *on_data(op, args, kwargs, signed)))


def _moves_one(op: Op) -> bool:
    moved = traits_of(op.name).moves
    return len(moved) == 1 and any(one.name == moved[0] and one.type.is_tensor for one in op.spec.arguments)


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
    about = ("dtype",)
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
        scale = 10.0 ** (kwargs.get("decimals") or 0)
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


class ZeroDimPromotes(Planted):
    """Counts a 0-d operand as if it had dims: float32 + 0-d float64 is float64 (pytorch#74400)."""

    bug = "M28"

    @classmethod
    def touches(cls, op: Op) -> bool:
        return op.traits.pointwise and len(op.data) == 2 and op.gives != {"bool"}

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        first, second = (value_of(op, args, kwargs, one.name) for one in op_of(op).data)
        common = torch.promote_types(first.dtype, second.dtype)
        return expected.to(common if common.is_floating_point else torch.promote_types(expected.dtype, common))


class NumberPromotes(Planted):
    """Takes a Python float for a float64 operand and an int for an int64 one (pytorch#93784)."""

    bug = "M28"

    @classmethod
    def touches(cls, op: Op) -> bool:
        """Whether it is an op of a tensor and a number; `alpha` scales and promotes nothing."""
        return op.traits.pointwise and len(op.data) == 1 and bool(cls._numbers(op)) and op.gives != {"bool"}

    @staticmethod
    def _numbers(op: Op) -> set[str]:
        return set(op.numbers) & {"self", "other", "exponent"}

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        known = op_of(op)
        names = [known.data[0].name, *self._numbers(known)]
        dtypes = [operand.dtype for operand in _as_tensors([value_of(op, args, kwargs, name) for name in names])]
        result, wide = self.honest(op, args, kwargs), torch.promote_types(*dtypes)
        of_one_kind = wide.is_floating_point == result.is_floating_point() and not wide.is_complex
        return result.to(wide) if of_one_kind else result


class HalvesPromoteToHalf(Planted):
    """float16 with bfloat16 gives bfloat16 instead of float32."""

    bug = "M28"
    about = ("dtype", "dtypes",)
    ops = ("aten::add.Tensor",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = self.honest(op, args, kwargs)
        is_mixed = {args[0].dtype, args[1].dtype} == set(HALVES)
        return result.to(torch.bfloat16) if is_mixed else result


DTYPES_OF_NUMBERS = {complex: torch.complex128, float: torch.float64, int: torch.int64, bool: torch.bool}


def _as_tensors(values: list[Any]) -> list[torch.Tensor]:
    """Python numbers as 0-d float64, int64 or bool tensors."""
    return [value if isinstance(value, torch.Tensor) else _as_tensor(value) for value in values]


def _as_tensor(number: complex) -> torch.Tensor:
    return torch.tensor(number, dtype=DTYPES_OF_NUMBERS[type(number)])
