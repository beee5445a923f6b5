"""Attention: the domains of its arguments."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from conform.domains.engine.arguments import Argument, boolean, optional, real, result, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Optional, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, INTEGERS, Space
from conform.domains.engine.vocabulary import divisors, dtype_of, shape_of, shaped, sized
from conform.domains.specs import FLOATS, spec

# query [..., heads, L, E], key [..., heads, S, E] and value [..., heads, S, V]
HEADS, ROWS, COLUMNS = -3, -2, -1

MATRICES = Rank.Ge(lambda enable_gqa: 3 if enable_gqa else 2)
GROUPED = "without dimensions of heads there is nothing to repeat"
OF_NONE = (
    "where an operand has no elements, torch gives zeros of query's leading sizes and looks at nothing else",
    lambda query, key, value: 0 in (query.numel, key.numel, value.numel),
)
NOT_JUDGED = "P69: sums over no keys, or of keys without elements, are not judged"


def at_least_1_at(*places: int) -> Constraint:
    return Size.Ge(
        lambda rank, d: int(d - rank in places), text=f"1 for d = {' and '.join(str(place) for place in places)}"
    ).unjudged(NOT_JUDGED)


def leading_like(*others: str) -> tuple[Constraint, ...]:
    """Leading sizes broadcast with those of the operands; with enable_gqa heads divide those of query, the first."""
    return tuple(
        Size.In(
            lambda operand, enable_gqa, rank, d, is_query=other == "query": _leading_sizes(
                operand, d - rank, enable_gqa, is_query
            ),
            (other, "enable_gqa", "rank", "d"),
            f"{{1, size({other}, d)}} for d < -2"
            + ("; divisors of size(query, -3) for d = -3 and enable_gqa" if other == "query" else ""),
        ).unjudged(*OF_NONE)
        for other in others
    )


def _leading_sizes(operand: MetaArgument, place: int, enable_gqa: bool, is_query: bool) -> Space | tuple[int, ...]:
    if place >= ROWS or -place > operand.rank:
        return ANYTHING
    if enable_gqa and place == HEADS:
        return _divisors(operand.shape[HEADS]) if is_query else ANYTHING
    return (1, operand.shape[place]) if operand.shape[place] != 1 else ANYTHING


def _divisors(heads: int) -> Space | tuple[int, ...]:
    """How many heads can be repeated to so many."""
    return divisors(heads) if heads else INTEGERS.narrowed("Ge", 1)


def _leading_beside_none(query: MetaArgument, rank: int, d: int) -> Space | tuple[int, ...]:
    """{1, size(query, d)} where query has no elements, else {1, 2, ...}, for d < -2"""
    place = d - rank
    if place >= ROWS:
        return ANYTHING
    if query.numel:
        return INTEGERS.narrowed("Ge", 1)
    return (1, query.shape[place]) if -place <= query.rank else (1,)


def _columns(query: MetaArgument, key: MetaArgument, rank: int, d: int, sizes: tuple[int, ...]) -> Space:
    """{1, 2, ...} for d = -1 where key or value have leading sizes that query has not"""
    if d < rank - 1:
        return ANYTHING
    leading = query.shape[:ROWS]
    others = (key.shape[:ROWS], sizes[:-1])
    return INTEGERS.narrowed("Ge", int(any(_extends(shape, leading) for shape in others)))


def _extends(shape: tuple[int, ...], leading: tuple[int, ...]) -> bool:
    """Whether a shape that broadcasts with `leading` has dims or sizes that it has not."""
    beside = zip(reversed(shape), reversed(leading), strict=False)
    return len(shape) > len(leading) or any(size != 1 and its == 1 for size, its in beside)


def size_at(place: int, operand: str) -> Constraint:
    """The size of the operand there."""
    return Size.In(
        lambda other, rank, d: (_size(other, place),) if d - rank == place else ANYTHING,
        (operand, "rank", "d"),
        f"{{size({operand}, {place})}} for d = {place}",
    ).unjudged(*OF_NONE)


def _size(operand: MetaArgument, place: int) -> int:
    return operand.shape[place] if operand.rank >= -place else 1


def _leading(enable_gqa: bool, query: MetaArgument, *others: MetaArgument) -> tuple[int, ...]:
    """The leading sizes to which the operands broadcast, with the heads of query if enable_gqa."""
    rank = max(one.rank for one in (query, *others))
    sizes = [_broadcast_size(place, query, *others) for place in range(-rank, ROWS)]
    return (*sizes[:-1], query.shape[HEADS]) if enable_gqa else tuple(sizes)


def _broadcast_size(place: int, *operands: MetaArgument) -> int:
    sizes = {operand.shape[place] for operand in operands if -place <= operand.rank} - {1}
    return sizes.pop() if sizes else 1


def _sizes_of_mask(
    query: MetaArgument, key: MetaArgument, enable_gqa: bool, rank: int, d: int
) -> Space | tuple[int, ...]:
    scores = (*_leading(enable_gqa, query, key), query.shape[ROWS], key.shape[ROWS])
    return (1, scores[d - rank]) if rank - d <= len(scores) else ANYTHING


FLOAT = Dtype.In(FLOATS).unjudged(*OF_NONE)

QUERY = tensor("query", FLOAT, MATRICES.unjudged(GROUPED, lambda query: query.rank >= 2), at_least_1_at(COLUMNS))
KEY = tensor(
    "key",
    dtype_of("query"),
    MATRICES.unjudged(GROUPED, lambda key: key.rank >= 2),
    Rank.Le(lambda query: math.inf if query.numel else query.rank).lenient(OF_NONE[0]),
    at_least_1_at(ROWS),
    size_at(COLUMNS, "query"),
    leading_like("query"),
    Size.In(_leading_beside_none).lenient(OF_NONE[0]),
)
VALUE = tensor(
    "value",
    dtype_of("query"),
    MATRICES.unjudged(GROUPED, lambda value: value.rank >= 2),
    Rank.Le(lambda query: math.inf if query.numel else query.rank).lenient(OF_NONE[0]),
    size_at(ROWS, "key"),
    leading_like("query", "key"),
    Size.In(_leading_beside_none).lenient(OF_NONE[0]),
    Size.In(_columns).lenient(OF_NONE[0]),
)
MASK = optional(
    tensor(
        "attn_mask",
        Dtype.In(lambda query: ("bool", "float32", query.dtype), text="{bool, float32, dtype(query)}"),
        Rank.Ge(2).unjudged("one of torch's kernels broadcasts any"),
        Rank.Le(lambda query, key: max(query.rank, key.rank), text="max(rank(query), rank(key))").unjudged(
            *OF_NONE
        ),
        Size.In(_sizes_of_mask, text="{1, size d, from the end, of the scores [..., L, S]}").unjudged(*OF_NONE),
    ),
    Optional.In(lambda is_causal: (True,) if is_causal else ANYTHING).unjudged(*OF_NONE),
)
DROPOUT = real("dropout_p", Value.Eq(0.0).unjudged("P69: what is dropped is drawn"))
CAUSAL, GROUPS = boolean("is_causal"), boolean("enable_gqa")
SCALE = optional(real("scale"))
ATTENDED = result(
    dtype_of("query"),
    shaped(
        lambda query, key, value, enable_gqa: (
            *_leading(enable_gqa, query, key, value),
            query.shape[ROWS],
            value.shape[COLUMNS],
        ),
        "[..., L, V]",
    ),
)



def _plain(one: Argument) -> Iterator[Constraint]:
    """The argument's constraints, of which those that are judged are not."""
    always = [bool(each.lenience) and each.lenient_where is None for each in one.constraints]
    pairs = zip(one.constraints, always, strict=True)
    return (each if is_lenient else each.unjudged("the products promote and broadcast") for each, is_lenient in pairs)


