"""Tokens and tuples."""

from __future__ import annotations

from typing import Any

from conform.errors import Unjudged
from conform.interp.stablehlo.quantized import AS_THEY_ARE
from conform.interp.stablehlo.registry import Call, meaning
from conform.interp.stablehlo.values import Token, Tuple


@meaning("stablehlo.after_all", "stablehlo.create_token")
def after_all(call: Call) -> Token:
    """A token, when all operands are there"""
    return Token()


@meaning("stablehlo.tuple", quantized=AS_THEY_ARE)
def tuple_(call: Call) -> Tuple:
    """The operands in one value"""
    found = Tuple(call.operands)
    call.require("C1", call.results[0].dtype == str(found), f"{found} with the result {call.results[0].dtype}")
    return found


@meaning("stablehlo.get_tuple_element", quantized=AS_THEY_ARE)
def get_tuple_element(call: Call) -> Any:
    """The element at index of a tuple"""
    operand, index = call.operands[0], int(call.attributes["index"])
    call.require("C1", 0 <= index < len(operand.values), f"index {index} of {operand}")
    found = operand.values[index]
    call.require("C2", call.results[0].holds(found.dtype, found.shape), f"{found} with the result {call.results[0]}")
    return found


@meaning("stablehlo.custom_call", quantized=AS_THEY_ARE)
def custom_call(call: Call) -> Any:
    """Nothing that a specification says: the kit has no target but those of the check dialect"""
    raise Unjudged(f"{call.op.name}: the kit has no meaning for its target {call.attributes['call_target_name']!r}")
