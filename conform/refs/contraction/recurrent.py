"""Recurrent cells: sums of products, exact, and of them gates, rounded once at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from conform.refs.contraction.gates import ONE, Form, Gates, Value, added, negative, positive_part, rounded
from conform.refs.contraction.products import Elements, Vector, dot
from conform.refs.exact.reals import Exact, add_exact, exact
from conform.refs.exact.rounding import FLOAT_FORMATS
from conform.refs.exact.tensor import RefTensor
from conform.refs.references import reference

Parts = tuple[Value, Value]  # what a gate has of the input, and of the state
# Of the functions of gates, of what each gate has, and of a unit's own states.
Unit = Callable[[Gates, Sequence[Parts], Sequence[Value]], tuple[Value, ...]]


@reference("aten::rnn_tanh_cell")
def rnn_tanh_cell(
    input: RefTensor,
    hx: RefTensor,
    w_ih: RefTensor,
    w_hh: RefTensor,
    b_ih: RefTensor | None = None,
    b_hh: RefTensor | None = None,
) -> RefTensor:
    """The hyperbolic tangent of what the weights make of input and state."""
    return _stepped(tanh_unit, 1, input, [hx], w_ih, w_hh, b_ih, b_hh)[0]


@reference("aten::rnn_relu_cell")
def rnn_relu_cell(
    input: RefTensor,
    hx: RefTensor,
    w_ih: RefTensor,
    w_hh: RefTensor,
    b_ih: RefTensor | None = None,
    b_hh: RefTensor | None = None,
) -> RefTensor:
    """The positive part of what the weights make of input and state."""
    return _stepped(relu_unit, 1, input, [hx], w_ih, w_hh, b_ih, b_hh)[0]


@reference("aten::gru_cell")
def gru_cell(
    input: RefTensor,
    hx: RefTensor,
    w_ih: RefTensor,
    w_hh: RefTensor,
    b_ih: RefTensor | None = None,
    b_hh: RefTensor | None = None,
) -> RefTensor:
    """torch.nn.GRUCell: a reset and an update gate, and the new state, of which the reset gate multiplies the part that
    comes from the old one."""
    return _stepped(gru_unit, 3, input, [hx], w_ih, w_hh, b_ih, b_hh)[0]


@reference("aten::lstm_cell")
def lstm_cell(
    input: RefTensor,
    hx: Sequence[RefTensor],
    w_ih: RefTensor,
    w_hh: RefTensor,
    b_ih: RefTensor | None = None,
    b_hh: RefTensor | None = None,
) -> tuple[RefTensor, ...]:
    """torch.nn.LSTMCell: an input gate, a forget gate, what may be stored, and an output gate."""
    if len(hx) != 2:
        raise ValueError(f"an LSTM has two states, found {len(hx)}")
    return tuple(_stepped(lstm_unit, 4, input, hx, w_ih, w_hh, b_ih, b_hh))


def tanh_unit(real: Gates, gates: Sequence[Parts], own: Sequence[Value]) -> tuple[Value]:
    return (real.tanh(added(gates[0])),)


def relu_unit(real: Gates, gates: Sequence[Parts], own: Sequence[Value]) -> tuple[Value]:
    return (positive_part(added(gates[0])),)


def gru_unit(real: Gates, gates: Sequence[Parts], own: Sequence[Value]) -> tuple[Value]:
    (reset, update), (of_input, of_state) = map(added, gates[:2]), gates[2]
    new = real.tanh(added([of_input, real.product(real.sigmoid(reset), of_state)]))
    kept = real.sigmoid(update)
    return (added([real.product(added([ONE, negative(kept)]), new), real.product(kept, own[0])]),)


def lstm_unit(real: Gates, gates: Sequence[Parts], own: Sequence[Value]) -> tuple[Value, Value]:
    stored, forgotten, candidate, shown = map(added, gates)
    state = added([
        real.product(real.sigmoid(forgotten), own[1]),
        real.product(real.sigmoid(stored), real.tanh(candidate)),
    ])
    return real.product(real.sigmoid(shown), real.tanh(state)), state


def _stepped(
    unit: Unit,
    gates: int,
    input: RefTensor,
    states: Sequence[RefTensor],
    w_ih: RefTensor,
    w_hh: RefTensor,
    b_ih: RefTensor | None,
    b_hh: RefTensor | None,
) -> list[RefTensor]:
    """The states after a step; row g * units + j of the weights is what gate g has of unit j."""
    _check(gates, input, states, w_ih, w_hh, b_ih, b_hh)
    (batch, units), dtype = states[0].shape, input.dtype
    of_input, of_state = _Affine(input, w_ih, b_ih), _Affine(states[0], w_hh, b_hh)
    after: list[list[float]] = [[] for _ in states]
    for row in range(batch):
        for j in range(units):
            own = [_value(exact(state.data[row * units + j])) for state in states]
            places = [g * units + j for g in range(gates)]
            found = unit(Gates(), [(of_input.at(row, place), of_state.at(row, place)) for place in places], own)
            for data, value in zip(after, found, strict=True):
                data.append(rounded(dtype, value))
    return [RefTensor(dtype, (batch, units), data) for data in after]


class _Affine:
    """The rows of a matrix times those of weights, and a bias."""

    def __init__(self, rows: RefTensor, weights: RefTensor, bias: RefTensor | None) -> None:
        self.size, self.bias = rows.shape[1], bias
        self.rows = self._each(rows)
        self.weights = self._each(weights)

    def _each(self, matrix: RefTensor) -> list[Vector]:
        elements, size = Elements(matrix), self.size
        return [elements.at(range(row * size, (row + 1) * size)) for row in range(matrix.shape[0])]

    def at(self, row: int, place: int) -> Value:
        total = dot(self.rows[row], self.weights[place])
        return _value(total if self.bias is None else add_exact(total, exact(self.bias.data[place])))


def _value(number: Exact) -> Value:
    return number if isinstance(number, float) else Form(number[0] * Fraction(2) ** number[1])


def _check(
    gates: int,
    input: RefTensor,
    states: Sequence[RefTensor],
    w_ih: RefTensor,
    w_hh: RefTensor,
    b_ih: RefTensor | None,
    b_hh: RefTensor | None,
) -> None:
    given = [input, *states, w_ih, w_hh, *(bias for bias in (b_ih, b_hh) if bias is not None)]
    if {tensor.dtype for tensor in given} - {input.dtype} or input.dtype not in FLOAT_FORMATS:
        raise ValueError(f"a cell takes tensors of one float dtype, found {[tensor.dtype for tensor in given]}")
    if any(len(tensor.shape) != 2 for tensor in (input, *states, w_ih, w_hh)):
        raise ValueError("a cell takes a batch of inputs and of states, and matrices of weights")
    units = states[0].shape[1]
    expected = [(input.shape[0], units)] * len(states) + [(gates * units, input.shape[1]), (gates * units, units)]
    if [tensor.shape for tensor in (*states, w_ih, w_hh)] != expected:
        raise ValueError(f"a cell of {gates} gates: {[tensor.shape for tensor in given]}")
    if any(bias is not None and bias.shape != (gates * units,) for bias in (b_ih, b_hh)):
        raise ValueError(f"the biases of {gates} gates of {units} units: {[tensor.shape for tensor in given]}")
    if (b_ih is None) != (b_hh is None):
        raise NotImplementedError("the reference of a cell has both biases or none (P235)")