spec("aten::scaled_dot_product_attention", QUERY, KEY, VALUE, MASK, DROPOUT, CAUSAL, SCALE, GROUPS, ATTENDED)
# The plain form, which looks at nothing that its products and sums do not look at.
spec(
    "aten::_scaled_dot_product_attention_math",
    *(replace(one, constraints=tuple(_plain(one))) for one in (QUERY, KEY, VALUE, MASK)),
    DROPOUT,
    CAUSAL,
    optional(tensor("dropout_mask"), Optional.Eq(True).unjudged("P69: what is dropped is drawn")),
    SCALE,
    GROUPS,
    ATTENDED,
)

# --- One kernel: query, key and value of [N, heads, *, E] -------------------------------------------------------------


def _beside_rows(query: MetaArgument) -> tuple[int | None, ...]:
    return tuple(None if d == query.rank + ROWS else size for d, size in enumerate(query.shape))


CHECKED_BEFORE = "scaled_dot_product_attention, which calls it, has checked it"


def _checked_before(*constraints: Constraint) -> list[Constraint]:
    return [one.unjudged(CHECKED_BEFORE) for one in constraints]


# Of the further results nothing is documented.
OF_IMAGES = (
    tensor("query", Dtype.In(FLOATS), Rank.Eq(4), Size.Ge(1).unjudged(NOT_JUDGED)),
    tensor(
        "key",
        _checked_before(
            dtype_of("query"), Rank.Eq(4), sized(_beside_rows, "size(query, d) but for d = -2"), Size.Ge(1)
        ),
    ),
    tensor("value", _checked_before(dtype_of("query"), *shape_of("key"))),
)
SCORES = shaped(lambda query, key: (*query.shape[:-1], key.shape[ROWS]), "[N, heads, L, S]")
BIAS = dtype_of("query").unjudged("some kernels take float32 beside half types")
NOT_BOTH = Optional.In(lambda is_causal: (True,) if is_causal else ANYTHING).unjudged("some kernels refuse a mask then")
OF_QUERY = result(dtype_of("query"), shape_of("query"))

