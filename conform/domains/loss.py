"""Losses: the domains of their arguments."""

from __future__ import annotations

import math

from conform.domains.engine.arguments import boolean, dim, index_tensor, integer, optional, real, result, scalar, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, ENUMERABLE, INTEGERS, Space, integers_between
from conform.domains.engine.vocabulary import (
    are_broadcast,
    broadcast,
    broadcast_sizes,
    broadcastable_with,
    dim_of,
    dtype_of,
    parameter,
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
NO_CLASSES = "what has no classes is not judged"
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


SO_MANY = "torch counts the weights alone"
IMAGES = (
    tensor("self", FLOAT, Rank.Eq(4), Size.Ge(lambda d: int(d == 1), text="1 for the classes").unjudged(NO_CLASSES)),
    index_tensor("target", INDICES, shaped(_samples, "shape of the samples"), A_CLASS),
    optional(tensor("weight", dtype_of("self"), [one.unjudged(SO_MANY) for one in CLASS_WEIGHTS])),
    REDUCTION,
    IGNORED,
    NLL,
)
spec("aten::nll_loss2d", *IMAGES)
spec("aten::nll_loss2d_forward", *IMAGES, result(dtype_of("self"), Rank.Eq(0)))


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
            NO_CLASSES
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

# --- Of margins and counts --------------------------------------------------------------------------------------------

ORDINARY = [one.unjudged("torch takes any number") for one in (Value.Ge(0), Value.Le(1e4))]
SIGN = Value.In((1, -1)).unjudged("what other targets mean is not documented")
spec(
    "aten::soft_margin_loss",
    tensor("self", FLOAT),
    tensor("target", OF_ITS_DTYPE, [one.unjudged("torch broadcasts") for one in shape_of("self")], Value.Be((1, -1))),
    REDUCTION,
    LOSS,
)
spec(
    "aten::hinge_embedding_loss",
    tensor("self", FLOAT.unjudged("torch takes what has a difference")),
    index_tensor("target", OF_ITS_DTYPE, broadcastable_with("self"), SIGN),
    real("margin"),
    REDUCTION,
    LOSS,
)
spec(
    "aten::margin_ranking_loss",
    tensor("input1", FLOAT.unjudged("torch takes what has a difference")),
    tensor("input2", dtype_of("input1").unjudged(ONE_DTYPE), broadcastable_with("input1")),
    tensor(
        "target", dtype_of("input1").unjudged(ONE_DTYPE), broadcastable_with("input1", "input2"), Value.Be((1, -1))
    ),
    real("margin"),
    REDUCTION,
    result(
        dtype_of("input1"),
        shaped(
            lambda input1, input2, target, reduction: (
                broadcast_sizes(input1.shape, input2.shape, target.shape) if reduction == NONE else ()
            ),
            "broadcast of the tensors, if reduction = 0",
        ),
    ),
)
spec(
    "aten::poisson_nll_loss",
    tensor("input", FLOAT.unjudged("torch takes what has an exponential"), typically(0, 4)),
    tensor("target", dtype_of("input").unjudged(ONE_DTYPE), broadcastable_with("input"), typically(0, 9)),
    boolean("log_input"),
    boolean("full"),
    real("eps", ORDINARY),
    REDUCTION,
    result(
        dtype_of("input"),
        shaped(
            lambda input, target, reduction: broadcast(input, target) if reduction == NONE else (),
            "broadcast of input, target, if reduction = 0",
        ),
    ),
)

SOME_CLASSES = Size.Ge(lambda rank, d: int(d == rank - 1), text="1 for the classes")
OF_SAMPLES = result(
    dtype_of("self"),
    shaped(
        lambda self, reduction: self.shape[:-1] if reduction == NONE else (), "shape of the samples, if reduction = 0"
    ),
)
spec(
    "aten::multi_margin_loss",
    tensor("self", FLOAT, Rank.In((1, 2)), SOME_CLASSES),
    index_tensor(
        "target",
        Dtype.Eq("int64"),
        shaped(lambda self: self.shape[:-1], "shape of the samples"),
        Value.In(lambda self: integers_between(0, self.shape[-1] - 1), text="{0, ..., number of classes - 1}"),
    ),
    scalar("p", Dtype.Eq("int").unjudged("torch converts it"), Value.In((1, 2))),
    parameter("margin"),
    optional(tensor("weight", dtype_of("self"), shaped(lambda self: self.shape[-1:], "[number of classes]"))),
    REDUCTION,
    OF_SAMPLES,
)
spec(
    "aten::multilabel_margin_loss",
    tensor("self", FLOAT, Rank.In((1, 2)), SOME_CLASSES),
    index_tensor(
        "target",
        Dtype.Eq("int64"),
        shape_of("self"),
        Value.In(lambda self: integers_between(-1, self.shape[-1] - 1), text="{-1, ..., number of classes - 1}"),
    ),
    REDUCTION,
    OF_SAMPLES,
)

# --- Distances --------------------------------------------------------------------------------------------------------

ONE_RANK = Rank.Eq(lambda x1: x1.rank, text="rank(x1)").unjudged("which dim is meant depends on the broadcast")
SOME_TERMS = Size.Ge(1).unjudged("nothing has no angle and no distance")


def _without_dim(x1: MetaArgument, x2: MetaArgument, dim: int) -> tuple[int, ...]:
    shape = broadcast(x1, x2)
    return tuple(size for d, size in enumerate(shape) if d != dim % len(shape)) if shape else ()


def _with_last_reduced(x1: MetaArgument, x2: MetaArgument, keepdim: bool) -> tuple[int, ...]:
    shape = broadcast(x1, x2)[:-1]
    return (*shape, 1) if keepdim else shape


spec(
    "aten::cosine_similarity",
    tensor("x1", FLOAT.unjudged("torch converts integers"), SOME_TERMS),
    tensor("x2", dtype_of("x1").unjudged(ONE_DTYPE), broadcastable_with("x1"), ONE_RANK, SOME_TERMS),
    dim("dim", dim_of("x1")),
    real("eps", Value.Gt(0).unjudged("0 / 0"), ORDINARY),
    result(dtype_of("x1"), shaped(_without_dim, "broadcast of x1, x2 without dim")),
)
spec(
    "aten::pairwise_distance",
    tensor("x1", FLOAT.unjudged("torch converts integers"), Rank.Ge(1).unjudged("a number is no line"), SOME_TERMS),
    tensor("x2", dtype_of("x1").unjudged(ONE_DTYPE), broadcastable_with("x1"), SOME_TERMS),
    real("p", Value.In((1.0, 2.0, math.inf)).unjudged("the kit has three orders")),
    real("eps", ORDINARY),
    boolean("keepdim"),
    result(dtype_of("x1"), shaped(_with_last_reduced, "broadcast of x1, x2 without its last dim, or with size 1")),
)
