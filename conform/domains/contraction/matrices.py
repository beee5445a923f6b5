"""Products of matrices, of stacks of them, and of vectors: the domains of their arguments."""

from __future__ import annotations

from collections.abc import Callable

from conform.domains.engine.arguments import Argument, optional, result, scalar, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Rank, Size
from conform.domains.engine.dtypes import is_integral
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space
from conform.domains.engine.vocabulary import (
    NO_COMPLEX_SEMANTICS,
    broadcast_sizes,
    dtype_common_to,
    dtype_of,
    not_complex_here,
    shaped,
    sized,
    weight_of,
)
from conform.domains.specs import REAL, spec

NO_KERNEL = "torch needs no kernel: the result has no elements, or its elements no terms"
OF_BOOLS = "torch takes bools, for which the documentation has no meaning"
PROMOTES = "torch promotes"
BROADCASTS = "torch takes a bias that broadcasts"
MULTIPLIES = "a 0-d operand is multiplied, and promotes"
Sizes = Space | tuple[int, ...]


def _operand(name: str, no_terms: Callable[..., bool], *constraints: Constraint) -> Argument:
    """The first operand, of any real dtype but bool, which torch takes where there is nothing to compute."""
    return tensor(name, not_complex_here(), Dtype.Ne("bool").unjudged(NO_KERNEL, no_terms), *constraints)


def _expanding(operand: MetaArgument, to: int) -> int | None:
    """The size of dim `to` of a tensor that expands, counted from the end; None where it says nothing."""
    return operand.size(to) if -to <= operand.rank and operand.size(to) != 1 else None


def _no_terms(mat1: MetaArgument, mat2: MetaArgument) -> bool:
    return 0 in (mat1.numel, mat2.numel)


def _factor(name: str, no_terms: Callable[..., bool]) -> Argument:
    """alpha or beta: as in add, but that torch truncates floats for integral matrices and takes bools as 0 and 1."""
    _, of_integers, of_reals = weight_of("self")
    return scalar(
        name,
        Dtype.Ne("complex").unjudged(NO_KERNEL, no_terms),
        Dtype.NotIn(lambda self: ("float",) if is_integral(self.dtype) else ()).unjudged("torch truncates it"),
        of_integers.unjudged(NO_KERNEL, no_terms),
        of_reals,
    )


def _kind_of_factor() -> Constraint:
    """As in add."""
    return weight_of("self")[0].unjudged("torch's kernels differ in the numbers that they convert")


def _factors(no_terms: Callable[..., bool]) -> tuple[Argument, Argument]:
    return _factor("beta", no_terms), _factor("alpha", no_terms)


# --- Matrices ---------------------------------------------------------------------------------------------------------

spec(
    "aten::mm",
    _operand("self", lambda self, mat2: 0 in (self.numel, mat2.numel), Rank.Eq(2)),
    tensor("mat2", dtype_of("self"), Rank.Eq(2), sized(lambda self: (self.size(1),), "{size(self, 1)} where d = 0")),
    result(dtype_of("self"), shaped(lambda self, mat2: (self.size(0), mat2.size(1)))),
)
spec(
    "aten::_int_mm",
    tensor("self", Dtype.Eq("int8").unjudged("torch takes uint8, too"), Rank.Eq(2)),
    tensor("mat2", Dtype.Eq("int8"), Rank.Eq(2), sized(lambda self: (self.size(1),), "{size(self, 1)} where d = 0")),
    result(Dtype.Eq("int32"), shaped(lambda self, mat2: (self.size(0), mat2.size(1)))),
)
spec(
    "aten::addmm",
    _operand("self", _no_terms, Rank.Le(2)),
    tensor(
        "mat1", dtype_of("self"), Rank.Eq(2),
        sized(lambda self: (_expanding(self, -2),), "{size(self, -2)} where d = 0, unless that is 1"),
    ),
    tensor(
        "mat2", dtype_of("self"), Rank.Eq(2),
        sized(
            lambda self, mat1: (mat1.size(1), _expanding(self, -1)),
            "{size(mat1, 1)} where d = 0, {size(self, -1)} where d = 1, unless that is 1",
        ),
    ),
    *_factors(_no_terms),
    result(dtype_of("self"), shaped(lambda mat1, mat2: (mat1.size(0), mat2.size(1)))),
)  # fmt: skip

# --- Stacks of matrices -----------------------------------------------------------------------------------------------


