"""Combinations of three operands: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import Argument, result, scalar, tensor
from conform.domains.engine.constraints import Constraint, Dtype
from conform.domains.engine.vocabulary import (
    broadcast_of,
    broadcastable_with,
    dtype_common_to,
    dtype_of,
    not_complex_here,
    parameter,
    weight_of,
)
from conform.domains.specs import INTEGERS, spec

OF_THREE = result(dtype_common_to("self", "tensor1", "tensor2"), broadcast_of("self", "tensor1", "tensor2"))


KIND, RANGE, FINITE = (one.unjudged("torch converts it") for one in weight_of("self", "tensor1", "tensor2"))


def _combined(op: str, kinds: tuple[Constraint, ...], weight: tuple[Constraint, ...]) -> None:
    spec(
        op,
        tensor("self", kinds),
        tensor("tensor1", kinds, broadcastable_with("self")),
        tensor("tensor2", kinds, broadcastable_with("self", "tensor1")),
        scalar("value", weight),
        OF_THREE,
    )


NO_BOOL = Dtype.Ne("bool").unjudged("torch takes bools beside numbers")
NO_INTEGER = Dtype.NotIn(("bool", *INTEGERS)).unjudged("torch takes one operand of integers beside floats")
_combined("aten::addcmul", (not_complex_here(), NO_BOOL), (KIND, RANGE, FINITE))
_combined("aten::addcdiv", (not_complex_here(), NO_INTEGER), (KIND, FINITE))


def _weighted(op: str, *weight: Argument) -> None:
    spec(
        op,
        tensor("self", not_complex_here(), Dtype.NotIn(("bool", *INTEGERS))),
        tensor("end", dtype_of("self"), broadcastable_with("self")),
        *weight,
    )


_weighted("aten::lerp.Scalar", parameter("weight"), result(dtype_of("self"), broadcast_of("self", "end")))
_weighted(
    "aten::lerp.Tensor",
    tensor(
        "weight",
        dtype_of("self").unjudged("torch takes a 0-d weight of another dtype"),
        broadcastable_with("self", "end"),
    ),
    result(dtype_of("self"), broadcast_of("self", "end", "weight")),
)
