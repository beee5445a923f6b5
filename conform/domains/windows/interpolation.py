"""Resizing of images: the domains of its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

from conform.domains.engine.arguments import Argument, boolean, integers, optional, real, reals, result, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Length, Optional, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import dtype_of, shaped
from conform.domains.specs import FLOATS, spec

Numbers = Sequence[float]
OF_SCALES = {1: ("scales",), 2: ("scales_h", "scales_w"), 3: ("scales_d", "scales_h", "scales_w")}
NEAREST = Dtype.In((*FLOATS, "uint8"))
LINEAR = Dtype.In(FLOATS).unjudged("torch interpolates uint8 too, with weights of its own")


def _images(name: str, rank: int, of_dtypes: Constraint) -> Argument:
    return tensor(
        name, of_dtypes, Rank.Eq(rank + 2), Size.Ge(lambda d: min(d, 1), text="1 where d > 0"),
    )  # fmt: skip


def _scale(name: str, dim: int) -> Argument:
    """What the sizes say, if anything."""
    equal = Value.Eq(
        lambda self, output_size: output_size[dim] / max(self.size(2 + dim), 1),
        text=f"output_size[{dim}] / size(self, {2 + dim})",
    )
    return optional(real(name, equal.unjudged("torch takes any scale, and so sizes that contradict it")))


def _of_sizes(name: str, rank: int, of_dtypes: Constraint, *flags: Argument) -> None:
    spec(
        name,
        _images("self", rank, of_dtypes),
        integers("output_size", Length.Eq(rank), Value.Ge(1), Value.Be((1, 2, 3, 5, 8))),
        *flags,
        *[_scale(scale, dim) for dim, scale in enumerate(OF_SCALES[rank])],
        result(dtype_of("self"), shaped(lambda self, output_size: (*self.shape[:2], *output_size))),
    )


def _resized(input: MetaArgument, output_size: Sequence[int] | None, scale_factors: Numbers | None) -> tuple[int, ...]:
    if output_size is not None:
        return (*input.shape[:2], *output_size)
    sizes = (floor(float(size) * scale) for size, scale in zip(input.shape[2:], scale_factors, strict=True))
    return (*input.shape[:2], *sizes)


def _of_either(name: str, rank: int, of_dtypes: Constraint, *flags: Argument) -> None:
    spec(
        name,
        _images("input", rank, of_dtypes),
        optional(integers("output_size", Length.Eq(rank), Value.Ge(1), Value.Be((1, 2, 3, 5, 8)))),
        *flags,
        optional(
            reals(
                "scale_factors",
                Length.Eq(rank),
                Value.Ge(
                    lambda input, i: (1 + 2.0**-40) / max(input.size(2 + i), 1), text="(1 + 2^-40) / size(input, i + 2)"
                ).unjudged("the product with the size is rounded to 1, or is not"),
                Value.Le(4.0).lenient("larger ones make large results"),
                Value.Be((2.0, 0.5, 1.5, 1.0, 3.0)),
            ),
            Optional.Eq(lambda output_size: output_size is not None, text="(output_size is not None)"),
        ),
        result(dtype_of("input"), shaped(_resized)),
    )


for _rank in (1, 2, 3):
    _of_sizes(f"aten::upsample_nearest{_rank}d", _rank, NEAREST)
    _of_either(f"aten::upsample_nearest{_rank}d.vec", _rank, NEAREST)
    _of_sizes(f"aten::_upsample_nearest_exact{_rank}d", _rank, NEAREST)
    _of_either(f"aten::_upsample_nearest_exact{_rank}d.vec", _rank, NEAREST)
for _rank, _name in ((1, "linear1d"), (2, "bilinear2d"), (3, "trilinear3d"), (2, "bicubic2d")):
    _of_sizes(f"aten::upsample_{_name}", _rank, LINEAR, boolean("align_corners"))
    _of_either(f"aten::upsample_{_name}.vec", _rank, LINEAR, boolean("align_corners"))

UNFILTERED = Value.Eq(False).unjudged("aligned corners are defined for no filter")
for _name in ("bilinear2d_aa", "bicubic2d_aa"):
    _of_sizes(f"aten::_upsample_{_name}", 2, LINEAR, boolean("align_corners", UNFILTERED))
    _of_either(f"aten::_upsample_{_name}.vec", 2, LINEAR, boolean("align_corners", UNFILTERED))
