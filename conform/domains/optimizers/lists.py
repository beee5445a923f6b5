"""What an op of lists asks of the arguments of each member, beside what the op of one tensor asks: by overload and by
the argument's name there."""

from __future__ import annotations

from collections.abc import Mapping

from conform.domains.engine.constraints import Constraint, Dtype, Value
from conform.domains.engine.dtypes import common_dtype
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import Space
from conform.domains.engine.vocabulary import overflowing


def _overflowing(own: MetaArgument, self: MetaArgument) -> Space | tuple[()]:
    """The finite numbers beyond a float common dtype with self"""
    return () if own.dtype == "complex" else overflowing(own.dtype, common_dtype(own, self))


AN_ORDER = Dtype.Ne("bool").unjudged("P224: torch's kernels take an integer or a float for the order")
HELD = Value.NotIn(_overflowing, ("", "self"), "what overflows a float common dtype with self").unjudged(
    "P224: torch's kernels refuse what float16 does not hold"
)
BESIDES: Mapping[str, Mapping[str, Constraint]] = {
    "aten::_foreach_norm.Scalar": {"ord": AN_ORDER},
    "aten::_foreach_pow.Scalar": {"exponent": HELD},
    "aten::_foreach_pow.ScalarList": {"exponent": HELD},
}
