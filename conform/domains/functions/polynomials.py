"""Orthogonal polynomials: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import index_tensor, result, scalar, tensor
from conform.domains.engine.constraints import Dtype, Value
from conform.domains.engine.vocabulary import (
    broadcast_of,
    broadcastable_with,
    real_dtype_common_to,
    shape_of,
    typically,
)
from conform.domains.functions.forward import OF_WIDE
from conform.domains.specs import REAL, spec

# Degrees are drawn as places are, without special values: of large ones a result is open, and some recur as often.
_FEW = typically(0, 12)
_COMMON = real_dtype_common_to("x", "n")
_KINDS = (
    *(f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"),
    "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
)  # fmt: skip
for _name in _KINDS:
    spec(
        f"aten::special_{_name}",
        tensor("x", Dtype.In(REAL), OF_WIDE, typically(-2, 2)),
        index_tensor("n", Dtype.In(REAL), OF_WIDE, broadcastable_with("x"), _FEW),
        result(_COMMON, broadcast_of("x", "n")),
    )
    spec(
        f"aten::special_{_name}.x_scalar",
        scalar("x", Dtype.Ne("complex")),
        index_tensor("n", Dtype.In(REAL), OF_WIDE, _FEW),
        result(_COMMON, shape_of("n")),
    )
    spec(
        f"aten::special_{_name}.n_scalar",
        tensor("x", Dtype.In(REAL), OF_WIDE, typically(-2, 2)),
        scalar("n", Dtype.Ne("complex"), Value.Be((0, 1, 2, 5, 9, 12))),
        result(_COMMON, shape_of("x")),
    )
