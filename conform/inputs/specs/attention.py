"""Attention: the domains of its arguments."""

from __future__ import annotations

from conform.inputs.engine.arguments import boolean, optional, real, result, tensor
from conform.inputs.engine.constraints import Constraint, Dtype, Optional, Rank, Size, Value
from conform.inputs.engine.meta_argument import MetaArgument
from conform.inputs.engine.spaces import ANYTHING, INTEGERS, Space
from conform.inputs.engine.vocabulary import dtype_of, shaped
from conform.inputs.specs.registry import FLOATS, spec

# query [..., heads, L, E], key [..., heads, S, E] and value [..., heads, S, V]
HEADS, ROWS, COLUMNS = -3, -2, -1

MATRICES = Rank.Ge(lambda enable_gqa: 3 if enable_gqa else 2)
GROUPED = "without dimensions of heads there is nothing to repeat"
NOT_JUDGED = "P69: sums over no keys, or of keys without elements, are not judged"


def at_least_1_at(*places: int) -> Constraint:
    return Size.Ge(
        lambda rank, d: int(d - rank in places), text=f"1 for d = {' and '.join(str(place) for place in places)}"
    ).lenient(NOT_JUDGED)


def leading_like(*others: str) -> tuple[Constraint, ...]:
    """Leading sizes broadcast with those of the operands; with enable_gqa the heads divide those of query, the first."""
    return tuple(
        Size.In(
            lambda operand, enable_gqa, rank, d, is_query=other == "query": _leading_sizes(
                operand, d - rank, enable_gqa, is_query
            ),
            (other, "enable_gqa", "rank", "d"),
            f"{{1, size({other}, d)}} for d < -2"
            + ("; divisors of size(query, -3) for d = -3 and enable_gqa" if other == "query" else ""),
        )
        for other in others
    )


def _leading_sizes(
    operand: MetaArgument, place: int, enable_gqa: bool, is_query: bool
) -> Space | tuple[int, ...]:
    if place >= ROWS or -place > operand.rank:
        return ANYTHING
    if enable_gqa and place == HEADS:
        return _divisors(operand.shape[HEADS]) if is_query else ANYTHING
    return (1, operand.shape[place]) if operand.shape[place] != 1 else ANYTHING


def _divisors(heads: int) -> Space | tuple[int, ...]:
    """How many heads can be repeated to so many."""
    return tuple(one for one in range(1, heads + 1) if heads % one == 0) or INTEGERS.narrowed("Ge", 1)


def size_at(place: int, operand: str) -> Constraint:
    """The size of the operand there."""
    return Size.In(
        lambda other, rank, d: (_size(other, place),) if d - rank == place else ANYTHING,
        (operand, "rank", "d"),
        f"{{size({operand}, {place})}} for d = {place}",
    )


def _size(operand: MetaArgument, place: int) -> int:
    return operand.shape[place] if operand.rank >= -place else 1


def _scores(
    query: MetaArgument, key: MetaArgument, value: MetaArgument, enable_gqa: bool
) -> tuple[int, ...]:
    """The shape of query @ key^T, [..., L, S], which is broadcast to that of value too."""
    rank = max(query.rank, key.rank, value.rank)
    leading = [_broadcast_size(place, query, key, value) for place in range(-rank, ROWS)]
    if enable_gqa:
        leading[-1] = query.shape[HEADS]
    return (*leading, query.shape[ROWS], key.shape[ROWS])


def _broadcast_size(place: int, *operands: MetaArgument) -> int:
    sizes = {operand.shape[place] for operand in operands if -place <= operand.rank} - {1}
    return sizes.pop() if sizes else 1


def _sizes_of_mask(scores: tuple[int, ...], place: int) -> Space | tuple[int, ...]:
    return (1, scores[place]) if -place <= len(scores) else ANYTHING


FLOAT = Dtype.In(FLOATS)

spec(
    "aten::scaled_dot_product_attention",
    tensor("query", FLOAT, MATRICES.lenient(GROUPED, lambda query: query.rank >= 2), at_least_1_at(COLUMNS)),
    tensor(
        "key",
        dtype_of("query"),
        MATRICES.lenient(GROUPED, lambda key: key.rank >= 2),
        at_least_1_at(ROWS),
        size_at(COLUMNS, "query"),
        leading_like("query"),
    ),
    tensor(
        "value",
        dtype_of("query"),
        MATRICES.lenient(GROUPED, lambda value: value.rank >= 2),
        size_at(ROWS, "key"),
        leading_like("query", "key"),
    ),
    optional(
        tensor(
            "attn_mask",
            Dtype.In(lambda query: ("bool", "float32", query.dtype), text="{bool, float32, dtype(query)}"),
            Rank.Ge(2).lenient("one of torch's kernels broadcasts any"),
            Rank.Le(
                lambda query, key, value: max(query.rank, key.rank, value.rank),
                text="max(rank(query), rank(key), rank(value))",
            ),
            Size.In(
                lambda query, key, value, enable_gqa, rank, d: _sizes_of_mask(
                    _scores(query, key, value, enable_gqa), d - rank
                ),
                text="{1, size of the scores [..., L, S] at d}",
            ),
        ),
        Optional.NotIn(lambda is_causal: (False,) if is_causal else (), text="{False} where is_causal"),
    ),
    real("dropout_p", Value.Eq(0.0).lenient("P69: what is dropped is drawn")),
    boolean("is_causal"),
    optional(real("scale")),
    boolean("enable_gqa"),
    result(
        dtype_of("query"),
        shaped(
            lambda query, key, value, enable_gqa: (*_scores(query, key, value, enable_gqa)[:-1], value.shape[COLUMNS]),
            "[..., L, V]",
        ),
    ),
)
