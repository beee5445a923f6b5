"""Recurrent layers: a cell at each step of a sequence, in one direction or in both, one layer upon the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from conform.interp.formulas.gates import Cell, Kind, Values, Weights

T = TypeVar("T")


@dataclass(frozen=True)
class Direction:
    """A cell with its weights, which goes through the steps forwards, or from the last one on."""

    weights: Weights
    is_backward: bool


Layer = Sequence[Direction]  # of which each gives a part of what the next layer gets


def layers_of(params: Sequence[np.ndarray], has_biases: bool, bidirectional: bool) -> tuple[Layer, ...]:
    """The layers whose parameters are given in their order: of each direction w_ih, w_hh and, if there are any, b_ih
    and b_hh."""
    directions = [
        Direction(Weights(*own), bidirectional and number % 2 == 1)
        for number, own in enumerate(_in_groups(params, 4 if has_biases else 2))
    ]
    return tuple(_in_groups(directions, 2 if bidirectional else 1))


def _in_groups(items: Sequence[T], size: int) -> list[Sequence[T]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def run(
    kind: Kind, cell: Cell, layers: Sequence[Layer], steps: Sequence[Values], before: Sequence[Sequence[Values]]
) -> tuple[Sequence[Values], list[list[Values]]]:
    """(what the last layer shows at each step, the states after the last step of each direction of each layer);
    `before`: the states before the first one."""
    after, remaining = [], iter(before)
    for layer in layers:
        shown = []
        for direction in layer:
            outputs, states = _through(kind, cell, direction, steps, next(remaining))
            shown.append(outputs)
            after.append(states)
        steps = shown[0] if len(shown) == 1 else [kind.joined(*both) for both in zip(*shown, strict=True)]
    return steps, after


def _through(
    kind: Kind, cell: Cell, direction: Direction, steps: Sequence[Values], states: Sequence[Values]
) -> tuple[list[Values], list[Values]]:
    """(what is shown at each step, the states after the last one)"""
    shown = []
    for x in reversed(steps) if direction.is_backward else steps:
        states = list(cell(kind, direction.weights, x, states[0], states))
        shown.append(states[0])
    return shown[::-1] if direction.is_backward else shown, states

