"""Domain edges: defects at operands that typical draws do not meet."""

from __future__ import annotations

import math
from typing import Any

import torch

from conform.selftest.plants.base import Planted


class TiesAwayFromZero(Planted):
    """Rounds products of float32 halfway between two numbers away from zero (tvm#18590)."""

    bug = "M26"
    ops = ("aten::mul.Tensor",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        if expected.dtype != torch.float32:
            return expected
        exact = args[0].double() * args[1].double()  # 48 bits at most
        outer = torch.nextafter(expected, torch.full_like(expected, math.inf).copysign(expected))
        is_tie = (outer.double() - exact == exact - expected.double()) & (exact != expected.double())
        return torch.where(is_tie, outer, expected)


class LargeExponentsAreEven(Planted):
    """Takes the parity of an exponent from 16 bits: pow(-1, 2^24 - 1) is 1 (pytorch#17751)."""

    bug = "M27"
    ops = ("aten::pow.Tensor_Tensor",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        if not (expected.is_floating_point() and args[1].is_floating_point()):
            return expected
        return torch.where(args[1].abs() >= 2**15, expected.abs(), expected)


class FlushesTails(Planted):
    """The tail of float64 ends with the smallest normal number (tt-metal#28187)."""

    bug = "M32"
    ops = ("aten::erfc", "aten::special_erfc")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        if expected.dtype != torch.float64:
            return expected
        return torch.where(expected < torch.finfo(torch.float64).tiny, 0.0, expected)

