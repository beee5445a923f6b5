"""Orthogonal polynomials: the domains of their arguments."""

from __future__ import annotations

import numpy as np

from conform.domains.engine.arguments import result, scalar, tensor
from conform.domains.engine.constraints import Dtype, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import (
    broadcast_of,
    broadcastable_with,
    real_dtype_common_to,
    shape_of,
    typically,
)
from conform.domains.functions.forward import OF_WIDE
from conform.domains.specs import REAL, spec
from conform.numerics.draws import Stream

HIGHEST_DRAWN = 12


def _drawn(stream: Stream, n: MetaArgument) -> np.ndarray:
    """Degrees, and fractions, which are truncated. Special values would be open, and some backends recur as often as n
    says."""
    numbers = stream.integers(0, 4 * HIGHEST_DRAWN, n.shape) / 4
    return np.minimum(np.floor(numbers), 1).astype(bool) if n.dtype == "bool" else numbers.astype(n.dtype)


_FEW = Value.Gen(_drawn)
_COMMON = real_dtype_common_to("x", "n")
_KINDS = (
    *(f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"),
    "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
)  # fmt: skip
for _name in _KINDS:
    spec(
        f"aten::special_{_name}",
        tensor("x", Dtype.In(REAL), OF_WIDE, typically(-2, 2)),
        tensor("n", Dtype.In(REAL), OF_WIDE, broadcastable_with("x"), _FEW),
        result(_COMMON, broadcast_of("x", "n")),
    )
    spec(
        f"aten::special_{_name}.x_scalar",
        scalar("x", Dtype.Ne("complex")),
        tensor("n", Dtype.In(REAL), OF_WIDE, _FEW),
        result(_COMMON, shape_of("n")),
    )
    spec(
        f"aten::special_{_name}.n_scalar",
        tensor("x", Dtype.In(REAL), OF_WIDE, typically(-2, 2)),
        scalar("n", Dtype.Ne("complex")),
        result(_COMMON, shape_of("x")),
    )
