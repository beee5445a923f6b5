"""Fake quantization: the domains of the arguments."""

from __future__ import annotations

import numpy as np

from conform.domains.elementwise.outcomes import SAME, TRUTH
from conform.domains.engine.arguments import Argument, dim, index_tensor, integer, real, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import positive_in, shaped
from conform.domains.specs import spec
from conform.numerics.draws import Stream

DOCUMENTED = "torch takes what its documentation does not name"
NO_GRID = "beyond the integers of which float32 has the halves"
FINE, COARSE, MOST = 1e-30, 1e30, 2**15

OPERAND = tensor("self", Dtype.Eq("float32").unjudged(DOCUMENTED))
SCALES = (
    Value.Ge(FINE).unjudged("a grid of no width, or one of which the reciprocal, or a product with it, may overflow"),
    Value.Le(COARSE).unjudged("its reciprocal, or a product with it, may underflow"),
)
LOW = integer("quant_min", Value.Ge(-MOST).unjudged(NO_GRID), Value.Be((-128, 0)))
HIGH = integer(
    "quant_max",
    Value.Ge(lambda quant_min: quant_min, text="quant_min"),
    Value.Le(MOST).unjudged(NO_GRID),
    Value.Be((127, 255)),
)
BETWEEN = (
    Value.Ge(lambda quant_min: quant_min, text="quant_min"),
    Value.Le(lambda quant_max: quant_max, text="quant_max"),
)


def _drawn(stream: Stream, scale: MetaArgument) -> np.ndarray:
    """Those with which many quotients are ties among them."""
    numbers = np.array([0.25, 0.1, 0.03, 0.5, 0.01], np.float32)
    return positive_in(scale.dtype, numbers[stream.integers(0, 4, scale.shape)])


def _tensors(shape: tuple[Constraint, ...], between: tuple[Constraint, ...]) -> tuple[Argument, Argument]:
    """scale and zero_point as tensors."""
    return (
        index_tensor("scale", Dtype.Eq("float32").unjudged(DOCUMENTED), shape, SCALES, Value.Gen(_drawn)),
        index_tensor("zero_point", Dtype.Eq("int32").unjudged(DOCUMENTED), shape, between),
    )


SCALE = real("scale", SCALES, Value.Be((0.1, 0.25)))
ONE = Rank.Eq(1).unjudged(DOCUMENTED), Size.Eq(1).unjudged(DOCUMENTED)
CHANNELS = shaped(lambda self, axis: (self.shape[axis],), "[size(self, axis)]")
AXIS = dim("axis", Value.Ge(0), Value.Lt(lambda self: self.rank, text="rank(self)"))
WITH_DIMS = tensor(
    "self",
    Dtype.Eq("float32").unjudged(DOCUMENTED),
    Rank.Ge(1).unjudged("no dim, no channel"),
    Size.Ge(1).unjudged("torch takes no extremes of no zero points"),
)

for _name, _results in (
    ("aten::fake_quantize_per_tensor_affine", (SAME,)),
    ("aten::fake_quantize_per_tensor_affine_cachemask", (SAME, TRUTH)),
):
    spec(_name, OPERAND, SCALE, integer("zero_point", BETWEEN), LOW, HIGH, *_results)
spec(
    "aten::fake_quantize_per_tensor_affine.tensor_qparams",
    OPERAND,
    *_tensors(ONE, tuple(one.unjudged("torch looks at numbers alone") for one in BETWEEN)),
    LOW,
    HIGH,
    SAME,
)
for _name, _results in (
    ("aten::fake_quantize_per_channel_affine", (SAME,)),
    ("aten::fake_quantize_per_channel_affine_cachemask", (SAME, TRUTH)),
):
    spec(_name, WITH_DIMS, *_tensors(CHANNELS, BETWEEN), AXIS, LOW, HIGH, *_results)
