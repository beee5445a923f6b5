"""A reduction of numbers and their places to the largest number, or the smallest, and where it first is: argmax, which
front ends write as some region of comparisons. It is known by what it gives for pairs of numbers, however written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from conform.errors import NoGolden
from conform.interp.program.evaluation import Run
from conform.interp.program.number import Number
from conform.interp.stablehlo.op_set import StableHLO
from conform.interp.stablehlo.reals.exact import exactly, is_exact
from conform.interp.stablehlo.reals.rules import torch
from conform.interp.stablehlo.regions import on_elements
from conform.interp.stablehlo.registry import Call
from conform.numerics.formats import format_named

PROBES = (-np.inf, -2.0, -0.0, 0.0, 1.0, np.inf, np.nan)


def reduced_to_place(call: Call) -> Any:
    """The number and its place. NoGolden for another region, and for numbers that are not beside their places."""
    numbers, places, first, of_first = call.operands
    (region,), dims = call.regions, call.dims("dimensions")
    found = _found_by(region)
    if found is None or len(dims) != 1 or not _are_places(places, dims[0]) or not _is_last(found, first, of_first):
        raise NoGolden(f"{call.op.name}: no rule tells what becomes of errors in its region, not known to give the "
                       "largest or smallest number and its place")  # fmt: skip
    if is_exact(call):
        return exactly(call)
    values, at = torch(f"{found}.dim", numbers, dim=dims[0], keepdim=False)
    return values, torch("_to_copy", at, dtype=places.dtype)


def _found_by(region: Run) -> str | None:
    """`max` or `min`, if the region gives that of every pair, of equal numbers the one whose place is first."""
    value, place = (format_named(one.dtype) for one in region.function.arguments[:2])
    if region.function.captured or not value.is_float or not place.is_integer:
        return None
    x, y = (np.asarray(one.reshape(-1)).astype(value.storage) for one in np.meshgrid(PROBES, PROBES))
    known = ~(np.isnan(x) & np.isnan(y))
    x, y = np.tile(x[known], 2), np.tile(y[known], 2)
    i = np.repeat([0, 1], len(x) // 2).astype(place.storage)
    j = (1 - i).astype(place.storage)
    exact = replace(region, runner=replace(region.runner, op_set=StableHLO(), listener=None))
    found = on_elements(exact, x, i, y, j)
    for name, is_before in (("max", x > y), ("min", x < y)):
        chosen = np.isnan(x) | (is_before & ~np.isnan(y)) | ((x == y) & (i < j))
        expected = np.where(chosen, x, y), np.where(chosen, i, j)
        same = (found[0] == expected[0]) | (np.isnan(found[0]) & np.isnan(expected[0]))
        if same.all() and (found[1] == expected[1]).all():
            return name
    return None


def _are_places(places: Number, dim: int) -> bool:
    """Whether they count along the dim."""
    shape = [-1 if at == dim else 1 for at in range(places.ndim)]
    return places.array is not None and bool((places.array == np.arange(places.shape[dim]).reshape(shape)).all())


def _is_last(found: str, first: Number, of_first: Number) -> bool:
    """Whether the initial values are those that any number and place come before."""
    worst = -np.inf if found == "max" else np.inf
    known = first.array is not None and of_first.array is not None
    return known and float(first.array) == worst and int(of_first.array) == 0
