"""Rows of a table: the domains of the arguments."""

from __future__ import annotations

import numpy as np

from conform.domains.engine.arguments import boolean, index_tensor, integer, length, optional, result, tensor
from conform.domains.engine.constraints import Dtype, Optional, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space, integers_between
from conform.domains.engine.vocabulary import dtype_of, shape_of, shaped
from conform.domains.specs import FLOATS, spec
from conform.numerics.draws import Stream

Shape = tuple[int, ...]
INTEGERS = Dtype.In(("int64", "int32"))
INDICES = (INTEGERS, Value.Ge(0))
REFUSED_BEFORE = "embedding, whose gradient it is, has refused it, and torch reads or writes beyond"
FREQUENCY, SPARSE = boolean("scale_grad_by_freq"), boolean("sparse")
PADDING = integer("padding_idx", Value.Be((-1, 0, 1, 2)))


def _empty_table(weight: MetaArgument, rank: int, d: int, sizes: Shape) -> Space | Shape:
    """{0} for some d where size(weight, 0) = 0"""
    return (0,) if weight.size(0) == 0 and d == rank - 1 and 0 not in sizes else ANYTHING


ROWS = Value.Lt(lambda weight: weight.size(0), text="size(weight, 0)")

spec(
    "aten::embedding",
    tensor("weight", Rank.Eq(2)),
    index_tensor(
        "indices",
        INDICES,
        Rank.Ge(lambda weight: int(weight.size(0) == 0), text="1 where size(weight, 0) = 0"),
        Size.In(_empty_table),
        ROWS,
    ),
    PADDING,
    FREQUENCY,
    SPARSE,
    result(
        dtype_of("weight"),
        shaped(lambda weight, indices: (*indices.shape, weight.shape[1]), "(*shape(indices), size(weight, 1))"),
    ),
)
spec(
    "aten::embedding_dense_backward",
    tensor(
        "grad_output",
        Dtype.In(FLOATS).unjudged("torch adds rows of any dtype, though no weight of another has a gradient"),
        Rank.Ge(1),
    ),
    index_tensor(
        "indices",
        INTEGERS,
        Value.Ge(0).unjudged(REFUSED_BEFORE),
        Rank.Eq(lambda grad_output: grad_output.rank - 1, text="rank(grad_output) - 1").unjudged(REFUSED_BEFORE),
        Size.Eq(lambda grad_output, d: grad_output.size(d), text="size(grad_output, d)").unjudged(REFUSED_BEFORE),
        Value.Lt(lambda num_weights: num_weights).unjudged(REFUSED_BEFORE),
    ),
    length(
        "num_weights",
        Value.Ge(
            lambda grad_output: int(0 not in grad_output.shape[:-1]), text="1 where there are indices, else 0"
        ),
    ),
    PADDING,
    FREQUENCY,
    result(
        dtype_of("grad_output"),
        shaped(lambda grad_output, num_weights: (num_weights, grad_output.shape[-1]), "(num_weights, last size)"),
    ),
)

# --- Bags -------------------------------------------------------------------------------------------------------------


def _rising(stream: Stream, indices: MetaArgument, offsets: MetaArgument, include_last_offset: bool) -> np.ndarray:
    """Offsets that rise from 0, to the number of indices if the last is included."""
    drawn = np.sort(stream.integers(0, indices.numel, offsets.numel))
    drawn[:1] = 0
    drawn[drawn.size - include_last_offset :] = indices.numel
    return drawn


def _first_and_last(indices: MetaArgument, include_last_offset: bool) -> int:
    """2 where include_last_offset and there are indices"""
    return 2 * (include_last_offset and indices.numel > 0)


# Of the further results nothing is documented, neither dtype nor shape.
BAGS = (
    tensor("weight", Dtype.In(FLOATS), Rank.Eq(2)),
    index_tensor(
        "indices",
        INDICES,
        Rank.Eq(1).unjudged("torch takes a matrix", lambda indices: indices.rank == 2),
        Size.In(_empty_table),
        ROWS,
    ),
    index_tensor(
        "offsets",
        dtype_of("indices").lenient("torch converts the narrower to the wider"),
        INTEGERS,
        Rank.Eq(1),
        Size.Ge(lambda include_last_offset: int(include_last_offset), text="1 where include_last_offset"),
        Size.Ge(_first_and_last).unjudged("P111: a first offset that is not 0, or a last one that is not the end"),
        Value.In(lambda indices: integers_between(0, indices.numel), text="{0, ..., numel(indices)}"),
        Value.Gen(_rising),
    ),
    FREQUENCY,
    integer("mode", Value.In((0, 1, 2))),
    SPARSE,
    optional(
        tensor("per_sample_weights", dtype_of("weight"), shape_of("indices")),
        Optional.In(lambda mode: ANYTHING if mode == 0 else (True,), text="{True} where mode != 0"),
    ),
    boolean("include_last_offset"),
)
BAGGED = result(
    dtype_of("weight"),
    shaped(
        lambda weight, offsets, include_last_offset: (offsets.numel - include_last_offset, weight.shape[1]),
        "(bags, size(weight, 1))",
    ),
)

spec("aten::_embedding_bag", *BAGS, PADDING, BAGGED)
spec("aten::embedding_bag", *BAGS, BAGGED)
spec(
    "aten::embedding_bag.padding_idx",
    *BAGS,
    optional(
        integer(
            "padding_idx",
            Value.Ge(lambda weight: -weight.size(0), text="-size(weight, 0)"),
            Value.Lt(lambda weight: weight.size(0), text="size(weight, 0)"),
        ),
        Optional.In(lambda weight: ANYTHING if weight.size(0) else (True,), text="{True} of no rows"),
    ),
    BAGGED,
)
