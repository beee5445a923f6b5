"""Losses of elements: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import boolean, optional, real, result, tensor
from conform.domains.engine.constraints import Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space
from conform.domains.engine.vocabulary import (
    are_broadcast,
    broadcast,
    broadcastable_with,
    dtype_of,
    shape_of,
    shaped,
    typically,
)
from conform.domains.loss.outcomes import FLOAT, LOSS, NONE, OF_ITS_DTYPE, ONE_DTYPE, REDUCTION
from conform.domains.specs import spec

# --- Of the difference ------------------------------------------------------------------------------------------------

TARGET = tensor("target", dtype_of("self").unjudged(ONE_DTYPE), broadcastable_with("self"))
SHARES = tensor("target", dtype_of("self").unjudged(ONE_DTYPE), broadcastable_with("self"), typically(0, 1))
spec("aten::mse_loss", tensor("self", FLOAT), TARGET, REDUCTION, LOSS)
spec(
    "aten::l1_loss",
    tensor("self", FLOAT.unjudged("torch takes what has a difference and a magnitude")),
    TARGET,
    REDUCTION,
    LOSS,
)
spec("aten::smooth_l1_loss", tensor("self", FLOAT), TARGET, REDUCTION, real("beta", Value.Ge(0)), LOSS)
spec("aten::huber_loss", tensor("self", FLOAT), TARGET, REDUCTION, real("delta", Value.Gt(0)), LOSS)
spec("aten::kl_div", tensor("self", FLOAT), SHARES, REDUCTION, boolean("log_target"), LOSS)

# --- Of two classes ---------------------------------------------------------------------------------------------------


def _sizes_within(self: MetaArgument, target: MetaArgument, rank: int, d: int) -> Space | tuple[int, ...]:
    """{1, size d, from the end, of the loss}"""
    loss = broadcast(self, target)
    return (1, loss[d - rank]) if rank - d <= len(loss) else ANYTHING


# What broadcasts with the loss of each element to its shape.
WITHIN_LOSS = (
    Rank.Le(lambda self, target: max(self.rank, target.rank), text="max(rank(self), rank(target))"),
    Size.In(_sizes_within),
)


BROADCASTS = (
    "P65: they broadcast; torch writes into one of them",
    lambda self, target: are_broadcast(self.shape, target.shape),
)
OF_ITS_SHAPE = [one.lenient(*BROADCASTS) for one in shape_of("self")]
PROBABILITIES = Value.Ge(0), Value.Le(1)
ELEMENTS = result(
    dtype_of("self"),
    shaped(lambda self, reduction: self.shape if reduction == NONE else (), "shape(self), if reduction = 0"),
)

spec(
    "aten::binary_cross_entropy",
    tensor("self", FLOAT, PROBABILITIES),
    tensor(
        "target",
        dtype_of("self"),
        OF_ITS_SHAPE,
        PROBABILITIES,
    ),
    optional(tensor("weight", OF_ITS_DTYPE, WITHIN_LOSS)),
    REDUCTION,
    ELEMENTS,
)
spec(
    "aten::binary_cross_entropy_with_logits",
    tensor("self", FLOAT),
    tensor("target", OF_ITS_DTYPE, OF_ITS_SHAPE, typically(0, 1)),
    optional(tensor("weight", OF_ITS_DTYPE, WITHIN_LOSS)),
    optional(tensor("pos_weight", OF_ITS_DTYPE, WITHIN_LOSS)),
    REDUCTION,
    ELEMENTS,
)
