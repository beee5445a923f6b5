"""Losses: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import boolean, index_tensor, integer, optional, real, result, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, ENUMERABLE, INTEGERS, Space, integers_between
from conform.domains.engine.vocabulary import (
    are_broadcast,
    broadcast,
    broadcastable_with,
    dtype_of,
    shape_of,
    shaped,
    typically,
)
from conform.domains.specs import FLOATS, spec

FLOAT = Dtype.In(FLOATS)
ONE_DTYPE = "torch promotes; the kit has semantics for one dtype"
REDUCTION = integer("reduction", Value.In((0, 1, 2)).unjudged("some of torch's kernels take any other for one of them"))
NONE = 0

# --- Of elements ------------------------------------------------------------------------------------------------------

TARGET = tensor("target", dtype_of("self").unjudged(ONE_DTYPE), broadcastable_with("self"))
SHARES = tensor("target", dtype_of("self").unjudged(ONE_DTYPE), broadcastable_with("self"), typically(0, 1))
LOSS = result(
    dtype_of("self"),
    shaped(
        lambda self, target, reduction: broadcast(self, target) if reduction == NONE else (),
        "broadcast of self, target, if reduction = 0",
    ),
)

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


OF_ITS_DTYPE = dtype_of("self").unjudged(ONE_DTYPE)
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

# --- Of many classes --------------------------------------------------------------------------------------------------


def _class_dim(self: MetaArgument) -> int:
    """Dim 1, of a tensor without samples dim 0."""
    return min(self.rank - 1, 1)


def _classes(self: MetaArgument) -> int:
    return self.shape[_class_dim(self)] if self.rank else 1


def _samples(self: MetaArgument) -> tuple[int, ...]:
    """The shape of the samples."""
    return (*self.shape[: _class_dim(self)], *self.shape[2:]) if self.rank else ()


CLASS_WEIGHTS = shaped(lambda self: (_classes(self),), "[number of classes]")
IGNORED = integer("ignore_index")


def _places(self: MetaArgument, ignore_index: int) -> Space | tuple[int, ...]:
    """The classes and ignore_index; as a space where they are more than one counts up."""
    classes = _classes(self)
    if classes <= ENUMERABLE:
        return (*range(classes), ignore_index)
    others = INTEGERS.narrowed("NotIn", integers_between(0, classes - 1)).narrowed("Ne", ignore_index)
    return others.complement(INTEGERS)


A_CLASS = Value.In(_places, text="{0, ..., number of classes - 1} u {ignore_index}")
INDICES = Dtype.In(("int64", "uint8")), Dtype.Ne("uint8").unjudged("torch takes uint8; the kit has no semantics")

# One sample may also stand in a target of shape [1].
CLASSES = index_tensor(
    "target",
    INDICES,
    Rank.In(lambda self: (0, 1) if self.rank == 1 else (1,), text="{0, 1} where rank(self) = 1, else {1}"),
    Size.Eq(lambda self: self.shape[0] if self.rank > 1 else 1, text="number of samples"),
    A_CLASS,
)
LOGARITHMS = tensor("self", FLOAT, Rank.In((1, 2)))
WEIGHT = tensor("weight", dtype_of("self"), CLASS_WEIGHTS)
NLL = result(
    dtype_of("self"),
    shaped(
        lambda self, reduction: _samples(self) if reduction == NONE else (), "shape of the samples, if reduction = 0"
    ),
)

spec("aten::nll_loss", LOGARITHMS, CLASSES, optional(WEIGHT), REDUCTION, IGNORED, NLL)
spec(
    "aten::nll_loss_forward",
    LOGARITHMS,
    CLASSES,
    optional(WEIGHT),
    REDUCTION,
    IGNORED,
    NLL,
    result(dtype_of("self"), Rank.Eq(0)),
)


def _shape_of_target(self: MetaArgument, target: MetaArgument) -> tuple[int, ...]:
    """The shape that targets must have: of probabilities that of the logits, of class indices that of the samples."""
    return self.shape if target.dtype in FLOATS else _samples(self)


ONE_WEIGHT = "for samples of more dims torch counts the weights alone", lambda weight: weight.numel == 1

spec(
    "aten::cross_entropy_loss",
    tensor(
        "self",
        FLOAT,
        Rank.Ge(1),
        Size.Ge(lambda rank, d: int(d == min(rank - 1, 1)), text="1 for the classes").unjudged(
            "what has no classes is not judged"
        ),
    ),
    # Indices, or the probabilities of all classes, which leave nothing to ignore.
    index_tensor(
        "target",
        Dtype.In(
            lambda ignore_index: ("int64", "uint8", *(FLOATS if ignore_index < 0 else ())),
            text="{int64, uint8}, and floats where ignore_index < 0",
        ),
        Dtype.NotIn(
            lambda self: [one for one in FLOATS if one != self.dtype], text="floats other than dtype(self)"
        ).unjudged(ONE_DTYPE),
        Dtype.Ne("uint8").unjudged("torch takes uint8; the kit has no semantics"),
        shaped(_shape_of_target, "(shape(self) if dtype(target) in floats else shape of the samples)"),
        Value.In(
            lambda target, self, ignore_index: ANYTHING if target.dtype in FLOATS else _places(self, ignore_index),
            text="{0, ..., number of classes - 1} u {ignore_index}",
        ),
    ),
    optional(tensor("weight", OF_ITS_DTYPE, [one.unjudged(*ONE_WEIGHT) for one in CLASS_WEIGHTS])),
    REDUCTION,
    IGNORED,
    real("label_smoothing", Value.Ge(0).unjudged("torch looks at the upper end"), Value.Le(1)),
    NLL,
)
