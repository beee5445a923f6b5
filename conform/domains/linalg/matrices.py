"""What the arguments of systems and factors are: stacks of square matrices, and of right sides that fit these."""

from __future__ import annotations

from collections.abc import Callable

from conform.domains.engine.arguments import Argument, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Rank, Size
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space
from conform.domains.engine.vocabulary import broadcast_sizes, dtype_of

DTYPES = ("float32", "float64", "complex64", "complex128")
ROWS = (1, 2, 3, 4, 5, 6, 7, 8)  # preferably: what is wrong shows in few, and an exact solution of many takes long
Sizes = Space | tuple[int, ...]

NO_KERNEL = "torch needs no kernel where there are no elements"
SQUARE = Size.In(
    lambda rank, d, sizes: (sizes[d - 1],) if d == rank - 1 and sizes else ANYTHING,
    text="{size d - 1} where d is the last dim",
)


def _of_dtypes(no_elements: Callable[..., bool]) -> Constraint:
    return Dtype.In(DTYPES).unjudged(NO_KERNEL, no_elements)


def matrix(
    name: str, no_elements: Callable[..., bool] = lambda self: self.numel == 0, *constraints: Constraint
) -> Argument:  # fmt: skip
    """A stack of square matrices, of torch's dtypes of linear algebra."""
    return tensor(name, _of_dtypes(no_elements), *constraints, Rank.Ge(2), SQUARE, Size.Be(ROWS))


def any_matrix(name: str, no_elements: Callable[..., bool] = lambda self: self.numel == 0) -> Argument:
    """A stack of matrices, of torch's dtypes of linear algebra."""
    return tensor(name, _of_dtypes(no_elements), Rank.Ge(2), Size.Be(ROWS))


def right_sides(name: str) -> Argument:
    """Stacks of matrices whose columns are right sides of systems."""
    return any_matrix(name)


def matrix_of(name: str, sides: str) -> Argument:
    """The matrices of systems whose right sides are the tensor `sides`, before it in the schema."""
    rows = Size.In(
        lambda one, rank, d: (one.shape[-2],) if one.rank > 1 and d >= rank - 2 else ANYTHING,
        (sides, "rank", "d"),
        f"{{size({sides}, -2)}} of the last two dims",
    )
    return tensor(name, dtype_of(sides), Rank.Ge(2), stack_beside(sides), rows)


def stack_beside(matrices: str) -> Constraint:
    """Dims before the last two broadcast with those of a stack of matrices."""
    return Size.In(
        lambda one, rank, d: batch_beside(one, rank, d),
        (matrices, "rank", "d"),
        f"{{1, size({matrices}, d)}} before the last two dims, counted from the end",
    )


def batch_beside(one: MetaArgument, rank: int, d: int) -> Sizes:
    """What broadcasts with dim d, of `rank`, of a stack of matrices; anything of their last two."""
    place = d - rank
    if place >= -2 or -place > one.rank or one.shape[place] == 1:
        return ANYTHING
    return (1, one.shape[place])


def rows_of(matrices: str, left: str | None = None) -> Constraint:
    """As many rows, or columns where the argument `left` is False, as a matrix of the stack has."""

    def allowed(one: MetaArgument, rank: int, d: int, is_left: bool = True) -> Sizes:
        return (one.shape[-1],) if one.rank and d == rank - (2 if is_left else 1) else ANYTHING

    names = (matrices, "rank", "d", *([left] if left else []))
    which = f"where d is the last dim but one, or the last where {left} is False" if left else "of the last dim but one"
    return Size.In(allowed, names, f"{{size({matrices}, -1)}} {which}")


def stacked(matrices: MetaArgument, sides: MetaArgument) -> tuple[int, ...]:
    """The shape of the solution of a stack of systems."""
    return (*broadcast_sizes(matrices.shape[:-2], sides.shape[:-2]), *sides.shape[-2:])
