"""What can be wrong with an answer before its elements are compared: memory written to or shared, and its structure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from conform.backends.reply import Output, Reply
from conform.call.binding import has_ndim
from conform.call.bound import Bound
from conform.call.schemas import OpSchema
from conform.interp.golden import Given, Golden, Outcome
from conform.interp.semantics import traits_of
from conform.numerics.formats import FORMATS, format_of


def harm(reply: Reply, may_write: Collection[int] = ()) -> str | None:
    """Damage beyond the result: memory that the call had no business to write, as it had to that of the tensor
    arguments `may_write`."""
    if reply.overrun:
        return "the backend wrote outside the tensors it was given"
    if changed := [number for number in reply.mutated if number not in may_write]:
        return f"the backend changed its input tensor {', '.join(map(str, changed))}"
    return None


def written(call: Bound) -> frozenset[int]:
    """The numbers of the tensors that torch's schema lets the op write to: the running statistics of a norm, say."""
    lists = {name: value if isinstance(value, list | tuple) else [value] for name, value in call.arguments.items()}
    names = [name for name, values in lists.items() for one in values if has_ndim(one)]
    may = {one.name for one in call.schema.arguments if one.is_written}
    return frozenset(number for number, name in enumerate(names) if name in may)


def aliasing(call: Bound, reply: Reply) -> str | None:
    """A result in an argument's memory, where torch's schema of the op promises memory of its own: what is written to
    one would show in the other; or one that is no argument, or lies in none's memory, where the schema promises that.
    """
    if reply.apart:
        place, variant = reply.apart[0], call.variant
        if variant is None:
            return f"output {place} lies in memory of its own, and not in that of the argument of which it is a view"
        name, _ = variant.held_by(call.arguments)[place]
        return f"output {place} is not the tensor argument {name}, which it is to be written into"
    if traits_of(call.op).may_share:
        return None
    may_alias = call.schema.aliases or (False,)
    for output, argument in reply.aliases:
        if not may_alias[min(output, len(may_alias) - 1)]:
            return f"output {output} shares memory with tensor argument {argument}"
    return None


NOTHING = Output(np.empty(0, np.float32), (1,))  # stands for what nobody wants, and for None of which nothing is said


def without_unwanted(outcome: Outcome, reply: Reply) -> Reply:
    """The reply with NOTHING for each output that nobody wants, None or a tensor (P134), and for None in the place of
    one of which nothing is documented."""
    outputs = reply.outputs
    is_free = any(golden.is_none or golden.undocumented for golden in outcome.goldens)
    if len(outputs) != len(outcome.goldens) or not is_free:
        return reply
    pairs = zip(outcome.goldens, outputs, strict=True)
    return replace(reply, result=[_if_wanted(golden, one) for golden, one in pairs])


def _if_wanted(golden: Golden, output: Any) -> Any:
    may_be_none, may_be_tensor = golden.is_none or golden.undocumented, golden.is_none
    is_free = (may_be_none and output is None) or (may_be_tensor and isinstance(output, Output))
    return NOTHING if is_free else output


def as_declared(schema: OpSchema, reply: Reply) -> Reply:
    """The reply with a 0-d tensor for each Python number, of what it is, where torch's schema declares one."""
    numbers = [one in _NUMBERS for one in schema.returns]
    if not any(numbers) or len(numbers) != len(reply.outputs):
        return reply
    pairs = zip(reply.outputs, numbers, strict=True)
    return replace(reply, result=[_as_tensor(one) if wanted and type(one) in _KINDS else one for one, wanted in pairs])


_NUMBERS = ("Scalar", "bool", "int", "SymInt", "float")
_KINDS = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}


def _as_tensor(number: complex) -> Output | complex:
    try:
        return Output(np.array(number, FORMATS[_KINDS[type(number)]].storage), ())
    except OverflowError:  # an integer beyond int64
        return number


def given_outputs(outcome: Outcome, outputs: Sequence[Any]) -> Given | None:
    """What outputs that chance has a part in should be; None where it has none, or they have another structure."""
    if outcome.given is None:
        return None
    if any(isinstance(fitting_golden(*pair), str) for pair in zip(outcome.goldens, outputs, strict=True)):
        return None
    return outcome.given([output.array for output in outputs])


def fitting_golden(golden: Golden, output: Any) -> Golden | str:
    """The golden, or an alternative, whose shape and dtype the output has, with the other ones of that structure as
    its alternatives; or what is wrong with the output's structure."""
    if golden.is_none:
        return golden if output is NOTHING else f"{_kind(output)} instead of None or a tensor"
    if not isinstance(output, Output):
        return f"{_kind(output)} instead of a tensor"
    if golden.undocumented:
        return golden.open_as(output.array)
    matching = [each for each in (golden, *golden.alternatives) if each.value.shape == output.array.shape]
    if not matching:
        return f"shape {list(output.array.shape)} instead of {list(golden.value.shape)}"
    if golden.strides is not None and not _are_strides(golden, output):
        return f"strides {list(output.strides)} instead of {list(golden.strides)}"
    actual = format_of(output.array)
    matching = [each for each in matching if each.format == actual]
    if not matching:
        return f"dtype {actual.name} instead of {golden.format.name}"
    first, *others = matching
    is_as_it_is = first is golden and len(others) == len(golden.alternatives)
    return golden if is_as_it_is else replace(first, alternatives=tuple(others))


def _kind(output: Any) -> str:
    return "None" if output is None else type(output).__name__


def _are_strides(golden: Golden, output: Output) -> bool:
    """Whether the output has the strides that the golden wants, where they lead from one element to another."""
    if not output.array.size:
        return True
    wanted = zip(output.array.shape, golden.strides or (), output.strides, strict=True)
    return all(mine == its for size, mine, its in wanted if size > 1)
