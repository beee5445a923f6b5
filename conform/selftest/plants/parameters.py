"""Parameters and indices: weights that scale too much, indices that are clamped, invalid arguments accepted."""

from __future__ import annotations

from typing import Any

import torch

from conform.selftest.plants.base import REFUSALS, Planted, lists_positions, tensors_in
from conform.selftest.plants.facts import Op


class AddmmAlphaScalesAll(Planted):
    """alpha * (beta * self + mat1 @ mat2)."""

    bug = "M37"
    about = ("alpha",)
    ops = ("aten::addmm",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.honest(op, [args[0] * kwargs.get("alpha", 1), *args[1:]], kwargs)


class AddmmBetaZeroPropagates(Planted):
    """Multiplies self by beta = 0, which lets its NaN and infinities through."""

    bug = "M12"
    about = ("beta",)
    ops = ("aten::addmm",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = self.honest(op, args, kwargs)
        return result + (args[0] * 0).to(result.dtype) if kwargs.get("beta", 1) == 0 else result


class RunningSumsExclusive(Planted):
    """The sum of the elements before each one."""

    bug = "M37"
    ops = ("aten::cumsum",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        sums, dim = self.honest(op, args, kwargs), args[1]
        if sums.ndim == 0 or sums.shape[dim] == 0:
            return sums
        return sums.roll(1, dim).index_fill(dim, torch.tensor(0), 0)


class LayerNormReturnsVariance(Planted):
    """Returns the variance for its third output, the reciprocal standard deviation."""

    bug = "M37"
    ops = ("aten::native_layer_norm",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result, mean, rstd = self.honest(op, args, kwargs)
        return result, mean, rstd.double().pow(-2).to(rstd.dtype)


class NegativeIndexIsZero(Planted):
    """Clamps indices at 0 instead of counting from the end."""

    bug = "M37"
    ops = ("aten::index_put", "aten::slice")

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if op == "aten::index_put":
            clamped = [index.clamp(min=0) if lists_positions(index) else index for index in args[1]]
            return self.honest(op, [args[0], clamped, *args[2:]], kwargs)
        bounds = [max(bound, 0) if bound is not None else None for bound in args[2:4]]
        return self.honest(op, [*args[:2], *bounds, *args[4:]], kwargs)


class AcceptsInvalid(Planted):
    """Answers with its first tensor, or with an empty one, where torch raises (pytorch#169236, pytorch#197095)."""

    bug = "M38"
    about = ("refusal",)

    @classmethod
    def touches(cls, op: Op) -> bool:
        return any(one.lenience is None for one in op.spec.constraints if one.suffix not in ("Be", "Gen"))

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        try:
            return self.honest(op, args, kwargs)
        except REFUSALS:
            return [*tensors_in(args), torch.empty(0)][0].clone()