spec(
    "aten::_scaled_dot_product_flash_attention_for_cpu",
    *OF_IMAGES,
    DROPOUT,
    CAUSAL,
    optional(tensor("attn_mask", BIAS, [one.unjudged("kernels broadcast masks") for one in SCORES]), NOT_BOTH),
    SCALE,
    OF_QUERY,
)

# --- Kernels of devices: as that, with vectors of the lengths for which they are written ------------------------------

MOST_LONG = 256  # numbers of a vector, of which there are multiples of 8
PADDED = "scaled_dot_product_attention, which calls it, pads vectors"
NOT_TAKEN = "torch's own kernel takes no others"
LENGTHS = Size.In(
    lambda rank, d: tuple(range(8, MOST_LONG + 1, 8)) if d == rank - 1 else ANYTHING,
    text=f"{{8, 16, ..., {MOST_LONG}}} for d = -1",
).unjudged(PADDED)
ALIGNED = Optional.In(
    lambda key: ANYTHING if key.shape[ROWS] % 8 == 0 else (True,),
    text="{True} where size(key, -2) is no multiple of 8",
).unjudged("scaled_dot_product_attention, which calls it, pads rows of a bias")
WITH_BIAS = Size.Be(lambda rank, d: (8, 16) if d == rank + ROWS else (), text="{8, 16} for d = -2")
CORNER = Value.In(
    lambda query, key: ANYTHING if query.shape[ROWS] == key.shape[ROWS] else (False,),
    text="{False} where size(query, -2) is not size(key, -2)",
).unjudged("of other sizes some kernels let the last row see the last column, and not the first the first")


def _of_device(dtypes: tuple[str, ...]) -> tuple[Argument, ...]:
    _, key, value = OF_IMAGES
    length = Size.Ge(1).unjudged(NOT_JUDGED)
    query = tensor("query", Dtype.In(dtypes).unjudged(NOT_TAKEN), Rank.Eq(4), length, LENGTHS, WITH_BIAS)
    return query, replace(key, constraints=(*key.constraints, WITH_BIAS)), value


def _bias(*constraints: Constraint) -> Argument:
    shape = [one.unjudged("kernels broadcast biases") for one in SCORES]
    return optional(tensor("attn_bias", BIAS, shape), NOT_BOTH, *constraints)


HALVES = ("float16", "bfloat16")
IS_CAUSAL = boolean("is_causal", CORNER)
SUMS, DEBUG = boolean("compute_log_sumexp"), boolean("return_debug_mask")

spec(
    "aten::_scaled_dot_product_flash_attention",
    *_of_device(HALVES),
    DROPOUT,
    IS_CAUSAL,
    DEBUG,
    SCALE,
    OF_QUERY,
)
spec(
    "aten::_scaled_dot_product_efficient_attention",
    *_of_device((*HALVES, "float32")),
    _bias(ALIGNED),
    SUMS,
    DROPOUT,
    IS_CAUSAL,
    SCALE,
    OF_QUERY,
)
spec(
    "aten::_scaled_dot_product_cudnn_attention",
    *_of_device(HALVES),
    _bias(ALIGNED),
    SUMS,
    DROPOUT,
    IS_CAUSAL,
    DEBUG,
    SCALE,
    OF_QUERY,
)
spec(
    "aten::_scaled_dot_product_fused_attention_overrideable",
    *OF_IMAGES,
    _bias(),
    DROPOUT,
    IS_CAUSAL,
    DEBUG,
    SCALE,
    OF_QUERY,
)
