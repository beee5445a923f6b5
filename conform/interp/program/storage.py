"""Numbers that an implementation keeps in their dtype, or in the compute type: both are honest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from conform.interp.program.number import Number
from conform.numerics.formats import Format, compute_format
from conform.numerics.grid import is_held
from conform.numerics.rounding_errors import joined
from conform.numerics.ulp import ulp


def in_format(number: Number, fmt: Format) -> Number:
    """The numbers as a tensor of the float dtype `fmt`, to which an implementation may have rounded them."""
    given = stored(number) if number.may_round else number
    is_exact = given.array is not None and bool(is_held(fmt, given.real.hi).all())
    array = given.array.astype(fmt.storage) if is_exact else None
    return replace(given, format=fmt, array=array, may_round=not is_exact)


def stored(number: Number) -> Number:
    """What an implementation has of numbers that it may have rounded to their dtype: half an ulp away, none of what the
    dtype holds and nothing has moved."""
    fmt = number.format
    if number.array is not None or not fmt.is_float or compute_format(fmt) == fmt:
        return replace(number, may_round=False)
    with np.errstate(all="ignore"):
        finite = np.isfinite(number.real.hi) & np.isfinite(number.rad)
        reach = np.abs(number.real.hi) + number.rad
        exact = (number.rad == 0) & (number.real.lo == 0) & (number.real.radius == 0) & is_held(fmt, number.real.hi)
        rounding = np.where(finite & ~exact, ulp(fmt, reach) / 2, 0.0)
        overflows = finite & (reach + rounding > fmt.max_finite)
        rad = np.where(overflows, np.inf, joined(number.rad, rounding))
    return replace(number, rad=rad, may_round=False)
