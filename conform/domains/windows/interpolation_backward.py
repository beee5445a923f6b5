"""Gradients of resizing: the domains of their arguments, the sizes of both sides among them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from conform.domains.engine.arguments import Argument, boolean, integers, optional, real, result, shape, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Length, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space
from conform.domains.engine.vocabulary import NOT_MANY, dtype_of, shaped
from conform.domains.specs import FLOATS, spec
from conform.domains.windows.interpolation import OF_SCALES, UNFILTERED

Sizes = Sequence[int]
NEAREST = Dtype.In(FLOATS).unjudged("torch adds up uint8 too, modulo 256 or not")
LINEAR = Dtype.In(FLOATS)


def _scale(name: str, dim: int) -> Argument:
    """What the sizes say, if anything."""
    equal = Value.Eq(
        lambda output_size, input_size: output_size[dim] / max(input_size[2 + dim], 1),
        text=f"output_size[{dim}] / input_size[{2 + dim}]",
    )
    return optional(real(name, equal.unjudged("torch takes any scale, and so sizes that contradict it")))


def _sizes_before(grad_output: MetaArgument, i: int) -> Space | tuple[int, ...]:
    """{size(grad_output, i)} of batch and channels"""
    return (grad_output.size(i),) if i < 2 <= grad_output.rank else ANYTHING


def _resized(grad_output: MetaArgument, i: int) -> Space | tuple[int, ...]:
    """{size(grad_output, i + 2)}"""
    return (grad_output.size(2 + i),) if 2 + i < grad_output.rank else ANYTHING


def _gradient(name: str, rank: int, of_dtypes: Constraint, *flags: Argument) -> None:
    spec(
        f"aten::{name}_backward",
        tensor("grad_output", of_dtypes, Rank.Eq(rank + 2),
               Size.Ge(lambda d: min(d, 1), text="1 where d > 0").unjudged("torch does not check every size")),
        integers("output_size", Length.Eq(rank), Value.In(_resized)),
        shape("input_size", Length.Eq(rank + 2), Value.In(_sizes_before),
              Value.Ge(lambda i: min(i, 1), text="1 where i > 0").unjudged("torch does not check every size"),
              Value.Le(lambda i: 12 if i > 1 else math.inf, text="12 where i > 1").lenient(NOT_MANY),
              Value.Be((1, 2, 3, 5, 8))),
        *flags,
        *[_scale(scale, dim) for dim, scale in enumerate(OF_SCALES[rank])],
        result(dtype_of("grad_output"), shaped(lambda input_size: input_size, "input_size")),
    )  # fmt: skip


for _rank in (1, 2, 3):
    _gradient(f"upsample_nearest{_rank}d", _rank, NEAREST)
    _gradient(f"_upsample_nearest_exact{_rank}d", _rank, NEAREST)
for _rank, _name in ((1, "linear1d"), (2, "bilinear2d"), (3, "trilinear3d")):
    _gradient(f"upsample_{_name}", _rank, LINEAR, boolean("align_corners"))
COPIED = LINEAR.unjudged("torch copies images that keep their sizes, of any dtype")
_gradient("upsample_bicubic2d", 2, COPIED, boolean("align_corners"))
for _name in ("bilinear2d_aa", "bicubic2d_aa"):
    _gradient(f"_upsample_{_name}", 2, LINEAR, boolean("align_corners", UNFILTERED))
