"""The gamma functions of two operands: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import Argument, integer, result, scalar, tensor
from conform.domains.engine.constraints import Dtype, Value
from conform.domains.engine.vocabulary import (
    broadcast_of,
    broadcastable_with,
    real_dtype_common_to,
    shape_of,
    typically,
)
from conform.domains.functions.forward import COMMON, COMMON_REAL, NOT_BOTH_INTEGRAL, OF_WIDE, REAL_RESULT
from conform.domains.specs import REAL, spec

for _name in ("igamma", "igammac", "special_gammainc", "special_gammaincc"):
    spec(
        f"aten::{_name}",
        tensor("self", Dtype.In(REAL), typically(0, 20)),
        tensor("other", Dtype.In(REAL), NOT_BOTH_INTEGRAL, broadcastable_with("self"), typically(0, 20)),
        result(COMMON, broadcast_of("self", "other")),
    )


def _number(name: str) -> Argument:
    return scalar(name, Dtype.Ne("complex"))


spec(
    "aten::special_zeta",
    tensor("self", Dtype.In(REAL), OF_WIDE, typically(1, 20)),
    tensor("other", Dtype.In(REAL), OF_WIDE, broadcastable_with("self"), typically(0, 20)),
    result(COMMON_REAL, broadcast_of("self", "other")),
)
spec(
    "aten::special_zeta.self_scalar",
    _number("self"),
    tensor("other", Dtype.In(REAL), OF_WIDE, typically(0, 20)),
    result(COMMON_REAL, shape_of("other")),
)
spec(
    "aten::special_zeta.other_scalar",
    tensor("self", Dtype.In(REAL), OF_WIDE, typically(1, 20)),
    _number("other"),
    result(COMMON_REAL, shape_of("self")),
)

HIGHEST_ORDER, MOST_DIMENSIONS = 34, 20
_ORDER = (
    Value.Ge(0),
    Value.Le(HIGHEST_ORDER).unjudged("35! leaves the range of float32, and results with it"),
)
for _name in ("polygamma", "special_polygamma"):
    spec(f"aten::{_name}", integer("n", *_ORDER), tensor("self", Dtype.In(REAL), typically(0, 20)), REAL_RESULT)

_DIMENSIONS = (
    Value.Ge(1),
    Value.Le(MOST_DIMENSIONS).unjudged("sums of many terms, of which a call has as many times its elements"),
)
for _name in ("mvlgamma", "special_multigammaln"):
    spec(
        f"aten::{_name}",
        tensor("self", Dtype.In(REAL), Dtype.Ne("bool"), typically(0, 40)),
        integer("p", *_DIMENSIONS),
        result(real_dtype_common_to("self"), shape_of("self")),
    )
