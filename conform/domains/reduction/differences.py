"""Differences of neighbours: the domain of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import Argument, dim, length, optional, result, tensor
from conform.domains.engine.constraints import Dtype, Rank, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import dim_of, dtype_of, shaped, sized
from conform.domains.specs import COMPLEX, NUMBERS, spec


def _end(name: str) -> Argument:
    """What stands before or behind self."""
    return optional(
        tensor(
            name,
            dtype_of("self").unjudged("the documentation says nothing of other dtypes beside self"),
            Rank.Eq(lambda self: self.rank, text="rank(self)"),
            sized(_sizes, "sizes of self but at dim"),
        )
    )


def _sizes(self: MetaArgument, dim: int) -> list[int | None]:
    return [None if d == dim % self.rank else size for d, size in enumerate(self.shape)]


def _shape(
    self: MetaArgument, n: int, dim: int, prepend: MetaArgument, append: MetaArgument
) -> tuple[int, ...]:
    axis = dim % self.rank
    size = sum(part.size(axis) for part in (prepend, self, append) if not part.is_none)
    return self.shape if n == 0 else tuple(max(size - n, 0) if d == axis else own for d, own in enumerate(self.shape))


spec(
    "aten::diff",
    tensor(
        "self",
        Dtype.In((*NUMBERS, *COMPLEX)).unjudged("the documentation says nothing of the difference of bools"),
        Rank.Ge(1),
    ),
    length(
        "n",
        Value.Ge(0),
        Value.Le(lambda self: 1 if self.dtype in COMPLEX else 6, text="6, 1 of complex numbers").unjudged(
            "the kit repeats no differences of complex numbers, and none more than six times"
        ),
    ),
    dim("dim", dim_of("self")),
    _end("prepend"),
    _end("append"),
    result(dtype_of("self"), shaped(_shape, "shape(self) with size(prepend) + size(self) + size(append) - n at dim")),
)
