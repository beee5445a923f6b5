"""What appears most often: the domain of its arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import result, tensor
from conform.domains.engine.constraints import Dtype
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import dtype_of
from conform.domains.reduction.extremes import ONE_DIM, SOME_SIZE_NOT_0
from conform.domains.reduction.sums import KEEPDIM, REDUCED
from conform.domains.specs import REAL, spec


def _is_trivial(self: MetaArgument) -> bool:
    return self.rank == 0 or self.numel == 0


spec(
    "aten::mode",
    tensor(
        "self",
        Dtype.In(REAL).unjudged("no line, or one of one number, needs no kernel", _is_trivial),
        SOME_SIZE_NOT_0,
    ),
    ONE_DIM,
    KEEPDIM,
    result(dtype_of("self"), REDUCED),
    result(Dtype.Eq("int64"), REDUCED),
)
