"""Losses of many classes: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import index_tensor, integer, optional, real, result, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, ENUMERABLE, INTEGERS, Space, integers_between
from conform.domains.engine.vocabulary import (
    dtype_of,
    shaped,
)
from conform.domains.loss.outcomes import FLOAT, NONE, OF_ITS_DTYPE, ONE_DTYPE, REDUCTION
from conform.domains.specs import FLOATS, spec


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
NOTHING_WEIGHED = "what weighs nothing may have any dtype", lambda self: self.numel == 0
IMAGES = (
    tensor("self", FLOAT, Rank.Eq(4), Size.Ge(lambda d: int(d == 1), text="1 for the classes").unjudged(NO_CLASSES)),
    index_tensor("target", INDICES, shaped(_samples, "shape of the samples"), A_CLASS),
    optional(
        tensor(
            "weight",
            dtype_of("self").unjudged(*NOTHING_WEIGHED),
            [one.unjudged(SO_MANY) for one in CLASS_WEIGHTS],
        )
    ),
    REDUCTION,
    IGNORED,
    NLL,
)
spec("aten::nll_loss2d", *IMAGES)
spec("aten::nll_loss2d_forward", *IMAGES, result(dtype_of("self"), Rank.Eq(0)))


ONE_WEIGHT = "for samples of more dims torch counts the weights alone", lambda weight: weight.numel == 1
SOME_CLASSES = Size.Ge(lambda rank, d: int(d == min(rank - 1, 1)), text="1 for the classes").unjudged(NO_CLASSES)

spec(
    "aten::nll_loss_nd",
    tensor("self", FLOAT, Rank.Ge(1), SOME_CLASSES),
    index_tensor("target", INDICES, shaped(_samples, "shape of the samples"), A_CLASS),
    optional(
        tensor(
            "weight",
            dtype_of("self").unjudged(*NOTHING_WEIGHED),
            [one.unjudged(*ONE_WEIGHT) for one in CLASS_WEIGHTS],
        )
    ),
    REDUCTION,
    IGNORED,
    NLL,
)


def _shape_of_target(self: MetaArgument, target: MetaArgument) -> tuple[int, ...]:
    """The shape that targets must have: of probabilities that of the logits, of class indices that of the samples."""
    return self.shape if target.dtype in FLOATS else _samples(self)


spec(
    "aten::cross_entropy_loss",
    tensor(
        "self",
        FLOAT,
        Rank.Ge(1),
        SOME_CLASSES,
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
