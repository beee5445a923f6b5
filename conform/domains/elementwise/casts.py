"""Casts, copies and fills: the domains of their arguments."""

from __future__ import annotations

from conform.domains.elementwise.outcomes import SAME
from conform.domains.engine.arguments import boolean, dtype, optional, result, scalar, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space
from conform.domains.engine.vocabulary import no_complex32_with, not_complex_here, shape_of, written_into
from conform.domains.specs import COMPLEX, spec

spec(
    "aten::_to_copy",
    tensor("self", not_complex_here()),
    optional(dtype("dtype", Value.NotIn(COMPLEX).lenient("torch converts to complex numbers; the kit does not"))),
    result(Dtype.Eq(lambda self, dtype: dtype or self.dtype), shape_of("self")),
)
for _name in ("aten::clone", "aten::alias", "aten::detach", "aten::lift_fresh"):
    spec(_name, tensor("self"), SAME)


def _expanding_to(self: MetaArgument, d: int, rank: int) -> Space | tuple[int, ...]:
    """{1, size(self, d - rank)}"""
    return (1, self.shape[d - rank]) if rank - d <= self.rank else ANYTHING


spec(
    "aten::copy",
    tensor("self"),
    tensor("src", no_complex32_with("self"), Rank.Le(lambda self: self.rank), Size.In(_expanding_to)),
    boolean("non_blocking"),
    SAME,
)
spec("aten::fill.Scalar", tensor("self"), scalar("value", written_into("self")), SAME)
spec("aten::fill.Tensor", tensor("self"), tensor("value", no_complex32_with("self"), Rank.Eq(0)), SAME)
spec("aten::positive", tensor("self", Dtype.Ne("bool")), SAME)
