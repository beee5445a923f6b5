"""What losses take and give: their dtypes, reductions, and the results of two tensors."""

from __future__ import annotations

from conform.domains.engine.arguments import integer, result
from conform.domains.engine.constraints import Dtype, Value
from conform.domains.engine.vocabulary import (
    broadcast,
    dtype_of,
    shaped,
)
from conform.domains.specs import FLOATS

FLOAT = Dtype.In(FLOATS)
ONE_DTYPE = "torch promotes; the kit has semantics for one dtype"
REDUCTION = integer("reduction", Value.In((0, 1, 2)).unjudged("some of torch's kernels take any other for one of them"))
NONE = 0
OF_ITS_DTYPE = dtype_of("self").unjudged(ONE_DTYPE)
ORDINARY = [one.unjudged("torch takes any number") for one in (Value.Ge(0), Value.Le(1e4))]
SIGN = Value.In((1, -1)).unjudged("what other targets mean is not documented")
LOSS = result(
    dtype_of("self"),
    shaped(
        lambda self, target, reduction: broadcast(self, target) if reduction == NONE else (),
        "broadcast of self, target, if reduction = 0",
    ),
)
