"""Cholesky's decomposition, and what is solved with a factor: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import boolean, result, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size
from conform.domains.engine.vocabulary import dtype_of, shape_of, shaped
from conform.domains.linalg.matrices import DTYPES, NO_KERNEL, ROWS, SQUARE, matrix, matrix_of, right_sides, stacked
from conform.domains.specs import spec

AS_IT_IS = "torch returns what has no elements as it is"
LIKE_SELF = result(dtype_of("self"), shape_of("self"))

spec(
    "aten::linalg_cholesky_ex",
    matrix("self"),
    boolean("upper"),
    boolean("check_errors"),
    LIKE_SELF,
    result(Dtype.Eq("int32"), shaped(lambda self: self.shape[:-2])),
)
spec("aten::linalg_cholesky", matrix("self"), boolean("upper"), LIKE_SELF)
spec(
    "aten::cholesky",
    tensor(
        "self",
        Dtype.In(DTYPES).unjudged(NO_KERNEL, lambda self: self.numel == 0),
        Rank.Ge(2).unjudged(AS_IT_IS, lambda self: self.numel == 0),
        SQUARE.unjudged(AS_IT_IS, lambda self: self.numel == 0),
        Size.Be(ROWS),
    ),
    boolean("upper"),
    LIKE_SELF,
)
spec(
    "aten::cholesky_solve",
    right_sides("self"),
    matrix_of("input2", "self"),
    boolean("upper"),
    result(dtype_of("self"), shaped(lambda self, input2: stacked(input2, self))),
)
spec("aten::cholesky_inverse", matrix("self"), boolean("upper"), LIKE_SELF)
