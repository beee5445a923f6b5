"""Normalizations: the domains of their arguments."""

from __future__ import annotations

import math

from conform.domains.engine.arguments import (
    Argument,
    boolean,
    dim,
    integer,
    optional,
    real,
    result,
    shape,
    tensor,
)
from conform.domains.engine.constraints import Constraint, Dtype, Length, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import NO_COMPLEX_SEMANTICS, dim_of, divisors, dtype_of, shape_of, shaped
from conform.domains.specs import COMPLEX, FLOATS, INTEGERS, spec

HALVES = ("float16", "bfloat16")

# --- Softmax ----------------------------------------------------------------------------------------------------------

HALF_TO_FLOAT = boolean(
    "half_to_float",
    Value.NotIn(lambda self: () if self.dtype in HALVES else (True,), text="{True} unless dtype(self) is a half type"),
    Value.NotIn(
        lambda self: (True,) if self.dtype in HALVES else (), text="{True} where dtype(self) is a half type"
    ).lenient("torch converts on CUDA alone"),
)

for _name in ("aten::_softmax", "aten::_log_softmax"):
    spec(
        _name,
        tensor("self", Dtype.In(FLOATS).unjudged("no elements need no kernel", lambda self: self.numel == 0)),
        dim("dim", dim_of("self")),
        HALF_TO_FLOAT,
        result(Dtype.Eq(lambda self, half_to_float: "float32" if half_to_float else self.dtype), shape_of("self")),
    )

# --- Parameters, statistics and eps -----------------------------------------------------------------------------------

EPS = Value.Ge(0).lenient("the root of a negative number is NaN"), Value.Be((1e-5,))
WEIGHTS_DIFFER = "P63: parameters of another float dtype are exact operands; torch has no kernel for them"


def dtypes_beside(input: MetaArgument) -> tuple[str, ...]:
    """The dtypes that kernels take for the parameters of such an input: its own, and float32 for half types."""
    if input.dtype not in FLOATS:
        return FLOATS  # the op refuses the input, whatever they are
    return (input.dtype, "float32") if input.dtype in HALVES else (input.dtype,)


def parameter_beside(*others: str) -> tuple[Constraint, ...]:
    """A float dtype that goes with that of input, and is that of the other parameters that are given."""
    return (
        Dtype.In(FLOATS).unjudged("no elements need no kernel", lambda input: input.numel == 0),
        Dtype.NotIn(
            lambda input, *given: tuple(one for one in FLOATS if not _goes_with(one, input, given)),
            ("input", *others),
            " or ".join(["floats that go not with dtype(input)", *(f"differ from dtype({other})" for other in others)]),
        ).lenient(WEIGHTS_DIFFER),
    )


def _goes_with(dtype: str, input: MetaArgument, given: tuple[MetaArgument, ...]) -> bool:
    possible = dtypes_beside(input)
    decided = {one.dtype for one in given if not one.is_none} & set(possible)
    return dtype in (decided or possible)


FLOAT = Dtype.In(FLOATS)
OUTPUT = result(dtype_of("input"), shape_of("input"))
# P36, P62: of a half input either is right. torch on the CPU: float32 where a parameter is, and of rms_norm.
STATISTICS = Dtype.Eq(
    lambda input, weight, bias: "float32" if "float32" in (dtype_or_none(weight), dtype_or_none(bias)) else input.dtype
)


def dtype_or_none(parameter: MetaArgument) -> str | None:
    return None if parameter.is_none else parameter.dtype


# --- Over the last dimensions -----------------------------------------------------------------------------------------


def _last_size(input: MetaArgument, length: int, i: int) -> int:
    """The size of dim i of the last `length`; 1 beyond the first."""
    d = input.rank - length + i
    return input.shape[d] if d >= 0 else 1


def last_sizes(*unchecked: str) -> Argument:
    """The sizes of the last dims of input, one at least; `unchecked`: why a backend may take anything else."""
    least, sizes = Length.Ge(1), Value.Eq(_last_size, text="size(input, rank(input) - length + i)")
    if unchecked:
        least, sizes = least.unjudged(*unchecked), sizes.unjudged(*unchecked)
    most = Length.Le(lambda input: max(input.rank, 1), text="max(rank(input), 1)")
    return shape("normalized_shape", [least, most, sizes])


NORMALIZED = shaped(lambda normalized_shape: normalized_shape, "normalized_shape")
# The statistics keep the dims that they are over, as 1.
KEPT = shaped(
    lambda input, normalized_shape: (
        *input.shape[: input.rank - len(normalized_shape)],
        *[1] * len(normalized_shape),
    ),
    "shape(input) with 1 for normalized_shape",
)

spec(
    "aten::native_layer_norm",
    tensor("input", FLOAT, Rank.Ge(1)),
    last_sizes(),
    optional(tensor("weight", parameter_beside(), NORMALIZED)),
    optional(tensor("bias", parameter_beside("weight"), NORMALIZED)),
    real("eps", EPS),
    OUTPUT,
    result(STATISTICS, KEPT),
    result(STATISTICS, KEPT),
)

