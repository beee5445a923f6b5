"""Powers of square matrices: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import integer, result, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size, Value
from conform.domains.engine.spaces import integers_between
from conform.domains.engine.vocabulary import dtype_of, shape_of
from conform.domains.linalg.matrices import DTYPES, ROWS, SQUARE
from conform.domains.specs import spec

MULTIPLIES = "torch multiplies matrices of other dtypes, too, which its documentation does not have"

for _name in ("aten::linalg_matrix_power", "aten::matrix_power"):
    spec(
        _name,
        tensor("self", Dtype.In(DTYPES).unjudged(MULTIPLIES), Rank.Ge(2), SQUARE, Size.Be(ROWS)),
        integer(
            "n",
            Value.In(integers_between(-2, 4)).lenient("a limit of what is generated, not of the op"),
            Value.Be((3, 2, 4, 0, 1, -1, -2)),
        ),
        result(dtype_of("self"), shape_of("self")),
    )
