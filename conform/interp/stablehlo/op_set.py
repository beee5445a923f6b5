"""StableHLO's ops as an op set of programs: what `program/evaluation.py` asks what an op means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from conform.errors import InvalidArguments, Unjudged
from conform.interp.program.evaluation import Run, evaluate
from conform.interp.program.form import Function, Op, Program
from conform.interp.stablehlo.checks import Check, checked, is_check
from conform.interp.stablehlo.dequantized import is_quantized, on_quantized
from conform.interp.stablehlo.processes import Process
from conform.interp.stablehlo.registry import Call, as_results, table

# Attributes that no meaning reads: how an op may be computed, not what it is.
WITHOUT_MEANING = ("result_accuracy", "frontend_attributes", "sharding")


class StableHLO:
    """The meaning of every op; `checks` are those of the check dialect that ran so far. `process`: the one
    that runs the ops, of a grid of one unless it is given."""

    def __init__(self, process: Process | None = None) -> None:
        self.process = process or Process(evaluated=_evaluated)

    @property
    def checks(self) -> list[Check]:
        return self.process.told.checks

    def __call__(self, op: Op, operands: Sequence[Any], attributes: Mapping[str, Any], *regions: Run) -> Sequence[Any]:
        """The results. Unjudged for an op without a meaning; InvalidArguments for a constraint that it breaks."""
        call = Call(op, tuple(operands), attributes, regions, self.process)
        for name in WITHOUT_MEANING:
            call.get(name, None)
        if is_check(call):
            self.checks.append(checked(call))
            return ()
        found = table().get(op.name)
        if found is None:
            raise Unjudged(f"no meaning for {op.name}")
        with np.errstate(all="ignore"):
            results = on_quantized(call, found) if is_quantized(call) else as_results(call, found.function(call))
        for value, one in zip(op.results, results, strict=False):
            if not value.bounds_hold(one.shape):
                raise InvalidArguments(f"{op.name}: gives {one}, above a bound of {value}")
        return results


def _evaluated(function: Function, inputs: Sequence[Any], process: Process) -> tuple[Any, ...]:
    return evaluate(Program(function), StableHLO(process), inputs)
