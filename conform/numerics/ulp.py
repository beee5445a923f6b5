"""Errors in units in the last place, as real numbers against the unrounded result.

Half an ulp is what correct rounding may be off. The unit is that of the real result, whose exponent is kept between
emin and emax: below emin all numbers share the subnormals' spacing, beyond the largest number that of the last binade.
Definition: OpenCL C 3.0, section 7.4, with the exponent clamped at emin.
"""

from __future__ import annotations

import numpy as np

from conform.numerics.eft import exponent_of
from conform.numerics.formats import Format
from conform.numerics.real import Real

MIN_NORMAL_EXPONENT, SMALLEST_EXPONENT = -1022, -1074  # of float64's normal and subnormal numbers


def ulp(fmt: Format, x: np.ndarray) -> np.ndarray:
    """2^(max(floor(log2|x|), emin) - precision + 1) as float64, the exponent at most emax; NaN for NaN and infinity."""
    x = np.asarray(x, np.float64)
    unit = _plain_unit(fmt, x.view(np.int64)) if _is_narrow(fmt) else np.ldexp(1.0, _ulp_exponent(fmt, x, _ZERO))
    return np.where(np.isfinite(x), unit, np.nan)


def error_ulp(fmt: Format, actual: np.ndarray, real: Real) -> np.ndarray:
    """|actual - real| / ulp(real) for `actual` in the storage of `fmt`, of the shape of `real`; float64.

    `rest` (R5 of real.py) counts: errors of float64's subnormals are fractions of their spacing.

    * An infinite `actual` against a finite real counts as the number after the largest, 2^(emax + 1) in IEEE formats;
      a real beyond that counts as that number too. So the error is 0 where overflow is right, and stays finite and
      monotone around the edge. In formats without infinity NaN is the overflow, where the real is near the edge.
    * Both NaN: 0. Equal infinities: 0. Other classes that differ: infinite. The sign of zero is judged elsewhere.
    * An infinite hi with infinite radius is a finite real beyond float64's range. With finite hi nothing is known: NaN.
    """
    value = np.asarray(actual).astype(np.float64)
    with np.errstate(all="ignore"):
        if _is_plain(fmt, value, real):
            return _plain_error_ulp(fmt, value, real)
        infinite, rest = np.isinf(real.hi), 0.0 if real.rest is None else real.rest
        beside_hi = np.where(real.lo == 0, rest, real.lo)  # tells the side of a power of two
        exponent = np.where(infinite, fmt.emax - fmt.mantissa_bits, _ulp_exponent(fmt, real.hi, beside_hi))
        steps, unit = _overflow_point(fmt)
        edge = np.ldexp(steps, unit - exponent)  # everything is counted in ulps of the real from here on
        hi, lo = np.ldexp(real.hi, -exponent), np.ldexp(real.lo, -exponent)
        inward = np.where(np.signbit(hi), lo, -lo)
        clamped = np.abs(hi) - edge >= inward  # a sum of hi and lo would be rounded
        near_edge = clamped | (np.abs(hi) - edge / 2 > inward)
        hi, lo = np.where(clamped, np.copysign(edge, hi), hi), np.where(clamped, 0.0, lo)
        overflowed = np.isinf(value) if fmt.has_inf else np.isnan(value) & near_edge
        signed_edge = np.copysign(edge, value if fmt.has_inf else hi)
        in_ulps = np.where(overflowed, signed_edge, np.ldexp(value, -exponent))
        below = np.ldexp(rest, SMALLEST_EXPONENT - exponent)
        return _by_class(np.abs(((in_ulps - hi) - lo) - below), value, real)


_ZERO = np.float64(0.0)
_EXPONENT_BITS, _MANTISSA_BITS = np.int64(0x7FF << 52), np.int64((1 << 52) - 1)  # of float64's code


def _is_narrow(fmt: Format) -> bool:
    """Whether the format's ulps are normal numbers of float64."""
    return fmt.emin - fmt.mantissa_bits >= MIN_NORMAL_EXPONENT


def _is_plain(fmt: Format, value: np.ndarray, real: Real) -> bool:
    """Whether all of them are numbers that float64 holds, far from where the format overflows: nearly always."""
    if not _is_narrow(fmt) or real.rest is not None or not np.size(value):
        return False
    far = np.max(np.abs(real.hi)) < 2.0 ** (fmt.emax - 1)  # False of NaN
    return bool(far and np.isfinite(value).all() and np.isfinite(real.radius).all())


def _plain_error_ulp(fmt: Format, value: np.ndarray, real: Real) -> np.ndarray:
    """|value - hi - lo| / ulp(hi + lo); the division is exact."""
    code = np.asarray(real.hi).view(np.int64)
    if not real.lo.any():
        return np.abs(value - real.hi) / _plain_unit(fmt, code)
    is_power = (code & _MANTISSA_BITS) == 0
    below_power = is_power & (real.lo != 0) & (np.signbit(real.lo) != np.signbit(real.hi))
    return np.abs((value - real.hi) - real.lo) / _plain_unit(fmt, code - below_power)


def _plain_unit(fmt: Format, code: np.ndarray) -> np.ndarray:
    """The ulp of float64 numbers by the exponents of their codes."""
    exponent = np.maximum(code & _EXPONENT_BITS, np.int64((fmt.emin + 1023) << 52))
    exponent = np.minimum(exponent, np.int64((fmt.emax + 1023) << 52))
    return (exponent - np.int64(fmt.mantissa_bits << 52)).view(np.float64)


def _by_class(error: np.ndarray, value: np.ndarray, real: Real) -> np.ndarray:
    """`error` (NaN where `value` is NaN) with the classes put in force."""
    finite, known = np.isfinite(real.hi), np.isfinite(real.radius)
    same = (value == real.hi) | (np.isnan(value) & np.isnan(real.hi))
    error = np.where(np.isnan(error), np.inf, error)
    error = np.where(~finite & known, np.where(same, 0.0, np.inf), error)
    return np.where(finite & ~known, np.nan, error)


def _overflow_point(fmt: Format) -> tuple[float, int]:
    """(m, k): m * 2^k is what an overflow counts as; in formats that cannot show it, the largest number itself."""
    unit = fmt.emax - fmt.mantissa_bits
    steps = fmt.max_finite / 2.0**unit
    return (steps + 1.0 if fmt.has_inf or fmt.has_nan else steps), unit


def _ulp_exponent(fmt: Format, hi: np.ndarray, lo: np.ndarray) -> np.ndarray:
    """k with 2^k = ulp(hi + lo)."""
    return np.minimum(np.maximum(exponent_of(hi, lo), fmt.emin), fmt.emax) - fmt.mantissa_bits
