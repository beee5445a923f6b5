"""Ops that move elements: their own meaning moves the places of the Numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from conform.errors import NoGolden
from conform.interp.program.number import Number
from conform.interp.program.shape import at_places, in_a_row, places_of
from conform.interp.stablehlo.reals.exact import exactly, known
from conform.interp.stablehlo.registry import Call

PLACE = "int64"


def moved(call: Call, count: int) -> tuple[Number, ...]:
    """The results of an op that moves elements of its first `count` operands; it has to know the others."""
    numbers, others = call.operands[:count], call.operands[count:]
    for one in others:
        known(call, one)
    places = [Number.exact(one) for one in places_of([one.shape for one in numbers])]
    op = replace(call.op, results=tuple(replace(one, dtype=PLACE) for one in call.results))
    found = exactly(replace(call, op=op, operands=(*places, *others)))
    return tuple(arranged(numbers, one.array) for one in found)


def arranged(numbers: Sequence[Number], places: np.ndarray) -> Number:
    """The elements of all the numbers, counted from 1 on, at these places; at 0 a zero."""
    for one in numbers:
        if one.allowed or one.format != numbers[0].format:
            raise NoGolden(f"{one} that hangs on choices cannot be moved here")
    may_round = any(one.may_round for one in numbers)
    row = in_a_row([replace(one, allowed=()) for one in numbers])
    found = replace(at_places(row, np.asarray(places)), may_round=may_round)
    arrays = [one.array for one in numbers]
    if any(one is None for one in arrays):
        return found
    flat = np.concatenate([np.zeros(1, arrays[0].dtype), *(one.reshape(-1) for one in arrays)])
    return Number.exact(flat[places])
