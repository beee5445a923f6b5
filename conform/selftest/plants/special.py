"""Special values and order: NaN, infinities, ties, signs of zero, subnormals."""

from __future__ import annotations

from typing import Any

import torch

from conform.selftest.plants.base import HALVES, Planted, mapped, value_of
from conform.selftest.plants.facts import Op

SMALLEST_NORMAL = {dtype: torch.finfo(dtype).tiny for dtype in (*HALVES, torch.float32, torch.float64)}
BITS = {torch.float16: torch.int16, torch.bfloat16: torch.int16, torch.float32: torch.int32, torch.float64: torch.int64}


def without_nan(tensor: torch.Tensor) -> torch.Tensor:
    """NaN as -inf."""
    return tensor.nan_to_num(-torch.inf, torch.inf, -torch.inf) if tensor.is_floating_point() else tensor


class DropsNan(Planted):
    """The larger operand that is a number (pytorch#93784, onnxruntime#10514)."""

    bug = "M12"
    about = ("NaN",)
    ops = ("aten::maximum", "aten::amax")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if op == "aten::maximum":
            return torch.fmax(*args)
        return self.honest(op, [without_nan(args[0]), *args[1:]], kwargs)


class DropsFirstNan(Planted):
    """`lhs > rhs ? lhs : rhs`: NaN of the first operand is lost, that of the second is kept (tilelang#3024)."""

    bug = "M12"
    about = ("NaN",)
    ops = ("aten::maximum",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return torch.where(args[0] > args[1], *args)


class EqualByBits(Planted):
    """Compares bits: NaN equals itself, the zeros differ."""

    bug = "M12"
    about = ("NaN", "zero",)
    ops = ("aten::eq.Tensor",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if args[0].dtype != args[1].dtype or args[0].dtype not in BITS:
            return self.honest(op, args, kwargs)
        return self.honest(op, [arg.contiguous().view(BITS[arg.dtype]) for arg in args], kwargs)


class SelectsByArithmetic(Planted):
    """condition * self + (1 - condition) * other: NaN and infinities of the operand not chosen come through."""

    bug = "M12"
    about = ("NaN", "infinite", "NaN or infinite",)
    ops = ("aten::where.self", "aten::where.ScalarSelf", "aten::where.ScalarOther")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        if not expected.is_floating_point():
            return expected
        mask = args[0].to(expected.dtype)
        return (mask * args[1] + (1 - mask) * args[2]).to(expected.dtype)


class NanIsSmallest(Planted):
    """Orders NaN below every number (pytorch#118266, onnxruntime#31140)."""

    bug = "M13"
    about = ("NaN",)
    ops = ("aten::argmax", "aten::sort")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.honest(op, [without_nan(args[0]), *args[1:]], kwargs)


class SortsByBits(Planted):
    """Orders NaN by its sign bit (pytorch#116567)."""

    bug = "M13"
    about = ("NaN",)
    ops = ("aten::sort",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        operand = args[0]
        if operand.dtype not in BITS:
            return self.honest(op, args, kwargs)
        keys = torch.where(operand.isnan() & operand.signbit(), -torch.inf, operand)
        dim = value_of(op, args, kwargs, "dim")
        _, indices = self.honest(op, [keys, *args[1:]], kwargs)
        return operand.gather(dim, indices), indices


class DescendingNanLast(Planted):
    """Puts NaN last whichever the order (pytorch#16762)."""

    bug = "M13"
    about = ("NaN", "descending",)
    ops = ("aten::sort",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        descending = value_of(op, args, kwargs, "descending")
        return self.honest(op, [without_nan(args[0]) if descending else args[0], *args[1:]], kwargs)


class LastOfTies(Planted):
    """The last largest element (pytorch#41998)."""

    bug = "M14"
    ops = ("aten::argmax",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        dim = args[1]
        if dim is None:
            return args[0].numel() - 1 - self.honest(op, [args[0].reshape(-1).flip(0), *args[1:]], kwargs)
        return args[0].shape[dim] - 1 - self.honest(op, [args[0].flip(dim), *args[1:]], kwargs)


class UnstableSort(Planted):
    """Equal elements in reverse (pytorch#190781). Not aten::sort, where any order of equals is right."""

    bug = "M14"
    ops = ("aten::sort.stable",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        dim = value_of(op, args, kwargs, "dim")
        values, indices = self.honest(op, [args[0].flip(dim), *args[1:]], kwargs)
        return values, args[0].shape[dim] - 1 - indices if args[0].ndim else indices


class WrongIndicesOfEquals(Planted):
    """Gives every one of several equal elements the index of the first."""

    bug = "M14"
    ops = ("aten::sort",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        values, indices = self.honest(op, args, kwargs)
        dim = value_of(op, args, kwargs, "dim")
        if values.ndim == 0 or values.shape[dim] < 2:
            return values, indices
        length = values.shape[dim]
        repeated = values.narrow(dim, 1, length - 1) == values.narrow(dim, 0, length - 1)
        before, after = indices.narrow(dim, 0, length - 1), indices.narrow(dim, 1, length - 1)
        return values, torch.cat([indices.narrow(dim, 0, 1), torch.where(repeated, before, after)], dim)


class SentinelIndex(Planted):
    """Starts from index -1 and the smallest number, and compares with > (onnxruntime#31161)."""

    bug = "M15"
    ops = ("aten::argmax",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = self.honest(op, args, kwargs)
        if not args[0].is_floating_point() or args[1] is None:
            return result
        return torch.where((args[0] == -torch.inf).all(args[1], keepdim=args[2]), -1, result)


class StartsFromSmallestFinite(Planted):
    """The largest of a row of -inf is the smallest finite number (xla#887)."""

    bug = "M15"
    about = ("infinite",)
    ops = ("aten::amax",)

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.clamp(min=torch.finfo(tensor.dtype).min) if tensor.is_floating_point() else tensor


class DropsSignOfZero(Planted):
    """Adds +0 to every result (pytorch#189799, jax#40028)."""

    bug = "M16"
    about = ("-0",)

    @classmethod
    def touches(cls, op: Op) -> bool:
        return op.gives_some("float")

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor + 0.0 if tensor.is_floating_point() else tensor


class NegatesByZeroMinus(Planted):
    """0 - x (pytorch#185765)."""

    bug = "M16"
    about = ("-0",)
    ops = ("aten::neg",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return 0 - args[0]


class AbsByComparison(Planted):
    """x < 0 ? -x : x, which keeps -0 (pytorch#196039)."""

    bug = "M16"
    about = ("-0", "zero",)
    ops = ("aten::abs",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return torch.where(args[0] < 0, -args[0], args[0])


class FlushesOperands(Planted):
    """Subnormal operands count as zero (jax#37762)."""

    bug = "M17"
    about = ("subnormal",)
    looks_like = ("subnormals",)

    @classmethod
    def touches(cls, op: Op) -> bool:
        return op.takes_some("float")

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dtype not in SMALLEST_NORMAL:
            return tensor
        return torch.where(tensor.abs() < SMALLEST_NORMAL[tensor.dtype], tensor * 0, tensor)


class FlushesResults(FlushesOperands):
    """Subnormal results become zero (jax#16200)."""

    @classmethod
    def touches(cls, op: Op) -> bool:
        return op.gives_some("float")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return mapped(self.operand, self.honest(op, args, kwargs))


class SoftmaxWithoutMax(Planted):
    """exp(x) / sum(exp(x)) (pytorch#161150)."""

    bug = "M18"
    ops = ("aten::_softmax",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        operand, dim = args[0], args[1]
        powers = operand.to(torch.promote_types(operand.dtype, torch.float32)).exp()
        return (powers / powers.sum(dim, keepdim=True)).to(operand.dtype)


class MaskedRowsAreZero(Planted):
    """A row of all -inf gives zeros (torch-mojo-backend#319)."""

    bug = "M18"
    ops = ("aten::_softmax",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        masked = (args[0] == -torch.inf).all(args[1], keepdim=True)
        return torch.where(masked, 0, self.honest(op, args, kwargs))


class FiniteMathOnly(Planted):
    """Clamps infinities and replaces NaN: compiled with -ffinite-math-only (pytorch#196039, gpuweb#5192)."""

    bug = "M12"
    about = ("NaN", "infinite", "NaN or infinite",)

    @classmethod
    def touches(cls, op: Op) -> bool:
        return op.gives_some("float")

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.nan_to_num() if tensor.is_floating_point() else tensor


class MaximumByArithmetic(Planted):
    """(a + b + |a - b|) / 2: overflows, cancels, and makes NaN of infinities."""

    bug = "M33"
    ops = ("aten::maximum",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        return (args[0] + args[1] + (args[0] - args[1]).abs()) / 2 if expected.is_floating_point() else expected


class RootByReciprocal(Planted):
    """x * rsqrt(x): NaN at 0 and infinity (tt-metal#51861)."""

    bug = "M33"
    about = ("zero", "infinite", "NaN or infinite",)
    ops = ("aten::sqrt",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        operand = args[0].to(expected.dtype)
        return operand * operand.rsqrt()
