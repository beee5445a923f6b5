"""Convolutions: the domains of their arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence

from conform.domains.contraction.matrices import NO_KERNEL
from conform.domains.engine.arguments import Argument, boolean, integer, integers, optional, result, string, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Length, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space, integers_between
from conform.domains.engine.vocabulary import divisors, dtype_of, shaped
from conform.domains.specs import COMPLEX, INTEGERS, spec

Sizes = Space | tuple[int, ...]

# input is [batch, channels, sizes...], weight [outputs, channels / groups, kernel sizes...], or, if transposed,
# [channels, outputs / groups, kernel sizes...].

Numbers = Sequence[int]


def number_for(values: Numbers, d: int) -> int:
    """The number for spatial dim d: one alone stands for all."""
    return values[min(d, len(values) - 1)] if values else 1


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


def weight_sizes(input: MetaArgument, transposed: bool, sizes: tuple[int, ...], d: int) -> Sizes:
    """d = 0: {size(input, 1)} if transposed; d = 1: {size(input, 1) / g: g divides it and size 0} if not"""
    channels = input.size(1)
    if transposed and d == 0:
        return (channels,)
    if not transposed and d == 1:
        return tuple(channels // g for g in divisors(math.gcd(channels, sizes[0])))
    return ANYTHING


def groups_of(input: MetaArgument, weight: MetaArgument, transposed: bool) -> Sizes:
    """the divisors of size(input, 1) if transposed, else {size(input, 1) / size(weight, 1)}"""
    return divisors(input.size(1)) if transposed else (input.size(1) // weight.size(1),)


def _outputs(weight: MetaArgument, transposed: bool, groups: int) -> int:
    return weight.size(1) * groups if transposed else weight.size(0)


def reach_of(weight: MetaArgument, dilation: Numbers, d: int) -> int:
    """From the first element that a window takes to the last."""
    return number_for(dilation, d) * (weight.size(2 + d) - 1)


def least_padding(
    i: int, length: int, input: MetaArgument, weight: MetaArgument, dilation: Numbers, transposed: bool
) -> float:
    """(dilation (kernel - 1) + 1 - input) / 2 if not transposed"""
    if transposed:
        return -math.inf
    lacking = [reach_of(weight, dilation, d) + 1 - input.size(2 + d) for d in _spatial(i, length, input)]
    return max([(each + 1) // 2 for each in lacking], default=0)


def most_padding(
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
    between = number_for(stride, d) * (input.size(2 + d) - 1)
    return between + reach_of(weight, dilation, d) + number_for(output_padding, d) + 1


def _output_paddings(
    i: int, length: int, input: MetaArgument, stride: Numbers, dilation: Numbers, transposed: bool
) -> Space:
    """[0, max(stride, dilation)) if transposed"""
    if not transposed:
        return ANYTHING
    bounds = [max(number_for(stride, d), number_for(dilation, d)) for d in _spatial(i, length, input)]
    return integers_between(0, min(bounds, default=1) - 1)


def convolved(
    input: MetaArgument, weight: MetaArgument, stride: Numbers, padding: Numbers, dilation: Numbers, transposed: bool,
    output_padding: Numbers, groups: int,
) -> tuple[int, ...]:  # fmt: skip
    sizes = []
    for d in range(input.rank - 2):
        if transposed:
            size = _unpadded(
                input, weight, stride=stride, dilation=dilation, output_padding=output_padding, d=d
            ) - 2 * number_for(padding, d)
        else:
            room = input.size(2 + d) + 2 * number_for(padding, d) - reach_of(weight, dilation, d) - 1
            size = room // number_for(stride, d) + 1
        sizes.append(size)
    return (input.size(0), _outputs(weight, transposed, groups), *sizes)


def _of_no_elements(
    input: MetaArgument, weight: MetaArgument, stride: Numbers, padding: Numbers, dilation: Numbers, transposed: bool,
    output_padding: Numbers, groups: int,
) -> bool:  # fmt: skip
    return 0 in convolved(
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

CONVOLUTION = spec(
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
        Size.In(weight_sizes),
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
        Value.Ge(least_padding),
        Value.Le(most_padding).unjudged("some of torch's kernels give results without elements", _of_no_elements),
        least=0,
        preferred=(0, 1, 2),
    ),
    _per_dim("dilation", least=1, preferred=(1, 2)),
    boolean("transposed"),
    _per_dim("output_padding", Value.In(_output_paddings).unjudged(NO_KERNEL, _no_batch), least=0, preferred=(0, 1)),
    integer("groups", Value.In(groups_of)),
    result(dtype_of("input"), shaped(convolved)),
)


# --- conv1d, conv2d, conv3d and their transposes ----------------------------------------------------------------------
# As convolution, but that the name says how many spatial dims there are, and an input may lack the batch dim.

NOTHING = "torch checks less of what has no elements"


def _operands(spatial: int, transposed: bool) -> tuple[Argument, ...]:
    """input, weight and bias."""

    def weight_sizes(input: MetaArgument, sizes: tuple[int, ...], d: int) -> Sizes:
        """of channels: those of the input, divided by the groups that divide them and the outputs"""
        channels = input.shape[-spatial - 1]
        if transposed and d == 0:
            return (channels,)
        if not transposed and d == 1:
            return tuple(channels // g for g in divisors(math.gcd(channels, sizes[0])))
        return ANYTHING

    def outputs(weight: MetaArgument, groups: int) -> int:
        """size(weight, 1) groups if transposed, else size(weight, 0)"""
        return weight.size(1) * groups if transposed else weight.size(0)

    return (
        tensor(
            "input",
            Dtype.NotIn(COMPLEX).unjudged("torch takes complex numbers"),
            Dtype.Ne("bool").unjudged(NO_KERNEL, lambda input: input.numel == 0),
            Dtype.NotIn(OTHER_INTEGERS).lenient("torch takes them without dilation and transposition"),
            Rank.In((spatial + 2, spatial + 1)),
            Size.Ge(1).unjudged(NOTHING),
        ),
        tensor(
            "weight",
            dtype_of("input"),
            Rank.Eq(spatial + 2),
            Size.Ge(1).unjudged(NOTHING),
            Size.In(weight_sizes),
            Size.Be(lambda input, d: (2 * input.shape[-spatial - 1],) if d == 0 and not transposed else ()),
        ),
        optional(
            tensor(
                "bias",
                dtype_of("input").unjudged("some of torch's kernels take a bias of any dtype"),
                Rank.Eq(1),
                Size.Eq(outputs, ("weight", "groups"), "outputs"),
            )
        ),
    )


def _numbers(name: str, spatial: int, *constraints: Constraint, least: int, preferred: tuple[int, ...]) -> Argument:
    lengths = tuple(dict.fromkeys((1, spatial)))
    return integers(name, Length.In(lengths), Value.Ge(least), Value.Be(preferred), *constraints)


def _of_groups(spatial: int, transposed: bool) -> Argument:
    def groups(input: MetaArgument, weight: MetaArgument) -> tuple[int, ...]:
        """the divisors of the channels if transposed, else those of the input / size(weight, 1)"""
        channels = input.shape[-spatial - 1]
        return divisors(channels) if transposed else (channels // max(weight.size(1), 1),)

    return integer("groups", Value.In(groups))


def _forward(spatial: int) -> None:
    def least_padding(i: int, length: int, input: MetaArgument, weight: MetaArgument, dilation: Numbers) -> int:
        """(dilation (kernel - 1) + 1 - input) / 2"""
        dims = range(i, i + 1) if length > 1 else range(spatial)
        sizes = input.shape[-spatial:]
        lacking = [reach_of(weight, dilation, d) + 1 - sizes[d] for d in dims]
        return max([(each + 1) // 2 for each in lacking], default=0)

    def convolved(
        input: MetaArgument, weight: MetaArgument, stride: Numbers, padding: Numbers, dilation: Numbers
    ) -> tuple[int, ...]:
        rooms = (
            input.shape[d - spatial] + 2 * number_for(padding, d) - reach_of(weight, dilation, d) - 1
            for d in range(spatial)
        )
        return (*input.shape[: -spatial - 1], weight.size(0),
                *(room // number_for(stride, d) + 1 for d, room in enumerate(rooms)))  # fmt: skip

    spec(
        f"aten::conv{spatial}d",
        *_operands(spatial, transposed=False),
        _numbers("stride", spatial, least=1, preferred=(1, 2, 3)),
        _numbers("padding", spatial, Value.Ge(least_padding), least=0, preferred=(0, 1, 2)),
        _numbers("dilation", spatial, least=1, preferred=(1, 2)),
        _of_groups(spatial, transposed=False),
        result(dtype_of("input"), shaped(convolved)),
    )


def _by_name(spatial: int) -> None:
    def fits(input: MetaArgument, weight: MetaArgument, padding: str, dilation: Numbers) -> bool:
        sizes = input.shape[-spatial:]
        return padding == "same" or all(reach_of(weight, dilation, d) < sizes[d] for d in range(spatial))

    def names(input: MetaArgument, weight: MetaArgument, stride: Numbers, dilation: Numbers) -> tuple[str, ...]:
        """ "same" of stride 1, "valid" where the kernel is in the input"""
        same = ("same",) if set(stride) == {1} else ()
        return (*(("valid",) if fits(input, weight, "valid", dilation) else ()), *same)

    def convolved(
        input: MetaArgument, weight: MetaArgument, stride: Numbers, padding: str, dilation: Numbers
    ) -> tuple[int, ...]:
        sizes = input.shape[-spatial:]
        if padding == "valid":
            sizes = [
                (sizes[d] - reach_of(weight, dilation, d) - 1) // number_for(stride, d) + 1 for d in range(spatial)
            ]
        return (*input.shape[: -spatial - 1], weight.size(0), *sizes)

    def strides(input: MetaArgument, weight: MetaArgument) -> Sizes:
        """1 of a kernel that is not in the input"""
        is_inside = all(k <= n for k, n in zip(weight.shape[2:], input.shape[-spatial:], strict=True))
        return ANYTHING if is_inside else (1,)

    def dilations(i: int, length: int, input: MetaArgument, weight: MetaArgument, stride: Numbers) -> Sizes:
        """of a stride other than 1: at most (input - 1) / (kernel - 1)"""
        if set(stride) == {1}:
            return ANYTHING
        dims = range(i, i + 1) if length > 1 else range(spatial)
        most = [(input.shape[d - spatial] - 1) // (weight.size(2 + d) - 1) for d in dims if weight.size(2 + d) > 1]
        return integers_between(1, max(min(most), 1)) if most else ANYTHING

    spec(
        f"aten::conv{spatial}d.padding",
        *_operands(spatial, transposed=False),
        _numbers("stride", spatial, Value.In(strides), least=1, preferred=(1, 2)),
        string("padding", Value.In(names)),
        _numbers("dilation", spatial, Value.In(dilations), least=1, preferred=(1, 2)),
        _of_groups(spatial, transposed=False),
        result(dtype_of("input"), shaped(convolved)),
    )


def _transposed(name: str, spatial: int) -> None:
    def unpadded(
        input: MetaArgument, weight: MetaArgument, stride: Numbers, dilation: Numbers, output_padding: Numbers, d: int
    ) -> int:
        between = number_for(stride, d) * (input.shape[d - spatial] - 1)
        return between + reach_of(weight, dilation, d) + number_for(output_padding, d) + 1

    def most_padding(
        i: int, length: int, input: MetaArgument, weight: MetaArgument, stride: Numbers, dilation: Numbers,
        output_padding: Numbers,
    ) -> int:  # fmt: skip
        """(stride (input - 1) + dilation (kernel - 1) + output_padding) / 2"""
        dims = range(i, i + 1) if length > 1 else range(spatial)
        return min([(unpadded(input, weight, stride, dilation, output_padding, d) - 1) // 2 for d in dims], default=0)

    def output_paddings(i: int, length: int, stride: Numbers, dilation: Numbers) -> Space:
        """[0, max(stride, dilation))"""
        dims = range(i, i + 1) if length > 1 else range(spatial)
        return integers_between(0, min(max(number_for(stride, d), number_for(dilation, d)) for d in dims) - 1)

    def convolved(
        input: MetaArgument, weight: MetaArgument, stride: Numbers, padding: Numbers, output_padding: Numbers,
        groups: int, dilation: Numbers,
    ) -> tuple[int, ...]:  # fmt: skip
        sizes = (
            unpadded(input, weight, stride, dilation, output_padding, d) - 2 * number_for(padding, d)
            for d in range(spatial)
        )
        return (*input.shape[: -spatial - 1], weight.size(1) * groups, *sizes)

    spec(
        name,
        *_operands(spatial, transposed=True),
        _numbers("stride", spatial, least=1, preferred=(1, 2, 3)),
        _numbers("padding", spatial, Value.Le(most_padding).unjudged(NOTHING), least=0, preferred=(0, 1, 2)),
        _numbers("output_padding", spatial, Value.In(output_paddings), least=0, preferred=(0, 1)),
        _of_groups(spatial, transposed=True),
        _numbers("dilation", spatial, least=1, preferred=(1, 2)),
        result(dtype_of("input"), shaped(convolved)),
    )


for _rank in (1, 2, 3):
    _forward(_rank)
    _by_name(_rank)
for _name in ("aten::conv_transpose1d", "aten::conv_transpose2d.input", "aten::conv_transpose3d.input"):
    _transposed(_name, int(_name.partition("transpose")[2][0]))
