"""Updates that replace elements, or join them, in any order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from conform.errors import NoGolden
from conform.interp.program.number import Number
from conform.interp.program.shape import places_of
from conform.interp.stablehlo.ops.indexing import turns
from conform.interp.stablehlo.reals.freedom import is_replacing, targets
from conform.interp.stablehlo.reals.movement import arranged
from conform.interp.stablehlo.reals.reduction import joined
from conform.interp.stablehlo.reals.rules import rule, torch
from conform.interp.stablehlo.regions import operation_of
from conform.interp.stablehlo.registry import Call
from conform.numerics.rounding import round_to

MOST_TERMS = 1 << 22  # elements of the operand times the most updates of one
JOINING = ("stablehlo.add", "stablehlo.multiply", "stablehlo.maximum", "stablehlo.minimum")


@rule("stablehlo.scatter")
def scatter(call: Call) -> Any:
    """`operand` with the updates at their places; which of several replaces an element is free."""
    region, join = call.regions[0].function, operation_of(call.regions[0].function)
    call = _in_the_region_s_type(call)
    if len(call.operands) != 3 or not (is_replacing(region) or join in JOINING):
        raise NoGolden(f"{call.op.name}: no rule tells what becomes of errors in its region, expected the update, or "
                       f"one of {', '.join(JOINING)}")  # fmt: skip
    return _replaced(call) if is_replacing(region) else _joined(call, str(join))


def _in_the_region_s_type(call: Call) -> Call:
    """The call on an operand and updates of the element type of its region."""
    dtype = call.regions[0].function.arguments[0].dtype
    operand, *others = call.operands
    if operand.dtype == dtype or len(others) != 2:
        return call
    operand, updates = (torch("_to_copy", one, dtype=dtype) for one in (operand, others[1]))
    return replace(call, operands=(operand, others[0], updates))


def _replaced(call: Call) -> Number:
    rows = _rows(call, fill=None)
    operand, _, updates = call.operands
    whole = arranged([operand, updates], rows[-1] if len(rows) == 1 else rows[1])
    several = np.zeros(operand.shape, bool) if len(rows) < 3 else (rows[2:] != rows[0]).any(0)
    return whole if not several.any() else replace(whole, rad=np.where(several, np.inf, whole.rad), array=None)


def _joined(call: Call, join: str) -> Number:
    operand, _, updates = call.operands
    one = Number.exact(round_to(operand.format, np.ones(1)))
    numbers = [operand, updates, one] if join == "stablehlo.multiply" else [operand, updates]
    fill = {"stablehlo.add": 0, "stablehlo.multiply": operand.real.hi.size + updates.real.hi.size + 1}.get(join)
    rows = _rows(call, fill)
    first, *others = (arranged(numbers, row) for row in rows)
    if not others:
        return first
    return joined(join, arranged(numbers, rows[1:]), first)


def _rows(call: Call, fill: int | None) -> np.ndarray:
    operand, _, updates = call.operands
    of_operand, of_updates = places_of([operand.shape, updates.shape])
    return stacked(call, of_operand, of_updates, targets(call), fill)


def stacked(
    call: Call, of_operand: np.ndarray, of_updates: np.ndarray, at: np.ndarray, fill: int | None
) -> np.ndarray:
    """[1 + most updates of an element, *operand]: the places of the elements, then of the first update of each, of the
    second, ...; where there are no more `fill`, or the element again. `at`: of every update its place in the flat
    operand, -1 where it has none."""
    order = turns(at[at >= 0])
    if (len(order) + 1) * max(of_operand.size, 1) > MOST_TERMS:
        raise NoGolden(f"{call.op.name}: {len(order)} updates of one element of {of_operand.size} are too many here")
    rows = np.repeat(of_operand.reshape(1, -1), len(order) + 1, axis=0)
    rows[1:] = rows[1:] if fill is None else fill
    for number, turn in enumerate(order, 1):
        rows[number, at[at >= 0][turn]] = of_updates.reshape(-1)[at.reshape(-1) >= 0][turn]
    return rows.reshape(len(rows), *of_operand.shape)
