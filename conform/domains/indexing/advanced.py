"""Indexing by tensors and masks, as numpy's advanced indexing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from conform.domains.engine.arguments import boolean, index_tensors, result, tensor
from conform.domains.engine.constraints import Dtype, Length, Optional, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space, integers_between
from conform.domains.engine.vocabulary import are_broadcast, dtype_of, not_complex_here, shape_of, shaped
from conform.domains.specs import spec
from conform.numerics.draws import Stream

Shape = tuple[int, ...]

# --- index_put --------------------------------------------------------------------------------------------------------
# An index stands for one dim of self, a mask for as many as it has; a mask chooses a certain number of places, so that
# its shape tells that of what is written.

MASKS = ("bool", "uint8")  # for torch, which deprecates the second
Indices = Sequence[MetaArgument]


def _is_mask(one: MetaArgument) -> bool:
    return not one.is_none and one.dtype in MASKS


def _dims_of(indices: Indices) -> list[range]:
    """The dims of self that each of the indices, or None, stands for."""
    found, first = [], 0
    for one in indices:
        count = one.rank if _is_mask(one) else 1
        found.append(range(first, first + count))
        first += count
    return found


def _next_dim(previous: Indices) -> int:
    return _dims_of(previous)[-1].stop if previous else 0


def _common_shape(indices: Indices) -> Shape | None:
    """The shape to which indices broadcast, of a mask the number of its places; None if all are None."""
    common: Shape | None = None
    for one in indices:
        if not one.is_none:
            shape = (_places(one, common),) if _is_mask(one) else one.shape
            common = shape if common is None else _broadcast(common, shape)
    return common


def _broadcast(a: Shape, b: Shape) -> Shape:
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    return tuple(n if m == 1 else m for m, n in zip(a, b, strict=True))


def _places(mask: MetaArgument, common: Shape | None) -> int:
    """How many places a mask chooses; one that is not drawn yet, after indices of a common shape, half of them, or what
    broadcasts with these."""
    if mask.chosen is not None:
        return mask.chosen
    if common is None:
        return (mask.numel + 1) // 2
    wanted = common[-1] if common else 1
    return wanted if wanted <= mask.numel else min(1, mask.numel)


def _needs_no_elements(self: MetaArgument, previous: Indices, rank: int = 1) -> bool:
    """Whether the next index is empty, since dims that it may stand for are."""
    first = _next_dim(previous)
    return 0 in self.shape[first : first + rank]


def _is_stuck(self: MetaArgument, previous: Indices, rank: int = 1) -> bool:
    """Whether the next index has to be empty, and those before it do not broadcast with an empty last dim."""
    return _needs_no_elements(self, previous, rank) and (_common_shape(previous) or (1,))[-1] > 1


def _left_out(self: MetaArgument, previous: Indices) -> Space | tuple[bool, ...]:
    """{True} where the dim is empty and the indices before it are not"""
    return (True,) if _is_stuck(self, previous) else ANYTHING


def _is_left_out(previous: Indices, i: int, length: int) -> Space | tuple[bool, ...]:
    """{False} for the last where all before are None"""
    return (False,) if i == length - 1 and all(one.is_none for one in previous) else ANYTHING


def _mask_ranks(self: MetaArgument, indices: MetaArgument, previous: Indices, i: int, length: int) -> Space:
    """{1, ...} of a mask, with a dim of self for each of its own and of the indices after it"""
    if not _is_mask(indices):
        return ANYTHING
    room = len(self.shape) - _next_dim(previous) - (length - 1 - i)
    while room > 1 and _is_stuck(self, previous, room):
        room -= 1
    return integers_between(1, room)


def _index_ranks(self: MetaArgument, indices: MetaArgument, previous: Indices) -> Space:
    """{1, ...} of an index into an empty dim"""
    if _is_mask(indices) or not _needs_no_elements(self, previous):
        return ANYTHING
    return integers_between(1, 64)


def _mask_sizes(self: MetaArgument, indices: MetaArgument, previous: Indices, d: int) -> Space | Shape:
    """those of the dims of self that a mask stands for"""
    at = _next_dim(previous) + d
    return (self.shape[at],) if _is_mask(indices) and at < self.rank else ANYTHING


def _index_sizes(self: MetaArgument, indices: MetaArgument, previous: Indices, rank: int, d: int) -> Space | Shape:
    """what broadcasts with the indices before it; 0 for the last d of an index into an empty dim"""
    if _is_mask(indices):
        return ANYTHING
    if d == rank - 1 and _needs_no_elements(self, previous):
        return (0,)
    beside = (1,) * rank + (_common_shape(previous) or ())
    size = beside[d - rank]
    return ANYTHING if size == 1 else (1, size)


def _chosen_sizes(indices: MetaArgument, previous: Indices, rank: int, d: int) -> Space | Shape:
    """those of a mask that chooses as many places as fit the indices before it"""
    common = _common_shape(previous)
    if d < rank - 1 or not common or not _is_mask(indices) or indices.chosen is None:
        return ANYTHING
    return ANYTHING if are_broadcast((indices.chosen,), common) else ()


def _distinct_ranks(self: MetaArgument, indices: MetaArgument, previous: Indices, accumulate: bool) -> Space:
    """at most that of the indices before it, unless accumulate"""
    common = _common_shape(previous)
    if accumulate or common is None or _is_mask(indices) or _needs_no_elements(self, previous):
        return ANYTHING
    return integers_between(0, len(common))


def _distinct_sizes(
    self: MetaArgument, indices: MetaArgument, previous: Indices, accumulate: bool, rank: int, d: int, sizes: Shape
) -> Space:
    """so few that no place is repeated, unless accumulate: the first index is distinct and has all the elements"""
    if accumulate or _is_mask(indices):
        return ANYTHING
    common = _common_shape(previous)
    if common is not None:
        return integers_between(0, common[d - rank]) if rank <= len(common) else ANYTHING
    return integers_between(0, self.size(_next_dim(previous)) // max(math.prod(sizes), 1))


def _elements(self: MetaArgument, indices: MetaArgument, previous: Indices) -> Space:
    """[-n, n) of an index, n the size of its dim"""
    if _is_mask(indices):
        return ANYTHING
    size = self.size(_next_dim(previous)) if _next_dim(previous) < max(self.rank, 1) else 1
    return integers_between(-size, size - 1)


def _drawn(
    stream: Stream, self: MetaArgument, indices: MetaArgument, previous: Indices, accumulate: bool
) -> np.ndarray:
    """The places of a mask; an index, distinct unless accumulate, with some elements counted from the end."""
    common = _common_shape(previous)
    if _is_mask(indices):
        return stream.permutation(indices.numel) < _places(indices, common)
    size = max(self.size(_next_dim(previous)) if _next_dim(previous) < self.rank else 1, 1)
    if accumulate or common is not None:
        found = stream.integers(0, size - 1, indices.numel)
    else:
        found = np.resize(stream.permutation(size), indices.numel)
    return found - size * stream.integers(0, 1, indices.numel)


def _written(self: MetaArgument, indices: Indices) -> Shape:
    """The shape of self[indices]: the indices' common one in place of their dims, or first where those are apart."""
    taken = [d for one, dims in zip(indices, _dims_of(indices), strict=True) if not one.is_none for d in dims]
    common = _common_shape(indices) or ()
    if not taken:
        return self.shape
    if taken != list(range(taken[0], taken[-1] + 1)):
        return (*common, *[size for d, size in enumerate(self.shape) if d not in taken])
    return (*self.shape[: taken[0]], *common, *self.shape[taken[-1] + 1 :])


