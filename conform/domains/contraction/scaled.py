"""Products of scaled matrices of 8-bit floats: the domain of the arguments."""

from __future__ import annotations

import numpy as np

from conform.domains.engine.arguments import (
    Argument,
    boolean,
    dtype,
    index_tensor,
    optional,
    result,
    small_float_tensor,
    tensor,
)
from conform.domains.engine.constraints import Constraint, Dtype, Optional, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import positive_in, shaped, sized
from conform.domains.specs import spec
from conform.numerics.draws import Stream

NOTHING = "nothing to multiply"
BLOCKS = "nothing is documented; some backends take scales of blocks"
BEYOND = "what is scaled, or the product of two scales, may overflow or vanish in float32"
UNKNOWN = "nothing is documented of it"
WIDE = ("bfloat16", "float16", "float32")


def _drawn(stream: Stream, own: MetaArgument) -> np.ndarray:
    """Scales of which no two are the same, and whose products float32 does not hold."""
    return positive_in(own.dtype, 2.0 ** (stream.uniform(own.shape) * 8 - 4))


def _scale(name: str, *shape: Constraint) -> Argument:
    within = Value.Ge(2.0**-30).unjudged(BEYOND), Value.Le(2.0**30).unjudged(BEYOND)
    return index_tensor(
        name, Dtype.Eq("float32").unjudged(UNKNOWN), shape, within, Value.Gen(_drawn, ("stream", ""))
    )


def _of_rows(self: MetaArgument, rank: int, d: int) -> tuple[int, ...]:
    """{1, size(self, 0)} where d = 0 of 2, else {1}"""
    return (1, self.size(0)) if (rank, d) == (2, 0) else (1,)


def _may_be_of_columns(self: MetaArgument, scale_a: MetaArgument) -> bool:
    return scale_a.shape == (self.size(0), 1)


def _of_columns(self: MetaArgument, mat2: MetaArgument, scale_a: MetaArgument, rank: int, d: int) -> tuple[int, ...]:
    """size(mat2, 1) where d = 1 and scale_a has one for each row, else 1"""
    if (rank, d) != (2, 1) or not _may_be_of_columns(self, scale_a):
        return (1,)
    return (mat2.size(1),) if scale_a.numel > 1 else (1, mat2.size(1))


spec(
    "aten::_scaled_mm",
    small_float_tensor("self", Rank.Eq(2), Size.Ge(1).unjudged(NOTHING)),
    small_float_tensor(
        "mat2", Rank.Eq(2), Size.Ge(1).unjudged(NOTHING),
        sized(lambda self: (self.size(1),), "{size(self, 1)} where d = 0"),
    ),
    _scale("scale_a", Rank.Le(2).unjudged(BLOCKS), Size.In(_of_rows).unjudged(BLOCKS)),
    _scale(
        "scale_b",
        Rank.In(lambda scale_a: (2,) if scale_a.numel > 1 else (0, 1, 2), text="{2} if scale_a is of rows")
        .unjudged(BLOCKS),
        Size.In(_of_columns).unjudged(BLOCKS),
    ),
    optional(tensor(
        "bias", Dtype.Eq(lambda out_dtype: out_dtype or "float32", text="out_dtype").unjudged(UNKNOWN),
        Rank.Eq(1).unjudged(UNKNOWN), sized(lambda mat2: (mat2.size(1),), "{size(mat2, 1)}").unjudged(UNKNOWN),
    )),
    optional(index_tensor("scale_result"), Optional.Eq(True).unjudged(UNKNOWN)),
    optional(
        dtype("out_dtype", Value.In(WIDE).unjudged(UNKNOWN)),
        Optional.Eq(False).unjudged("the result is of 8-bit floats then, of whose overflow nothing is documented"),
    ),
    boolean("use_fast_accum", Value.Eq(False).unjudged("documented is that it is fast, and not how far off it may be")),
    result(
        Dtype.Eq(lambda out_dtype: out_dtype or "float32", text="out_dtype"),
        shaped(lambda self, mat2: (self.size(0), mat2.size(1))),
    ),
)  # fmt: skip
