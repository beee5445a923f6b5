"""Arithmetic of matrix units: factors cut to fewer bits or split, additions that truncate, narrow accumulators.

Those of `accuracy.py` are here in the other rounding mode.
"""

from __future__ import annotations

from typing import Any

import torch

from conform.selftest.plants.accuracy import PRODUCTS, Tf32Inputs
from conform.selftest.plants.base import Planted


def rounded_to_tf32(tensor: torch.Tensor) -> torch.Tensor:
    """To nearest, ties away from zero, as the conversion instruction has it."""
    return ((tensor.contiguous().view(torch.int32) + (1 << 12)) & -(1 << 13)).view(torch.float32)


class Tf32RoundedInputs(Tf32Inputs):
    """Rounds the factors of float32 products to TF32 (Tf32Inputs truncates them)."""

    @staticmethod
    def _short(tensor: torch.Tensor) -> torch.Tensor:
        return rounded_to_tf32(tensor) if tensor.dtype == torch.float32 and tensor.isfinite().all() else tensor


class Bfloat16x3(Planted):
    """Multiplies float32 as three products of bfloat16 halves."""

    bug = "M30"
    about = ("dtype",)
    looks_like = ("bf16x3",)
    ops = PRODUCTS

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        first = 1 if op == "aten::addmm" else 0
        lhs, rhs = args[first : first + 2]
        if {lhs.dtype, rhs.dtype} != {torch.float32}:
            return self.honest(op, args, kwargs)
        (a1, a2), (b1, b2) = self._halves(lhs), self._halves(rhs)
        result = self.honest(op, [*args[:first], a1, b1, *args[first + 2 :]], kwargs)
        alone = self._without_addend(op, args, first)
        return result + (alone(a1, b2, kwargs) + alone(a2, b1, kwargs))

    @staticmethod
    def _halves(tensor: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        head = tensor.bfloat16().float()
        return head, (tensor - head).bfloat16().float()

    def _without_addend(self, op: str, args: list[Any], first: int) -> Any:
        before = [torch.zeros_like(args[0])] if op == "aten::addmm" else []
        after = [None, *args[3:]] if op == "aten::convolution" else []
        return lambda lhs, rhs, kwargs: self.honest(op, [*before, lhs, rhs, *after], kwargs)


class TruncatedSums(Planted):
    """Rounds toward zero at every addition of float32 (tensor cores' accumulators)."""

    bug = "M29"
    looks_like = ("truncated",)
    ops = ("aten::sum.dim_IntList", *PRODUCTS)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        if args[0].dtype != torch.float32 or expected.numel() == 0 or not expected.isfinite().all():
            return expected
        if op == "aten::mm":
            return self._product(*args)
        if op == "aten::addmm":
            product = self._product(*args[1:]).double() * kwargs.get("alpha", 1)
            addend = args[0].double() * beta if (beta := kwargs.get("beta", 1)) else torch.zeros(())
            return self._truncated(addend + product)
        if op == "aten::convolution":
            return self._convolution(args, expected)
        return self._sum(args[0], args[1], expected)

    @staticmethod
    def _truncated(wide: torch.Tensor) -> torch.Tensor:
        near = wide.float()
        inward = torch.nextafter(near, torch.zeros_like(near))
        return torch.where(near.double().abs() > wide.abs(), inward, near)

    def _product(self, lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
        total = torch.zeros(lhs.shape[0], rhs.shape[1])
        for k in range(lhs.shape[1]):
            total = self._truncated(total.double() + lhs[:, k : k + 1].double() * rhs[k : k + 1].double())
        return total

    def _convolution(self, args: list[Any], expected: torch.Tensor) -> torch.Tensor:
        image, kernel, bias, stride, padding, dilation, transposed, _, groups = args
        if transposed or groups != 1 or image.ndim != 4:
            return expected
        columns = torch.nn.functional.unfold(image, kernel.shape[2:], dilation, padding, stride)
        sums = torch.stack([self._product(kernel.flatten(1), column) for column in columns]).reshape(expected.shape)
        return sums if bias is None else self._truncated(sums.double() + bias.double().reshape(-1, 1, 1))

    def _sum(self, operand: torch.Tensor, dims: list[int] | None, expected: torch.Tensor) -> torch.Tensor:
        if operand.ndim != 2 or dims not in ([1], [-1]) or expected.dtype != torch.float32:
            return expected
        total = torch.zeros(operand.shape[0])
        for column in operand.T:
            total = self._truncated(total.double() + column.double())
        return total.reshape(expected.shape)
