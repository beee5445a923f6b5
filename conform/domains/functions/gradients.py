"""Gradients of activations with exponentials: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import dim, optional, real, result, scalar, string, tensor
from conform.domains.engine.constraints import Dtype, Rank, Value
from conform.domains.engine.gradients import FLOAT, LIKE, alike, if_not_negative, incoming, outgoing
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import REALS
from conform.domains.engine.vocabulary import dim_of, dtype_of, parameter, shape_of, shaped, typically
from conform.domains.specs import spec

EPS = Value.In(lambda: REALS.within(0, 0.5), text="[0, 1/2]").unjudged("P209: torch clamps to bounds in no order")

for _name in ("aten::sigmoid_backward", "aten::tanh_backward"):
    spec(_name, incoming(), alike("output", typically(-1, 1)), outgoing())
for _name in ("aten::silu_backward", "aten::mish_backward"):
    spec(_name, incoming(), alike("self"), outgoing())
spec(
    "aten::gelu_backward",
    incoming(),
    alike("self"),
    string("approximate", Value.In(("none", "tanh"))),
    outgoing(),
)
spec("aten::infinitely_differentiable_gelu_backward", incoming("grad"), alike("self", of="grad"), outgoing("grad"))
spec("aten::logit_backward", incoming(), alike("self", typically(0, 1)), optional(real("eps", EPS)), outgoing())
spec(
    "aten::softplus_backward",
    incoming(),
    alike("self"),
    parameter("beta"),
    scalar("threshold", Dtype.Ne("complex")),
    outgoing(),
)


def _tells_side(scale: MetaArgument, input_scale: MetaArgument) -> tuple[bool, ...]:
    are_positive = all(one.dtype in ("int", "float") and one.value > 0 for one in (scale, input_scale))
    return (False, True) if are_positive else (False,)


SIDE = "the sign of a result tells the side of 0 where scale and input_scale are positive"
spec(
    "aten::elu_backward",
    incoming(),
    parameter("alpha"),
    parameter("scale"),
    parameter("input_scale"),
    if_not_negative("is_result", "alpha", but=Value.In(_tells_side, text="{False} unless the scales are positive")
                    .unjudged(SIDE)),
    alike("self_or_result"),
    outgoing(),
)  # fmt: skip


def _doubled(grad_output: MetaArgument, dim: int) -> tuple[int, ...]:
    return tuple(2 * size if d == dim % grad_output.rank else size for d, size in enumerate(grad_output.shape))


DOUBLED = (dtype_of("grad_output"), *shaped(_doubled, "shape(grad_output), twice along dim"))
spec(
    "aten::glu_backward",
    tensor("grad_output", FLOAT, Rank.Ge(1)),
    tensor("self", [one.unjudged(LIKE) for one in DOUBLED]),
    dim("dim", dim_of("grad_output")),
    result(dtype_of("self"), shape_of("self")),
)
