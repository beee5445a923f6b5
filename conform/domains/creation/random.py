"""Random tensors: the domains of the arguments."""

from __future__ import annotations

import math

from conform.domains.creation.constants import DTYPE_OR_FLOAT, LIKE, OF_SIZE, SIZE, dtype_argument, dtype_or
from conform.domains.engine.arguments import boolean, length, mask, optional, real, result, tensor
from conform.domains.engine.constraints import Dtype, Value
from conform.domains.engine.dtypes import COMPLEX, FLOATS, NUMBERS
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import NOT_MANY, dtype_of, shape_of, shaped
from conform.domains.specs import spec
from conform.numerics.formats import format_named

NOTHING = "where nothing is drawn, torch takes any dtype"
for _name in ("aten::rand", "aten::randn"):
    spec(
        _name,
        SIZE,
        dtype_argument(Value.In((*FLOATS, *COMPLEX)).unjudged(NOTHING, lambda size: 0 in size)),
        result(DTYPE_OR_FLOAT, OF_SIZE),
    )
for _name in ("aten::rand_like", "aten::randn_like"):
    spec(
        _name,
        tensor("self", Dtype.In((*FLOATS, *COMPLEX)).unjudged("with a dtype that is named, torch takes any tensor")),
        dtype_argument(Value.In((*FLOATS, *COMPLEX)).unjudged(NOTHING, lambda self: self.numel == 0)),
        result(LIKE, shape_of("self")),
    )


TOO_MANY = "torch refuses some of the lists that the dtype does not hold"


def _held(dtype: str | None) -> float:
    """how many numbers from 0 on the dtype holds"""
    fmt = format_named(dtype or "int64")
    if fmt.bits == 64:
        return math.inf  # more than any memory does
    return fmt.max_value + 1 if fmt.is_integer else 2**fmt.precision + 1


spec(
    "aten::randperm",
    length(
        "n", Value.Ge(0), Value.Le(_held).unjudged(TOO_MANY), Value.Le(4096).lenient(NOT_MANY), Value.Be((100, 128))
    ),
    dtype_argument(Value.In(NUMBERS)),
    result(dtype_or("int64"), shaped(lambda n: (n,))),
)


UNREAD = "what is not dropped needs no probability"


def _nothing_dropped(input: MetaArgument, train: bool | None) -> bool:
    return train is False or input.numel == 0


DROPPED = tensor(
    "input", Dtype.In(FLOATS).unjudged("torch may take others where nothing is dropped, and complex numbers")
)
ITSELF = "torch gives input itself, an alias that its schema does not name"
OFTEN = (0.5, 0.1, 0.25, 0.75)
spec(
    "aten::dropout",
    DROPPED,
    real("p", Value.Ge(0.0), Value.Gt(0.0).unjudged(ITSELF), Value.Le(1.0), Value.Be(OFTEN)),
    boolean("train", Value.Eq(True).unjudged(ITSELF)),
    result(dtype_of("input"), shape_of("input")),
)
spec(
    "aten::native_dropout",
    DROPPED,
    real(
        "p",
        Value.Ge(0.0).unjudged(UNREAD, _nothing_dropped),
        Value.Le(1.0).unjudged(UNREAD, _nothing_dropped),
        Value.Be(OFTEN),
    ),
    optional(boolean("train")),
    result(dtype_of("input"), shape_of("input")),
    result(Dtype.Eq("bool"), shape_of("input")),
)
spec(
    "aten::native_dropout_backward",
    tensor("grad_output", Dtype.In(FLOATS).unjudged("torch multiplies numbers of any dtype")),
    mask(
        "mask",
        Dtype.Eq("bool").unjudged("torch multiplies by numbers, too"),
        [one.unjudged("torch broadcasts them") for one in shape_of("grad_output")],
    ),
    real("scale", Value.Be((2.0, 1.25, 1.1))),
    result(dtype_of("grad_output"), shape_of("grad_output")),
)
