"""Quantization to plain integer tensors and back: the domains of the arguments."""

from __future__ import annotations

from math import inf

import numpy as np

from conform.domains.elementwise.quantization import COARSE, FINE, MOST, NO_GRID
from conform.domains.engine.arguments import Argument, dim, dtype, index_tensor, integer, optional, real, result, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import positive_in, shape_of, shaped
from conform.domains.specs import spec
from conform.numerics.draws import Stream

HELD = ("uint8", "int8", "int16", "int32")
LIMITS = {"uint8": (0, 2**8 - 1), "int8": (-(2**7), 2**7 - 1), "int16": (-(2**15), 2**15 - 1)}
SOURCES = ("float16", "bfloat16", "float32")  # "original float32 or bfloat16 Tensor"; float16 becomes float32, too
NOT_DOCUMENTED = "torch takes what its documentation does not name"
NO_CHANNEL = "no dim, no channel, and no row"

_SCALES = (
    Value.Ge(FINE).unjudged("a grid of no width, or one of which the reciprocal, or a product with it, may overflow"),
    Value.Le(COARSE).unjudged("its reciprocal, or a product with it, may underflow"),
)
_POINTS = (Value.Ge(-MOST).unjudged(NO_GRID), Value.Le(MOST).unjudged(NO_GRID))


def _drawn(stream: Stream, own: MetaArgument) -> np.ndarray:
    """Those with which many quotients are ties among them."""
    numbers = np.array([0.25, 0.1, 0.03, 0.5, 0.01, 2.0], np.float64)
    return positive_in(own.dtype, numbers[stream.integers(0, 5, own.shape)])


def _scales(name: str, *shape: Constraint) -> Argument:
    drawn = Value.Gen(_drawn, ("stream", ""))
    return index_tensor(name, Dtype.In(("float32", "float64")).unjudged(NOT_DOCUMENTED), shape, _SCALES, drawn)


def _points(name: str, *shape: Constraint) -> Argument:
    return index_tensor(name, Dtype.In(("int32", "int64")).unjudged(NOT_DOCUMENTED), shape, _POINTS)


# --- The ends and the dtype -------------------------------------------------------------------------------------------


def _low(dtype: str | None) -> float:
    return LIMITS.get(dtype or "", (-inf, inf))[0]


def _high(dtype: str | None) -> float:
    return LIMITS.get(dtype or "", (-inf, inf))[1]


LEAST = Value.Ge(lambda dtype: _low(dtype), text="the least integer of dtype")
GREATEST = Value.Le(lambda dtype: _high(dtype), text="the greatest integer of dtype")
_NOT_BELOW, _NOT_ABOVE = Value.Ge(-MOST).unjudged(NO_GRID), Value.Le(MOST).unjudged(NO_GRID)
CLAMPED = "a clamp gives quant_max where that is less than quant_min"
ENDS = (
    integer("quant_min", LEAST, _NOT_BELOW, Value.Be((-128, 0))),
    integer(
        "quant_max",
        Value.Ge(lambda quant_min: quant_min, text="quant_min").unjudged(CLAMPED),
        GREATEST,
        _NOT_ABOVE,
        Value.Be((127, 255)),
    ),
)
ONE = (Rank.Le(1).unjudged(NOT_DOCUMENTED), Size.Eq(1))
_INT64 = Dtype.Eq("int64").unjudged(NOT_DOCUMENTED)
# Neither depends on the other, whose elements are not known before they are drawn.
ENDS_IN_TENSORS = (
    index_tensor("quant_min", _INT64, ONE, LEAST, _NOT_BELOW, Value.Le(0).unjudged(CLAMPED)),
    index_tensor("quant_max", _INT64, ONE, GREATEST, _NOT_ABOVE, Value.Ge(0).unjudged(CLAMPED)),
)
TARGET = dtype("dtype", Value.In(HELD).unjudged("torch has uint16 and floats of 8 bits, too"))

# --- To integers ------------------------------------------------------------------------------------------------------

INPUT = tensor("input", Dtype.In(SOURCES))
SCALE = real("scale", _SCALES, Value.Be((0.1, 0.25)))
ZERO_POINT = integer("zero_point", _POINTS, Value.Be((0, 3, -128)))
TENSORS = (_scales("scale", *ONE), _points("zero_point", *ONE))
INTEGERS = result(Dtype.Eq(lambda dtype: dtype, text="dtype"), shape_of("input"))

