"""select_and_scatter: the largest, or smallest, number of each window gets an element of source, and these add up.

Where another number of a window may be the one that an engine has as the largest, nothing is known of both places.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from conform.errors import NoGolden
from conform.interp.program.evaluation import Run
from conform.interp.program.number import Number
from conform.interp.program.shape import places_of
from conform.interp.program.storage import stored
from conform.interp.stablehlo.ops.reduction import window_counts, windows_of
from conform.interp.stablehlo.ops.windows import chosen_of, places_of_windows
from conform.interp.stablehlo.reals.freedom import is_comparison
from conform.interp.stablehlo.reals.movement import arranged
from conform.interp.stablehlo.reals.reduction import joined
from conform.interp.stablehlo.reals.rules import rule
from conform.interp.stablehlo.reals.scattering import stacked
from conform.interp.stablehlo.regions import operation_of
from conform.interp.stablehlo.registry import Call

KEEPS = {"GE": np.greater_equal, "GT": np.greater, "LE": np.less_equal, "LT": np.less}
ADD = "stablehlo.add"


@rule("stablehlo.select_and_scatter")
def select_and_scatter(call: Call) -> Number:
    """The initial value, and the sum of the elements of source whose windows' choice a place is, in any order."""
    operand, source, init = call.operands
    select, scatter = call.regions
    keeps = _comparison(select)
    if keeps is None or operation_of(scatter.function) != ADD or not operand.dtype == source.dtype == init.dtype:
        raise NoGolden(f"{call.op.name}: no rule tells what becomes of errors in its regions, expected compare by GE, "
                       f"GT, LE or LT, and {ADD}")  # fmt: skip
    window, strides, padding = windows_of(
        call, operand.shape, {"window_dimensions": ("C4", "C5"), "window_strides": ("C6", "C7")}
    )
    ones = (1,) * operand.ndim
    counts = window_counts(operand.shape, window, strides, ones, ones, padding)
    rows = places_of_windows(operand.shape, counts, window, strides, padding)
    chosen, unsure = _chosen(rows, stored(operand), keeps)
    of_init, of_source = places_of([(), source.shape])
    at = stacked(call, np.broadcast_to(of_init, operand.shape).copy(), of_source, chosen.reshape(-1), fill=0)
    first, *others = (arranged([init, source], row) for row in at)
    total = joined(ADD, arranged([init, source], at[1:]), first) if others else first
    return replace(total, rad=np.where(unsure, np.inf, total.rad), array=None)


def _comparison(select: Run) -> Callable[[np.ndarray, np.ndarray], np.ndarray] | None:
    """What keeps the first of two numbers, if the region is one comparison of both in their order."""
    if not is_comparison(select.function):
        return None
    (op,) = select.function.ops
    by_type = op.attributes.get("compare_type", "NOTYPE") != "TOTALORDER"
    return KEEPS[op.attributes["comparison_direction"]] if by_type else None


def _chosen(
    rows: np.ndarray, operand: Number, keeps: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The choice of each window, and which places of the operand may be one where they are not, or the other way."""
    at, within = operand.real.hi.reshape(-1), np.broadcast_to(operand.rad, operand.shape).reshape(-1)
    within = within + (np.abs(operand.real.lo) + operand.real.radius).reshape(-1)
    chosen = chosen_of(rows, at, keeps)
    unsure = np.zeros(at.shape, bool)
    if at.size:
        best, other = np.maximum(chosen, 0), np.maximum(rows, 0)
        reach = within[best] + within[other]
        apart = np.abs(at[best] - at[other]) > reach  # so not of NaN, and of infinities that may be others
        rivals = (rows >= 0) & (rows != chosen) & (reach > 0) & ~apart
        rivals |= (rows >= 0) & _hang_on_the_order(rows, np.isnan(at))
        unsure[rows[rivals]] = True
        unsure[chosen[rivals.any(0)]] = True
    return chosen, unsure.reshape(operand.shape)


def _hang_on_the_order(rows: np.ndarray, is_nan: np.ndarray) -> np.ndarray:
    """Windows whose choice hangs on which elements are compared first: three or more, one of them NaN, which no
    comparison keeps."""
    is_element = rows >= 0
    return (is_element.sum(0) > 2) & (is_element & is_nan[np.maximum(rows, 0)]).any(0)
