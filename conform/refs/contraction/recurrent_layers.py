"""Recurrent layers: a cell at each step, forwards or backwards, each layer on what the one below shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from conform.refs.contraction.gates import Gates, Value, added, rounded, times, value_of
from conform.refs.contraction.recurrent import Parts, Unit, gru_unit, lstm_unit, relu_unit, tanh_unit
from conform.refs.exact.rounding import FLOAT_FORMATS
from conform.refs.exact.tensor import RefTensor
from conform.refs.references import reference

Row = list[Value]
Matrix = list[Row]
OwnUnit = Callable[[Sequence[Parts], Sequence[Value]], tuple[Value, ...]]  # a unit whose functions are given


@reference("aten::rnn_tanh.input")
def rnn_tanh(
    input: RefTensor,
    hx: RefTensor,
    params: Sequence[RefTensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[RefTensor, ...]:
    """torch.nn.RNN with tanh."""
    _without_chance(num_layers, dropout, train)
    return _layers(tanh_unit, 1, input, [hx], params, has_biases, num_layers, bidirectional, batch_first)


@reference("aten::rnn_relu.input")
def rnn_relu(
    input: RefTensor,
    hx: RefTensor,
    params: Sequence[RefTensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[RefTensor, ...]:
    """torch.nn.RNN with relu."""
    _without_chance(num_layers, dropout, train)
    return _layers(relu_unit, 1, input, [hx], params, has_biases, num_layers, bidirectional, batch_first)


@reference("aten::gru.input")
def gru(
    input: RefTensor,
    hx: RefTensor,
    params: Sequence[RefTensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[RefTensor, ...]:
    """torch.nn.GRU."""
    _without_chance(num_layers, dropout, train)
    return _layers(gru_unit, 3, input, [hx], params, has_biases, num_layers, bidirectional, batch_first)


@reference("aten::lstm.input")
def lstm(
    input: RefTensor,
    hx: Sequence[RefTensor],
    params: Sequence[RefTensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[RefTensor, ...]:
    """torch.nn.LSTM without projections."""
    _without_chance(num_layers, dropout, train)
    if len(hx) != 2:
        raise ValueError(f"an LSTM has two states, found {len(hx)}")
    if hx[0].shape[2:] != hx[1].shape[2:]:
        raise NotImplementedError("the reference of an LSTM has no projections")
    return _layers(lstm_unit, 4, input, hx, params, has_biases, num_layers, bidirectional, batch_first)


def _without_chance(num_layers: int, dropout: float, train: bool) -> None:
    if not 0 <= dropout <= 1 or dropout and train and num_layers > 1:
        raise NotImplementedError(f"the reference of recurrent layers drops nothing, found {dropout} of {num_layers}")


def _layers(
    unit: Unit,
    gates: int,
    input: RefTensor,
    states: Sequence[RefTensor],
    params: Sequence[RefTensor],
    has_biases: bool,
    num_layers: int,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[RefTensor, ...]:
    """What is shown at each step, and each of the states of all layers and directions after the last one."""
    directions, each = 2 if bidirectional else 1, 4 if has_biases else 2
    _check(gates, input, states, params, each, num_layers, directions, batch_first)
    count, batch, units = states[0].shape
    steps = input.shape[1 if batch_first else 0]
    shown, real = {}, Gates()
    after: list[dict[tuple[int, int], Row]] = [{} for _ in states]
    for row in range(batch):
        values = [_row_at(input, row * steps + t if batch_first else t * batch + row) for t in range(steps)]
        for layer in range(num_layers):
            both = []
            for number in range(layer * directions, (layer + 1) * directions):
                own = params[number * each : (number + 1) * each]
                before = [_row_at(state, number * batch + row) for state in states]
                is_backward = number % directions == 1
                outputs, left = _through(partial(unit, real), gates, values, before, own, is_backward)
                both.append(outputs)
                for found, state in zip(after, left, strict=True):
                    found[number, row] = state
            values = [[x for part in parts for x in part] for parts in zip(*both, strict=True)]
        shown.update({(t, row): values[t] for t in range(steps)})
    order = [(t, row) for row in range(batch) for t in range(steps)] if batch_first else sorted(shown)
    first = _tensor(input.dtype, (*input.shape[:2], directions * units), [shown[place] for place in order])
    return first, *(_tensor(input.dtype, (count, batch, units), [found[at] for at in sorted(found)]) for found in after)


def _through(
    unit: OwnUnit, gates: int, steps: Matrix, states: Matrix, params: Sequence[RefTensor], is_backward: bool
) -> tuple[Matrix, Matrix]:
    """(what is shown at each step, the states after the last one)"""
    w_ih, w_hh = (_rows(one) for one in params[:2])
    b_ih, b_hh = ([value_of(x) for x in one.data] for one in params[2:]) if len(params) == 4 else (None, None)
    units, shown = len(w_hh) // gates, [[] for _ in steps]
    for t in reversed(range(len(steps))) if is_backward else range(len(steps)):
        of_input, of_state = _affine(w_ih, steps[t], b_ih), _affine(w_hh, states[0], b_hh)
        parts = list(zip(of_input, of_state, strict=True))
        found = [unit(parts[j::units], [state[j] for state in states]) for j in range(units)]
        states = [list(column) for column in zip(*found, strict=True)] if found else [[] for _ in states]
        shown[t] = states[0]
    return shown, states


def _affine(weights: Matrix, row: Row, bias: Row | None) -> Row:
    sums = [[times(w, x) for w, x in zip(factors, row, strict=True)] for factors in weights]
    return [added(terms if bias is None else [*terms, bias[place]]) for place, terms in enumerate(sums)]


def _row_at(tensor: RefTensor, row: int) -> Row:
    """A line of the last dim."""
    size = tensor.shape[-1]
    return [value_of(x) for x in tensor.data[row * size : (row + 1) * size]]


def _rows(matrix: RefTensor) -> Matrix:
    return [_row_at(matrix, row) for row in range(matrix.shape[0])]


def _tensor(dtype: str, shape: tuple[int, ...], rows: Matrix) -> RefTensor:
    return RefTensor(dtype, shape, [rounded(dtype, x) for row in rows for x in row])


def _check(
    gates: int,
    input: RefTensor,
    states: Sequence[RefTensor],
    params: Sequence[RefTensor],
    each: int,
    num_layers: int,
    directions: int,
    batch_first: bool,
) -> None:
    if {one.dtype for one in (*states, *params)} - {input.dtype} or input.dtype not in FLOAT_FORMATS:
        raise ValueError("recurrent layers take tensors of one float dtype")
    if num_layers < 1 or any(len(one.shape) != 3 for one in (input, *states)):
        raise ValueError("recurrent layers take sequences of a batch, and states of layers of a batch")
    units, batch = states[0].shape[2], input.shape[0 if batch_first else 1]
    if input.shape[1 if batch_first else 0] == 0:
        raise NotImplementedError("the reference of recurrent layers has a step at least")
    if any(one.shape != (num_layers * directions, batch, units) for one in states):
        raise ValueError(f"{num_layers} layers in {directions} directions: {[one.shape for one in states]}")
    expected = []
    for number in range(num_layers * directions):
        inputs = input.shape[2] if number < directions else directions * units
        expected += [(gates * units, inputs), (gates * units, units), (gates * units,), (gates * units,)][:each]
    if [one.shape for one in params] != expected:
        raise ValueError(f"parameters {[one.shape for one in params]}, expected {expected}")
