"""Recurrent layers: what torch.nn.RNN, GRU and LSTM call, of sequences of one length (P237)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import gmpy2
import numpy as np

from conform.interp.formulas import gates
from conform.interp.formulas.gates import Cell, Exacts, Kind, Numbers, Steps, Values, budget_of, together
from conform.interp.formulas.layers import Layer, layers_of, run
from conform.interp.golden import Golden
from conform.interp.program.goldens import LINEAR, scale_of
from conform.interp.program.number import Number
from conform.interp.semantics import semantics
from conform.numerics.escalate import resolved
from conform.numerics.rounding_errors import FACTOR, root_sum_of_squares

IGNORED = ("dropout", "train")  # P237


@semantics("aten::rnn_tanh.input", ignores=IGNORED)
def rnn_tanh(
    input: np.ndarray,
    hx: np.ndarray,
    params: Sequence[np.ndarray],
    has_biases: bool,
    num_layers: int,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Golden, ...]:
    """aten::rnn_tanh_cell at each step, layer upon layer, and what each layer is left with"""
    layers = layers_of(params, has_biases, bidirectional)
    return _goldens(gates.tanh_cell, layers, input, [hx], batch_first)


@semantics("aten::rnn_relu.input", ignores=IGNORED)
def rnn_relu(
    input: np.ndarray,
    hx: np.ndarray,
    params: Sequence[np.ndarray],
    has_biases: bool,
    num_layers: int,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Golden, ...]:
    """aten::rnn_relu_cell at each step, layer upon layer, and what each layer is left with"""
    layers = layers_of(params, has_biases, bidirectional)
    return _goldens(gates.relu_cell, layers, input, [hx], batch_first)


@semantics("aten::gru.input", ignores=IGNORED)
def gru(
    input: np.ndarray,
    hx: np.ndarray,
    params: Sequence[np.ndarray],
    has_biases: bool,
    num_layers: int,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Golden, ...]:
    """aten::gru_cell at each step, layer upon layer, and what each layer is left with"""
    layers = layers_of(params, has_biases, bidirectional)
    return _goldens(gates.gru_cell, layers, input, [hx], batch_first)


@semantics("aten::lstm.input", ignores=IGNORED)
def lstm(
    input: np.ndarray,
    hx: Sequence[np.ndarray],
    params: Sequence[np.ndarray],
    has_biases: bool,
    num_layers: int,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Golden, ...]:
    """aten::lstm_cell at each step, layer upon layer, and both states that each layer is left with"""
    layers = layers_of(params, has_biases, bidirectional)
    return _goldens(gates.lstm_cell, layers, input, hx, batch_first)


def _goldens(
    cell: Cell, layers: Sequence[Layer], input: np.ndarray, states: Sequence[np.ndarray], batch_first: bool
) -> tuple[Golden, ...]:
    """What is shown at each step, and each of the states after the last one."""
    steps = np.swapaxes(input, 0, 1) if batch_first else input
    before = [[Number.exact(state[number]) for state in states] for number in range(len(states[0]))]

    def outputs() -> list[Number]:
        shown, after = run(Steps(), cell, layers, [Number.exact(x) for x in steps], before)
        return [_stacked(each) for each in (shown, *zip(*after, strict=True))]

    with np.errstate(all="ignore"):
        numbers, rows = outputs(), _Rows(cell, layers, steps, states)
        goldens = [_golden(number, rows, output) for output, number in enumerate(numbers)]
        if any(_is_wide(golden).any() for golden in goldens):
            with root_sum_of_squares():
                likely = outputs()
            goldens = [_but_likely(*each) for each in zip(goldens, likely, strict=True)]
    first, *others = goldens
    return first.rearranged(lambda part: np.swapaxes(part, 0, 1)) if batch_first else first, *others


def _is_wide(golden: Golden) -> np.ndarray:
    """Which elements have a bound that says little, as of a module's results (`program/goldens.py`)."""
    return ~(golden.budget <= LINEAR * scale_of(golden.real))


def _but_likely(golden: Golden, likely: Number) -> Golden:
    """The golden, where its bound says little with that of independent errors, if it is the lesser one."""
    independent = FACTOR * budget_of(likely)
    is_likely = _is_wide(golden) & (independent < golden.budget)
    return replace(golden, budget=np.where(is_likely, independent, golden.budget), statistical=bool(is_likely.any()))


def _stacked(numbers: Sequence[Number]) -> Number:
    """[steps or layers, batch, units]"""
    return together(list(numbers), np.stack)


class _Rows:
    """The rows of a batch, one by one: all that comes of one, at any precision, and where it is rational."""

    def __init__(
        self, cell: Cell, layers: Sequence[Layer], steps: np.ndarray, states: Sequence[np.ndarray]
    ) -> None:
        self.cell, self.layers, self.steps, self.states = cell, layers, steps, states
        self._found: dict[tuple[int, int], list[np.ndarray]] = {}  # by precision, 0 of the exact ones, and row

    def at_precision(self, rows: np.ndarray, output: int) -> np.ndarray:
        """[rows, elements] of an output: numbers at the precision of the context."""
        precision = gmpy2.get_context().precision
        return np.stack([Numbers.numbers(self._of(Numbers(), precision, row)[output]) for row in rows.tolist()])

    def rational(self, index: tuple[int, int], output: int) -> Fraction | None:
        row, element = index
        number = self._of(Exacts(), 0, row)[output][element]
        return number if isinstance(number, Fraction) else None

    def _of(self, kind: Numbers | Exacts, precision: int, row: int) -> list[np.ndarray]:
        if (precision, row) not in self._found:
            self._found[precision, row] = [np.concatenate(each) for each in self._run(kind, row)]
        return self._found[precision, row]

    def _run(self, kind: Kind, row: int) -> list[Sequence[Values]]:
        before = [[kind.row(state[number, row]) for state in self.states] for number in range(len(self.states[0]))]
        shown, after = run(kind, self.cell, self.layers, [kind.row(x[row]) for x in self.steps], before)
        return [shown, *zip(*after, strict=True)]


def _golden(number: Number, rows: _Rows, output: int) -> Golden:
    """The golden of [steps or layers, batch, units], of which each row of the batch hangs on itself alone."""
    places, batch, units = number.shape

    def in_rows(part: np.ndarray) -> np.ndarray:
        return np.swapaxes(part, 0, 1).reshape(batch, places * units)

    def back(part: np.ndarray) -> np.ndarray:
        return np.swapaxes(part.reshape(batch, places, units), 0, 1)

    value, real = resolved(
        number.format,
        number.real.map_parts(in_rows),
        lambda some: rows.at_precision(some, output),
        lambda index: rows.rational(index, output),
    )
    unstated = np.full(number.shape, np.inf)  # what terms came to on the way
    return Golden(number.format, back(value), real.map_parts(back), budget=budget_of(number), scale=unstated,
                  zero_sign_free=True)  # fmt: skip
