"""Convolutions: the domains of their arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence

from conform.domains.contraction.matrices import NO_KERNEL
from conform.domains.engine.arguments import Argument, boolean, integer, integers, optional, result, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Length, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space, integers_between
from conform.domains.engine.vocabulary import divisors, dtype_of, shaped
from conform.domains.specs import COMPLEX, INTEGERS, spec

Sizes = Space | tuple[int, ...]

# input is [batch, channels, sizes...], weight [outputs, channels / groups, kernel sizes...], or, if transposed,
# [channels, outputs / groups, kernel sizes...].

Numbers = Sequence[int]


def _for(values: Numbers, d: int) -> int:
    """The number for spatial dim d: one alone stands for all."""
    return values[d] if len(values) > 1 else values[0]


def _spatial(i: int, length: int, input: MetaArgument) -> range:
    """The spatial dims that element i of a list speaks of."""
    return range(i, i + 1) if length > 1 else range(input.rank - 2)


def _per_dim(name: str, *constraints: Constraint, least: int, preferred: tuple[int, ...]) -> Argument:
    """A number for each spatial dim, or one for all."""
    return integers(
        name,
        Length.In(lambda input: (1, input.rank - 2), text="{1, rank(input) - 2}"),
        Value.Ge(least),
        Value.Be(preferred),
        *constraints,
    )


def _weight_sizes(input: MetaArgument, transposed: bool, sizes: tuple[int, ...], d: int) -> Sizes:
    """d = 0: {size(input, 1)} if transposed; d = 1: {size(input, 1) / g: g divides it and size 0} if not"""
    channels = input.size(1)
    if transposed and d == 0:
        return (channels,)
    if not transposed and d == 1:
        return tuple(channels // g for g in divisors(math.gcd(channels, sizes[0])))
    return ANYTHING


def _groups(input: MetaArgument, weight: MetaArgument, transposed: bool) -> Sizes:
    """the divisors of size(input, 1) if transposed, else {size(input, 1) / size(weight, 1)}"""
    return divisors(input.size(1)) if transposed else (input.size(1) // weight.size(1),)


def _outputs(weight: MetaArgument, transposed: bool, groups: int) -> int:
    return weight.size(1) * groups if transposed else weight.size(0)


def _reach(weight: MetaArgument, dilation: Numbers, d: int) -> int:
    """From the first element that a window takes to the last."""
    return _for(dilation, d) * (weight.size(2 + d) - 1)


def _least_padding(
    i: int, length: int, input: MetaArgument, weight: MetaArgument, dilation: Numbers, transposed: bool
) -> float:
    """(dilation (kernel - 1) + 1 - input) / 2 if not transposed"""
    if transposed:
        return -math.inf
    lacking = [_reach(weight, dilation, d) + 1 - input.size(2 + d) for d in _spatial(i, length, input)]
    return max([(each + 1) // 2 for each in lacking], default=0)


def _most_padding(
    i: int, length: int, input: MetaArgument, weight: MetaArgument, stride: Numbers, dilation: Numbers,
    transposed: bool, output_padding: Numbers,
) -> float:  # fmt: skip
    """(stride (input - 1) + dilation (kernel - 1) + output_padding) / 2 if transposed"""
    if not transposed:
        return math.inf
    sizes = [
        _unpadded(input, weight, stride=stride, dilation=dilation, output_padding=output_padding, d=d)
        for d in _spatial(i, length, input)
    ]
    return min([(size - 1) // 2 for size in sizes], default=0)


def _unpadded(
    input: MetaArgument, weight: MetaArgument, stride: Numbers, dilation: Numbers, output_padding: Numbers, d: int
) -> int:
    """A size of a transposed convolution without padding, which takes from it at both ends."""
    between = _for(stride, d) * (input.size(2 + d) - 1)
    return between + _reach(weight, dilation, d) + _for(output_padding, d) + 1


def _output_paddings(
    i: int, length: int, input: MetaArgument, stride: Numbers, dilation: Numbers, transposed: bool
) -> Space:
    """[0, max(stride, dilation)) if transposed"""
    if not transposed:
        return ANYTHING
    bounds = [max(_for(stride, d), _for(dilation, d)) for d in _spatial(i, length, input)]
    return integers_between(0, min(bounds, default=1) - 1)


def _convolved(
    input: MetaArgument, weight: MetaArgument, stride: Numbers, padding: Numbers, dilation: Numbers, transposed: bool,
    output_padding: Numbers, groups: int,
) -> tuple[int, ...]:  # fmt: skip
    sizes = []
    for d in range(input.rank - 2):
        if transposed:
            size = _unpadded(
                input, weight, stride=stride, dilation=dilation, output_padding=output_padding, d=d
            ) - 2 * _for(padding, d)
        else:
            room = input.size(2 + d) + 2 * _for(padding, d) - _reach(weight, dilation, d) - 1
            size = room // _for(stride, d) + 1
        sizes.append(size)
    return (input.size(0), _outputs(weight, transposed, groups), *sizes)


def _of_no_elements(
    input: MetaArgument, weight: MetaArgument, stride: Numbers, padding: Numbers, dilation: Numbers, transposed: bool,
    output_padding: Numbers, groups: int,
) -> bool:  # fmt: skip
    return 0 in _convolved(
        input,
        weight,
        stride=stride,
        padding=padding,
        dilation=dilation,
        transposed=transposed,
        output_padding=output_padding,
        groups=groups,
    )


def _no_batch(input: MetaArgument) -> bool:
    return input.size(0) == 0


OTHER_INTEGERS = tuple(name for name in INTEGERS if name != "int64")

spec(
    "aten::convolution",
    tensor(
        "input",
        Dtype.NotIn(("bool", *COMPLEX)).unjudged(NO_KERNEL, _no_batch),
        Dtype.NotIn(OTHER_INTEGERS).lenient("torch takes them without dilation and transposition"),
        Rank.In((3, 4, 5)),
        Size.Ge(lambda d: min(d, 1), text="1 where d > 0").unjudged(
            "of no channels torch makes none, whatever weight says; of no batch it checks nothing",
            lambda input: 0 in input.shape[:2],
        ),
    ),
    tensor(
        "weight",
        dtype_of("input").unjudged(NO_KERNEL, _no_batch),
        Rank.Eq(lambda input: input.rank),
        Size.Ge(1),
        Size.In(_weight_sizes),
        Size.Be(lambda input, transposed, d: (2 * input.size(1),) if d == 0 and not transposed else ()),  # for groups
    ),
    optional(
        tensor(
            "bias",
            dtype_of("input").unjudged("some of torch's kernels take a bias of any dtype"),
            Rank.Eq(1),
            Size.Eq(_outputs, ("weight", "transposed", "groups"), "outputs"),
        )
    ),
    _per_dim("stride", least=1, preferred=(1, 2, 3)),
    _per_dim(
        "padding",
        Value.Ge(_least_padding),
        Value.Le(_most_padding).unjudged("some of torch's kernels give results without elements", _of_no_elements),
        least=0,
        preferred=(0, 1, 2),
    ),
    _per_dim("dilation", least=1, preferred=(1, 2)),
    boolean("transposed"),
    _per_dim("output_padding", Value.In(_output_paddings).unjudged(NO_KERNEL, _no_batch), least=0, preferred=(0, 1)),
    integer("groups", Value.In(_groups)),
    result(dtype_of("input"), shaped(_convolved)),
)
