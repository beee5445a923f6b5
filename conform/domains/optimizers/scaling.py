"""What torch.amp.GradScaler calls: the domains of its arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import index_tensor, integer, real, result, results, tensor, tensors
from conform.domains.engine.constraints import Dtype, Length, Rank, Size, Value
from conform.domains.engine.vocabulary import dtype_of, shape_of, typically
from conform.domains.optimizers.fused import ANY_SCALAR, ONE_DTYPE, dtype_of_first, one_of
from conform.domains.specs import FLOATS, spec

NO_TENSORS = "P222: lists without tensors"
OF_SCALER = "P226: what torch.amp.GradScaler gives"
ONE_FLOAT = (Dtype.Eq("float32"), Rank.Eq(0).unjudged(ANY_SCALAR))
FOUND = index_tensor("found_inf", ONE_FLOAT, Value.In((0, 1)).unjudged("P225: what was found is 0 or 1"))
EACH = results(
    Length.Eq(lambda self: len(self), text="length(self)").same("self"),
    Dtype.Eq(lambda i, self: self[i].dtype, text="dtype(self[i])").same("self"),
    Rank.Eq(lambda i, self: self[i].rank, text="rank(self[i])").same("self"),
    Size.Eq(lambda d, i, self: self[i].shape[d], text="size(self[i], d)").same("self"),
)

spec(
    "aten::_amp_foreach_non_finite_check_and_unscale",
    tensors(
        "self", Length.Ge(1).unjudged(NO_TENSORS), Dtype.In(FLOATS), Dtype.In(dtype_of_first).lenient(ONE_DTYPE)
    ),
    FOUND,
    index_tensor(
        "inv_scale", ONE_FLOAT, Value.Ge(2.0**-126).unjudged("P225: a scale is positive"),
        one_of(1.0, 0.5, 2.0**-16, 1 / 3, 2.0**-24),
    ),
    EACH,
    result(dtype_of("found_inf"), shape_of("found_inf")),
)  # fmt: skip
FACTOR = (Value.Gt(0).unjudged(OF_SCALER), Value.Le(2.0**24).unjudged(OF_SCALER))
spec(
    "aten::_amp_update_scale",
    tensor("self", ONE_FLOAT, typically(0.5, 65536)),
    index_tensor("growth_tracker", Dtype.Eq("int32"), Rank.Eq(0).unjudged(ANY_SCALAR), Value.Ge(0).unjudged(OF_SCALER),
                 Value.Le(2**20).unjudged(OF_SCALER), one_of(0, 1, 2, 1999)),
    FOUND,
    real("scale_growth_factor", FACTOR, Value.Be((2.0, 1.5, 1.1))),
    real("scale_backoff_factor", FACTOR, Value.Be((0.5, 0.25, 0.3))),
    integer("growth_interval", Value.Ge(1).unjudged(OF_SCALER), Value.Le(2**20).unjudged(OF_SCALER),
            Value.Be((1, 2, 3, 2000))),
    result(dtype_of("self"), shape_of("self")),
    result(dtype_of("growth_tracker"), shape_of("growth_tracker")),
)  # fmt: skip
