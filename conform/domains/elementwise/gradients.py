"""Gradients of activations made of straight pieces: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import boolean, mask
from conform.domains.engine.constraints import Dtype, Value
from conform.domains.engine.gradients import LIKE, alike, if_not_negative, incoming, outgoing
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, REALS, Space
from conform.domains.engine.vocabulary import parameter, shape_of, typically
from conform.domains.specs import spec

UNUSED = "the forward op is not defined there, and its gradient looks at nothing"
NOT_NEGATIVE = Value.In(
    lambda own: REALS.narrowed("Ge", 0) if own.dtype in ("int", "float") else ANYTHING, ("",), "[0, inf)"
).unjudged(UNUSED)


def _not_below(own: MetaArgument, least: MetaArgument) -> Space:
    are_real = own.dtype in ("int", "float") and least.dtype in ("bool", "int", "float")
    return REALS.narrowed("Ge", least.value) if are_real else ANYTHING


spec("aten::threshold_backward", incoming(), alike("self"), parameter("threshold"), outgoing())
spec(
    "aten::hardtanh_backward",
    incoming(),
    alike("self"),
    parameter("min_val"),
    parameter("max_val", Value.In(_not_below, ("", "min_val"), "[min_val, inf)").unjudged(UNUSED)),
    outgoing(),
)
spec("aten::softshrink_backward", incoming(), alike("self"), parameter("lambd", NOT_NEGATIVE), outgoing())
spec(
    "aten::hardshrink_backward",
    incoming("grad_out"),
    alike("self", of="grad_out"),
    parameter("lambd", NOT_NEGATIVE),
    outgoing("grad_out"),
)
spec(
    "aten::leaky_relu_backward",
    incoming(),
    alike("self"),
    parameter("negative_slope"),
    if_not_negative("self_is_result", "negative_slope"),
    outgoing(),
)
spec("aten::_prelu_kernel", incoming("self"), alike("weight", of="self"), outgoing("self"))
spec("aten::_prelu_kernel_backward", incoming(), alike("self"), alike("weight"), outgoing(), outgoing())
spec(
    "aten::rrelu_with_noise_backward",
    incoming(),
    alike("self"),
    alike("noise"),
    parameter("lower", NOT_NEGATIVE),
    parameter("upper", Value.In(_not_below, ("", "lower"), "[lower, inf)").unjudged(UNUSED)),
    boolean("training", Value.In(lambda lower, upper: _drawn(lower, upper), text="{False} where the slopes are equal")
            .unjudged("torch draws no noise there")),
    boolean("self_is_result"),
    outgoing(),
)  # fmt: skip


def _drawn(lower: MetaArgument, upper: MetaArgument) -> tuple[bool, ...]:
    are_real = all(one.dtype in ("int", "float") for one in (lower, upper))
    return (False, True) if are_real and upper.value - lower.value > 1e-5 else (False,)


spec("aten::hardsigmoid_backward", incoming(), alike("self", typically(-4, 4)), outgoing())
spec("aten::hardswish_backward", incoming(), alike("self", typically(-4, 4)), outgoing())
for _each in ("tensor", "channel"):
    spec(
        f"aten::fake_quantize_per_{_each}_affine_cachemask_backward",
        incoming("grad"),
        mask("mask", Dtype.Eq("bool"), [one.unjudged(LIKE) for one in shape_of("grad")]),
        outgoing("grad"),
    )
