"""Normalizations by the names that programs call: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import Argument, boolean, dim, dtype, integer, optional, real, result, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Optional, Rank, Value
from conform.domains.engine.spaces import ANYTHING
from conform.domains.engine.vocabulary import NO_COMPLEX_SEMANTICS, dim_of, divisors, dtype_of, shape_of, shaped
from conform.domains.normalization.forward import (
    EPS,
    FLOAT,
    MOMENTUM,
    NORMALIZED,
    OF_CHANNELS,
    OUTPUT,
    PER_CHANNEL,
    SAMPLES_AND_CHANNELS,
    channels_of,
    dtype_or_none,
    last_sizes,
    parameter_beside,
)
from conform.domains.normalization.gradients import HAS_ELEMENTS
from conform.domains.specs import COMPLEX, FLOATS, spec

CONVERTED = Value.In(FLOATS).unjudged("no elements need no kernel", lambda self: self.numel == 0)
SWITCH = boolean("cudnn_enabled")

for _name in ("aten::softmax.int", "aten::log_softmax.int", "aten::_safe_softmax"):
    spec(
        _name,
        tensor(
            "self",
            Dtype.NotIn(COMPLEX).unjudged(NO_COMPLEX_SEMANTICS),
            Dtype.In(lambda dtype: FLOATS if dtype is None else ANYTHING, text="floats where dtype is None").unjudged(
                "no elements need no kernel", lambda self: self.numel == 0
            ),
        ),
        dim("dim", dim_of("self")),
        optional(dtype("dtype", CONVERTED)),
        result(Dtype.Eq(lambda self, dtype: dtype or self.dtype), shape_of("self")),
    )

spec(
    "aten::layer_norm",
    tensor("input", FLOAT, Rank.Ge(1)),
    last_sizes(),
    optional(tensor("weight", parameter_beside(), NORMALIZED)),
    optional(tensor("bias", parameter_beside("weight"), NORMALIZED)),
    real("eps", EPS),
    boolean("cudnn_enable"),
    OUTPUT,
)

spec(
    "aten::group_norm",
    tensor("input", FLOAT, SAMPLES_AND_CHANNELS, HAS_ELEMENTS),
    integer("num_groups", Value.In(lambda input: divisors(channels_of(input)), text="divisors of size(input, 1)")),
    optional(tensor("weight", parameter_beside(), OF_CHANNELS)),
    optional(tensor("bias", parameter_beside("weight"), OF_CHANNELS)),
    real("eps", EPS),
    SWITCH,
    OUTPUT,
)

def _needed(training: str) -> Constraint:
    return Optional.NotIn(lambda own: () if own else (True,), (training,), f"{{True}} where {training} is False")


def _together(training: str) -> Constraint:
    one_of = Optional.In(
        lambda mean, own: (mean.is_none,) if own else (True, False),
        ("running_mean", training),
        f"{{running_mean is None}} where {training}",
    )
    return one_of.unjudged("torch documents both running statistics, or none")


VARIANCE = Value.Ge(0).lenient(EPS[0].lenience)


def _running(name: str, others: tuple[str, ...], *constraints: Constraint) -> Argument:
    beside = [one.unjudged("torch promotes them or not") for one in parameter_beside(*others)]
    return optional(tensor(name, beside, PER_CHANNEL), *constraints)


def _batch_norm(name: str, training: str, *after: Argument) -> None:
    """`training`: the argument that says whether the batch's own statistics are taken."""
    spec(
        name,
        tensor("input", FLOAT, SAMPLES_AND_CHANNELS, HAS_ELEMENTS),
        optional(tensor("weight", parameter_beside("running_mean", "running_var"), PER_CHANNEL)),
        optional(tensor("bias", parameter_beside("weight", "running_mean", "running_var"), PER_CHANNEL)),
        _running("running_mean", (), _needed(training)),
        _running("running_var", ("running_mean",), VARIANCE, _needed(training), _together(training)),
        boolean(training),
        MOMENTUM,
        real("eps", EPS),
        *after,
    )


_STATISTIC_SHAPE = shaped(lambda input, training: (channels_of(input),) if training else (0,))
_STATISTIC_DTYPE = Dtype.Eq(
    lambda input, weight, bias, running_mean, training: (
        ("float32" if "float32" in map(dtype_or_none, (weight, bias, running_mean)) else input.dtype)
        if training
        else running_mean.dtype
    )
)
SAVED = result(_STATISTIC_DTYPE, _STATISTIC_SHAPE)
_batch_norm("aten::batch_norm", "training", SWITCH, OUTPUT)
_batch_norm("aten::instance_norm", "use_input_stats", SWITCH, OUTPUT)
_batch_norm("aten::native_batch_norm", "training", OUTPUT, SAVED, SAVED)


def _legit(name: str, *results: Argument) -> None:
    """Of running statistics that are always there."""
    spec(
        name,
        tensor("input", FLOAT, SAMPLES_AND_CHANNELS, HAS_ELEMENTS),
        optional(tensor("weight", parameter_beside("running_mean"), PER_CHANNEL)),
        optional(tensor("bias", parameter_beside("running_mean"), PER_CHANNEL)),
        tensor("running_mean", parameter_beside(), PER_CHANNEL),
        tensor("running_var", parameter_beside("running_mean"), PER_CHANNEL, VARIANCE),
        boolean("training"),
        MOMENTUM,
        real("eps", EPS),
        OUTPUT,
        SAVED,
        SAVED,
        *results,
    )


_legit("aten::_native_batch_norm_legit")
_LEFT = (result(dtype_of(name), shape_of(name)) for name in ("running_mean", "running_var"))
_legit("aten::_native_batch_norm_legit_functional", *_LEFT)
