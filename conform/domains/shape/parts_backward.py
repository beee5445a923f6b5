"""Gradients of parts of a tensor: the domains of the arguments. The sizes of the tensor follow from the gradient's."""

from __future__ import annotations

import math
from collections.abc import Sequence

from conform.domains.engine.arguments import dim, index, length, result, shape, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Length, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space, integers_between
from conform.domains.engine.vocabulary import NOT_MANY, dim_of, dtype_of, new_dim_of, shaped
from conform.domains.specs import FLOATS, spec

Sizes = Sequence[int]
MORE = 8  # what is drawn of a dim beyond what the gradient needs
OF_SIZES = result(dtype_of("grad_output"), shaped(lambda input_sizes: input_sizes, "input_sizes"))
NO_PART = "torch broadcasts what it puts there"


def _rank_and(more: int) -> Constraint:
    return Length.Eq(lambda grad_output: grad_output.rank + more, text=f"rank(grad_output) + {more}").unjudged(NO_PART)


# --- Of a selection ---------------------------------------------------------------------------------------------------


def _around(grad_output: MetaArgument, dim: int, i: int) -> Space | Sizes:
    """{size(grad_output, d)} where i != dim, of d = i before dim and i - 1 behind it"""
    axis = dim % (grad_output.rank + 1)
    return ANYTHING if i == axis or i > grad_output.rank else (grad_output.size(i - (i > axis)),)


def _selected(input_sizes: Sizes, dim: int) -> int:
    """input_sizes[dim], 1 at least"""
    return max(input_sizes[dim], 1) if -len(input_sizes) <= dim < len(input_sizes) else 1


spec(
    "aten::select_backward",
    tensor("grad_output"),
    shape("input_sizes", _rank_and(1), Value.In(_around).lenient(NO_PART),
          Value.Ge(lambda grad_output, dim, i: i == dim % (grad_output.rank + 1), text="1 where i = dim"),
          Value.Le(lambda grad_output, dim, i: MORE if i == dim % (grad_output.rank + 1) else math.inf,
                   text="8 where i = dim").lenient(NOT_MANY)),
    dim("dim", new_dim_of("grad_output")),
    index("index", Value.Ge(lambda input_sizes, dim: -_selected(input_sizes, dim), text="-input_sizes[dim]"),
          Value.Lt(_selected, text="input_sizes[dim]")),
    OF_SIZES,
)  # fmt: skip

# --- Of a slice -------------------------------------------------------------------------------------------------------

OTHERS = "other numbers may mean the same slice"


def _count(grad_output: MetaArgument, dim: int) -> int:
    """How many elements of the dim the slice has."""
    return grad_output.size(dim) if -grad_output.rank <= dim < grad_output.rank else 1


def _needed(grad_output: MetaArgument, dim: int, step: int) -> int:
    """from the first element of the slice to its last"""
    count = _count(grad_output, dim)
    return (count - 1) * step + 1 if count else 0


def _size(input_sizes: Sizes, dim: int) -> int:
    return input_sizes[dim] if -len(input_sizes) <= dim < len(input_sizes) else 1


def _holding(grad_output: MetaArgument, dim: int, step: int, i: int) -> Space | Sizes:
    """{size(grad_output, i)}; of dim enough for the slice"""
    if i >= grad_output.rank:
        return ANYTHING
    if i != dim % grad_output.rank:
        return (grad_output.size(i),)
    least = _needed(grad_output, dim, step)
    return integers_between(least, least + MORE)