spec("quantized_decomposed::quantize_per_tensor", INPUT, SCALE, ZERO_POINT, *ENDS, TARGET, INTEGERS)
spec("quantized_decomposed::quantize_per_tensor.tensor", INPUT, *TENSORS, *ENDS, TARGET, INTEGERS)
spec("quantized_decomposed::quantize_per_tensor.tensor2", INPUT, *TENSORS, *ENDS_IN_TENSORS, TARGET, INTEGERS)

OF_CHANNELS = [one.unjudged("torch broadcasts them") for one in shaped(
    lambda input, axis: (input.shape[axis],), "[size(input, axis)]")]  # fmt: skip
AXIS = dim("axis", Value.Ge(0).unjudged(NOT_DOCUMENTED), Value.Lt(lambda input: input.rank, text="rank(input)"))
WITH_DIMS = Rank.Ge(1).unjudged(NO_CHANNEL)

spec(
    "quantized_decomposed::quantize_per_channel",
    tensor("input", Dtype.In(SOURCES), WITH_DIMS),
    _scales("scales", *OF_CHANNELS),
    _points("zero_points", *OF_CHANNELS),
    AXIS,
    *ENDS,
    TARGET,
    INTEGERS,
)
OF_TOKENS = [one.unjudged("torch broadcasts them") for one in shaped(
    lambda input: (*input.shape[:-1], 1), "[..., 1]")]  # fmt: skip
spec(
    "quantized_decomposed::quantize_per_token",
    tensor("input", Dtype.In(SOURCES).unjudged(NOT_DOCUMENTED), WITH_DIMS),
    _scales("scales", *OF_TOKENS),
    _points("zero_points", *OF_TOKENS),
    *ENDS,
    TARGET,
    INTEGERS,
)

# --- Back -------------------------------------------------------------------------------------------------------------

HELD_INPUT = tensor("input", Dtype.In(HELD).unjudged("torch has uint16 and floats of 8 bits, too"))
ITS_DTYPE = dtype("dtype", Value.Eq(lambda input: input.dtype, text="dtype(input)"))
FLOAT_RESULTS = Value.In(SOURCES).unjudged("documented are float32 numbers, and a dtype for them")
OUT = optional(dtype("out_dtype", FLOAT_RESULTS))
REALS = result(Dtype.Eq(lambda out_dtype: out_dtype or "float32", text="out_dtype, or float32"), shape_of("input"))
# "not used in computation", but held against the dtype where there are channels
NOT_USED = "nothing is computed with it"
ANY_ENDS = (integer("quant_min", LEAST, _NOT_BELOW), integer("quant_max", GREATEST, _NOT_ABOVE))


def _told(ends: tuple[Argument, ...]) -> list[Argument]:
    """Ends that mean nothing: others than those of the dtype are taken."""
    return [
        Argument(one.name, one.type, tuple(each.unjudged(NOT_USED) for each in one.constraints))
        for one in ends
    ]


spec(
    "quantized_decomposed::dequantize_per_tensor",
    HELD_INPUT, SCALE, ZERO_POINT, *_told(ANY_ENDS), ITS_DTYPE, OUT, REALS,
)  # fmt: skip
spec(
    "quantized_decomposed::dequantize_per_tensor.tensor",
    HELD_INPUT, *TENSORS, *_told(ANY_ENDS), ITS_DTYPE, OUT, REALS,
)  # fmt: skip
spec(
    "quantized_decomposed::dequantize_per_tensor.tensor2",
    HELD_INPUT, *TENSORS, *_told(ENDS_IN_TENSORS), ITS_DTYPE, OUT, REALS,
)  # fmt: skip
spec(
    "quantized_decomposed::dequantize_per_channel",
    tensor("input", HELD_INPUT.constraints, WITH_DIMS),
    _scales("scales", *OF_CHANNELS),
    optional(_points("zero_points", *OF_CHANNELS)),
    AXIS, *ANY_ENDS, ITS_DTYPE, OUT, REALS,
)  # fmt: skip
spec(
    "quantized_decomposed::dequantize_per_token",
    tensor("input", HELD_INPUT.constraints, WITH_DIMS),
    _scales("scales", *OF_TOKENS),
    _points("zero_points", *OF_TOKENS),
    *_told(ANY_ENDS),
    dtype("dtype", Value.Eq(lambda input: input.dtype, text="dtype(input)").unjudged(NOT_USED)),
    dtype("output_dtype", FLOAT_RESULTS),
    result(Dtype.Eq(lambda output_dtype: output_dtype, text="output_dtype"), shape_of("input")),
)