def _written_sizes(self: MetaArgument, indices: Indices, rank: int, d: int) -> Space | Shape:
    """{1, size d, from the end, of self[indices]}"""
    written = _written(self, indices)
    return (1, written[d - rank]) if rank - d <= len(written) else ANYTHING


def _are_broadcast(indices: Indices) -> bool:
    """Whether one is empty, and all of them broadcast with each other."""
    shapes = [
        (_places(one, _common_shape(indices[:i])),) if _is_mask(one) else one.shape
        for i, one in enumerate(indices)
        if not one.is_none
    ]
    pairs = itertools.combinations(shapes, 2)
    return any(0 in shape for shape in shapes) and all(are_broadcast(*pair) for pair in pairs)


def _has_0d_mask(indices: Indices) -> bool:
    return any(_is_mask(one) and one.rank == 0 for one in indices)


def _is_fill(indices: Indices, values: MetaArgument, accumulate: bool) -> bool:
    given = [one for one in indices if not one.is_none]
    return values.numel == 1 and not accumulate and len(given) == 1 and _is_mask(given[0])


ALL_OF_SELF = "torch fails in an assertion, though to write all of self has a plain meaning"
UNREAD = "torch takes any index that has no elements"
REPEATED = "P25: repeated places are undefined"
ONE_NUMBER = "at a mask torch fills with one number of any dtype and rank"

