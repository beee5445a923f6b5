"""Bilinear maps, and products of three tensors: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import Argument, dim, dims, optional, result, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Length, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, INTEGERS, Space
from conform.domains.engine.vocabulary import dtype_of, shaped, sized
from conform.domains.specs import FLOATS, spec

Sizes = Space | tuple[int, ...]
OTHER_DTYPES = "torch's documentation has layers of floats, and its kernels of sums take other numbers"
PROMOTES = "torch promotes"
BROADCASTS = "torch takes a bias that broadcasts"


def _is_empty(input1: MetaArgument, input2: MetaArgument, weight: MetaArgument) -> bool:
    return 0 in (input1.numel, input2.numel, weight.numel)


def _has_terms() -> Constraint:
    sizes = INTEGERS.narrowed("Ge", 1)
    one = Size.In(lambda rank, d: sizes if d == rank - 1 else ANYTHING, text="[1, inf) where d is the last dim")
    return one.lenient("without terms there is bias alone")


spec(
    "aten::bilinear",
    tensor("input1", Dtype.In(FLOATS).unjudged(OTHER_DTYPES), Rank.Ge(1), _has_terms()),
    tensor(
        "input2", dtype_of("input1").unjudged(PROMOTES, _is_empty), Rank.Eq(lambda input1: input1.rank),
        sized(lambda input1: input1.shape[:-1], "size(input1, d), of all but the last d"), _has_terms(),
    ),
    tensor(
        "weight", dtype_of("input1").unjudged(PROMOTES, _is_empty), Rank.Eq(3),
        sized(lambda input1, input2: (None, input1.size(-1), input2.size(-1)),
              "size(input1, -1) where d = 1, size(input2, -1) where d = 2"),
    ),
    optional(
        tensor(
            "bias", dtype_of("input1").unjudged(PROMOTES), Rank.Eq(1).unjudged(BROADCASTS),
            sized(lambda weight: (weight.size(0),), "size(weight, 0)").unjudged(BROADCASTS),
        )
    ),
    result(dtype_of("input1"), shaped(lambda input1, weight: (*input1.shape[:-1], weight.size(0)))),
)  # fmt: skip


# --- _trilinear -------------------------------------------------------------------------------------------------------

FROM_THE_END = "torch counts it from the end"
UNSEEN = "torch looks at the dims that it uses"
OTHER_KERNELS = "kernels differ in the dtypes that they take, and round half types on the way"
REPEATS = "torch repeats what has size 1"


def _rank(i1: MetaArgument, expand1: tuple[int, ...]) -> int:
    return i1.rank + len(expand1)


def _dims(name: str, *constraints: object) -> Argument:
    """Dims of all together, none of them twice."""
    return dims(
        name,
        *constraints,
        Value.Ge(0).unjudged(FROM_THE_END),
        Value.Lt(_rank, text="rank(i1) + length(expand1)"),
        Value.NotIn(lambda previous: previous, text="those before it"),
    )


def _own(rank: int, expanded: tuple[int, ...]) -> list[int]:
    """The dims that a tensor has itself."""
    return [d for d in range(rank) if d not in expanded]


def _sizes(pairs: list[tuple[MetaArgument, tuple[int, ...]]], rank: int) -> dict[int, int]:
    """Those of the dims that some of the tensors have."""
    return {
        d: size for one, expanded in pairs for d, size in zip(_own(rank, expanded), one.shape, strict=False)
    }  # fmt: skip


def _beside_i1(i1: MetaArgument, expand1: tuple[int, ...], expand2: tuple[int, ...], d: int) -> Sizes:
    """the size of i1 there, if it has that dim"""
    rank = _rank(i1, expand1)
    own, known = _own(rank, expand2), _sizes([(i1, expand1)], rank)
    return (known[own[d]],) if d < len(own) and own[d] in known else ANYTHING


def _beside_both(
    i1: MetaArgument, i2: MetaArgument, expand1: tuple[int, ...], expand2: tuple[int, ...], expand3: tuple[int, ...],
    d: int,
) -> Sizes:  # fmt: skip
    """the size of i1 or i2 there"""
    rank = _rank(i1, expand1)
    own, known = _own(rank, expand3), _sizes([(i1, expand1), (i2, expand2)], rank)
    return (known[own[d]],) if d < len(own) and own[d] in known else ANYTHING


def _shape(
    i1: MetaArgument, i2: MetaArgument, i3: MetaArgument, expand1: tuple[int, ...], expand2: tuple[int, ...],
    expand3: tuple[int, ...], sumdim: tuple[int, ...],
) -> list[int]:  # fmt: skip
    rank = _rank(i1, expand1)
    sizes = _sizes([(i1, expand1), (i2, expand2), (i3, expand3)], rank)
    return [sizes[d] for d in range(rank) if d not in sumdim and d in sizes]


def _in_both(expand1: tuple[int, ...], expand2: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(d for d in expand1 if d in expand2)


REST = "rank(i1) + length(expand1) - length({})"
spec(
    "aten::_trilinear",
    tensor(
        "i1", Dtype.In(("float32", "float64")).unjudged(OTHER_KERNELS), Rank.Ge(1).unjudged(UNSEEN), Rank.Be((1, 2, 3))
    ),
    tensor(
        "i2", dtype_of("i1").unjudged(PROMOTES),
        Rank.Eq(lambda i1, expand1, expand2: _rank(i1, expand1) - len(expand2), text=REST.format("expand2"))
        .unjudged(UNSEEN),
        Size.In(_beside_i1).unjudged(REPEATS),
    ),
    tensor(
        "i3", dtype_of("i1").unjudged(PROMOTES),
        Rank.Eq(lambda i1, expand1, expand3: _rank(i1, expand1) - len(expand3), text=REST.format("expand3"))
        .unjudged(UNSEEN),
        Size.In(_beside_both).unjudged(REPEATS),
    ),
    dims(
        "expand1",
        Length.Le(2).unjudged("a limit of what is generated, not of the op"),
        Value.Ge(0).unjudged(FROM_THE_END),
        Value.Lt(lambda i1, length: i1.rank + length, text="rank(i1) + length(expand1)"),
        Value.NotIn(lambda previous: previous, text="those before it"),
    ),
    _dims("expand2", Length.Le(_rank, text="rank(i1) + length(expand1)"), Length.Be((0, 1, 2))),
    _dims(
        "expand3",
        Length.Le(
            lambda i1, expand1, expand2: _rank(i1, expand1) - len(_in_both(expand1, expand2)),
            text="the number of dims that are not in expand1 and expand2",
        ),
        Length.Be((0, 1, 2)),
        Value.NotIn(_in_both, text="those in expand1 and expand2").unjudged(UNSEEN),
    ),
    _dims("sumdim", Length.Le(_rank, text="rank(i1) + length(expand1)"), Length.Be((0, 1, 2))),
    dim("unroll_dim", Value.Ge(0), Value.Lt(_rank, text="rank(i1) + length(expand1)")),
    result(dtype_of("i1"), shaped(_shape)),
)  # fmt: skip
