"""Padding: the domains of the arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from conform.domains.engine.arguments import integers, optional, real, result, scalar, string, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Length, Optional, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, REALS, Space
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
    """Register a pad of the last `dims` dims, and its adjoint; `within` is what one element of padding may be."""
    of_self = Rank.In((dims + 1, dims + 2)), Size.Ge(_least_size(dims))
    padding = integers("padding", Length.Eq(2 * dims), Value.Ge(0).unjudged(CUT), *within)
    spec(
        name,
        tensor("self", Dtype.Ne("bool"), *of_self),
        padding,
        result(dtype_of("self"), shaped(lambda self, padding: _padded(self, padding))),
    )
    spec(
        f"{name}_backward",
        tensor("grad_output", dtype_of("self"),
               shaped(lambda self, padding: _padded(self, padding), "that of the padded tensor")),
        tensor("self", Dtype.In(FLOATS).unjudged("torch adds up numbers of some other dtypes"), of_self[0],
               of_self[1].unjudged("torch does not check every size")),
        padding,
        result(dtype_of("self"), shape_of("self")),
    )  # fmt: skip


for _dims in (1, 2, 3):
    _pad(f"aten::reflection_pad{_dims}d", _dims, Value.Lt(lambda self, i: self.size(-1 - i // 2), text="size"))
    _pad(f"aten::replication_pad{_dims}d", _dims, Value.Le(4).lenient(NOT_MANY))


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
