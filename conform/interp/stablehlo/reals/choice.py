"""Which of two elements, comparisons, and what is made of their answers."""

from __future__ import annotations

from conform.errors import NoGolden
from conform.interp.program.number import Number
from conform.interp.stablehlo.reals.rules import rule, torch
from conform.interp.stablehlo.registry import Call

COMPARISONS = {"EQ": "eq", "NE": "ne", "GE": "ge", "GT": "gt", "LE": "le", "LT": "lt"}


@rule("stablehlo.maximum")
def maximum(call: Call) -> Number:
    return torch("maximum", *call.operands)


@rule("stablehlo.minimum")
def minimum(call: Call) -> Number:
    return torch("minimum", *call.operands)


@rule("stablehlo.clamp")
def clamp(call: Call) -> Number:
    """minimum(maximum(operand, min), max)"""
    low, operand, high = call.operands
    return torch("minimum", torch("maximum", operand, low), high)


@rule("stablehlo.select")
def select(call: Call) -> Number:
    return torch("where.self", *call.operands)


@rule("stablehlo.compare")
def compare(call: Call) -> Number:
    """Decided where the balls lie apart."""
    lhs, rhs = call.operands
    if call.get("compare_type", "NOTYPE") == "TOTALORDER":
        raise NoGolden(f"{call.op.name}: totalOrder of computed numbers hangs on the signs of zeros and NaNs")
    return torch(f"{COMPARISONS[call.attributes['comparison_direction']]}.Tensor", lhs, rhs)


@rule("stablehlo.and")
def and_(call: Call) -> Number:
    return torch("logical_and", *_bools(call))


@rule("stablehlo.or")
def or_(call: Call) -> Number:
    return torch("logical_or", *_bools(call))


@rule("stablehlo.xor")
def xor(call: Call) -> Number:
    return torch("ne.Tensor", *_bools(call))


@rule("stablehlo.not")
def not_(call: Call) -> Number:
    return torch("logical_not", *_bools(call))


def _bools(call: Call) -> tuple[Number, ...]:
    for one in call.operands:
        if one.dtype != "bool":
            raise NoGolden(f"{call.op.name}: bits of {one.dtype} numbers that hang on choices")
    return call.operands
