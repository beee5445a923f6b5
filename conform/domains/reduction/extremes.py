"""Extremes, which no elements do not have, and what is true of any or all elements."""

from __future__ import annotations

from conform.domains.engine.arguments import dim, dims, optional, result, tensor
from conform.domains.engine.constraints import Dtype, Length, Optional, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import dim_of, distinct_dims, distinct_dims_of, dtype_of, shape_of, shaped
from conform.domains.reduction.sums import KEEPDIM, NUMBER, REDUCED, shape_without
from conform.domains.specs import REAL, spec

SOME_SIZE_NOT_0 = Size.Ge(lambda rank, d, sizes: int(d == rank - 1 and not any(sizes)), text="1 for one d at least")


def _dims_with_elements(self: MetaArgument) -> int:
    """How many dims an extreme can be taken over; a tensor whose sizes are all 0 is refused whatever the dims."""
    return sum(size != 0 for size in self.shape) or max(self.rank, 1)


def _dims_without_elements(self: MetaArgument) -> tuple[int, ...]:
    if not any(self.shape):
        return ()
    return tuple(place for d, size in enumerate(self.shape) if size == 0 for place in (d, d - self.rank))


def _lacks_elements(self: MetaArgument) -> bool:
    return self.numel == 0 and any(self.shape)


for _name in ("aten::amax", "aten::amin"):
    spec(
        _name,
        tensor(
            "self",
            Dtype.In(REAL).unjudged("no elements need no kernel", lambda self: self.numel == 0),
            SOME_SIZE_NOT_0,
        ),
        dims(
            "dim",
            Length.Ge(lambda self: int(_lacks_elements(self)), text="1 where self has no elements, else 0"),
            Length.Le(lambda self: _dims_with_elements(self), text="number of dims of self whose size is not 0"),
            distinct_dims_of("self"),
            Value.NotIn(
                lambda self, previous: (
                    _dims_without_elements(self) if len(previous) < _dims_with_elements(self) else ()
                ),
                text="dims of self whose size is 0",
            ),
        ),
        KEEPDIM,
        result(dtype_of("self"), REDUCED),
    )

ONE_DIM = dim(
    "dim", dim_of("self"), Value.NotIn(lambda self: _dims_without_elements(self), text="dims of self whose size is 0")
)
ONE_DIM_OR_ALL = optional(
    ONE_DIM,
    Optional.NotIn(lambda self: (True,) if _lacks_elements(self) else (), text="{True} where self has no elements"),
)
INDICES = result(Dtype.Eq("int64"), REDUCED)

for _name in ("aten::argmax", "aten::argmin"):
    spec(
        _name, tensor("self", Dtype.In(REAL), Dtype.Ne("bool"), SOME_SIZE_NOT_0), ONE_DIM_OR_ALL, KEEPDIM, INDICES
    )
ORDERED = tensor("self", Dtype.In(REAL), SOME_SIZE_NOT_0)
EXTREME = result(dtype_of("self"), REDUCED)
for _name in ("aten::max", "aten::min"):
    spec(_name, tensor("self", Dtype.In(REAL), Size.Ge(1)), result(dtype_of("self"), NUMBER))
    spec(f"{_name}.dim", ORDERED, ONE_DIM, KEEPDIM, EXTREME, INDICES)
spec("aten::aminmax", ORDERED, ONE_DIM_OR_ALL, KEEPDIM, EXTREME, EXTREME)


def _has_one_or_none(self: MetaArgument) -> bool:
    return self.rank == 0 or self.numel == 0


for _name in ("aten::cummax", "aten::cummin"):
    spec(
        _name,
        tensor("self", Dtype.In(REAL).unjudged("nothing is compared", _has_one_or_none)),
        dim("dim", [one.unjudged("nothing is compared", _has_one_or_none) for one in dim_of("self")]),
        result(dtype_of("self"), shape_of("self")),
        result(Dtype.Eq("int64"), shape_of("self")),
    )

# --- What is true of elements -----------------------------------------------------------------------------------------

ANYTHING = tensor("self")
TRUTH = Dtype.Eq(lambda self: "uint8" if self.dtype == "uint8" else "bool")
# An empty list is no dims to some, and all to others.
DIMS = dims("dim", distinct_dims("self"), Length.Ge(1).unjudged("the documentation names no empty list"))

for _name in ("aten::any", "aten::all"):
    spec(_name, ANYTHING, result(TRUTH, NUMBER))
    spec(f"{_name}.dim", ANYTHING, dim("dim", dim_of("self")), KEEPDIM, result(TRUTH, REDUCED))
    spec(f"{_name}.dims", ANYTHING, optional(DIMS), KEEPDIM, result(TRUTH, REDUCED))


COUNTED = shaped(lambda self, dim: shape_without(self, dim, False), "shape(self) without dim")
spec("aten::count_nonzero", ANYTHING, optional(dim("dim", dim_of("self"))), result(Dtype.Eq("int64"), COUNTED))
spec("aten::count_nonzero.dim_IntList", ANYTHING, dims("dim", distinct_dims("self")),
     result(Dtype.Eq("int64"), COUNTED))  # fmt: skip
