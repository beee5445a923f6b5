"""A torch module's program as a call that gives every result on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conform.backends.call import Call
from conform.backends.given import dumps
from conform.backends.interpreter import to_torch
from conform.backends.steps import Place, Step, Steps
from conform.frontends.op_calls import RESHAPED, as_call
from conform.interp.program.aten import ASSERTIONS
from conform.interp.program.form import Op, Operand, Program

# A view hangs on strides, which a backend's results need not share with torch's; of the same numbers.
VIEW = "aten::view"


def steps_of(program: Program) -> tuple[Op, ...]:
    """The ops of a program that have results."""
    return tuple(op for op in program.function.ops if op.name not in ASSERTIONS)


def sent(program: Program, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Call:
    """The call, as a worker gets it, of the module `name`, of which this is the program for `args` and `kwargs`: its
    outputs are the results of `steps_of` that somebody uses, one op's after the other's."""
    held = {key: to_torch(array) for key, array in program.constants.items()}
    arguments = [one.name for one in program.function.arguments]
    steps = [step_of(op) for op in steps_of(program)]
    every = [result for step in steps for result in step.results if result is not None]
    module = Steps(arguments, held, steps, every)
    return Call(name, list(args), dict(kwargs), module=dumps(module, []))


def step_of(op: Op) -> Step:
    """An op as the worker's module has it."""
    name, args, kwargs = as_call(op, [_place(one) for one in op.operands])
    name = RESHAPED if name == VIEW else name
    return Step(name, args, kwargs, tuple(None if one is None else one.name for one in op.results))


def _place(operand: Operand) -> Any:
    if isinstance(operand, tuple):
        return [None if name is None else Place(name) for name in operand]
    return None if operand is None else Place(operand)