def _starts(grad_output: MetaArgument, input_sizes: Sizes, dim: int, step: int) -> Sizes:
    """some that leave enough for the slice, from either end"""
    size = _size(input_sizes, dim)
    last = max(size - _needed(grad_output, dim, step), 0)
    own = sorted({0, last // 2, last})
    return (*own, *(start - size for start in own if start < size))


def _ends(grad_output: MetaArgument, input_sizes: Sizes, dim: int, start: int, step: int) -> Sizes:
    """some behind as many elements as grad_output has, from either end"""
    size = _size(input_sizes, dim)
    first = start + size * (start < 0)
    least = first + _needed(grad_output, dim, step)
    most = least + step - 1 if _count(grad_output, dim) else least
    beyond = {size + 7, 2**62} if most >= size and _count(grad_output, dim) else set()
    own = sorted({least, min(most, size)} | beyond)
    return (*own, *(end - size for end in own if end < size))


spec(
    "aten::slice_backward",
    tensor("grad_output", Rank.Ge(1)),
    shape("input_sizes", _rank_and(0), Value.In(_holding).lenient(NO_PART), Value.Ge(0)),
    dim("dim", dim_of("grad_output")),
    index("start", Value.In(_starts).lenient(OTHERS)),
    index("end", Value.In(_ends).lenient(OTHERS)),
    length("step", Value.Ge(1), Value.Le(16).lenient(NOT_MANY)),
    OF_SIZES,
)

# --- Of a diagonal ----------------------------------------------------------------------------------------------------


def _beside_the_diagonal(grad_output: MetaArgument, offset: int, dim1: int, dim2: int, i: int) -> Space | Sizes:
    """{size(grad_output, d)} of the d-th that is not dim1 or dim2; of these as much as offset and diagonal take, of
    dim1 perhaps more"""
    rank = grad_output.rank + 1
    row, column = dim1 % rank, dim2 % rank
    if i >= rank or row == column:
        return ANYTHING
    diagonal = grad_output.size(-1)
    if i == row:
        return integers_between(diagonal + max(-offset, 0), diagonal + max(-offset, 0) + MORE)
    if i == column:
        return (diagonal + max(offset, 0),)
    return (grad_output.size(i - (i > row) - (i > column)),)


spec(
    "aten::diagonal_backward",
    tensor("grad_output", Rank.Ge(1)),
    shape("input_sizes", _rank_and(1),
          Value.In(_beside_the_diagonal).lenient("torch broadcasts, and others have such a diagonal"), Value.Ge(0)),
    length("offset", Value.Ge(-MORE).lenient(NOT_MANY), Value.Le(MORE).lenient(NOT_MANY)),
    dim("dim1", new_dim_of("grad_output")),
    dim("dim2", new_dim_of("grad_output"),
        Value.NotIn(lambda grad_output, dim1: (dim1 % (grad_output.rank + 1), dim1 % (grad_output.rank + 1)
                                               - grad_output.rank - 1), text="dim1 (modulo rank(grad_output) + 1)")),
    OF_SIZES,
)  # fmt: skip

# --- Of windows -------------------------------------------------------------------------------------------------------


def _under_windows(grad_in: MetaArgument, dim: int, step: int, i: int) -> Space | Sizes:
    """{size(grad_in, i)}; of dim as many as its windows cover, and less than a step more"""
    if i >= grad_in.rank - 1:
        return ANYTHING
    if i != dim % (grad_in.rank - 1):
        return (grad_in.size(i),)
    covered = (grad_in.size(i) - 1) * step + grad_in.size(-1)
    return integers_between(covered, covered + max(step - 1, 0))


def _windows(grad_in: MetaArgument) -> int:
    return grad_in.size(-1) if grad_in.rank else 1


UNRELATED = "torch does not hold the sizes against each other"
NO_WINDOW = "a tensor without dims or elements, and windows of none, have no gradient worth reading"
spec(
    "aten::unfold_backward",
    tensor("grad_in", Dtype.In(FLOATS).unjudged("torch adds up numbers of any dtype"),
           Rank.Ge(2).unjudged(NO_WINDOW), Size.Ge(1).unjudged(NO_WINDOW)),
    shape("input_sizes", Length.Eq(lambda grad_in: grad_in.rank - 1, text="rank(grad_in) - 1").unjudged(UNRELATED),
          Value.In(_under_windows).unjudged(UNRELATED)),
    dim("dim", Value.Ge(lambda grad_in: 1 - grad_in.rank, text="1 - rank(grad_in)"),
        Value.Lt(lambda grad_in: grad_in.rank - 1, text="rank(grad_in) - 1")),
    length("size", Value.Eq(_windows, text="size(grad_in, -1)").unjudged(UNRELATED)),
    length("step", Value.Ge(1), Value.Le(16).lenient(NOT_MANY)),
    result(dtype_of("grad_in"), shaped(lambda input_sizes: input_sizes, "input_sizes")),
)  # fmt: skip
