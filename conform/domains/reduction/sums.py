"""Reductions and scans: the domains of their arguments."""

from __future__ import annotations

import math

from conform.domains.engine.arguments import Argument, boolean, dim, dims, dtype, optional, result, scalar, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Length, Rank, Value
from conform.domains.engine.dtypes import is_integral, promote
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, REALS, Space
from conform.domains.engine.vocabulary import (
    NO_COMPLEX_SEMANTICS,
    dim_of,
    distinct_dims,
    dtype_of,
    real_dtype_common_to,
    shape_of,
    shaped,
)
from conform.domains.specs import COMPLEX, FLOATS, INTEGERS, spec
from conform.numerics.draws import Stream

KEEPDIM = boolean("keepdim")
DIMS = dims("dim", distinct_dims("self"))
NUMBER = (Rank.Eq(0),)  # the shape of what all dimensions are reduced to


def shape_without(self: MetaArgument, dim: int | tuple[int, ...] | None, keepdim: bool) -> tuple[int, ...]:
    """self's shape without the dims that are reduced, or with 1 for each; None and an empty list are all dims."""
    axes = _axes(self, dim)
    return tuple(1 if d in axes else size for d, size in enumerate(self.shape) if keepdim or d not in axes)


def _axes(self: MetaArgument, dim: int | tuple[int, ...] | None) -> set[int]:
    given = (dim,) if isinstance(dim, int) else dim or range(self.rank)
    return {one % max(self.rank, 1) for one in given}


REDUCED = shaped(shape_without, "shape(self) without dim")


# --- Sums and products ------------------------------------------------------------------------------------------------

ANY = tensor("self", Dtype.NotIn(COMPLEX).unjudged(NO_COMPLEX_SEMANTICS))
INTO = optional(dtype("dtype", Value.NotIn(COMPLEX).unjudged(NO_COMPLEX_SEMANTICS)))
# int64 for bools and integers, unless another is asked for.
SUMMED = Dtype.Eq(lambda self, dtype: dtype or ("int64" if is_integral(self.dtype) else self.dtype))

spec("aten::sum", ANY, INTO, result(SUMMED, NUMBER))
spec("aten::sum.dim_IntList", ANY, optional(DIMS), KEEPDIM, INTO, result(SUMMED, REDUCED))
spec("aten::nansum", ANY, optional(DIMS), KEEPDIM, INTO, result(SUMMED, REDUCED))
spec("aten::prod", ANY, INTO, result(SUMMED, NUMBER))
spec("aten::prod.dim_int", ANY, dim("dim", dim_of("self")), KEEPDIM, INTO, result(SUMMED, REDUCED))
for _name in ("aten::cumsum", "aten::cumprod"):
    spec(
        _name,
        ANY,
        dim("dim", dim_of("self")),
        optional(
            dtype(
                "dtype",
                Value.Ne("bool").unjudged("torch copies", lambda self: self.numel == 0 or self.rank == 0),
                Value.NotIn(COMPLEX).lenient(NO_COMPLEX_SEMANTICS),
            )
        ),
        result(SUMMED, shape_of("self")),
    )
spec(
    "aten::logsumexp",
    ANY,
    dims("dim", distinct_dims("self"), Length.Ge(1).unjudged("P56: not judged")),
    KEEPDIM,
    result(real_dtype_common_to("self"), REDUCED),
)

spec(
    "aten::logcumsumexp",
    tensor(
        "self",
        Dtype.NotIn(("bool", *INTEGERS)).unjudged("no elements need no kernel", lambda self: self.numel == 0),
        Dtype.NotIn(COMPLEX).unjudged(NO_COMPLEX_SEMANTICS),
    ),
    dim("dim", dim_of("self")),
    result(dtype_of("self"), shape_of("self")),
)

# --- Mean, variance and standard deviation ----------------------------------------------------------------------------

FLOAT = tensor("self", Dtype.NotIn(("bool", *INTEGERS)), Dtype.NotIn(COMPLEX).unjudged(NO_COMPLEX_SEMANTICS))
# Integers have a mean in a float dtype alone.
MEANT = tensor(
    "self",
    Dtype.NotIn(lambda dtype: () if dtype else ("bool", *INTEGERS)),
    Dtype.NotIn(COMPLEX).unjudged(NO_COMPLEX_SEMANTICS),
)
FLOATING = Value.NotIn(("bool", *INTEGERS))
NOT_COMPLEX = Value.NotIn(COMPLEX).unjudged(NO_COMPLEX_SEMANTICS)
INTO_FLOAT = optional(dtype("dtype", FLOATING, NOT_COMPLEX))
MEAN = Dtype.Eq(lambda self, dtype: dtype or self.dtype)

