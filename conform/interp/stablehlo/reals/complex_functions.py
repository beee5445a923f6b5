"""Functions of complex numbers: the running errors of the formulas that torch's operators have, on numbers that are
known to lie in balls.

Each part may err by the magnitude of both parts' errors, where torch's operators are judged in norm. On the branch cuts
(C99 Annex G; the specification does not say what stands there), and where an engine's numbers may lie beyond one,
nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from conform.interp.ops.functions.complex_budgets import is_judged_in_norm, radii_of
from conform.interp.program.complexes import Complex
from conform.interp.program.number import Number
from conform.interp.program.storage import stored
from conform.numerics.ball import Ball
from conform.numerics.formats import FORMATS, Format, compute_format
from conform.numerics.functions import complex_parts
from conform.numerics.real import Real
from conform.numerics.rounding_errors import reach

FUNCTIONS = {
    "stablehlo.exponential": "exp", "stablehlo.exponential_minus_one": "expm1", "stablehlo.log": "log",
    "stablehlo.log_plus_one": "log1p", "stablehlo.sqrt": "sqrt", "stablehlo.rsqrt": "rsqrt", "stablehlo.cbrt": "cbrt",
    "stablehlo.sine": "sin", "stablehlo.cosine": "cos", "stablehlo.tan": "tan", "chlo.tan": "tan",
    "stablehlo.tanh": "tanh", "stablehlo.logistic": "sigmoid", "stablehlo.power": "pow", "chlo.sinh": "sinh",
    "chlo.cosh": "cosh",
}  # fmt: skip
# A cut begins there and goes along the reals below.
CUT_BEGINS = {"log": 0.0, "sqrt": 0.0, "rsqrt": 0.0, "cbrt": 0.0, "pow": 0.0, "log1p": -1.0}

Array = np.ndarray


def of_complex(name: str, *operands: Complex) -> Complex:
    """The function of that name in the kit's table; of zeros it may be that they have either sign."""
    parts = [stored(part) for one in operands for part in (one.re, one.im)]
    shape = np.broadcast_shapes(*(part.shape for part in parts))
    rows = [part.moved(lambda values: np.broadcast_to(values, shape).reshape(-1)) for part in parts]
    finite = np.logical_and.reduce([np.isfinite(one.real.hi) & np.isfinite(one.rad) for one in rows])
    at = [np.where(finite, one.real.hi, 0.5) for one in rows]
    untold = [np.where(finite, np.abs(one.real.lo) + one.real.radius, 0.0) for one in rows]
    within = [np.where(finite, more + one.rad, 0.0) for more, one in zip(untold, rows, strict=True)]
    found = complex_parts.apply(name, FORMATS["float64"], *at)
    known = finite & ~found.beyond & ~_reaches_cut(name, at, within)
    fmt, inexact = rows[0].format, np.logical_or.reduce([one > 0 for one in untold])
    radii = _radii(name, compute_format(fmt), at, within)
    of_real = [np.where(inexact, one, 0.0) for one in _radii(name, FORMATS["float64"], at, untold)]
    numbers = []
    for part in (0, 1):
        real = found.real[..., part]
        real = Real(real.hi, real.lo, real.radius + of_real[part])
        number = Number(fmt, real, np.where(known, radii[part], np.inf), may_round=True)
        numbers.append(number.moved(lambda values: values.reshape(shape)))
    return Complex(*numbers)


def _radii(name: str, compute: Format, at: Sequence[Array], within: Sequence[Array]) -> list[Array]:
    radii = radii_of(name, *(Ball(mid, rad, compute) for mid, rad in zip(at, within, strict=True)))
    return [np.hypot(*radii)] * 2 if is_judged_in_norm(name) else radii


def _reaches_cut(name: str, at: Sequence[Array], within: Sequence[Array]) -> Array:
    if name not in CUT_BEGINS:
        return np.zeros(at[0].shape, bool)
    across, along = (reach(one) for one in within[:2])
    return (at[0] - across <= CUT_BEGINS[name]) & (np.abs(at[1]) <= along)


def rule_of(op: str) -> Callable[..., Complex] | None:
    """The rule of the op `op` on complex numbers, if it is one of these functions."""
    name = FUNCTIONS.get(op)
    return None if name is None else lambda *operands: of_complex(name, *operands)
