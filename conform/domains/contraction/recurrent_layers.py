"""Recurrent layers: the domains of their arguments."""

from __future__ import annotations

from collections.abc import Sequence

from conform.domains.engine.arguments import Argument, boolean, integer, real, result, tensor, tensors
from conform.domains.engine.constraints import Dtype, Length, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space
from conform.domains.engine.vocabulary import NOT_MANY, dtype_of, shape_of, shaped
from conform.domains.specs import FLOATS, spec

# input is [steps, batch, inputs], batch_first [batch, steps, inputs]; a state is [layers * directions, batch, units];
# of each direction of each layer the parameters are w_ih [gates * units, inputs or directions * units],
# w_hh [gates * units, units] and, with biases, b_ih and b_hh [gates * units].

NO_KERNEL = "torch has no kernel of other dtypes, and needs none where there is nothing to add up"
BATCHED = "torch.nn.RNN and its likes give their operators a batch"
NO_STEPS = "torch refuses it in some kernels alone"
OF_CHANCE = "P237: dropout between layers is drawn"
UNCHECKED = "the libraries that torch calls do not look, and torch takes a bias that broadcasts"
PROJECTED = "P237: states that are projected are not judged"
LONGEST = 12  # steps: errors grow with each

Tensors = Sequence[MetaArgument]


def _directions(bidirectional: bool) -> int:
    return 2 if bidirectional else 1


def _first(hx: MetaArgument | Tensors) -> MetaArgument:
    return hx if isinstance(hx, MetaArgument) else hx[0]


INPUT = tensor(
    "input",
    Dtype.In(FLOATS).unjudged(NO_KERNEL),
    Rank.Eq(3).unjudged(BATCHED),
    Size.Ge(
        lambda batch_first, d: int(d == int(batch_first)),
        ("batch_first", "d"),
        "1 for d = 1 if batch_first, else for d = 0",
    ).unjudged(NO_STEPS),
    Size.Le(
        lambda batch_first, d: LONGEST if d == int(batch_first) else float("inf"),
        ("batch_first", "d"),
        f"{LONGEST} for d = 1 if batch_first, else for d = 0",
    ).lenient(NOT_MANY),
)


def _state_sizes(
    input: MetaArgument, num_layers: int, bidirectional: bool, batch_first: bool, d: int
) -> Space | tuple[int, ...]:
    """d = 0: {num_layers, twice as many if bidirectional}; d = 1: {the batch}"""
    if d == 0:
        return (num_layers * _directions(bidirectional),)
    return (input.shape[0 if batch_first else 1],) if d == 1 and input.rank == 3 else ANYTHING


OF_STATES = Size.In(_state_sizes).unjudged(UNCHECKED)
STATE = tensor("hx", dtype_of("input"), Rank.Eq(3).unjudged(BATCHED), OF_STATES)


def _of_first(previous: Tensors, d: int) -> Space | tuple[int, ...]:
    """d = 2: that of the first state"""
    return (previous[0].shape[d],) if previous and d == 2 < previous[0].rank else ANYTHING


STATES = tensors(
    "hx",
    Length.Eq(2),
    Dtype.Eq(lambda input: input.dtype, text="dtype(input)"),
    Rank.Eq(3).unjudged(BATCHED),
    OF_STATES,
    Size.In(_of_first).unjudged(PROJECTED),
)


def _each(has_biases: bool) -> int:
    """Parameters of a direction."""
    return 4 if has_biases else 2


def _params(gates: int) -> Argument:
    def sizes(
        input: MetaArgument, hx: MetaArgument | Tensors, has_biases: bool, bidirectional: bool, i: int, d: int
    ) -> tuple[int, ...]:
        units = _first(hx).size(2)
        number, which = divmod(i, _each(has_biases))
        if d == 0:
            return (gates * units,)
        if which == 1:
            return (units,)
        is_first_layer = number < _directions(bidirectional)
        return (input.shape[2] if is_first_layer and input.rank == 3 else _directions(bidirectional) * units,)

    return tensors(
        "params",
        Length.Eq(
            lambda has_biases, num_layers, bidirectional: _each(has_biases) * num_layers * _directions(bidirectional),
            text="4 for each direction of each layer, 2 without biases",
        ),
        Dtype.Eq(lambda input: input.dtype, text="dtype(input)"),
        Rank.Eq(lambda has_biases, i: 2 if i % _each(has_biases) < 2 else 1, text="2 of weights, 1 of biases")
        .unjudged(UNCHECKED),
        Size.In(sizes, ("input", "hx", "has_biases", "bidirectional", "i", "d"), "what the layer takes, and its units")
        .unjudged(UNCHECKED),
    )


def _options() -> tuple[Argument, ...]:
    return (
        boolean("has_biases"),
        integer("num_layers", Value.Ge(1), Value.Le(3).lenient(NOT_MANY), Value.Be((1, 2))),
        real(
            "dropout",
            Value.Ge(0).unjudged(OF_CHANCE),
            Value.Le(1).unjudged(OF_CHANCE),
            Value.In(
                lambda num_layers, train: (0.0,) if train and num_layers > 1 else ANYTHING,
                ("num_layers", "train"),
                "{0} where train and num_layers > 1",
            ).unjudged(OF_CHANCE),
            Value.Be((0.0, 0.5)),
        ),
        boolean("train"),
        boolean("bidirectional"),
        boolean("batch_first"),
    )


def _shown(input: MetaArgument, hx: MetaArgument | Tensors, bidirectional: bool) -> tuple[int, ...]:
    return (*input.shape[:2], _directions(bidirectional) * _first(hx).size(2))


SHOWN = result(dtype_of("input"), shaped(_shown, "size(input, 0), size(input, 1), units of all directions"))

for _op, _gates in (("rnn_tanh", 1), ("rnn_relu", 1), ("gru", 3)):
    spec(f"aten::{_op}.input", INPUT, STATE, _params(_gates), *_options(), SHOWN,
         result(dtype_of("input"), shape_of("hx")))  # fmt: skip

_AFTER = result(dtype_of("input"), shaped(lambda hx: hx[0].shape, "shape(hx[0])"))
spec("aten::lstm.input", INPUT, STATES, _params(4), *_options(), SHOWN, _AFTER, _AFTER)