def _no_terms_of_stacks(batch1: MetaArgument, batch2: MetaArgument) -> bool:
    return 0 in (batch1.numel, batch2.numel)


spec(
    "aten::bmm",
    _operand("self", lambda self, mat2: 0 in (self.numel, mat2.numel), Rank.Eq(3)),
    tensor(
        "mat2", dtype_of("self").unjudged(NO_KERNEL, lambda self, mat2: 0 in (self.numel, mat2.numel)), Rank.Eq(3),
        sized(lambda self: (self.size(0), self.size(2)), "{size(self, 0)}, {size(self, 2)} where d < 2"),
    ),
    result(dtype_of("self"), shaped(lambda self, mat2: (*self.shape[:2], mat2.size(2)))),
)  # fmt: skip
spec(
    "aten::baddbmm",
    _operand("self", _no_terms_of_stacks, Rank.Le(3)),
    tensor(
        "batch1", dtype_of("self"), Rank.Eq(3),
        sized(
            lambda self: (_expanding(self, -3), _expanding(self, -2)),
            "{size(self, d - 3)} where d < 2, unless that is 1",
        ),
    ),
    tensor(
        "batch2", dtype_of("self"), Rank.Eq(3),
        sized(
            lambda self, batch1: (batch1.size(0), batch1.size(2), _expanding(self, -1)),
            "{size(batch1, 0)}, {size(batch1, 2)} where d < 2, {size(self, -1)} where d = 2, unless that is 1",
        ),
    ),
    *_factors(_no_terms_of_stacks),
    result(dtype_of("self"), shaped(lambda batch1, batch2: (*batch1.shape[:2], batch2.size(2)))),
)  # fmt: skip
spec(
    "aten::addbmm",
    _operand("self", _no_terms_of_stacks, Rank.Le(2)),
    tensor(
        "batch1", dtype_of("self"), Rank.Eq(3),
        sized(lambda self: (None, _expanding(self, -2)), "{size(self, -2)} where d = 1, unless that is 1"),
    ),
    tensor(
        "batch2", dtype_of("self"), Rank.Eq(3),
        sized(
            lambda self, batch1: (batch1.size(0), batch1.size(2), _expanding(self, -1)),
            "{size(batch1, 0)}, {size(batch1, 2)} where d < 2, {size(self, -1)} where d = 2, unless that is 1",
        ),
    ),
    *_factors(_no_terms_of_stacks),
    result(dtype_of("self"), shaped(lambda batch1, batch2: (batch1.size(1), batch2.size(2)))),
)  # fmt: skip

# --- Vectors ----------------------------------------------------------------------------------------------------------


def _no_terms_of_vector(mat: MetaArgument, vec: MetaArgument) -> bool:
    return 0 in (mat.numel, vec.numel)


spec(
    "aten::mv",
    _operand("self", lambda self, vec: 0 in (self.numel, vec.numel), Rank.Eq(2)),
    tensor("vec", dtype_of("self"), Rank.Eq(1), sized(lambda self: (self.size(1),), "{size(self, 1)}")),
    result(dtype_of("self"), shaped(lambda self: self.shape[:1])),
)
spec(
    "aten::addmv",
    _operand("self", _no_terms_of_vector, Rank.Le(1)),
    tensor(
        "mat", dtype_of("self"), Rank.Eq(2),
        sized(lambda self: (_expanding(self, -1),), "{size(self, 0)} where d = 0, unless that is 1"),
    ),
    tensor("vec", dtype_of("self"), Rank.Eq(1), sized(lambda mat: (mat.size(1),), "{size(mat, 1)}")),
    *_factors(_no_terms_of_vector),
    result(dtype_of("self"), shaped(lambda mat: mat.shape[:1])),
)  # fmt: skip
spec(
    "aten::dot",
    _operand("self", lambda self: self.numel == 0, Rank.Eq(1)),
    tensor("tensor", dtype_of("self"), Rank.Eq(1), sized(lambda self: self.shape, "{size(self, 0)}")),
    result(dtype_of("self"), shaped(lambda self: ())),
)
spec(
    "aten::vdot",
    _operand("self", lambda self: self.numel == 0, Rank.Eq(1)),
    tensor("other", dtype_of("self"), Rank.Eq(1), sized(lambda self: self.shape, "{size(self, 0)}")),
    result(dtype_of("self"), shaped(lambda self: ())),
)
spec(
    "aten::outer",
    tensor("self", Dtype.In(REAL).lenient(NO_COMPLEX_SEMANTICS), Rank.Eq(1)),
    tensor("vec2", Dtype.In(REAL).lenient(NO_COMPLEX_SEMANTICS), Rank.Eq(1)),
    result(dtype_common_to("self", "vec2"), shaped(lambda self, vec2: (self.size(0), vec2.size(0)))),
)
spec(
    "aten::addr",
    tensor("self", not_complex_here(), Dtype.Ne("bool").unjudged(OF_BOOLS), Rank.Le(2)),
    tensor(
        "vec1", dtype_of("self").unjudged(PROMOTES), Rank.Eq(1),
        sized(lambda self: (_expanding(self, -2),), "{size(self, -2)}, unless that is 1"),
    ),
    tensor(
        "vec2", dtype_of("self").unjudged(PROMOTES), Rank.Eq(1),
        sized(lambda self: (_expanding(self, -1),), "{size(self, -1)}, unless that is 1"),
    ),
    *[scalar(name, _kind_of_factor(), weight_of("self")[1:]) for name in ("beta", "alpha")],
    result(dtype_of("self"), shaped(lambda vec1, vec2: (vec1.size(0), vec2.size(0)))),
)  # fmt: skip

