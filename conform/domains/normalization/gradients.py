"""Gradients of softmax and of the norms: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import Argument, boolean, dim, dtype, integer, optional, real, result, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Optional, Rank, Size, Value
from conform.domains.engine.output_mask import of_wanted, output_mask
from conform.domains.engine.vocabulary import dim_of, divisors, dtype_of, shape_of
from conform.domains.normalization.forward import (
    EPS,
    FLOAT,
    GROUPS,
    KEPT,
    NORMALIZED,
    OF_CHANNELS,
    OUTPUT,
    PER_CHANNEL,
    SAMPLES_AND_CHANNELS,
    WEIGHTS_DIFFER,
    channels_of,
    dtypes_beside,
    last_sizes,
    places_of,
)
from conform.domains.specs import spec

CONVERTS = "a fused conversion of torch's CUDA kernels, which take gradients of half_to_float"
HAS_ELEMENTS = Size.Ge(1).unjudged("without elements nothing is standardized")
UNREAD = "some kernels read what they need without a look at it"
LIKE_GRADIENT = [one.unjudged(UNREAD) for one in (dtype_of("grad_out"), *shape_of("grad_out"))]
OWN_DTYPE = dtype_of("input").unjudged(WEIGHTS_DIFFER)
STATISTIC = Dtype.In(lambda input: dtypes_beside(input), text="what goes with dtype(input)").unjudged(WEIGHTS_DIFFER)
OF_CHANNEL = result(dtype_of("input"), OF_CHANNELS)
OF_PARAMETER = result(dtype_of("input"), NORMALIZED)

for _name in ("aten::_softmax_backward_data", "aten::_log_softmax_backward_data"):
    spec(
        _name,
        tensor("grad_output", FLOAT.unjudged("no elements need no kernel", lambda grad_output: grad_output.numel == 0)),
        tensor("output", [one.unjudged(UNREAD) for one in (dtype_of("grad_output"), *shape_of("grad_output"))]),
        dim("dim", dim_of("grad_output")),
        dtype("input_dtype", Value.Eq(lambda grad_output: grad_output.dtype).unjudged(CONVERTS)),
        result(dtype_of("grad_output"), shape_of("grad_output")),
    )

spec(
    "aten::native_layer_norm_backward",
    tensor("grad_out", FLOAT, Rank.Ge(1), HAS_ELEMENTS),
    tensor("input", LIKE_GRADIENT),
    last_sizes(),
    tensor("mean", STATISTIC, [one.unjudged(UNREAD) for one in KEPT]),
    tensor("rstd", dtype_of("mean").unjudged(WEIGHTS_DIFFER), [one.unjudged(UNREAD) for one in KEPT]),
    optional(tensor("weight", OWN_DTYPE, NORMALIZED)),
    optional(tensor("bias", OWN_DTYPE, NORMALIZED)),
    output_mask(lambda weight, bias: (True, not weight.is_none, not bias.is_none), ("weight", "bias")),
    *of_wanted(OUTPUT, OF_PARAMETER, OF_PARAMETER),
)

spec(
    "aten::native_group_norm_backward",
    tensor("grad_out", FLOAT, SAMPLES_AND_CHANNELS.unjudged("the kernel looks at N, C and HxW alone"), HAS_ELEMENTS),
    tensor("input", LIKE_GRADIENT),
    tensor("mean", STATISTIC, [one.unjudged(UNREAD) for one in GROUPS]),
    tensor("rstd", dtype_of("mean").unjudged(WEIGHTS_DIFFER), [one.unjudged(UNREAD) for one in GROUPS]),
    optional(tensor("weight", OWN_DTYPE, OF_CHANNELS)),
    integer("N", Value.Eq(lambda input: input.shape[0] if input.rank else 1, text="size(input, 0)")),
    integer("C", Value.Eq(lambda input: channels_of(input), text="size(input, 1)")),
    integer("HxW", Value.Eq(lambda input: places_of(input), text="product of size(input, d) over d >= 2")),
    integer("group", Value.In(lambda C: divisors(abs(C)) or (1,), text="divisors of C")),
    output_mask(lambda weight: (True, not weight.is_none, not weight.is_none), ("weight",)),
    *of_wanted(OUTPUT, OF_CHANNEL, OF_CHANNEL),
)


def _if_trained(name: str, dtype: Constraint, *constraints: Constraint, of: bool) -> Argument:
    """A statistic that counts with train or without."""
    needed = Optional.NotIn(lambda train: (True,) if train == of else (), text=f"{{True}} where train is {of}")
    return optional(tensor(name, dtype, PER_CHANNEL, *constraints), needed.unjudged(UNREAD))


spec(
    "aten::native_batch_norm_backward",
    tensor("grad_out", FLOAT, SAMPLES_AND_CHANNELS, HAS_ELEMENTS),
    tensor("input", LIKE_GRADIENT),
    optional(tensor("weight", OWN_DTYPE, PER_CHANNEL)),
    _if_trained("running_mean", OWN_DTYPE, of=False),
    _if_trained("running_var", OWN_DTYPE, Value.Ge(0).lenient(EPS[0].lenience), of=False),
    _if_trained("save_mean", STATISTIC, of=True),
    _if_trained("save_invstd", STATISTIC, of=True),
    boolean("train"),
    real("eps", EPS),
    output_mask(lambda weight: (True, not weight.is_none, not weight.is_none), ("weight",)),
    *of_wanted(OUTPUT, OF_CHANNEL, OF_CHANNEL),
)
