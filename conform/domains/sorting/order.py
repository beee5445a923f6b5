"""Sorting: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import boolean, dim, optional, result, tensor
from conform.domains.engine.constraints import Dtype
from conform.domains.engine.vocabulary import dim_of, dtype_of, shape_of
from conform.domains.specs import REAL, spec

SELF = tensor("self", Dtype.In(REAL))
DIM, DESCENDING = dim("dim", dim_of("self")), boolean("descending")
VALUES, INDICES = result(dtype_of("self"), shape_of("self")), result(Dtype.Eq("int64"), shape_of("self"))

spec("aten::sort", SELF, DIM, DESCENDING, VALUES, INDICES)
spec("aten::sort.stable", SELF, optional(boolean("stable")), DIM, DESCENDING, VALUES, INDICES)
spec("aten::argsort", SELF, DIM, DESCENDING, INDICES)
spec("aten::argsort.stable", SELF, boolean("stable"), DIM, DESCENDING, INDICES)
spec("aten::msort", SELF, VALUES)