# --- Any number of dims -----------------------------------------------------------------------------------------------


def _last(operand: MetaArgument) -> int:
    return operand.size(-1)


spec(
    "aten::linear",
    _operand("input", lambda input, weight: 0 in (input.numel, weight.numel), Rank.Ge(1)),
    tensor(
        "weight", dtype_of("input"), Rank.Eq(2).unjudged("torch takes one of one dim, without bias"),
        sized(lambda input: (None, _last(input)), "{size(input, -1)} where d = 1"),
    ),
    optional(
        tensor(
            "bias", dtype_of("input"), Rank.Eq(1).unjudged(BROADCASTS),
            sized(lambda weight: (weight.size(0),), "{size(weight, 0)}").unjudged(BROADCASTS),
        )
    ),
    result(dtype_of("input"), shaped(lambda input, weight: (*input.shape[:-1], *weight.shape[:-1]))),
)  # fmt: skip


spec(
    "aten::inner",
    _operand("self", lambda self, other: 0 in (self.numel, other.numel, self.rank, other.rank)),
    tensor(
        "other", dtype_of("self").unjudged(MULTIPLIES, lambda self, other: 0 in (self.rank, other.rank)),
        Size.In(
            lambda self, rank, d: (_last(self),) if self.rank and d == rank - 1 else ANYTHING,
            text="{size(self, -1)} where d = rank(other) - 1, of a self with dims",
        ),
    ),
    result(
        dtype_of("self"),
        shaped(lambda self, other: (
            (*self.shape[:-1], *other.shape[:-1]) if self.rank and other.rank else self.shape or other.shape
        )),
    ),
)  # fmt: skip


def _of_matmul(self: MetaArgument, rank: int, d: int) -> Sizes:
    """{size(self, -1)} where d = max(rank - 2, 0); where d < rank - 2, {1, size(self, d - rank)}"""
    if d == max(rank - 2, 0):
        return (_last(self),)
    at = d - rank
    return (1, self.size(at)) if at < -2 and -at <= self.rank and self.size(at) != 1 else ANYTHING


def _product_shape(self: MetaArgument, other: MetaArgument) -> tuple[int, ...]:
    batch = broadcast_sizes(self.shape[:-2], other.shape[:-2])
    return (*batch, *self.shape[-2:-1], *(other.shape[-1:] if other.rank > 1 else ()))


spec(
    "aten::matmul",
    _operand("self", lambda self, other: 0 in (self.numel, other.numel), Rank.Ge(1)),
    tensor("other", dtype_of("self"), Rank.Ge(1), Size.In(_of_matmul)),
    result(dtype_of("self"), shaped(_product_shape)),
)


def _kron_shape(self: MetaArgument, other: MetaArgument) -> tuple[int, ...]:
    rank = max(self.rank, other.rank)
    own, its = ((1,) * (rank - one.rank) + one.shape for one in (self, other))
    return tuple(a * b for a, b in zip(own, its, strict=True))


spec(
    "aten::kron",
    tensor("self", Dtype.In(REAL).lenient(NO_COMPLEX_SEMANTICS)),
    tensor("other", Dtype.In(REAL).lenient(NO_COMPLEX_SEMANTICS)),
    result(dtype_common_to("self", "other"), shaped(_kron_shape)),
)
