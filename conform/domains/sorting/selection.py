"""The k largest elements, and single places of the order: the domains of the arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import boolean, dim, length, result, tensor
from conform.domains.engine.constraints import Dtype, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import dim_of, dtype_of, shaped
from conform.domains.reduction.extremes import ONE_DIM, SOME_SIZE_NOT_0
from conform.domains.reduction.sums import KEEPDIM, NUMBER, REDUCED
from conform.domains.specs import INTEGERS, REAL, spec

ORDERED = (Dtype.In(REAL), Dtype.Ne("bool"))
INT64 = Dtype.Eq("int64")
DIM = dim("dim", dim_of("self"))


def _is_empty(self: MetaArgument) -> bool:
    return self.numel == 0


def _size(self: MetaArgument, dim: int) -> int:
    """size(self, dim)"""
    return self.shape[dim % self.rank] if self.rank else 1


def _first(self: MetaArgument, k: int, dim: int) -> tuple[int, ...]:
    return tuple(k if d == dim % self.rank else size for d, size in enumerate(self.shape))


FIRST = shaped(_first, "shape(self) with k at dim")
spec(
    "aten::topk",
    tensor("self", ORDERED),
    length(
        "k",
        Value.Ge(lambda self: int(self.rank == 0), text="0, 1 of a 0-d self").unjudged("k = 0 of a 0-d tensor"),
        Value.Ge(0),
        Value.Le(_size),
    ),
    DIM,
    boolean("largest"),
    boolean("sorted"),
    result(dtype_of("self"), FIRST),
    result(INT64, FIRST),
)
spec(
    "aten::kthvalue",
    tensor(
        "self",
        [one.unjudged("one element needs no order", lambda self: self.rank == 0) for one in ORDERED],
        SOME_SIZE_NOT_0,
    ),
    length("k", Value.Ge(1), Value.Le(_size)),
    ONE_DIM,
    KEEPDIM,
    result(dtype_of("self"), REDUCED),
    result(INT64, REDUCED),
)
NOTHING_OF_INTEGERS = Size.Ge(lambda self: int(self.dtype in INTEGERS), text="1 where dtype(self) is integral")
for _name in ("aten::median", "aten::nanmedian"):
    spec(
        _name,
        tensor(
            "self",
            Dtype.In(REAL).unjudged("no elements need no kernel", _is_empty),
            Dtype.Ne("bool").unjudged("torch orders bools on CUDA"),
            NOTHING_OF_INTEGERS.unjudged("the documentation says nothing of no integers"),
        ),
        result(dtype_of("self"), NUMBER),
    )
    spec(
        f"{_name}.dim",
        tensor("self", ORDERED, SOME_SIZE_NOT_0),
        ONE_DIM,
        KEEPDIM,
        result(dtype_of("self"), REDUCED),
        result(INT64, REDUCED),
    )
