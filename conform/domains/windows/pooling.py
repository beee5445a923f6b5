"""Pooling: the domains of its arguments.

The last `rank` dims of self are slid over; before them are channels, and perhaps a batch, which may be empty.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from conform.domains.engine.arguments import (
    Argument,
    boolean,
    index_tensor,
    integer,
    integers,
    optional,
    result,
    tensor,
)
from conform.domains.engine.constraints import Constraint, Dtype, Length, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import dtype_of, shape_of, shaped
from conform.domains.specs import COMPLEX, FLOATS, NUMBERS, spec
from conform.numerics.draws import Stream

AVERAGED = ("int64", *FLOATS)
Numbers = Sequence[int]


def per_dim(values: Numbers, rank: int) -> tuple[int, ...]:
    """The values for the last dims, of which one may stand for all."""
    return tuple(values) if len(values) == rank else (values[0],) * rank


def _half(rank: int) -> Callable[..., int]:
    def half(kernel_size: Numbers, i: int, length: int) -> int:
        """kernel_size[i] // 2, of all dims if padding is one number"""
        halves = [size // 2 for size in per_dim(kernel_size, rank)]
        return min(halves) if length == 1 else halves[min(i, rank - 1)]

    return half


def reach(kernel: int, dilation: int) -> int:
    """From the first element that a window takes to the one after the last."""
    return dilation * (kernel - 1) + 1


def _smallest(sliding: int) -> Callable[..., int]:
    def smallest(
        rank: int, d: int, kernel_size: Numbers, stride: Numbers, padding: Numbers, ceil_mode: bool
    ) -> int:
        """0 of batches, 1 of channels, max(1, kernel_size - 2 padding (- stride + 1 with ceil_mode)) of the others"""
        return _least(sliding, rank, d, kernel_size, stride, padding, (1,), ceil_mode)

    return smallest


def _smallest_dilated(sliding: int) -> Callable[..., int]:
    def smallest(
        rank: int, d: int, kernel_size: Numbers, stride: Numbers, padding: Numbers, dilation: Numbers, ceil_mode: bool
    ) -> int:
        """0 of batches, 1 of channels, else max(1, dilation (kernel_size - 1) + 1 - 2 padding - what ceil_mode adds)"""
        return _least(sliding, rank, d, kernel_size, stride, padding, dilation, ceil_mode)

    return smallest


def _least(
    sliding: int, rank: int, d: int, kernel_size: Numbers, stride: Numbers, padding: Numbers, dilation: Numbers,
    ceil_mode: bool,
) -> int:  # fmt: skip
    if d < rank - sliding:
        return 1 if d == rank - sliding - 1 else 0
    kernel, step, pad, gap = (
        per_dim(values, sliding)[d - rank] for values in (kernel_size, stride or kernel_size, padding, dilation)
    )
    return max(1, reach(kernel, gap) - 2 * pad - (step - 1 if ceil_mode else 0))


def pooled_sizes(
    sizes: Sequence[int], kernel_size: Numbers, stride: Numbers, padding: Numbers, dilation: Numbers, ceil_mode: bool
) -> tuple[int, ...]:
    """How many windows there are along each of the dims."""
    rank = len(sizes)
    numbers = (per_dim(values, rank) for values in (kernel_size, stride or kernel_size, padding, dilation))
    return tuple(window_count(*each, ceil_mode) for each in zip(sizes, *numbers, strict=True))


def window_count(size: int, kernel: int, step: int, pad: int, gap: int, ceil_mode: bool) -> int:
    """How many windows there are (torch.nn.AvgPool2d: those of ceil_mode start inside the input or left padding)."""
    count = (size + 2 * pad - reach(kernel, gap) + (step - 1 if ceil_mode else 0)) // step + 1
    return count - 1 if ceil_mode and (count - 1) * step >= size + pad else count


def numbers_of(
    name: str, rank: int, *constraints: Constraint, least: int, preferred: Numbers, empty: bool = False
) -> Argument:
    """A number for each of the last dims, or one for all; none where `empty`."""
    lengths = dict.fromkeys((*((0,) if empty else ()), 1, rank))
    wishes = [Value.Be(preferred)] if preferred else []
    return integers(name, Length.In(tuple(lengths)), Value.Ge(least), *constraints, *wishes)


def slid(rank: int, *of_padding: Constraint) -> tuple[Argument, ...]:
    """kernel_size, stride and padding, of at most half of the kernel, or with constraints of its own."""
    of_padding = of_padding or (Value.Le(_half(rank)),)
    return (
        numbers_of("kernel_size", rank, least=1, preferred=(1, 2, 3)),
        numbers_of("stride", rank, least=1, preferred=(1, 2, 3), empty=True),
        numbers_of("padding", rank, *of_padding, least=0, preferred=()),
    )


# --- Means ------------------------------------------------------------------------------------------------------------


def _average(rank: int, *more: Constraint, has_override: bool = True) -> None:
    def averaged(
        self: MetaArgument, kernel_size: Numbers, stride: Numbers, padding: Numbers, ceil_mode: bool
    ) -> tuple[int, ...]:
        sizes = pooled_sizes(self.shape[-rank:], kernel_size, stride, padding, (1,), ceil_mode)
        return (*self.shape[:-rank], *sizes)

    spec(
        f"aten::avg_pool{rank}d",
        tensor("self", Dtype.In(AVERAGED), Rank.In((rank + 1, rank + 2)), Size.Ge(_smallest(rank)), *more),
        *slid(rank),
        boolean("ceil_mode"),
        boolean("count_include_pad"),
        *([optional(integer("divisor_override", Value.Ne(0)))] if has_override else []),
        result(dtype_of("self"), shaped(averaged)),
    )


def _kernel_there(rank: int, d: int, kernel_size: Numbers) -> int:
    """kernel_size of the last three dims"""
    return per_dim(kernel_size, 3)[d - rank] if d >= rank - 3 else 0


_average(1, has_override=False)
_average(2)
_average(
    3,
    Dtype.NotIn(("float16", "bfloat16")).lenient("torch has no kernels of them on the CPU"),
    Size.Ge(_kernel_there).lenient("torch wants no window larger than the image, whatever padding it has"),
)


def of_batches(sliding: int) -> Callable[..., int]:
    def least(rank: int, d: int) -> int:
        """0 of batches, else 1"""
        return 0 if d < rank - sliding - 1 else 1

    return least


# --- Maxima -----------------------------------------------------------------------------------------------------------


def _maximum(name: str, rank: int, of_dtypes: Constraint, indices: bool) -> None:
    def pooled(
        self: MetaArgument, kernel_size: Numbers, stride: Numbers, padding: Numbers, dilation: Numbers, ceil_mode: bool
    ) -> tuple[int, ...]:
        sizes = pooled_sizes(self.shape[-rank:], kernel_size, stride, padding, dilation, ceil_mode)
        return (*self.shape[:-rank], *sizes)

    spec(
        name,
        tensor("self", of_dtypes, Rank.In((rank + 1, rank + 2)), Size.Ge(_smallest_dilated(rank))),
        *slid(rank),
        numbers_of("dilation", rank, least=1, preferred=(1, 2)),
        boolean("ceil_mode"),
        result(dtype_of("self"), shaped(pooled)),
        *([result(Dtype.Eq("int64"), shaped(pooled))] if indices else []),
    )


_maximum(
    "aten::max_pool1d",
    1,
    Dtype.In(FLOATS).lenient("some of torch's kernels take integers", lambda self: self.dtype not in COMPLEX),
    indices=False,
)
for _rank in (2, 3):
    _maximum(f"aten::max_pool{_rank}d", _rank, Dtype.In(NUMBERS), indices=False)
    _maximum(f"aten::max_pool{_rank}d_with_indices", _rank, Dtype.In(NUMBERS), indices=True)


# --- As many windows as are asked for ---------------------------------------------------------------------------------


SOME = "torch does not check every size"
UNCHECKED = "torch checks nothing where there are no elements"


def _of_no_elements(self: MetaArgument) -> bool:
    return self.numel == 0


def _adaptive(name: str, rank: int, indices: bool = False) -> None:
    def pooled(self: MetaArgument, output_size: Numbers) -> tuple[int, ...]:
        return (*self.shape[:-rank], *per_dim(output_size, rank))

    nothing = Dtype.In(FLOATS).unjudged("torch takes others where there is one window or none")
    spec(
        name,
        tensor("self", nothing, Rank.In((rank + 1, rank + 2)), Size.Ge(of_batches(rank)).unjudged(SOME)),
        integers("output_size", Length.Eq(rank), Value.Ge(0).unjudged(UNCHECKED, _of_no_elements), Value.Be((1, 2, 3))),
        result(dtype_of("self"), shaped(pooled)),
        *([result(Dtype.Eq("int64"), shaped(pooled))] if indices else []),
    )


_adaptive("aten::adaptive_avg_pool1d", 1)
_adaptive("aten::_adaptive_avg_pool2d", 2)
_adaptive("aten::_adaptive_avg_pool3d", 3)
for _rank in (1, 2, 3):
    _adaptive(f"aten::adaptive_max_pool{_rank}d", _rank, indices=True)

# --- What pooling left, in its place ----------------------------------------------------------------------------------


def _distinct_in_images(stream: Stream, indices: MetaArgument, output_size: Numbers) -> np.ndarray:
    """Numbers that are distinct within an image, where it has so many."""
    own, size = math.prod(indices.shape[-len(output_size) :]), math.prod(output_size)
    drawn = [np.resize(stream.permutation(size), own) for _ in range(indices.numel // max(own, 1))]
    return np.concatenate(drawn) if drawn else np.empty(0, np.int64)


REPEATED = "torch.nn.MaxUnpool2d: with repeated indices the result is not deterministic"


def _unpooled(spatial: int, *more: Argument) -> None:
    def shape(self: MetaArgument, output_size: Numbers) -> tuple[int, ...]:
        return (*self.shape[:-spatial], *output_size)

    def size(output_size: Numbers) -> int:
        """how many elements an image of output_size has"""
        return math.prod(output_size)

    spec(
        f"aten::max_unpool{spatial}d",
        tensor(
            "self",
            Dtype.In(FLOATS).unjudged("torch's documentation names no dtypes; its CPU takes floats"),
            Rank.In((spatial + 1, spatial + 2)),
            Size.Ge(lambda d: 1 if d else 0, text="1 where d > 0"),
        ),
        index_tensor("indices", Dtype.Eq("int64"), shape_of("self"), Value.Ge(0), Value.Lt(size),
                     Value.Gen(_distinct_in_images)),
        integers(
            "output_size",
            Length.Eq(spatial),
            Value.Ge(lambda self, i: self.shape[i - spatial] if i < spatial else 0, text="size(self, i)").unjudged(
                REPEATED
            ),
            Value.Le(
                lambda self, i: self.shape[i - spatial] + 6 if i < spatial else 9, text="size(self, i) + 6"
            ).lenient("a limit of what is generated, not of the op"),
        ),
        *more,
        result(dtype_of("self"), shaped(shape)),
    )  # fmt: skip


_unpooled(2)
_unpooled(
    3,
    integers("stride", Length.Eq(3), Value.Ge(1), Value.Be((1, 2))),
    integers("padding", Length.Eq(3), Value.Ge(0).unjudged("torch does not look at it"), Value.Be((0, 1))),
)
