"""Constant folding of torch modules: an op whose operands are constants becomes the golden value of its call.

So the constants are those of an engine that rounds each result once, correctly. Left alone is what its meaning does not
determine (memory that nobody wrote, the order of equal elements), what the kit has no golden for, and large results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import torch

from conform.backends.interpreter import to_torch
from conform.backends.steps import Steps
from conform.errors import ConformError
from conform.frontends.op_calls import as_call, meant
from conform.frontends.steps import step_of, steps_of
from conform.frontends.torch_export import program_of
from conform.interp.evaluate import evaluate_call
from conform.interp.golden import Golden
from conform.interp.program.form import Function, Op, Program
from conform.interp.program.scope import Scope


@dataclass(frozen=True)
class Folded:
    """A program with its constants folded: how many ops became constants, and why others with constant operands did
    not, each with its place."""

    program: Program
    folded: int
    left: tuple[str, ...]


def fold_module(
    module: torch.nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any], most_elements: int
) -> torch.nn.Module:
    """The module of the folded program, for arguments of these dtypes and shapes. NoGolden for one that is not
    exported."""
    program = folded(program_of(module, None, args, kwargs), most_elements).program
    held = {name: to_torch(array) for name, array in program.constants.items()}
    arguments = [one.name for one in program.function.arguments]
    return Steps(arguments, held, list(map(step_of, steps_of(program))), program.function.results).eval()


def folded(program: Program, most_elements: int) -> Folded:
    """The program with the golden values of its constants, and without those that nothing uses then."""
    known, kept, left = dict(program.constants), [], []
    for op in program.function.ops:
        values = None
        if all(name in known for name in op.used()) and not op.regions and op.results:
            values = _values(op, known, most_elements)
        if isinstance(values, str):
            left.append(f"{op.name} is left: {values}{f' ({op.location})' if op.location else ''}")
        if not isinstance(values, list):
            kept.append(op)
            continue
        known |= {value.name: array for value, array in zip(op.results, values, strict=True) if value is not None}
    used = {*program.function.results, *(name for op in kept for name in op.used())}
    constants = {name: array for name, array in known.items() if name in used}
    function = replace(program.function, ops=tuple(kept))
    return Folded(Program(function, constants), len(program.function.ops) - len(kept), tuple(left))


def _values(op: Op, known: Mapping[str, np.ndarray], most_elements: int) -> list[np.ndarray] | str:
    """The golden values of the op's results; why there are none to be had."""
    stated = [value for value in op.results if value is not None]
    if any(None in value.shape or prod(value.shape) > most_elements for value in stated):
        return f"a result of more than {most_elements} elements"
    alone = Program(Function((), (op,), ()), {name: known[name] for name in op.used()})
    scope = Scope(alone, ())
    try:
        outcome = evaluate_call(meant(*as_call(op, [scope.held(one) for one in op.operands])))
    except ConformError as error:
        return str(error)
    if outcome.given is not None or outcome.refusal is not None:
        return "its meaning does not determine it"
    pairs = list(zip(outcome.goldens, op.results, strict=True))
    if any(value is not None and not _is_determined(golden) for golden, value in pairs):
        return "its meaning does not determine it"
    return [golden.value for golden, _ in pairs]


def _is_determined(golden: Golden) -> bool:
    is_open = golden.open is not None and golden.open.any()
    is_free = golden.alternatives or golden.ties is not None or golden.undocumented
    undecided = golden.budget is not None and golden.real is not None and not np.isfinite(golden.budget).all()
    return not (is_open or is_free or undecided)
