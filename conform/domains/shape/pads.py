"""Padding: the domains of the arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from conform.domains.engine.arguments import integers, optional, real, result, scalar, string, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Length, Optional, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, REALS, Space, integers_between
from conform.domains.engine.vocabulary import NOT_MANY, dtype_of, shape_of, shaped, written_into
from conform.domains.specs import COMPLEX, FLOATS, spec

Shape = tuple[int, ...]


def _padded(self: MetaArgument, padding: Sequence[int]) -> Shape:
    """Padding begins with the last dim."""
    sizes = list(self.shape)
    for at, count in enumerate(padding):
        sizes[-1 - at // 2] += count
    return tuple(sizes)


def _all_of_it(self: MetaArgument, i: int, previous: Sequence[int]) -> float:
    """minus what of the dim the number before it has not cut off"""
    size = self.size(-1 - i // 2) if i // 2 < self.rank else 0
    return -size if i % 2 == 0 else -size - min(previous[-1], 0)


def _has_sizes(self: MetaArgument, pad: Sequence[int]) -> bool:
    """Whether no size of the result is negative."""
    return len(pad) <= 2 * self.rank and min(_padded(self, pad), default=0) >= 0


def _adds_nothing(pad: Sequence[int]) -> bool:
    return all(count <= 0 for count in pad)


UNREAD = "torch takes any value that it puts nowhere"
MORE_THAN_ALL = "a negative number that cuts off more than there is cuts off padding, or is refused, as by torch"

spec(
    "aten::constant_pad_nd",
    tensor("self"),
    integers(
        "pad",
        Length.In(lambda self: tuple(range(0, 2 * self.rank + 1, 2)), text="{0, 2, ..., 2 rank(self)}"),
        Value.Ge(_all_of_it).unjudged(MORE_THAN_ALL, _has_sizes),
        Value.Le(4).lenient(NOT_MANY),
    ),
    scalar("value", [one if one.lenience else one.unjudged(UNREAD, _adds_nothing) for one in written_into("self")]),
    result(dtype_of("self"), shaped(lambda self, pad: _padded(self, pad))),
)

CUT = "torch cuts off what is negative, but for some of it"


def _least_size(dims: int) -> Callable[[int, int], int]:
    def least(rank: int, d: int) -> int:
        """0 of the first of two further dims, else 1"""
        return 0 if rank == dims + 2 and d == 0 else 1

    return least


def _pad(name: str, dims: int, *within: Constraint) -> None:
    """Register a pad of the last `dims` dims; `within` is what one element of padding may be."""
    spec(
        name,
        tensor("self", Dtype.Ne("bool"), Rank.In((dims + 1, dims + 2)), Size.Ge(_least_size(dims))),
        integers("padding", Length.Eq(2 * dims), Value.Ge(0).unjudged(CUT), *within),
        result(dtype_of("self"), shaped(lambda self, padding: _padded(self, padding))),
    )


for _dims in (1, 2, 3):
    _pad(f"aten::reflection_pad{_dims}d", _dims, Value.Lt(lambda self, i: self.size(-1 - i // 2), text="size"))
    _pad(f"aten::replication_pad{_dims}d", _dims, Value.Le(4).lenient(NOT_MANY))

# --- Gradients of padding: grad_output is free, self is smaller, and padding is the difference ------------------------


def _gradient(name: str, dims: int, reflects: bool) -> None:
    def least(grad_output: MetaArgument, rank: int, d: int) -> int:
        """size(grad_output, d); of the padded dims 1, or with reflection what is more than each of its two sides"""
        size = grad_output.size(d)
        return size if d < rank - dims else max((size + 4) // 3 if reflects else 1, 1)

    def added(grad_output: MetaArgument, self: MetaArgument, i: int, previous: Sequence[int]) -> Space | Shape:
        """what grad_output has more than self, one side and then the other"""
        if i // 2 >= min(self.rank, grad_output.rank):
            return ANYTHING
        size = self.size(-1 - i // 2)
        both = grad_output.size(-1 - i // 2) - size
        if i % 2:
            return (both - previous[-1],)
        most = size - 1 if reflects else both
        return integers_between(max(both - most, 0), min(most, both))

    spec(
        f"aten::{name}_pad{dims}d_backward",
        tensor("grad_output", Dtype.In(FLOATS).unjudged("torch adds up numbers of some other dtypes"),
               Rank.In((dims + 1, dims + 2)).unjudged(UNCHECKED), Size.Ge(_least_size(dims)).unjudged(UNCHECKED)),
        tensor("self", dtype_of("grad_output"), Rank.Eq(lambda grad_output: grad_output.rank).unjudged(UNCHECKED),
               Size.Le(lambda grad_output, d: grad_output.size(d), text="size(grad_output, d)").unjudged(CUT),
               Size.Ge(least).unjudged(UNCHECKED)),
        integers("padding", Length.Eq(2 * dims),
                 Value.In(added).unjudged(CUT, lambda padding: min(padding, default=0) < 0)),
        result(dtype_of("self"), shape_of("self")),
    )  # fmt: skip


UNCHECKED = "torch does not check every rank and size"
for _dims in (1, 2, 3):
    _gradient("reflection", _dims, reflects=True)
    _gradient("replication", _dims, reflects=False)


# --- By a mode --------------------------------------------------------------------------------------------------------


def _pairs_of(self: MetaArgument) -> tuple[int, ...]:
    """the lengths of pad for its rank, of 2 to 5"""
    return tuple(2 * dims for dims in (1, 2, 3) if self.rank in (dims + 1, dims + 2))




def _some_numbers(self: MetaArgument) -> Space | tuple[float, ...]:
    """[-10^4, 10^4], of integers whole numbers up to 100"""
    if self.dtype in (*FLOATS, *COMPLEX):
        return REALS.within(-1e4, 1e4)
    return tuple(map(float, range(0 if self.dtype == "uint8" else -100, 101)))


spec(
    "aten::pad",
    tensor(
        "self",
        Dtype.Ne("bool").unjudged("torch pads bools by a constant alone"),
        Rank.In((2, 3, 4, 5)).unjudged("torch pads any number of dims by a constant"),
        Size.Ge(1).unjudged("the modes take no elements differently"),
    ),
    integers(
        "pad",
        Length.In(_pairs_of).unjudged("torch pads any number of dims by a constant"),
        Value.Ge(0).unjudged(CUT),
        Value.Le(lambda self, i: self.size(-1 - i // 2) - 1, text="size - 1").unjudged("modes but reflect take more"),
    ),
    string("mode", Value.In(("constant", "reflect", "replicate", "circular"))),
    optional(
        real(
            "value",
            Value.In(_some_numbers).unjudged("constant_pad_nd is asked for others"),
            Value.Be((1.0, -2.0, 0.0, 5.0)),
        ),
        Optional.In(
            lambda mode: ANYTHING if mode == "constant" else (True,), text="{True} unless mode is constant"
        ).unjudged("torch takes a value of 0"),
    ),
    result(dtype_of("self"), shaped(lambda self, pad: _padded(self, pad))),
)
