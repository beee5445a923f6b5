"""Kernels that cheat a harness."""

from __future__ import annotations

from typing import Any

import torch

from planting import Planted


class Zeros(Planted):
    """Returns zeros of the right shape and dtype (KernelBench#165)."""

    bug = "H1"

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(tensor)


class NanEverywhere(Planted):
    """Returns NaN, in the hope that it matches anything (pygpubench#7)."""

    bug = "H2"

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return torch.full_like(tensor, torch.nan) if tensor.is_floating_point() else ~tensor


class ReturnsInput(Planted):
    """Returns its first input."""

    bug = "H4"

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = self.honest(op, args, kwargs)
        first = args[0] if args and isinstance(args[0], torch.Tensor) else None
        fits = first is not None and isinstance(result, torch.Tensor) and first.shape == result.shape
        return first.to(result.dtype) if fits else result


class DriftsAfterTenCalls(Planted):
    """Right for ten calls, then off by a little (llm.c#852)."""

    bug = "H6"

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        if self.calls <= 10:
            return tensor
        return tensor * 1.01 if tensor.is_floating_point() else ~tensor


class AlmostRight(Planted):
    """Right to three decimal digits: within the classic 1e-2, far outside an honest bound."""

    bug = "H1"

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor * 1.001 if tensor.is_floating_point() else tensor
