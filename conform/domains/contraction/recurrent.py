"""Recurrent cells: the domains of their arguments."""

from __future__ import annotations

from collections.abc import Sequence

from conform.domains.contraction.matrices import BROADCASTS, PROMOTES
from conform.domains.engine.arguments import Argument, optional, result, tensor, tensors
from conform.domains.engine.constraints import Dtype, Length, Optional, Rank, Size
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space
from conform.domains.engine.vocabulary import dtype_of, shape_of, shaped, sized
from conform.domains.specs import FLOATS, spec

# input is [batch, inputs], a state [batch, units], w_ih [gates * units, inputs], w_hh [gates * units, units].

ROWS = "torch.nn.RNNCell and its likes give their operators a batch"
BOTH = "torch.nn.RNNCell and its likes have both biases or none (P235)"
NO_KERNEL = "torch has no kernel of other dtypes, and needs none where there is nothing to add up"

FLOAT = Dtype.In(FLOATS).unjudged(NO_KERNEL)
MATRIX = Rank.Eq(2).unjudged(ROWS)
INPUT = tensor("input", FLOAT, MATRIX)
STATE = tensor(
    "hx", dtype_of("input"), MATRIX, sized(lambda input: (input.size(0),), "{size(input, 0)} where d = 0")
)


def _of_first(previous: Sequence[MetaArgument], d: int) -> Space | tuple[int, ...]:
    """that of the first state"""
    return (previous[0].shape[d],) if previous and d < previous[0].rank else ANYTHING


STATES = tensors(
    "hx",
    Length.Eq(2),
    Dtype.Eq(lambda input: input.dtype, text="dtype(input)").unjudged(PROMOTES),
    MATRIX,
    Size.In(
        lambda d, input: (input.shape[0],) if d == 0 and input.rank else ANYTHING,
        ("d", "input"),
        "{size(input, 0)} where d = 0",
    ),
    Size.In(_of_first),
)  # fmt: skip


def _weights(gates: int, is_list: bool) -> tuple[Argument, ...]:
    """The weights and biases of so many gates, a row for each unit of each gate."""
    times = "" if gates == 1 else f"{gates} "

    def units(hx: MetaArgument | Sequence[MetaArgument]) -> int:
        return (hx[0] if is_list else hx).size(1)

    def rows(text: str) -> str:
        return text.format(f"{times}size({'hx[0]' if is_list else 'hx'}, 1)")

    of_units = sized(lambda hx: (gates * units(hx),), rows("{{{}}} where d = 0"))
    bias = (dtype_of("input"), Rank.Eq(1).unjudged(BROADCASTS), of_units.unjudged(BROADCASTS))
    return (
        tensor(
            "w_ih", dtype_of("input"), MATRIX, of_units,
            sized(lambda input: (None, input.size(1)), "{size(input, 1)} where d = 1"),
        ),
        tensor("w_hh", dtype_of("input"), MATRIX, sized(
            lambda hx: (gates * units(hx), units(hx)), rows("{{{0}}} where d = 0, {{the units}} where d = 1"),
        )),
        optional(tensor("b_ih", *bias)),
        optional(
            tensor("b_hh", *bias),
            Optional.Eq(lambda b_ih: b_ih.is_none, text="none(b_ih)").unjudged(BOTH),
        ),
    )  # fmt: skip


for _op, _gates in (("rnn_tanh_cell", 1), ("rnn_relu_cell", 1), ("gru_cell", 3)):
    spec(f"aten::{_op}", INPUT, STATE, *_weights(_gates, is_list=False), result(dtype_of("input"), shape_of("hx")))

_AFTER = result(dtype_of("input"), shaped(lambda hx: hx[0].shape, "shape(hx[0])"))
spec("aten::lstm_cell", INPUT, STATES, *_weights(4, is_list=True), _AFTER, _AFTER)
