"""Ops on operands that are known exactly: by the meaning that they have on tensors."""

from __future__ import annotations

from collections import ChainMap
from dataclasses import replace
from typing import Any

from conform.errors import NoGolden
from conform.interp.program.complexes import Complex
from conform.interp.program.evaluation import Run
from conform.interp.program.number import Number
from conform.interp.stablehlo.op_set import StableHLO
from conform.interp.stablehlo.registry import Call
from conform.interp.stablehlo.values import Tensor


def is_exact(call: Call) -> bool:
    """Whether all that an op works on is known, what its regions take from around them too."""
    captured = [region.scope[name] for region in call.regions for name in region.function.captured]
    values = (*call.operands, *captured)
    return not any(isinstance(one, Complex) or isinstance(one, Number) and one.array is None for one in values)


def exactly(call: Call) -> tuple[Any, ...]:
    """The results of an op of which `is_exact` holds, and which rounds nothing of them."""
    regions = map(on_tensors, call.regions)
    results = StableHLO()(call.op, [_tensor(one) for one in call.operands], call.attributes, *regions)
    return tuple(Number.exact(one.array) if isinstance(one, Tensor) else one for one in results)


def on_tensors(region: Run) -> Run:
    """A region that takes from around it only what is known, with the meaning that its ops have on tensors."""
    scope = ChainMap({name: _tensor(region.scope[name]) for name in region.function.captured})
    return replace(region, runner=replace(region.runner, op_set=StableHLO(), listener=None), scope=scope)


def known(call: Call, operand: Any) -> Any:
    """An operand that the op needs to know, as its meaning takes it. NoGolden for one that was computed."""
    if isinstance(operand, Complex) or isinstance(operand, Number) and operand.array is None:
        raise NoGolden(f"{call.op.name}: what it does hangs on {operand}, which honest engines have otherwise")
    return _tensor(operand)


def _tensor(value: Any) -> Any:
    return Tensor(value.array) if isinstance(value, Number) else value
