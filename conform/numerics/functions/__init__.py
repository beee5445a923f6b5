"""Correctly rounded real functions, and the same functions of reals with a radius.

apply(name, fmt, *operands) -> (value, Real)      correctly rounded to nearest even
exp(Real) -> Real, log, sin, erf, ...             double-double with a proven radius, for composite operations
mp(name)                                          the formula in mpmath, for their escalation
"""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np

from conform.errors import UsageError, did_you_mean
from conform.numerics.formats import Format
from conform.numerics.functions.error import erf_float64
from conform.numerics.functions.ladder import Function, evaluate
from conform.numerics.functions.of_reals import (
    cos,
    erf,
    erfc,
    exp,
    exp_scaled,
    expm1,
    log,
    log1p,
    log_ratio,
    sigmoid,
    sin,
    tanh,
)
from conform.numerics.functions.table import FUNCTIONS
from conform.numerics.real import Real

__all__ = [
    "apply", "cos", "erf", "erf_float64", "erfc", "exp", "exp_scaled", "expm1", "log", "log1p", "log_ratio", "mp",
    "names", "sigmoid", "sin", "tanh",
]  # fmt: skip


def names() -> list[str]:
    """The functions that `apply` knows."""
    return sorted(FUNCTIONS)


def apply(name: str, fmt: Format, *operands: np.ndarray) -> tuple[np.ndarray, Real]:
    """The function on every element: (value in `fmt.storage`, the real numbers it rounds).

    `operands` are float64 arrays of one shape holding the exact elements (of at most 24 bits where `fmt` is narrower
    than float64); `fmt` is a float format of at most 64 bits. The reals are good to 2^-41 relative or better for
    narrower formats and to 2^-80 for float64; for the narrower ones a result below 2^-1000 in magnitude is only known
    to lie there, and infinity stands for results beyond float64. Special operands follow C99 annex F; the product
    forms (gelu, silu, mish) of -inf are -inf * 0, NaN. Raises UsageError for an unknown name, Unjudged where no
    precision decides.
    """
    return evaluate(_function(name), fmt, operands)


def mp(name: str) -> Callable[..., mpmath.mpf]:
    """The function's formula on mpmath numbers, at the precision of mpmath's context."""
    return _function(name).mp


def _function(name: str) -> Function:
    if name not in FUNCTIONS:
        raise UsageError(f"no real function is named {name!r}{did_you_mean(name, FUNCTIONS)}")
    return FUNCTIONS[name]
