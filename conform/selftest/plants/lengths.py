"""Long lines: defects of the path that an implementation takes for LONG terms and more, which short calls never see."""

from __future__ import annotations

import math
from typing import Any

import torch

from conform.selftest.plants.accuracy import Tf32Inputs
from conform.selftest.plants.base import Planted, in_dtypes_of, on_data, value_of, with_argument
from conform.selftest.plants.composites import has_options
from conform.selftest.plants.facts import Op, op_of

LONG = 4096


class DropsLastTerm(Planted):
    """Leaves out the last of many terms."""

    bug = "M43"
    about = ("elements", "last dim", "terms",)
    factor = 0.0

    @classmethod
    def touches(cls, op: Op) -> bool:
        return op.traits.accumulates is not None and not op.traits.centred

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        summand = op_of(op).traits.accumulates
        return self.honest(op, *with_argument(op, args, kwargs, summand, self._without_last))

    def _without_last(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.numel() < LONG or not tensor.is_floating_point():
            return tensor
        changed = tensor.clone(memory_format=torch.contiguous_format)
        changed.view(-1)[-1] = changed.view(-1)[-1].double() * self.factor  # 8-bit floats have no product
        return changed


class DoublesLastTerm(DropsLastTerm):
    """Adds the last of many terms twice."""

    bug = "M41"
    factor = 2.0


class Tf32LongProducts(Tf32Inputs):
    """Cuts the factors of long float32 products to TF32, as a library does that takes large ones to matrix units."""

    bug = "M30"
    about = ("elements", "last dim", "terms",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        lhs = value_of(op, args, kwargs, op_of(op).traits.products.factors[0])
        is_long = lhs.ndim > 0 and lhs.shape[min(1, lhs.ndim - 1)] >= LONG
        return super().wrong(op, args, kwargs) if is_long else self.honest(op, args, kwargs)


class CountsOneLess(Planted):
    """Divides the sum of many terms by one less than their number."""

    bug = "M31"
    about = ("elements", "last dim", "terms",)
    ops = ("aten::mean", "aten::var", "aten::std")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        count, correction = args[0].numel() // max(expected.numel(), 1), _correction(op, args, kwargs)
        if count < LONG or not expected.is_floating_point() or count - 1 <= correction:
            return expected
        factor = (count - correction) / self.divisor(count, correction)
        wide = self.honest(op, *_widened(op, args, kwargs))
        return (wide * (math.sqrt(factor) if op.startswith("aten::std") else factor)).to(expected.dtype)

    @staticmethod
    def divisor(count: int, correction: float) -> float:
        return count - 1 - correction


class IgnoresOneDegreeOfFreedom(CountsOneLess):
    """Divides the squares of many deviations by their number, whatever the correction."""

    bug = "M31"
    ops = ("aten::var", "aten::std")

    @staticmethod
    def divisor(count: int, correction: float) -> float:
        return count


def _widened(op: str, args: list[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The call in float64."""
    args, kwargs = on_data(op, args, kwargs, lambda tensor: tensor.double())
    return args, {key: torch.float64 if isinstance(value, torch.dtype) else value for key, value in kwargs.items()}


def _correction(op: str, args: list[Any], kwargs: dict[str, Any]) -> float:
    if op.startswith("aten::mean"):
        return 0
    unbiased = value_of(op, args, kwargs, "unbiased", absent=True)
    correction = value_of(op, args, kwargs, "correction")
    return int(unbiased) if correction is None else correction


class LongNormWithoutEps(Planted):
    """Leaves eps out of the root, in long rows of layer norm."""

    bug = "M31"
    about = ("elements", "last dim", "terms",)
    ops = ("aten::native_layer_norm",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        is_long = math.prod(args[1]) >= LONG
        return self.honest(op, [*args[:4], 0.0] if is_long else args, kwargs)


class LongUnbiasedNorm(Planted):
    """Divides the squares by n - 1, in long rows of layer norm."""

    bug = "M31"
    about = ("elements", "last dim", "terms",)
    ops = ("aten::native_layer_norm",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        x, shape, weight, bias, eps = args
        count = math.prod(shape)
        if count < LONG:
            return self.honest(op, args, kwargs)
        wide = [None if one is None else one.double() for one in (x, weight, bias)]
        factor = math.sqrt((count - 1) / count)
        scaled = (torch.ones(shape, dtype=torch.float64) if wide[1] is None else wide[1]) * factor
        output, mean, rstd = self.honest(op, [wide[0], shape, scaled, wide[2], eps * (count - 1) / count], kwargs)
        return in_dtypes_of(self.honest(op, args, kwargs), (output, mean, rstd * factor))


class WeightsInBfloat16(Planted):
    """Rounds the weights of many float32 values to bfloat16 before it multiplies them."""

    bug = "M35"
    about = ("elements", "last dim", "terms",)
    ops = ("aten::scaled_dot_product_attention",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        query, key, value = args[:3]
        if query.dtype != torch.float32 or key.shape[-2] < LONG or has_options(args, kwargs):
            return self.honest(op, args, kwargs)
        weights = (query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])).softmax(-1)
        return weights.bfloat16().float() @ value
