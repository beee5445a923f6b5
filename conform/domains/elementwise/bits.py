"""Bits and logic: the domains of their arguments."""

from __future__ import annotations

from conform.domains.elementwise.outcomes import BITS, PAIR, SAME, SCALED, SCALED_OTHER, TRUTH, TRUTH_OF_PAIR
from conform.domains.engine.arguments import scalar, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Value
from conform.domains.engine.vocabulary import broadcastable_with, no_complex32_with, not_both
from conform.domains.specs import spec

WHOLE = Dtype.In(("bool", "int"))


def _of_bits(op: str, of_number_last: str, kind: Constraint | None = None, elements: Constraint | None = None) -> None:
    """The overloads of two tensors, and of a tensor and a number; kind: on both operands' dtypes, elements: on the
    elements of the second, where that is a tensor."""
    on_other, on_elements = (kind or (),), (elements or (),)
    spec(
        f"{op}.Tensor",
        tensor("self", Dtype.In(BITS)),
        tensor("other", Dtype.In(BITS), broadcastable_with("self"), on_other, on_elements),
        PAIR,
    )
    spec(f"{op}.{of_number_last}", tensor("self", Dtype.In(BITS)), scalar("other", WHOLE, on_other), SCALED)
    other = tensor("other", Dtype.In(BITS), on_other, on_elements)
    spec(f"{op}.Scalar_Tensor", scalar("self", WHOLE), other, SCALED_OTHER)


for _op in ("aten::bitwise_and", "aten::bitwise_or", "aten::bitwise_xor"):
    _of_bits(_op, "Scalar")
spec("aten::bitwise_not", tensor("self", Dtype.In(BITS)), SAME)

SHIFTS = Value.Be((0, 1, 2, 3, 5, 7))  # what every integer type has the bits for
for _op in ("aten::bitwise_left_shift", "aten::bitwise_right_shift"):
    _of_bits(_op, "Tensor_Scalar", not_both(["bool"], "self"), SHIFTS)

SOME_ZERO = Value.Be((0, 1, 2))
for _op in ("aten::logical_and", "aten::logical_or", "aten::logical_xor"):
    spec(
        _op,
        tensor("self", SOME_ZERO),
        tensor("other", no_complex32_with("self"), broadcastable_with("self"), SOME_ZERO),
        TRUTH_OF_PAIR,
    )
spec("aten::logical_not", tensor("self", SOME_ZERO), TRUTH)
