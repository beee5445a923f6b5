"""Parts of a tensor along a dim, and tensors with a part replaced: the domains of the arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from conform.domains.engine.arguments import (
    Argument,
    dim,
    index,
    integers,
    length,
    optional,
    result,
    results,
    tensor,
)
from conform.domains.engine.constraints import Constraint, Length, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space, integers_between
from conform.domains.engine.vocabulary import (
    NOT_LONG,
    NOT_MANY,
    another_dim_than,
    dim_of,
    divisors,
    dtype_of,
    shape_of,
    shaped,
)
from conform.domains.shape.views import diagonal_shape
from conform.domains.specs import spec

Shape = tuple[int, ...]

# --- One part ---------------------------------------------------------------------------------------------------------


def _with_size(self: MetaArgument, dim: int, size: int) -> Shape:
    """The shape with another size in the dim."""
    sizes = list(self.shape)
    sizes[dim] = size
    return tuple(sizes)


def _shape_of_slice(self: MetaArgument, dim: int, start: int | None, end: int | None, step: int) -> Shape:
    return _with_size(self, dim, len(range(*slice(start, end, step).indices(self.size(dim)))))


def _left_behind(self: MetaArgument, dim: int, start: int) -> int:
    """the size of dim from start on"""
    return max(-start if start < 0 else self.size(dim) - start, 0)


def _shape_of_selection(self: MetaArgument, dim: int) -> Shape:
    at = dim % self.rank
    return (*self.shape[:at], *self.shape[at + 1 :])


def _has_elements(self: MetaArgument) -> tuple[int, ...]:
    """a dim whose size is not 0"""
    return tuple(place for d, size in enumerate(self.shape) if size for place in (d, d - self.rank))


RANGE = (optional(index("start")), optional(index("end")), length("step", Value.Ge(1)))
WITHIN = (
    Value.Ge(lambda self, dim: -self.size(dim), text="-size(self, dim)"),
    Value.Le(lambda self, dim: self.size(dim), text="size(self, dim)"),
)
INDEX = index(
    "index",
    Value.Ge(lambda self, dim: -self.size(dim), text="-size(self, dim)"),
    Value.Lt(lambda self, dim: self.size(dim), text="size(self, dim)"),
)
# Of a dim without elements nothing can be selected; a tensor of none but such dims is refused for its index.
SELECTED = (Rank.Ge(1), Size.Ge(lambda d: 1 if d == 0 else 0, text="1 where d = 0").lenient("another dim has elements"))
OF_ELEMENTS = (dim_of("self"), Value.In(_has_elements, text="the dims of sizes other than 0"))
CONVERTED = "torch converts src to the dtype of self"


def source(*constraints: Constraint | tuple[Constraint, ...]) -> Argument:
    """What replaces a part of self."""
    return tensor("src", dtype_of("self").unjudged(CONVERTED), *constraints)


spec(
    "aten::slice.Tensor",
    tensor("self", Rank.Ge(1)),
    dim("dim", dim_of("self")),
    *RANGE,
    result(dtype_of("self"), shaped(_shape_of_slice)),
)
spec(
    "aten::narrow",
    tensor("self", Rank.Ge(1)),
    dim("dim", dim_of("self")),
    index("start", *WITHIN),
    length("length", Value.Ge(0), Value.Le(_left_behind)),
    result(dtype_of("self"), shaped(lambda self, dim, length: _with_size(self, dim, length))),
)
spec(
    "aten::slice_scatter",
    tensor("self", Rank.Ge(1)),
    source(shaped(_shape_of_slice, "shape of the slice")),
    dim("dim", dim_of("self")),
    *RANGE,
    result(dtype_of("self"), shape_of("self")),
)
spec(
    "aten::select.int",
    tensor("self", *SELECTED),
    dim("dim", *OF_ELEMENTS),
    INDEX,
    result(dtype_of("self"), shaped(_shape_of_selection)),
)
spec(
    "aten::select_scatter",
    tensor("self", *SELECTED),
    source(shaped(_shape_of_selection, "shape of the selection")),
    dim("dim", *OF_ELEMENTS),
    INDEX,
    result(dtype_of("self"), shape_of("self")),
)

spec(
    "aten::diagonal_scatter",
    tensor("self", Rank.Ge(2)),
    source(shaped(diagonal_shape, "shape of the diagonal")),
    length("offset"),
    dim("dim1", dim_of("self")),
    dim("dim2", dim_of("self"), another_dim_than("dim1", "self")),
    result(dtype_of("self"), shape_of("self")),
)

# --- All parts --------------------------------------------------------------------------------------------------------


def _parts(sizes: Callable[..., Sequence[int]]) -> Argument:
    """The outputs: self with each of these sizes along dim."""
    names = sizes.__code__.co_varnames[: sizes.__code__.co_argcount]
    others = tuple(name for name in names if name not in ("self", "dim"))
    of = ("self", "dim", *others)

    def along(self: MetaArgument, dim: int, *rest: object) -> Sequence[int]:
        given = {"self": self, "dim": dim, **dict(zip(others, rest, strict=True))}
        return sizes(*[given[name] for name in names])

    return results(
        Length.Eq(lambda *given: len(along(*given)), of, "number of parts"),
        dtype_of("self"),
        Rank.Eq(lambda self: self.rank),
        Size.Eq(
            lambda d, i, self, dim, *rest: along(self, dim, *rest)[i] if d == dim % self.rank else self.shape[d],
            ("d", "i", *of),
            "that of self, of dim that of the part",
        ),
    )


def _rest(self: MetaArgument, dim: int, i: int, length: int, previous: Sequence[int]) -> Space | Shape:
    """what is left of size(self, dim): all of it for the last part"""
    left = max(self.size(dim) - sum(previous), 0)
    return (left,) if i == length - 1 else integers_between(0, left)


MOST = 64  # parts
LEAST_PART = f"max(min(size(self, dim), 1), size(self, dim) / {MOST})"
NO_PARTS = "torch gives an empty list, of which the kit has nothing to judge"


def _sizes_of_parts(name: str) -> Argument:
    return integers(name, Length.Ge(1).unjudged(NO_PARTS), NOT_LONG, Value.Ge(0), Value.In(_rest))


for _name in ("aten::split_with_sizes", "aten::unsafe_split_with_sizes"):
    spec(
        _name,
        tensor("self", Rank.Ge(1)),
        _sizes_of_parts("split_sizes"),
        dim("dim", dim_of("self")),
        _parts(lambda split_sizes: split_sizes),
    )
spec(
    "aten::split.sizes",
    tensor("self", Rank.Ge(1)),
    _sizes_of_parts("split_size"),
    dim("dim", dim_of("self")),
    _parts(lambda split_size: split_size),
)


def equal_parts(size: int, part: int) -> list[int]:
    """Sizes of the parts of a dim, the last one of what is left; of an empty dim one."""
    return [min(part, size - start) for start in range(0, size, max(part, 1))] or [0]


def _of_most(self: MetaArgument, dim: int) -> int:
    """The size of parts of which there are MOST."""
    return -(-self.size(dim) // MOST)


def _is_some(self: MetaArgument, dim: int, split_size: int) -> bool:
    """Whether the parts have a size; those of an empty dim may have none."""
    return split_size >= min(self.size(dim), 1)


for _name in ("aten::split.Tensor", "aten::unsafe_split.Tensor"):
    spec(
        _name,
        tensor("self", Rank.Ge(1)),
        length("split_size", Value.Ge(_of_most, text=LEAST_PART).lenient(NOT_MANY, _is_some)),
        dim("dim", dim_of("self")),
        _parts(lambda self, split_size, dim: equal_parts(self.size(dim), split_size)),
    )


def _chunks(self: MetaArgument, chunks: int, dim: int) -> list[int]:
    size = self.size(dim)
    return equal_parts(size, -(-size // chunks)) if size else [0] * chunks


for _name in ("aten::chunk", "aten::unsafe_chunk"):
    spec(
        _name,
        tensor("self", Rank.Ge(1)),
        length("chunks", Value.Ge(1), Value.Le(MOST).lenient(NOT_MANY)),
        dim("dim", dim_of("self")),
        _parts(_chunks),
    )


def _sizes_of_unbound(rank: int, d: int, sizes: Shape) -> Space:
    """at most 64 of one dim at least"""
    is_last_chance = d == rank - 1 and all(size > MOST for size in sizes)
    return integers_between(0, MOST) if is_last_chance else ANYTHING


def _long_dims(self: MetaArgument) -> list[int]:
    """Those that are not unbound where there is a shorter one."""
    long = [d for d in range(-self.rank, self.rank) if self.size(d) > MOST]
    return long if len(long) < 2 * self.rank else []


spec(
    "aten::unbind.int",
    tensor("self", Rank.Ge(1), Size.Ge(1).unjudged(NO_PARTS), Size.In(_sizes_of_unbound).lenient(NOT_MANY)),
    dim("dim", dim_of("self"), Value.NotIn(_long_dims, text=f"the dims of more than {MOST}").lenient(NOT_MANY)),
    results(
        Length.Eq(lambda self, dim: self.size(dim)),
        dtype_of("self"),
        shaped(_shape_of_selection),
    ),
)


def _divided(size: int, sections: int) -> list[int]:
    """As many sizes, the first ones larger by one where the size is no multiple."""
    return [size // sections + (part < size % sections) for part in range(sections)]


def _between(size: int, indices: Sequence[int]) -> list[int]:
    """The sizes of the slices between these places."""
    places = [slice(start, end) for start, end in pairwise([0, *indices, None])]
    return [len(range(*place.indices(size))) for place in places]


spec(
    "aten::tensor_split.sections",
    tensor("self", Rank.Ge(1)),
    length("sections", Value.Ge(1), Value.Le(MOST).lenient(NOT_MANY)),
    dim("dim", dim_of("self")),
    _parts(lambda self, sections, dim: _divided(self.size(dim), sections)),
)
spec(
    "aten::tensor_split.indices",
    tensor("self", Rank.Ge(1)),
    integers("indices", NOT_LONG),
    dim("dim", dim_of("self")),
    _parts(lambda self, indices, dim: _between(self.size(dim), indices)),
)


def _split_along(name: str, least_rank: int, along: Callable[[int], int]) -> None:
    """Register NAME.int and NAME.array, which split self along the dim `along` of its rank."""

    def whole(self: MetaArgument) -> int:
        """The size of the dim; 0 of a tensor that is refused for it lacks the dim."""
        return self.size(along(self.rank)) if self.rank >= least_rank else 0

    def sizes(self: MetaArgument, given: int | Sequence[int]) -> list[int]:
        size = whole(self)
        return _divided(size, given) if isinstance(given, int) else _between(size, given)

    def parts(argument: str) -> Argument:
        of = ("self", argument)
        return results(
            Length.Eq(lambda self, given: len(sizes(self, given)), of, "number of parts"),
            dtype_of("self"),
            Rank.Eq(lambda self: self.rank),
            Size.Eq(
                lambda d, i, self, given: sizes(self, given)[i] if d == along(self.rank) else self.shape[d],
                ("d", "i", *of),
                "that of self, of the dim that is split that of the part",
            ),
        )

    spec(
        f"{name}.int",
        tensor("self", Rank.Ge(least_rank)),
        length(
            "sections",
            Value.Ge(1),
            Value.In(lambda self: divisors(whole(self)) or ANYTHING, text="the divisors of the size"),
            Value.Le(MOST).lenient(NOT_MANY),
        ),
        parts("sections"),
    )
    spec(
        f"{name}.array", tensor("self", Rank.Ge(least_rank)), integers("indices", NOT_LONG), parts("indices")
    )


_split_along("aten::hsplit", 1, lambda rank: min(rank - 1, 1))
_split_along("aten::vsplit", 2, lambda rank: 0)
_split_along("aten::dsplit", 3, lambda rank: 2)
