"""Tokens and tuples."""

from __future__ import annotations

from typing import Any

from conform.errors import InvalidArguments, Unjudged
from conform.interp.stablehlo.quantized import AS_THEY_ARE
from conform.interp.stablehlo.registry import Call, meaning
from conform.interp.stablehlo.values import Token, Tuple

SHARDING = "Sharding"  # the target by which a sharding is attached to a value


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


@meaning("stablehlo.custom_call", runs=True, quantized=AS_THEY_ARE)
def custom_call(call: Call) -> Any:
    """Nothing that a specification says: the kit has no target but those of the check dialect, and Sharding"""
    target = call.attributes["call_target_name"]
    if target != SHARDING:
        raise Unjudged(f"{call.op.name}: the kit has no meaning for its target {target!r}")
    return sharded(call)


@meaning("sdy.sharding_constraint", runs=True, quantized=AS_THEY_ARE)
def sharded(call: Call) -> tuple[Any, ...]:
    """The operand: where its parts are kept is no part of its meaning (Shardy's documentation, ShardingConstraintOp)"""
    if len(call.operands) != 1 or len(call.results) != 1:
        raise InvalidArguments(f"{call.op.name}: {len(call.operands)} operands and {len(call.results)} results, "
                               "expected one of each")  # fmt: skip
    (operand,), (result,) = call.operands, call.results
    if not result.holds(operand.dtype, operand.shape):
        raise InvalidArguments(f"{call.op.name}: {operand} with the result {result}, expected the same type")
    return call.operands
