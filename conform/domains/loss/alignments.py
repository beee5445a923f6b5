"""Connectionist temporal classification: the domains of the arguments."""

from __future__ import annotations

from collections.abc import Sequence

from conform.domains.engine.arguments import (
    Argument,
    boolean,
    index_tensor,
    integer,
    integers,
    optional,
    result,
    tensor,
)
from conform.domains.engine.constraints import Constraint, Dtype, Length, Optional, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, INTEGERS, Space, integers_between
from conform.domains.engine.vocabulary import NOT_MANY, dtype_of, shaped, typically
from conform.domains.loss.outcomes import NONE, REDUCTION
from conform.domains.specs import spec

OF_KERNELS = "which types there are is a matter of the kernels"
NO_BATCH = "the documentation has [steps, classes], too, for which the kit has no semantics"
NO_STEPS = "what no steps give is not documented"
LABELS = 6  # of a target that is drawn

SHORT = Size.Le(lambda d: 2048 if d == 0 else 2**31, text="2048 for d = 0").lenient(NOT_MANY)
LOG_PROBS = (
    Dtype.In(("float32", "float64")).unjudged(OF_KERNELS),
    Rank.Eq(3).unjudged(NO_BATCH, lambda log_probs: log_probs.rank == 2),
    Size.Ge(lambda d: 1 + int(d == 2), text="1, 2 for the classes").unjudged(NO_STEPS),
    SHORT,
    typically(-4, 0),
)
FEW = Size.Le(lambda d: 2048 if d == 1 else 2**31, text="2048 for d = 1").lenient(NOT_MANY)  # lists of lengths are slow
BLANK = integer("blank", Value.Ge(0), Value.Lt(lambda log_probs: log_probs.size(2), text="size(log_probs, 2)"))
INDICES = Dtype.Eq("int64").unjudged("torch takes int32")
BATCH = Length.Eq(lambda log_probs: log_probs.size(1), text="size(log_probs, 1)")
STEPS = (
    Value.Ge(1).unjudged(NO_STEPS),
    Value.Le(lambda log_probs: log_probs.size(0), text="size(log_probs, 0)"),
)


def _classes(log_probs: MetaArgument) -> Space:
    """{0, ..., size(log_probs, 2) - 1}"""
    return integers_between(0, log_probs.size(2) - 1)


A_LABEL = (
    Value.In(_classes).unjudged("torch looks at no labels"),
    Value.Ne(lambda blank: blank, text="blank").lenient("what is behind a target is often filled up with it"),
)


def _shape(log_probs: MetaArgument, target_lengths: Sequence[int], rank: int, d: int) -> Space | tuple[int, ...]:
    """the sum of target_lengths, or size(log_probs, 1) and no less than the longest"""
    if rank == 1:
        return (sum(target_lengths),)
    return (log_probs.size(1),) if d == 0 else INTEGERS.narrowed("Ge", max(target_lengths, default=0))


def _most_labels(reduction: int, zero_infinity: bool) -> int:
    """1 where a loss of inf would hide the others, else any number"""
    return 2**31 if reduction == NONE or zero_infinity else 1


ALIGNED = Value.Le(_most_labels).lenient("one sample without an alignment makes the loss inf, whatever the others are")


def _lists(on_labels: Sequence[Constraint]) -> tuple[Argument, ...]:
    return (
        index_tensor("targets", INDICES, Rank.In((1, 2)), Size.In(_shape), A_LABEL),
        integers("input_lengths", BATCH, STEPS),
        integers("target_lengths", BATCH, Value.Ge(0), Value.Le(LABELS).lenient(NOT_MANY), on_labels),
    )


def _of_batch(name: str, *constraints: Constraint | Sequence[Constraint]) -> Argument:
    batch = shaped(lambda log_probs: (log_probs.size(1),), "[size(log_probs, 1)]")
    return index_tensor(name, INDICES, [one.unjudged("torch reads numbers in order") for one in batch], *constraints)


def _a_row_each(log_probs: MetaArgument, rank: int, d: int) -> Space | tuple[int, ...]:
    """size(log_probs, 1) where d = 0 and the rank is 2"""
    return (log_probs.size(1),) if (rank, d) == (2, 0) else ANYTHING


def _tensors(on_labels: Sequence[Constraint]) -> tuple[Argument, ...]:
    fits = Value.Le(lambda targets: targets.size(1), text="size(targets, 1)")
    return (
        index_tensor(
            "targets",
            INDICES,
            Rank.Eq(2).unjudged("concatenated ones are judged beside numbers", lambda targets: targets.rank == 1),
            Size.In(_a_row_each),
            A_LABEL,
        ),
        _of_batch("input_lengths", *STEPS),
        _of_batch("target_lengths", Value.Ge(0), fits, on_labels),
    )


LOSSES = shaped(lambda log_probs: (log_probs.size(1),), "[size(log_probs, 1)]")
LOSS = result(
    dtype_of("log_probs"),
    shaped(
        lambda log_probs, reduction: (log_probs.size(1),) if reduction == NONE else (),
        "[size(log_probs, 1)], if reduction = 0",
    ),
)

ZERO = boolean("zero_infinity")
UNDOCUMENTED = optional(result(), Optional.Eq(True))

for _overload, _log_probs, _lengths in (
    ("IntList", tensor("log_probs", LOG_PROBS, FEW), _lists),
    ("Tensor", tensor("log_probs", LOG_PROBS), _tensors),
):
    _reduced = (_log_probs, *_lengths((ALIGNED,)), BLANK, REDUCTION, ZERO)
    spec(f"aten::ctc_loss.{_overload}", *_reduced, LOSS)
    _of_kernel = f"aten::_ctc_loss{'.Tensor' * (_overload == 'Tensor')}"
    spec(_of_kernel, _log_probs, *_lengths(()), BLANK, ZERO, result(dtype_of("log_probs"), LOSSES), UNDOCUMENTED)