spec(
    "aten::index_put",
    tensor("self", not_complex_here(), Rank.Ge(1)),
    index_tensors(
        "indices",
        Length.Ge(1).lenient(ALL_OF_SELF),
        Length.Le(lambda self: max(self.rank, 1)),
        Optional.In(_is_left_out).lenient(ALL_OF_SELF),
        Optional.In(_left_out).lenient("an index of other sizes fits", _are_broadcast),
        Dtype.In(("int64", "int32", *MASKS)),
        Dtype.Ne("uint8").lenient("torch takes masks of uint8, but for some values; it deprecates them"),
        Rank.In(_mask_ranks).unjudged("torch takes 0-d masks, of which the kit has no semantics", _has_0d_mask),
        Rank.In(_index_ranks),
        Rank.In(_distinct_ranks).lenient(REPEATED),
        Size.In(_mask_sizes),
        Size.In(_chosen_sizes),
        Size.In(_index_sizes).lenient("whichever of its sizes is 0, it fits an empty dim", _are_broadcast),
        Size.In(_distinct_sizes).lenient(REPEATED),
        Value.In(_elements).unjudged(UNREAD, lambda self, indices: 0 in _written(self, indices)),
        Value.Gen(_drawn),
    ),
    tensor(
        "values",
        dtype_of("self").unjudged(ONE_NUMBER, _is_fill),
        Rank.Le(lambda self, indices: len(_written(self, indices)), text="rank(self[indices])").unjudged(
            ONE_NUMBER, _is_fill
        ),
        Size.In(_written_sizes),
    ),
    boolean("accumulate"),
    result(dtype_of("self"), shape_of("self")),
)


def _drawn_freely(stream: Stream, self: MetaArgument, indices: MetaArgument, previous: Indices) -> np.ndarray:
    return _drawn(stream, self, indices, previous, True)


spec(
    "aten::index.Tensor",
    tensor("self", Rank.Ge(1)),
    index_tensors(
        "indices",
        Length.Ge(1).lenient(ALL_OF_SELF),
        Length.Le(lambda self: max(self.rank, 1)),
        Optional.In(_is_left_out).lenient(ALL_OF_SELF),
        Optional.In(_left_out).lenient("an index of other sizes fits", _are_broadcast),
        Dtype.In(("int64", "int32", *MASKS)),
        Dtype.Ne("uint8").lenient("torch takes masks of uint8; it deprecates them"),
        Rank.In(_mask_ranks).unjudged("torch takes 0-d masks, of which the kit has no semantics", _has_0d_mask),
        Rank.In(_index_ranks),
        Size.In(_mask_sizes),
        Size.In(_chosen_sizes),
        Size.In(_index_sizes).lenient("whichever of its sizes is 0, it fits an empty dim", _are_broadcast),
        Value.In(_elements).unjudged(UNREAD, lambda self, indices: 0 in _written(self, indices)),
        Value.Gen(_drawn_freely),
    ),
    result(dtype_of("self"), shaped(_written, "shape(self[indices])")),
)
