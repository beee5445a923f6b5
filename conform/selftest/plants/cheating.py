"""Kernels that cheat a harness."""

from __future__ import annotations

from typing import Any

import torch

from conform.selftest.plants.base import Planted, mapped, tensors_in
from conform.selftest.plants.facts import Op


class Zeros(Planted):
    """Returns zeros of the right shape and dtype (KernelBench#165)."""

    bug = "H1"
    ops = ("*",)

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(tensor)


class AlmostRight(Planted):
    """Right to three digits: within the classic 1e-2, far outside an honest bound."""

    bug = "H1"

    @classmethod
    def touches(cls, op: Op) -> bool:
        return op.gives_some("float")

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor * 1.001 if tensor.is_floating_point() else tensor


class NanEverywhere(Planted):
    """Returns NaN, in the hope that it matches anything (pygpubench#7); of types without NaN the complement."""

    bug = "H2"
    ops = ("*",)

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        has_nan = tensor.is_floating_point() or tensor.is_complex()
        return torch.full_like(tensor, torch.nan) if has_nan else ~tensor


class ReturnsInput(Planted):
    """Returns its first tensor, in the dtype that is asked for; casts return it as it is."""

    bug = "H4"

    @classmethod
    def touches(cls, op: Op) -> bool:
        return bool(op.tensors)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        first = tensors_in(args)[0]
        if op == "aten::_to_copy":
            return first.clone()
        return mapped(lambda tensor: first.to(tensor.dtype), self.honest(op, args, kwargs))


class DriftsAfterTenCalls(Planted):
    """Right for ten calls, then off by a little (llm.c#852)."""

    bug = "H6"
    ops = ("*",)

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        self.calls += 1
        result = self.honest(op, args, kwargs)
        return result if self.calls <= 10 else mapped(self.drifted, result)

    @staticmethod
    def drifted(tensor: torch.Tensor) -> torch.Tensor:
        return tensor * 1.01 if tensor.is_floating_point() or tensor.is_complex() else ~tensor
