"""einsum: the domain of its arguments. The equation comes first, and the tensors have the dimensions that it labels."""

from __future__ import annotations

from collections.abc import Sequence

from conform.call.subscripts import equation as read
from conform.domains.engine.arguments import integers, optional, result, string, tensors
from conform.domains.engine.constraints import Dtype, Length, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, INTEGERS, Space
from conform.domains.engine.vocabulary import not_complex_here, shaped
from conform.domains.specs import INTEGERS as INTEGER_DTYPES
from conform.domains.specs import spec
from conform.numerics.draws import Stream

Tensors = Sequence[MetaArgument]
EQUATIONS = (
    "ij,jk->ik", "bij,bjk->bik", "i,j->ij", "ii->i", "ii", "ij->ji", "ij->", "i,i", "bhqd,bhkd->bhqk", "bn,anm,bm->ba",
    "...ij,...jk->...ik", "ij,kj", "ijk,ij->k", "i,ij,j->",
)  # fmt: skip

SMALL = tuple(one for one in INTEGER_DTYPES if one != "int64")
OF_WORK = "an order of work, which other lists may say as well"


def _drawn(stream: Stream) -> str:
    return EQUATIONS[int(stream.integers(0, len(EQUATIONS) - 1, 1)[0])]


def _count(equation: str) -> tuple[int, ...]:
    """the number of operands of the equation"""
    found = read(equation)
    return () if found is None else (len(found.operands),)


def _ranks(equation: str, i: int) -> Space | tuple[int, ...]:
    """the number of subscripts of operand i, or more with an ellipsis"""
    found = read(equation)
    if found is None or i >= len(found.operands):
        return ()
    letters = len(found.letters(i))
    return INTEGERS.narrowed("Ge", letters) if found.has_ellipsis(i) else (letters,)


def _labels(equation: str, ranks: Sequence[int]) -> list[list[str]]:
    """Those of the first operands, of so many dimensions."""
    found = read(equation)
    return type(found)(found.operands[: len(ranks)], found.result).labels(ranks)[0]


def _sizes(equation: str, previous: Tensors, rank: int, d: int, sizes: tuple[int, ...]) -> Space | tuple[int, ...]:
    """that of the label in this operand, else 1 or that in those before it"""
    labels = _labels(equation, [*(one.rank for one in previous), rank])
    own = labels[-1]
    if own[d] in own[:d]:
        return (sizes[own.index(own[d])],)
    beside = {
        size
        for one, others in zip(previous, labels[:-1], strict=True)
        for label, size in zip(others, one.shape, strict=True)
        if label == own[d]
    } - {1}
    return (1, *beside) if beside else ANYTHING


def _dtype_of_first(previous: Tensors) -> Space | tuple[str, ...]:
    """that of those before it"""
    return (previous[0].dtype,) if previous else ANYTHING


def _steps(tensors: Tensors) -> int:
    return max(2 * (len(tensors) - 1), 1)


def _shape(equation: str, tensors: Tensors) -> tuple[int, ...]:
    labels, of_result = read(equation).labels([one.rank for one in tensors])
    pairs = [pair for own, one in zip(labels, tensors, strict=True) for pair in zip(own, one.shape, strict=True)]
    return tuple(next((size for label, size in pairs if label == wanted and size != 1), 1) for wanted in of_result)


spec(
    "aten::einsum",
    string("equation", Value.Gen(_drawn)),
    tensors(
        "tensors",
        Length.In(_count),
        not_complex_here(),
        Dtype.In(_dtype_of_first).unjudged("torch's kernels differ in what they promote"),
        Dtype.NotIn(("bool", *SMALL)).unjudged("torch adds up in int64 what is a sum, and not what is a product"),
        Rank.In(_ranks),
        Size.In(_sizes),
    ),
    optional(
        integers(
            "path",
            Length.Eq(_steps, text="2 (length(tensors) - 1), 1 of one tensor").unjudged(OF_WORK),
            Value.Eq(lambda i: i % 2, text="i modulo 2").unjudged(OF_WORK),
        )
    ),
    result(Dtype.Eq(lambda tensors: tensors[0].dtype, text="dtype(tensors[0])"), shaped(_shape)),
)
