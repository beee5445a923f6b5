"""LU factors: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import boolean, result
from conform.domains.engine.constraints import Dtype, Value
from conform.domains.engine.vocabulary import dtype_of, shape_of, shaped
from conform.domains.linalg.matrices import any_matrix
from conform.domains.specs import spec

WITHOUT_PIVOTS = "torch documents it of CUDA alone"

A = any_matrix("A", lambda A: A.numel == 0)
PIVOT = boolean("pivot", Value.Eq(True).unjudged(WITHOUT_PIVOTS))
LIKE_A = result(dtype_of("A"), shape_of("A"))
PIVOTS = result(Dtype.Eq("int32"), shaped(lambda A: (*A.shape[:-2], min(A.shape[-2:]))))
INFO = result(Dtype.Eq("int32"), shaped(lambda A: A.shape[:-2]))

spec("aten::linalg_lu_factor_ex", A, PIVOT, boolean("check_errors"), LIKE_A, PIVOTS, INFO)
spec("aten::linalg_lu_factor", A, PIVOT, LIKE_A, PIVOTS)
spec(
    "aten::linalg_lu",
    A,
    PIVOT,
    result(dtype_of("A"), shaped(lambda A: (*A.shape[:-1], A.shape[-2]))),
    result(dtype_of("A"), shaped(lambda A: (*A.shape[:-1], min(A.shape[-2:])))),
    result(dtype_of("A"), shaped(lambda A: (*A.shape[:-2], min(A.shape[-2:]), A.shape[-1]))),
)
