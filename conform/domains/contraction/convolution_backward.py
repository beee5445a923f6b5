"""The gradients of a convolution: the domains of their arguments."""

from __future__ import annotations

from conform.domains.contraction.convolution import (
    Numbers,
    convolved,
    groups_of,
    least_padding,
    most_padding,
    number_for,
    reach_of,
    weight_sizes,
)
from conform.domains.contraction.matrices import NO_KERNEL
from conform.domains.engine.arguments import (
    Argument,
    boolean,
    integer,
    integers,
    optional,
    result,
    shape,
    tensor,
)
from conform.domains.engine.constraints import Constraint, Dtype, Length, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.output_mask import of_wanted, output_mask
from conform.domains.engine.vocabulary import dtype_of, shape_of, shaped
from conform.domains.specs import FLOATS, spec

UNCHECKED = "torch's kernels read it or not, and check what they read"

# The gradient of the input is the other kind of convolution of grad_output: of which input has the sizes.


def _adjoint_sizes(
    grad_output: MetaArgument, weight: MetaArgument, stride: Numbers, padding: Numbers, dilation: Numbers,
    transposed: bool, groups: int, d: int,
) -> tuple[int, ...]:  # fmt: skip
    """Of a strided window, as many sizes of the input as the stride has one result."""
    more = number_for(stride, d - 2) if d >= 2 and not transposed else 1
    shapes = (
        convolved(grad_output, weight, stride, padding, dilation, not transposed, [extra], groups)
        for extra in range(more)
    )  # fmt: skip
    return tuple(one[d] for one in shapes)


def _rest(
    i: int, grad_output: MetaArgument, weight: MetaArgument, stride: Numbers, padding: Numbers, dilation: Numbers,
    transposed: bool,
) -> int:  # fmt: skip
    """What a stride leaves of grad_output, if transposed."""
    room = grad_output.size(2 + i) + 2 * number_for(padding, i) - reach_of(weight, dilation, i) - 1
    return room % number_for(stride, i) if transposed else 0


def _of_gradient(name: str, *constraints: Constraint, least: int, preferred: tuple[int, ...]) -> Argument:
    return integers(
        name,
        Length.In(lambda grad_output: (1, grad_output.rank - 2), text="{1, rank(grad_output) - 2}"),
        Value.Ge(least).unjudged(UNCHECKED),
        Value.Be(preferred),
        *constraints,
    )


spec(
    "aten::convolution_backward",
    tensor(
        "grad_output",
        Dtype.In(FLOATS).unjudged("some kernels take integers"),
        Rank.In((3, 4, 5)),
        Size.Ge(1).unjudged(NO_KERNEL),
    ),
    tensor(
        "input",
        dtype_of("grad_output").unjudged(UNCHECKED),
        Rank.Eq(lambda grad_output: grad_output.rank),
        Size.In(_adjoint_sizes, text="sizes that the adjoint gives").unjudged(UNCHECKED),
    ),
    tensor(
        "weight",
        dtype_of("grad_output").unjudged(UNCHECKED),
        Rank.Eq(lambda grad_output: grad_output.rank),
        Size.Ge(1).unjudged(NO_KERNEL),
        Size.In(
            lambda grad_output, transposed, sizes, d: weight_sizes(grad_output, not transposed, sizes, d),
            text="what goes with size(grad_output, 1)",
        ).unjudged(UNCHECKED),
        Size.Be(lambda grad_output, transposed, d: (2 * grad_output.size(1),) if d == 0 and transposed else ()),
    ),
    optional(
        shape(
            "bias_sizes",
            Length.Eq(1).unjudged(UNCHECKED),
            Value.Eq(lambda grad_output: grad_output.size(1)).unjudged(UNCHECKED),
        ),
    ),
    _of_gradient("stride", least=1, preferred=(1, 2, 3)),
    _of_gradient(
        "padding",
        Value.Ge(
            lambda i, length, grad_output, weight, dilation, transposed: least_padding(
                i, length, grad_output, weight, dilation, not transposed
            ),
            text="(dilation (kernel - 1) + 1 - grad_output) / 2 if transposed",
        ).unjudged(UNCHECKED),
        Value.Le(
            lambda i, length, grad_output, weight, stride, dilation, transposed: most_padding(
                i, length, grad_output, weight, stride, dilation, not transposed, [0]
            ),
            text="(stride (grad_output - 1) + dilation (kernel - 1)) / 2 unless transposed",
        ).unjudged(UNCHECKED),
        least=0,
        preferred=(0, 1, 2),
    ),
    _of_gradient("dilation", least=1, preferred=(1, 2)),
    boolean("transposed"),
    integers(
        "output_padding",
        Length.Eq(lambda grad_output: grad_output.rank - 2).unjudged(UNCHECKED),
        Value.Eq(_rest, text="what a stride leaves").unjudged(UNCHECKED),
    ),
    integer(
        "groups",
        Value.In(
            lambda grad_output, weight, transposed: groups_of(grad_output, weight, not transposed),
            text="what divides the channels",
        ).unjudged(UNCHECKED),
    ),
    output_mask(lambda bias_sizes: (True, True, bias_sizes is not None), ("bias_sizes",)),
    *of_wanted(
        result(dtype_of("grad_output"), shape_of("input")),
        result(dtype_of("grad_output"), shape_of("weight")),
        result(dtype_of("grad_output"), shaped(lambda grad_output: (grad_output.size(1),))),
    ),
)
