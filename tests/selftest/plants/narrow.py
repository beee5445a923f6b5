"""Kernels that are right wherever few terms, or small numbers, are added up: what core must show."""

from __future__ import annotations

from typing import Any

import torch

from conform.selftest.plants.base import Planted, mapped
from conform.selftest.plants.products import rounded_to_tf32

LONG = 256  # terms that still get exact factors


class Tf32OfLongSums(Planted):
    """Rounds the factors of float32 products of many terms to TF32."""

    ops = ("aten::bmm", "aten::baddbmm", "aten::addbmm", "aten::dot", "aten::vdot", "aten::einsum")

    def operand(self, tensor: torch.Tensor) -> torch.Tensor:
        is_long = tensor.dtype == torch.float32 and max((0, *tensor.shape)) > LONG
        return rounded_to_tf32(tensor) if is_long else tensor


class FloatAccumulator(Planted):
    """Adds integers up in float32, those of int64 in float64."""

    ops = (
        "aten::sum", "aten::cumsum", "aten::_int_mm", "aten::mm", "aten::bmm", "aten::mv", "aten::addmm", "aten::addmv",
        "aten::addbmm", "aten::baddbmm", "aten::dot", "aten::vdot", "aten::inner", "aten::linear", "aten::matmul",
    )  # fmt: skip

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        wide = torch.float64 if args[0].dtype == torch.int64 else torch.float32
        floats = mapped(lambda tensor: tensor.to(wide), args)
        if op == "aten::_int_mm":
            return (floats[0] @ floats[1]).to(torch.int32)
        return self.honest(op, floats, kwargs).to(torch.int64).to(expected.dtype)


class SaturatedPairs(Planted):
    """Adds products of int8 up in pairs, and those in int16, which saturates."""

    ops = ("aten::_int_mm",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        terms = args[0].int()[:, :, None] * args[1].int()[None]
        pairs = terms.unflatten(1, (-1, 2)).sum(2)
        return pairs.clamp(-(2**15), 2**15 - 1).sum(1).int()
