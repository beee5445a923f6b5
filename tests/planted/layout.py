"""Memory: strides, offsets, stale and unwritten results."""

from __future__ import annotations

from typing import Any

import torch

from planting import Planted, mapped, storage_of


class IgnoresStrides(Planted):
    """Reads the storage in order, whatever the strides (pytorch#78043, pytorch#161641)."""

    bug = "M01"

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        flat = storage_of(tensor)[tensor.storage_offset() :]
        return tensor if flat.numel() < tensor.numel() else flat[: tensor.numel()].reshape(tensor.shape)


class DropsOffset(Planted):
    """Starts at the beginning of the storage (torch-spyre#3770, pytorch#108472)."""

    bug = "M02"

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.as_strided(tensor.shape, tensor.stride(), 0)


class WritesThroughExpanded(Planted):
    """Works in place where the input is expanded: every row then is the last one written (pytorch#183986)."""

    bug = "M03"
    ops = ("aten::index_put",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = self.honest(op, args, kwargs)
        expanded = [dim for dim, stride in enumerate(args[0].stride()) if stride == 0 and args[0].shape[dim] > 1]
        return result.narrow(expanded[0], -1, 1).expand(result.shape) if expanded and result.numel() else result


class ChangesInput(Planted):
    """Adds one to the first element of its first tensor, after the result is computed (pytorch#183419)."""

    bug = "M05"

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = mapped(torch.clone, self.honest(op, args, kwargs))
        found: list[torch.Tensor] = []
        mapped(lambda tensor: found.append(tensor) or tensor, [args, kwargs])
        for tensor in found[:1]:
            flat = storage_of(tensor)
            flat[:1] = ~flat[:1] if tensor.dtype == torch.bool else torch.where(flat[:1] == 1, 2, 1).to(flat.dtype)
        return result


class UnwrittenEmptySums(Planted):
    """A sum of no terms is what the memory held (pytorch#139446, tvm#19578)."""

    bug = "M06"
    ops = ("aten::sum", "aten::mm", "aten::addmm")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = self.honest(op, args, kwargs)
        operand = args[1] if op == "aten::addmm" else args[0]
        return torch.full_like(result, 7) if operand.numel() == 0 else result


class StaleResult(Planted):
    """Returns the result of the first call with the same op, shapes and dtypes (torch-spyre#3237)."""

    bug = "M07"

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, Any] = {}

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        def described(tensor: torch.Tensor) -> Any:
            return (tuple(tensor.shape), str(tensor.dtype))

        key = repr((op, mapped(described, args), mapped(described, kwargs)))
        if key not in self.seen:
            self.seen[key] = mapped(torch.clone, self.honest(op, args, kwargs))
        return self.seen[key]


class NoZeroDim(Planted):
    """Returns one-element vectors for 0-d results (pytorch#190423)."""

    bug = "M09"

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return torch.atleast_1d(tensor)


class SkipsTail(Planted):
    """Leaves the last n % 32 elements of a result unwritten (torch-mojo-backend#319)."""

    bug = "M11"

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        flat = tensor.clone().reshape(-1)
        tail = flat[flat.numel() - flat.numel() % 32 :]
        tail.copy_(~tail if tensor.dtype == torch.bool else tail * 0 + 77)
        return flat.reshape(tensor.shape)