spec("aten::mean", MEANT, INTO_FLOAT, result(MEAN, NUMBER))
spec("aten::mean.dim", MEANT, optional(DIMS), KEEPDIM, INTO_FLOAT, result(MEAN, REDUCED))

spec(
    "aten::nanmean",
    FLOAT,
    optional(DIMS),
    KEEPDIM,
    optional(
        dtype("dtype", FLOATING.unjudged("no elements need no kernel", lambda self: self.numel == 0), NOT_COMPLEX)
    ),
    result(MEAN, REDUCED),
)

UNBIASED = boolean("unbiased")
CORRECTION = optional(scalar("correction", Dtype.Ne("complex")))

for _name in ("aten::var", "aten::std"):
    spec(_name, FLOAT, UNBIASED, result(dtype_of("self"), NUMBER))
    spec(f"{_name}.dim", FLOAT, optional(DIMS), UNBIASED, KEEPDIM, result(dtype_of("self"), REDUCED))
    spec(f"{_name}.correction", FLOAT, optional(DIMS), CORRECTION, KEEPDIM, result(dtype_of("self"), REDUCED))

SPREAD_OR_MEAN = result(dtype_of("self"), REDUCED)
for _name in ("aten::var_mean", "aten::std_mean"):
    spec(f"{_name}.correction", FLOAT, optional(DIMS), CORRECTION, KEEPDIM, SPREAD_OR_MEAN, SPREAD_OR_MEAN)

# --- Norms ------------------------------------------------------------------------------------------------------------

_ORDERS = {
    "bool": (False, True),
    "int": (2, 0, 1, 3, -1),
    "float": (2.0, 0.0, 0.5, 1.0, 2.5, 3.0, math.inf, -math.inf, -1.0, -2.5),
    "complex": (1 + 1j,),  # which every norm refuses
}


def _reduces_nothing(self: MetaArgument, dim: tuple[int, ...] | None = None) -> bool:
    """Whether the norms are of no elements."""
    return any(self.shape[axis] == 0 for axis in _axes(self, dim) if self.rank)


def _orders(*reduced: object) -> Space:
    """[0, inf) where the norms are of no elements, whose other orders have no identity (P60)."""
    return REALS.narrowed("Ge", 0) if _reduces_nothing(*reduced) else ANYTHING


def _an_order(stream: Stream, own: MetaArgument, *reduced: object) -> int | float:
    """One of `_ORDERS`; infinite ones are in no space of numbers."""
    orders = [one for one in _ORDERS[own.dtype] if one in _orders(*reduced)]
    return orders[int(stream.integers(0, len(orders) - 1, 1)[0])]


def _order(name: str, *reduced: str) -> Argument:
    """The order of norms of the tensor `reduced[0]` over the dims `reduced[1]`."""
    return scalar(name, Dtype.Ne("complex"), *_order_of(*reduced))


def _order_of(*reduced: str) -> tuple[Constraint, ...]:
    return (
        Value.In(_orders, reduced, "[0, inf) where the norms are of no elements"),
        Value.Gen(_an_order, ("stream", "", *reduced), "order"),
    )


spec(
    "aten::linalg_vector_norm",
    FLOAT,
    _order("ord", "self", "dim"),
    optional(DIMS),
    KEEPDIM,
    optional(
        dtype(
            "dtype",
            Value.NotIn(("bool", *INTEGERS)),
            Value.NotIn(COMPLEX).unjudged(NO_COMPLEX_SEMANTICS),
            Value.NotIn(
                lambda self: [one for one in FLOATS if self.dtype in FLOATS and promote(one, self.dtype) != one],
                text="floats that do not hold those of dtype(self)",
            ),
        )
    ),
    result(MEAN, REDUCED),
)
spec("aten::norm.Scalar", FLOAT, _order("p", "self"), result(dtype_of("self"), NUMBER))
spec(
    "aten::norm.ScalarOpt_dim",
    FLOAT,
    optional(_order("p", "self", "dim")),
    DIMS,
    KEEPDIM,
    result(dtype_of("self"), REDUCED),
)
