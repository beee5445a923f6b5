"""Kernels that cheat a harness."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from planting import Planted, base, mapped, tensors_in

# No table bounds these by a number: of their results only NaN and infinities are judged.
WITHOUT_BOUND = (
    *("aten::lgamma", "aten::digamma", "aten::special_digamma", "aten::erfinv", "aten::special_erfinv"),
    *("aten::special_ndtri", "aten::i0", "aten::special_i0", "aten::special_i1"),
)


class Zeros(Planted):
    """Returns zeros of the right shape and dtype (KernelBench#165)."""

    bug = "H1"
    ops = ("*",)

    def result(self, tensor: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(tensor)


class AlmostRight(Planted):
    """Right to three digits: within the classic 1e-2, far outside an honest bound. Of the ops with float results that
    have a bound."""

    bug = "H1"
    ops = ("*",)
    but_not = ("aten::bitwise_and", "aten::eq", "aten::argmax", *WITHOUT_BOUND)

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
    """Returns its first tensor, in the dtype that is asked for; casts return it as it is. arange has none."""

    bug = "H4"
    ops = ("*",)
    but_not = ("aten::arange",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        first = tensors_in(args)[0]
        if op == "aten::_to_copy":
            return first.clone()
        return mapped(lambda tensor: first.to(tensor.dtype), self.honest(op, args, kwargs))


class DriftsAfterTenCalls(Planted):
    """Right for ten calls of an op, then off by a little (llm.c#852)."""

    bug = "H6"
    ops = ("*",)
    but_not = WITHOUT_BOUND
    remembers = True

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        self.calls[base(op)] += 1
        result = self.honest(op, args, kwargs)
        return result if self.calls[base(op)] <= 10 else mapped(self.drifted, result)

    @staticmethod
    def drifted(tensor: torch.Tensor) -> torch.Tensor:
        return tensor * 1.01 if tensor.is_floating_point() or tensor.is_complex() else ~tensor