RMS_INPUT = Dtype.NotIn(("bool", *INTEGERS)), Dtype.NotIn(COMPLEX).unjudged(NO_COMPLEX_SEMANTICS)
RMS_WEIGHT = dtype_of("input").unjudged("torch promotes; the kit has semantics for one dtype")

spec(
    "aten::rms_norm",
    tensor("input", RMS_INPUT, Rank.Ge(1)),
    last_sizes(),
    optional(tensor("weight", RMS_WEIGHT, NORMALIZED)),
    optional(real("eps", EPS)),
    OUTPUT,
)
UNCHECKED = "rms_norm checks the shapes, and its kernels do not"
spec(
    "aten::_fused_rms_norm",
    tensor("input", RMS_INPUT, Rank.Ge(1).unjudged(UNCHECKED)),
    last_sizes(UNCHECKED),
    optional(tensor("weight", RMS_WEIGHT, [one.unjudged(UNCHECKED) for one in NORMALIZED])),
    optional(real("eps", EPS)),
    OUTPUT,
    result(Dtype.Eq(lambda input: "float32" if input.dtype in HALVES else input.dtype), KEPT),
)

# --- Over groups and batches of channels, dim 1 -----------------------------------------------------------------------

SAMPLES_AND_CHANNELS = Rank.Ge(2)


def channels_of(input: MetaArgument) -> int:
    return input.shape[1] if input.rank > 1 else 1


def places_of(input: MetaArgument) -> int:
    return math.prod(input.shape[2:])


# The kernel compares N * C * HxW with the number of elements.
OF_NO_SAMPLES = "anything times 0 samples is 0 elements", lambda input: input.numel == 0


OF_CHANNELS = shaped(lambda input: (channels_of(input),), "[size(input, 1)]")
GROUPS = shaped(lambda N, group: (N, group), "[N, group]")

spec(
    "aten::native_group_norm",
    tensor(
        "input",
        FLOAT,
        SAMPLES_AND_CHANNELS.unjudged("the kernel looks at N, C and HxW alone"),
        Size.Ge(lambda d: min(d, 1), text="1 for d >= 1").unjudged("groups without elements are not judged"),
    ),
    optional(tensor("weight", parameter_beside(), OF_CHANNELS)),
    optional(tensor("bias", parameter_beside("weight"), OF_CHANNELS)),
    integer("N", Value.Eq(lambda input: input.shape[0] if input.rank else 1, text="size(input, 0)")),
    integer("C", Value.Eq(lambda input: channels_of(input), text="size(input, 1)").unjudged(*OF_NO_SAMPLES)),
    integer(
        "HxW",
        Value.Eq(lambda input: places_of(input), text="product of size(input, d) over d >= 2").unjudged(*OF_NO_SAMPLES),
    ),
    integer("group", Value.In(lambda C: divisors(abs(C)) or (1,), text="divisors of C")),
    real("eps", EPS),
    OUTPUT,
    result(STATISTICS, GROUPS),
    result(STATISTICS, GROUPS),
)

# The kernel of the CPU reads as many parameters as there are channels.
PER_CHANNEL = [one.unjudged("torch does not look at the shape of batch norm's parameters") for one in OF_CHANNELS]
MOMENTUM = real("momentum")

spec(
    "aten::_native_batch_norm_legit.no_stats",
    tensor("input", FLOAT, SAMPLES_AND_CHANNELS, Size.Ge(1)),
    optional(tensor("weight", parameter_beside(), PER_CHANNEL)),
    optional(tensor("bias", parameter_beside("weight"), PER_CHANNEL)),
    boolean("training", Value.Eq(True)),
    MOMENTUM,
    real("eps", EPS),
    OUTPUT,
    result(STATISTICS, OF_CHANNELS),
    result(STATISTICS, OF_CHANNELS),
)
NOTHING = (Rank.Eq(1), Size.Eq(0))
spec(
    "aten::_native_batch_norm_legit_no_training",
    tensor("input", FLOAT, SAMPLES_AND_CHANNELS.unjudged("no elements need no kernel", lambda input: input.numel == 0)),
    optional(tensor("weight", parameter_beside("running_mean"), PER_CHANNEL)),
    optional(tensor("bias", parameter_beside("running_mean"), PER_CHANNEL)),
    tensor("running_mean", parameter_beside(), PER_CHANNEL),
    tensor("running_var", parameter_beside("running_mean"), PER_CHANNEL, Value.Ge(0).lenient(EPS[0].lenience)),
    MOMENTUM,
    real("eps", EPS),
    OUTPUT,
    result(dtype_of("running_mean"), NOTHING),
    result(dtype_of("running_mean"), NOTHING),
)
