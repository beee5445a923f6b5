"""The op set: what an op that rounds gives is a rule's to say, all else the meaning that it has anyway.

The specification rounds each result to its element type. An engine that fuses ops keeps what the compute type holds;
both are honest, and the rules, which are those of torch's operators where these mean the same, allow for either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from conform.errors import NoGolden
from conform.interp.program.evaluation import Run
from conform.interp.program.form import Op
from conform.interp.program.number import Number
from conform.interp.stablehlo import registry
from conform.interp.stablehlo.dequantized import is_quantized
from conform.interp.stablehlo.op_set import WITHOUT_MEANING
from conform.interp.stablehlo.reals import rules
from conform.interp.stablehlo.reals.complexes import is_complex, on_complex
from conform.interp.stablehlo.reals.exact import is_exact, known
from conform.interp.stablehlo.reals.freedom import freely
from conform.interp.stablehlo.reals.movement import moved
from conform.interp.stablehlo.reals.quantized import on_quantized
from conform.interp.stablehlo.registry import Call, Meaning


class Reals:
    """The meaning of every op on Numbers."""

    def __call__(self, op: Op, operands: Sequence[Any], attributes: Mapping[str, Any], *regions: Run) -> Sequence[Any]:
        """The results. NoGolden, which names the op, where nothing is known of the errors that it makes or passes on;
        what its meaning raises."""
        meaning = registry.table().get(op.name)
        if meaning is None:
            raise NoGolden(f"no meaning for {op.name}")
        call = Call(op, tuple(operands), attributes, regions)
        for name in WITHOUT_MEANING:
            call.get(name, None)
        with np.errstate(all="ignore"):
            if is_quantized(call) and not meaning.runs:
                return on_quantized(call, meaning, lambda plain: _on_numbers(plain, meaning))
            return _on_numbers(call, meaning)


def _on_numbers(call: Call, meaning: Meaning) -> Sequence[Any]:
    if meaning.runs:
        return registry.as_results(call, meaning.function(_chosen(call)))
    if is_exact(call) and (_rounds_nothing(call, meaning) or not _are_floats(call.op)):
        return freely(call)
    found = on_complex(call, meaning) if is_complex(call) else None
    return _ruled(call, meaning) if found is None else found


def _rounds_nothing(call: Call, meaning: Meaning) -> bool:
    """Of complex numbers the size and the sign are rounded, which of real ones are chosen."""
    return meaning.selects and not (is_complex(call) and call.op.name in ("stablehlo.abs", "stablehlo.sign"))


def _chosen(call: Call) -> Call:
    """The call, in which what chooses between regions is known."""
    if call.op.name in ("stablehlo.if", "stablehlo.case"):
        return replace(call, operands=tuple(known(call, one) for one in call.operands))
    return call


def _are_floats(op: Op) -> bool:
    return any(one.dtype.startswith(("float", "bfloat", "complex")) for one in op.results)


def _ruled(call: Call, meaning: Meaning) -> Sequence[Any]:
    rule = rules.find(call.op.name)
    if rule is not None:
        found = rule(call)
        return tuple(found) if isinstance(found, list | tuple) else (found,)
    if meaning.moves:
        return moved(call, min(meaning.moves, len(call.operands)))
    if any(isinstance(one, Number) and one.format.is_complex for one in call.operands):
        raise NoGolden(f"{call.op.name}: nothing is known of the errors of complex numbers")
    raise NoGolden(f"{call.op.name}: no rule tells what becomes of the errors of what a program has computed")
