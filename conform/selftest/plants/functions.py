"""Real functions by the formula that comes to mind: cancellation near 0, lost tails, overflow on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from conform.selftest.plants.base import HALVES, INTEGERS, Planted, base

Formula = Callable[..., torch.Tensor]

NAIVE: dict[str, Formula] = {
    "log1p": lambda x: (1 + x).log(),
    "expm1": lambda x: x.exp() - 1,
    "sinh": lambda x: (x.exp() - (-x).exp()) / 2,
    "tanh": lambda x: 1 - 2 / ((2 * x).exp() + 1),
    "asinh": lambda x: (x + (x * x + 1).sqrt()).log(),
    "atanh": lambda x: ((1 + x) / (1 - x)).log() / 2,
    "erfc": lambda x: 1 - x.erf(),
    "softplus": lambda x: (1 + x.exp()).log(),
    "mish": lambda x: x * (1 + x.exp()).log().tanh(),
    "logaddexp": lambda x, y: (x.exp() + y.exp()).log(),
}
NAIVE |= {f"special_{name}": NAIVE[name] for name in ("log1p", "expm1", "erfc")}
BY_SQUARES: dict[str, Formula] = {"hypot": lambda x, y: (x * x + y * y).sqrt()}


class ByFormula(Planted):
    """Real floats by a formula, halves by way of float32; everything else, and calls with keywords, as torch does."""

    formulas: Mapping[str, Formula]
    defaults: Sequence[int] = [1, 20]  # softplus: beta and threshold

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        formula = self.formulas[base(op).removeprefix("aten::")]
        operands = [arg for arg in args if isinstance(arg, torch.Tensor)]
        others = args[len(operands) :]
        if others != self.defaults[: len(others)] or not all(arg.is_floating_point() for arg in operands):
            return expected
        wide = [arg.float() if arg.dtype in HALVES else arg for arg in operands]
        return formula(*wide).to(expected.dtype)


class NaiveFunctions(ByFormula):
    """log(1 + x) for log1p, exp(x) - 1 for expm1, 1 - erf(x) for erfc (tt-metal#28187, pytorch#191038)."""

    bug = "M32"
    ops = tuple(f"aten::{name}" for name in NAIVE)
    formulas = NAIVE


class HypotBySquares(ByFormula):
    """sqrt(x^2 + y^2), which overflows or vanishes on the way (pytorch#174246, pytorch#192507)."""

    bug = "M33"
    ops = ("aten::hypot",)
    formulas = BY_SQUARES


class PowByLogarithm(Planted):
    """exp(y log x): NaN of negative bases, and of 0^0; large powers lose digits (tensorflow#56998, warp#46)."""

    bug = "M27"
    ops = ("aten::pow.Tensor_*",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        if not all(arg.is_floating_point() for arg in args if isinstance(arg, torch.Tensor)):
            return expected
        exponent = args[1] if isinstance(args[1], torch.Tensor) else torch.tensor(args[1], dtype=torch.float64)
        wide = torch.float32 if expected.dtype in HALVES else expected.dtype
        return (exponent.to(wide) * args[0].to(wide).log()).exp().to(expected.dtype)


class IntegerPowersInFloat64(Planted):
    """Powers of integers in float64, so that large ones lose digits or do not wrap (tensorflow#58479)."""

    bug = "M27"
    ops = ("aten::pow",)

    def wrong(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        expected = self.honest(op, args, kwargs)
        if expected.dtype not in INTEGERS:
            return expected
        wide = [arg.double() if isinstance(arg, torch.Tensor) else float(arg) for arg in args]
        ends = torch.iinfo(expected.dtype)
        powers = self.honest(op, wide, kwargs).nan_to_num()
        return powers.clamp(ends.min, min(ends.max, 2**63 - 1024)).to(expected.dtype)
