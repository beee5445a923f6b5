"""Recurrent cells: one step of torch.nn.RNNCell, GRUCell and LSTMCell (P235, P236)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from conform.interp.formulas import gates
from conform.interp.formulas.gates import Cell, Exacts, Numbers, Steps, Weights, budget_of
from conform.interp.golden import Golden
from conform.interp.program.number import Number
from conform.interp.semantics import semantics
from conform.numerics.escalate import resolved


@semantics("aten::rnn_tanh_cell")
def rnn_tanh_cell(
    input: np.ndarray,
    hx: np.ndarray,
    w_ih: np.ndarray,
    w_hh: np.ndarray,
    b_ih: np.ndarray | None = None,
    b_hh: np.ndarray | None = None,
) -> Golden:
    """tanh(W_ih input + b_ih + W_hh hx + b_hh), of each row of a batch"""
    return _step(gates.tanh_cell, input, [hx], Weights(w_ih, w_hh, b_ih, b_hh))[0]


@semantics("aten::rnn_relu_cell")
def rnn_relu_cell(
    input: np.ndarray,
    hx: np.ndarray,
    w_ih: np.ndarray,
    w_hh: np.ndarray,
    b_ih: np.ndarray | None = None,
    b_hh: np.ndarray | None = None,
) -> Golden:
    """max(0, W_ih input + b_ih + W_hh hx + b_hh), of each row of a batch; NaN of NaN"""
    return _step(gates.relu_cell, input, [hx], Weights(w_ih, w_hh, b_ih, b_hh))[0]


@semantics("aten::gru_cell")
def gru_cell(
    input: np.ndarray,
    hx: np.ndarray,
    w_ih: np.ndarray,
    w_hh: np.ndarray,
    b_ih: np.ndarray | None = None,
    b_hh: np.ndarray | None = None,
) -> Golden:
    """(1 - z) n + z hx, of each row of a batch: r and z are the sigmoids of W_ih input + b_ih + W_hh hx + b_hh, each of
    its rows of the weights, in the order r, z, n, and n = tanh(W_in input + b_in + r (W_hn hx + b_hn))"""
    return _step(gates.gru_cell, input, [hx], Weights(w_ih, w_hh, b_ih, b_hh))[0]


@semantics("aten::lstm_cell")
def lstm_cell(
    input: np.ndarray,
    hx: Sequence[np.ndarray],
    w_ih: np.ndarray,
    w_hh: np.ndarray,
    b_ih: np.ndarray | None = None,
    b_hh: np.ndarray | None = None,
) -> tuple[Golden, Golden]:
    """h' = o tanh(c') and c' = f c + i g of hx = (h, c), of each row of a batch: i, f and o are the sigmoids of W_ih
    input + b_ih + W_hh h + b_hh and g is its tanh, each of its rows of the weights, in the order i, f, g, o"""
    hidden, state = _step(gates.lstm_cell, input, hx, Weights(w_ih, w_hh, b_ih, b_hh))
    return hidden, state


def _step(cell: Cell, input: np.ndarray, states: Sequence[np.ndarray], weights: Weights) -> list[Golden]:
    """The goldens of the states after a step of a cell, of which the first state is the one that weights multiply."""
    before = [Number.exact(state) for state in states]
    with np.errstate(all="ignore"):
        after = cell(Steps(), weights, Number.exact(input), before[0], before)
        return [_golden(number, _Elements(cell, input, states, weights, which)) for which, number in enumerate(after)]


class _Elements:
    """The elements of one state after a step, in C order, one by one: at any precision, and where they are rational."""

    def __init__(
        self,
        cell: Cell,
        input: np.ndarray,
        states: Sequence[np.ndarray],
        weights: Weights,
        which: int,
    ) -> None:
        self.cell, self.input, self.states, self.weights, self.which = cell, input, states, weights, which

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """[n, 1]: numbers at the precision of the context."""
        numbers = np.empty((len(rows), 1), object)
        for place, element in enumerate(rows.tolist()):
            numbers[place, 0] = Numbers.numbers(self._one(Numbers(), element))
        return numbers

    def rational(self, index: tuple[int, int]) -> Fraction | None:
        number = self._one(Exacts(), index[0])
        return number if isinstance(number, Fraction) else None

    def _one(self, kind: Numbers | Exacts, element: int) -> object:
        row, unit = divmod(element, self.states[0].shape[1])
        x, own = kind.row(self.input[row]), self.weights.of_unit(unit)
        before = [kind.row(state[row]) for state in self.states]
        after = self.cell(kind, own, x, before[0], [state[[unit]] for state in before])
        return after[self.which][0]


def _golden(number: Number, elements: _Elements) -> Golden:
    fmt, shape = number.format, number.shape
    value, real = resolved(fmt, number.real.reshape((-1, 1)), elements, elements.rational)
    unstated = np.full(shape, np.inf)  # what terms came to on the way
    value, real = value.reshape(shape), real.reshape(shape)
    return Golden(fmt, value, real, budget=budget_of(number), scale=unstated, zero_sign_free=True)
