"""Sums with what is above zero in them alone, and convolutions of sequences: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import Argument, boolean, integer, result, scalar, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import (
    broadcast_of,
    broadcastable_with,
    dtype_of,
    shape_of,
    shaped,
    sized,
    weight_of,
)
from conform.domains.specs import FLOATS, spec

UNDOCUMENTED = "no documentation says which gelu, and kernels differ"
OF_INTEGERS = "torch multiplies integers, too, which nothing documents"


def _unless_one(self: MetaArgument, d: int) -> int | None:
    """The size of dim d, from the end, where self does not repeat along it."""
    return self.size(d) if -d <= self.rank and self.size(d) != 1 else None


def _factor(name: str) -> Argument:
    kinds, _, of_reals = weight_of("self")
    return scalar(name, kinds.unjudged("torch's kernels differ in the numbers that they convert"), of_reals)


spec(
    "aten::_addmm_activation",
    tensor("self", Dtype.In(FLOATS).unjudged(OF_INTEGERS), Rank.Le(2)),
    tensor(
        "mat1", dtype_of("self"), Rank.Eq(2),
        sized(lambda self: (_unless_one(self, -2),), "{size(self, -2)} where d = 0, unless that is 1"),
    ),
    tensor(
        "mat2", dtype_of("self"), Rank.Eq(2),
        sized(
            lambda self, mat1: (mat1.size(1), _unless_one(self, -1)),
            "{size(mat1, 1)} where d = 0, {size(self, -1)} where d = 1, unless that is 1",
        ),
    ),
    _factor("beta"),
    _factor("alpha"),
    boolean("use_gelu", Value.Eq(False).unjudged(UNDOCUMENTED)),
    result(dtype_of("self"), shaped(lambda mat1, mat2: (mat1.size(0), mat2.size(1)))),
)  # fmt: skip

SUMMED = ("float32", "float64", "int8", "int16", "int32", "int64")
OTHERS = "kernels differ in the dtypes that they take"
CONVERTS = "torch converts numbers of another kind, and those beyond the range"
PROMOTES = "torch promotes, and compares with the limits of the dtype of self"


def _number(name: str) -> Argument:
    return scalar(name, *(one.unjudged(CONVERTS) for one in weight_of("self")))


SELF = tensor("self", Dtype.In(SUMMED).lenient(OTHERS))
spec(
    "aten::_add_relu.Tensor",
    SELF,
    tensor("other", dtype_of("self").unjudged(PROMOTES), broadcastable_with("self")),
    _number("alpha"),
    result(dtype_of("self"), broadcast_of("self", "other")),
)
spec("aten::_add_relu.Scalar", SELF, _number("other"), _number("alpha"), result(dtype_of("self"), shape_of("self")))

CHECKS_LESS = "torch checks less of what has no elements"


def _of_sequences(self: MetaArgument, weight: MetaArgument, pad: int) -> tuple[int, ...]:
    return self.size(0) + 2 * pad - weight.size(0) + 1, self.size(1), weight.size(2)


spec(
    "aten::conv_tbc",
    tensor("self", Dtype.In(FLOATS).unjudged(OF_INTEGERS), Rank.Eq(3), Size.Ge(1).unjudged(CHECKS_LESS)),
    tensor(
        "weight", dtype_of("self"), Rank.Eq(3), Size.Ge(1).unjudged(CHECKS_LESS),
        sized(lambda self: (None, self.size(2)), "size(self, 2) where d = 1"),
    ),
    tensor(
        "bias", dtype_of("self").unjudged("torch converts it"), Rank.Eq(1),
        sized(lambda weight: (weight.size(2),), "size(weight, 2)"),
    ),
    integer(
        "pad",
        Value.Ge(0).unjudged("torch leaves times out"),
        Value.Ge(
            lambda self, weight: (weight.size(0) - self.size(0) + 1) // 2, text="(size(weight, 0) - size(self, 0)) / 2"
        ).unjudged(CHECKS_LESS),
        Value.Be((0, 1, 2)),
    ),
    result(dtype_of("self"), shaped(_of_sequences)),
)  # fmt: skip
