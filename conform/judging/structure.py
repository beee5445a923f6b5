"""What can be wrong with an answer before its elements are compared: memory written to or shared, and its structure."""

from __future__ import annotations

from typing import Any

from conform.backends.reply import Output, Reply
from conform.call.bound import Bound
from conform.interp.golden import Golden
from conform.numerics.formats import format_of


def harm(reply: Reply) -> str | None:
    """Damage beyond the result: memory that the call had no business to write."""
    if reply.overrun:
        return "the backend wrote outside the tensors it was given"
    if reply.mutated:
        return f"the backend changed its input tensor {', '.join(map(str, reply.mutated))}"
    return None


def aliasing(call: Bound, reply: Reply) -> str | None:
    """A result in an argument's memory, where torch's schema of the op promises memory of its own: what is written to
    one would show in the other."""
    may_alias = call.schema.aliases or (False,)
    for output, argument in reply.aliases:
        if not may_alias[min(output, len(may_alias) - 1)]:
            return f"output {output} shares memory with tensor argument {argument}"
    return None


def fitting_golden(golden: Golden, output: Any) -> Golden | str:
    """The golden, or an alternative, whose dtype the output has; or what is wrong with the output's structure."""
    if not isinstance(output, Output):
        return f"{type(output).__name__} instead of a tensor"
    if output.array.shape != golden.value.shape:
        return f"shape {list(output.array.shape)} instead of {list(golden.value.shape)}"
    actual = format_of(output.array)
    matching = [each for each in (golden, *golden.alternatives) if each.format == actual]
    if not matching:
        return f"dtype {actual.name} instead of {golden.format.name}"
    return matching[0] if matching[0] is golden else matching[0].or_else(*matching[1:])
