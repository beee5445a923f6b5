"""Rounding to the 8-bit floats, from their definitions: every number of a format is listed, and the nearest one taken.

Definitions: OCP 8-bit Floating Point Specification 1.0 (E4M3, E5M2), OCP Microscaling Formats 1.0 (E8M0), and for the
fnuz formats "8-bit Numerical Formats for Deep Neural Networks" (Noune et al., 2022): one NaN, the code of -0, and a
bias greater by one.
"""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from functools import cache
from math import copysign, inf, isnan, nan

from conform.refs.exact.tensor import UNSPECIFIED, Unspecified

E8M0 = "float8_e8m0fnu"  # 2^(code - 127), no sign and no zero, NaN 0xFF


def _positive_numbers(bias: int, mantissa_bits: int, codes: int) -> list[Fraction]:
    """The numbers of the codes 0 .. codes - 1 of a format with sign, exponent and mantissa; ascending."""
    fields = [divmod(code, 1 << mantissa_bits) for code in range(codes)]
    return [
        Fraction(mantissa + (exponent > 0) * (1 << mantissa_bits), 1 << mantissa_bits)
        * Fraction(2) ** (max(exponent, 1) - bias)
        for exponent, mantissa in fields
    ]


# The finite numbers that are not negative, by code. e4m3fn: 0x7F is NaN; e5m2: 0x7C infinity, then NaNs.
SMALL_FLOATS: dict[str, list[Fraction]] = {
    "float8_e4m3fn": _positive_numbers(7, 3, 0x7F),
    "float8_e5m2": _positive_numbers(15, 2, 0x7C),
    "float8_e4m3fnuz": _positive_numbers(8, 3, 0x80),
    "float8_e5m2fnuz": _positive_numbers(16, 2, 0x80),
    E8M0: [Fraction(2) ** (code - 127) for code in range(0xFF)],
}
WITH_INFINITY = {"float8_e5m2"}
SATURATING = {"float8_e4m3fn"}  # by default; the others overflow (P80)
WITH_NEGATIVE_ZERO = {"float8_e4m3fn", "float8_e5m2"}


@cache
def _midpoints(dtype: str) -> list[float]:
    """Between neighbours, and last the one beyond the largest number: half way to where the next would stand. All are
    doubles: they have at most five bits."""
    numbers = SMALL_FLOATS[dtype]
    beyond = 2 * numbers[-1] if dtype == E8M0 else 2 * numbers[-1] - numbers[-2]
    return [float((low + high) / 2) for low, high in zip(numbers, [*numbers[1:], beyond], strict=True)]


def round_small(dtype: str, value: float | int, saturating: bool) -> float | Unspecified:
    """The nearest number of the format; beyond the largest by P80, and not positive ones of float8_e8m0fnu by P81.

    Ties go to the even code; of a format with one digit no number is even, and the larger one is taken (P82: IEEE
    754-2019, 4.3.1).
    """
    if isnan(value):
        return nan
    if dtype == E8M0 and value <= 0:
        return UNSPECIFIED
    numbers = SMALL_FLOATS[dtype]
    code = _nearest_code(_midpoints(dtype), abs(value), one_digit=dtype == E8M0)
    if code == len(numbers):
        return _beyond(dtype, value, saturating)
    signed = copysign(float(numbers[code]), value)
    return 0.0 if signed == 0 and dtype not in WITH_NEGATIVE_ZERO else signed


def _nearest_code(midpoints: list[float], magnitude: float | int, one_digit: bool) -> int:
    """The number of midpoints below: every one passed is a code up."""
    code = bisect_left(midpoints, magnitude)
    is_tie = code < len(midpoints) and midpoints[code] == magnitude
    return code + 1 if is_tie and (one_digit or code % 2 == 1) else code


def _beyond(dtype: str, value: float | int, saturating: bool) -> float:
    """An infinity, or a number that rounds past the largest one."""
    if saturating:
        return copysign(float(SMALL_FLOATS[dtype][-1]), value)
    return copysign(inf, value) if dtype in WITH_INFINITY else nan
