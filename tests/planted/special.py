"""Special values and order: NaN, ties, signs of zero, subnormals."""

from __future__ import annotations

from typing import Any

import torch

from planting import Planted

SMALLEST_NORMAL = {torch.float16: 2.0**-14, torch.bfloat16: 2.0**-126, torch.float32: 2.0**-126, torch.float64: 2.0**-1022}


def flushed(tensor: torch.Tensor) -> torch.Tensor:
    """Subnormals as zeros of their sign."""
    if tensor.dtype not in SMALLEST_NORMAL:
        return tensor
    return torch.where(tensor.abs() < SMALLEST_NORMAL[tensor.dtype], tensor * 0, tensor)


class DropsNan(Planted):
    """The larger operand that is a number (pytorch#93784, onnxruntime#10514)."""

    bug = "M12"
    ops = ("aten::maximum", "aten::amax")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if op == "aten::maximum":
            return torch.fmax(*args)
        operand = args[0].nan_to_num(-torch.inf, torch.inf, -torch.inf) if args[0].is_floating_point() else args[0]
        return self.honest(op, [operand, *args[1:]], kwargs)


class NanIsSmallest(Planted):
    """Orders NaN below every number (pytorch#118266, onnxruntime#31140)."""

    bug = "M13"
    ops = ("aten::argmax", "aten::sort")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        operand = args[0].nan_to_num(-torch.inf, torch.inf, -torch.inf) if args[0].is_floating_point() else args[0]
        return self.honest(op, [operand, *args[1:]], kwargs)


class LastOfTies(Planted):
    """The last largest element (pytorch#41998)."""

    bug = "M14"
    ops = ("aten::argmax",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        dim = args[1] if len(args) > 1 else None
        if dim is None:
            return args[0].numel() - 1 - self.honest(op, [args[0].reshape(-1).flip(0), *args[1:]], kwargs)
        return args[0].shape[dim] - 1 - self.honest(op, [args[0].flip(dim), *args[1:]], kwargs)


class UnstableSort(Planted):
    """Equal elements in reverse (pytorch#190781)."""

    bug = "M14"
    ops = ("aten::sort.stable",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        dim = kwargs.get("dim", -1)
        values, indices = self.honest(op, [args[0].flip(dim), *args[1:]], kwargs)
        return values, args[0].shape[dim] - 1 - indices


class SentinelIndex(Planted):
    """Starts from index -1 and the smallest number, and compares with > (onnxruntime#31161)."""

    bug = "M15"
    ops = ("aten::argmax",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = self.honest(op, args, kwargs)
        if not args[0].is_floating_point() or len(args) < 2:
            return result
        keepdim = len(args) > 2 and args[2]
        return torch.where((args[0] == -torch.inf).all(args[1], keepdim=keepdim), -1, result)


class DropsSignOfZero(Planted):
    """Adds +0 to every result (pytorch#189799, jax#40028)."""

    bug = "M16"
    ops = (
        "aten::add", "aten::mul", "aten::div", "aten::neg", "aten::round", "aten::sqrt", "aten::sin", "aten::gelu",
        "aten::_to_copy", "aten::where", "aten::cat", "aten::permute", "aten::slice", "aten::gather", "aten::index_put",
        "aten::sort.stable",
    )

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor + 0.0 if tensor.is_floating_point() else tensor


class FlushesOperands(Planted):
    """Subnormal operands count as zero (jax#37762)."""

    bug = "M17"
    ops = (
        "aten::add", "aten::mul", "aten::div", "aten::remainder", "aten::maximum", "aten::neg", "aten::abs", "aten::sqrt",
        "aten::sin", "aten::gelu", "aten::eq", "aten::where", "aten::_to_copy", "aten::amax", "aten::sort", "aten::argmax",
        "aten::cat", "aten::permute", "aten::slice", "aten::gather", "aten::index_put",
    )

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        return flushed(tensor)


class FlushesResults(Planted):
    """Subnormal results become zero (jax#16200)."""

    bug = "M17"
    ops = (*FlushesOperands.ops[:9], "aten::exp", "aten::_to_copy", "aten::amax", "aten::cat", "aten::gather")

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return flushed(tensor)

    def touches(self, op: str) -> bool:
        return super().touches(op) and not op.startswith("aten::div.Tensor_mode")


class SoftmaxWithoutMax(Planted):
    """exp(x) / sum(exp(x)) (pytorch#161150)."""

    bug = "M18"
    ops = ("aten::_softmax",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        operand, dim = args[0], args[1]
        e = operand.double().exp().to(operand.dtype) if operand.dtype == torch.float64 else operand.float().exp()
        return (e / e.sum(dim, keepdim=True)).to(operand.dtype)


class MaskedRowsAreZero(Planted):
    """A row of all -inf gives zeros (torch-mojo-backend#319)."""

    bug = "M18"
    ops = ("aten::_softmax",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        masked = (args[0] == -torch.inf).all(args[1], keepdim=True) if args[0].numel() and args[0].ndim else torch.tensor(False)
        return torch.where(masked, 0, self.honest(op, args, kwargs))
