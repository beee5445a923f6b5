"""Events that happen with given probabilities: the domains of the arguments."""

from __future__ import annotations

import math

from conform.domains.engine.arguments import boolean, length, real, result, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size, Value
from conform.domains.engine.dtypes import FLOATS, REAL
from conform.domains.engine.vocabulary import NOT_MANY, dtype_of, shape_of, shaped, typically
from conform.domains.specs import spec

NO_SUCH = "where nothing is drawn, torch takes any dtype"
PROBABILITIES = (Value.Ge(0), Value.Le(1))
LIKE_SELF = result(dtype_of("self"), shape_of("self"))
spec(
    "aten::bernoulli",
    tensor("self", Dtype.In(FLOATS).unjudged(NO_SUCH, lambda self: self.numel == 0), PROBABILITIES),
    result(dtype_of("self").unjudged("torch.bernoulli: an out may be of integers"), shape_of("self")),
)
REAL_SELF = tensor("self", Dtype.In(REAL).unjudged(NO_SUCH, lambda self: self.numel == 0))
spec("aten::bernoulli.p", REAL_SELF, real("p", PROBABILITIES, Value.Be((0.5, 0.25, 0.75, 0.1))), LIKE_SELF)
spec(
    "aten::bernoulli.Tensor",
    REAL_SELF,
    tensor(
        "p",
        Dtype.In(FLOATS).unjudged("torch takes integers that are 0 or 1"),
        [one.unjudged("torch broadcasts them") for one in shape_of("self")],
        PROBABILITIES,
    ),
    LIKE_SELF,
)

spec(
    "aten::multinomial",
    tensor(
        "self",
        Dtype.In(FLOATS),
        Rank.In((1, 2)),
        Size.Ge(lambda rank, d: 1 if d == rank - 1 else 0, text="1 of the last dim").unjudged("nothing can be drawn"),
        Value.Ge(0),
        Value.Le(100).unjudged("their sum may leave the range of a half type"),
        typically(0.5, 4.0),
    ),
    length(
        "num_samples",
        Value.Ge(1),
        Value.Le(
            lambda self, replacement: math.inf if replacement else self.shape[-1],
            text="size(self, -1) without replacement",
        ),
        Value.Le(64).lenient(NOT_MANY),
    ),
    boolean("replacement"),
    result(Dtype.Eq("int64"), shaped(lambda self, num_samples: (*self.shape[:-1], num_samples))),
)
