"""Comparisons, classes of numbers and selection: the domains of their arguments."""

from __future__ import annotations

from conform.domains.elementwise.outcomes import TRUTH, TRUTH_OF_PAIR
from conform.domains.engine.arguments import boolean, mask, real, result, scalar, tensor
from conform.domains.engine.constraints import Constraint, Dtype, Rank, Value
from conform.domains.engine.vocabulary import (
    broadcast_of,
    broadcastable_with,
    dtype_common_to,
    dtype_of,
    no_complex_number_here,
    not_complex_here,
    shape_of,
    written_into,
)
from conform.domains.specs import FLOATS, REAL, spec

SOME_EQUAL = Value.Be((1, 2, 3))


def _comparisons(op: str, tensors: Constraint, numbers: Constraint) -> None:
    spec(
        f"{op}.Tensor",
        tensor("self", tensors, SOME_EQUAL),
        tensor("other", tensors, broadcastable_with("self"), SOME_EQUAL),
        TRUTH_OF_PAIR,
    )
    spec(f"{op}.Scalar", tensor("self", tensors, SOME_EQUAL), scalar("other", numbers), TRUTH)


_comparisons("aten::eq", not_complex_here(), no_complex_number_here())
_comparisons("aten::ne", not_complex_here(), no_complex_number_here())
for _op in ("aten::lt", "aten::le", "aten::gt", "aten::ge"):
    _comparisons(_op, Dtype.In(REAL), Dtype.Ne("complex"))

# --- Closeness --------------------------------------------------------------------------------------------------------

CONVERTED = Dtype.In(FLOATS).unjudged("torch compares integers as float32, and complex numbers by magnitudes")
CLOSE = (
    tensor("self", CONVERTED, SOME_EQUAL),
    tensor("other", dtype_of("self"), broadcastable_with("self"), SOME_EQUAL),
    real("rtol", Value.Ge(0)),
    real("atol", Value.Ge(0)),
    boolean("equal_nan"),
)
A_TRUTH = result(Dtype.Eq("bool"), Rank.Eq(0))
spec("aten::isclose", *CLOSE, TRUTH_OF_PAIR)
spec("aten::allclose", *CLOSE, A_TRUTH)
OF_ONE_DTYPE = dtype_of("self").unjudged("some of torch's kernels take two dtypes")
spec("aten::equal", tensor("self"), tensor("other", OF_ONE_DTYPE), A_TRUTH)

# --- Classes of numbers -----------------------------------------------------------------------------------------------

spec("aten::isnan", tensor("self"), TRUTH)
spec("aten::isinf", tensor("self"), TRUTH)
spec("aten::isfinite", tensor("self"), TRUTH)
spec("aten::isposinf", tensor("self", Dtype.In(REAL)), TRUTH)
spec("aten::isneginf", tensor("self", Dtype.In(REAL)), TRUTH)
spec("aten::signbit", tensor("self", Dtype.In(REAL)), TRUTH)

# --- Selection --------------------------------------------------------------------------------------------------------

CONDITION = mask("condition", Dtype.In(("bool", "uint8")))

spec(
    "aten::where.self",
    CONDITION,
    tensor("self", not_complex_here(), broadcastable_with("condition")),
    tensor("other", not_complex_here(), broadcastable_with("condition", "self")),
    result(dtype_common_to("self", "other"), broadcast_of("condition", "self", "other")),
)
spec(
    "aten::where.ScalarSelf",
    CONDITION,
    scalar("self", no_complex_number_here()),
    tensor("other", not_complex_here(), broadcastable_with("condition")),
    result(dtype_common_to("self", "other"), broadcast_of("condition", "other")),
)
spec(
    "aten::where.ScalarOther",
    CONDITION,
    tensor("self", not_complex_here(), broadcastable_with("condition")),
    scalar("other", no_complex_number_here()),
    result(dtype_common_to("self", "other"), broadcast_of("condition", "self")),
)
spec(
    "aten::where.Scalar",
    CONDITION,
    scalar("self", no_complex_number_here()),
    scalar("other", no_complex_number_here()),
    result(dtype_common_to("self", "other"), shape_of("condition")),
)

MASK = mask("mask", Dtype.Eq("bool"), broadcastable_with("self"))
FILLED = result(dtype_of("self"), broadcast_of("self", "mask"))
spec("aten::masked_fill.Scalar", tensor("self"), MASK, scalar("value", written_into("self")), FILLED)
spec(
    "aten::masked_fill.Tensor",
    tensor("self"),
    MASK,
    tensor("value", Rank.Eq(0), dtype_of("self").unjudged("what an element of another dtype becomes differs")),
    FILLED,
)
