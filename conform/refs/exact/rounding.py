"""Rounding of exact numbers to a format: to nearest, ties to even (IEEE 754-2019, 4.3.1), by integer arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, isqrt, ldexp


@dataclass(frozen=True)
class FloatFormat:
    """A binary format: bits of the significand (the implicit one counted) and the largest exponent."""

    precision: int
    emax: int

    @property
    def emin(self) -> int:
        return 1 - self.emax

    @property
    def bits(self) -> int:
        """All bits: sign, exponent (as many as emax + 1 has), and the significand without its implicit one."""
        return 1 + (self.emax + 1).bit_length() + self.precision - 1


# IEEE 754-2019 table 3.5; bfloat16 is binary32 with 16 bits of the significand cut off.
FLOAT_FORMATS = {
    "float16": FloatFormat(11, 15),
    "bfloat16": FloatFormat(8, 127),
    "float32": FloatFormat(24, 127),
    "float64": FloatFormat(53, 1023),
}
COMPONENTS = {"complex64": "float32", "complex128": "float64"}
INTEGER_RANGES = {
    "uint8": (0, 2**8 - 1),
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
}


def wrap_integer(dtype: str, value: int) -> int:
    """The integer of the dtype's range that equals `value` modulo 2^bits."""
    low, high = INTEGER_RANGES[dtype]
    return (value - low) % (high - low + 1) + low


def dyadic(value: float | int) -> tuple[int, int]:
    """The finite value as (m, e) with value = m * 2^e."""
    numerator, denominator = value.as_integer_ratio()  # a power of two, as every float is m * 2^e
    return numerator, 1 - denominator.bit_length()


def round_dyadic(dtype: str, m: int, e: int) -> float:
    """m * 2^e rounded once to the format; -0.0 if a negative number underflows."""
    magnitude = _round_magnitude(FLOAT_FORMATS[dtype], abs(m), e)
    return -magnitude if m < 0 else magnitude


def _round_magnitude(fmt: FloatFormat, m: int, e: int) -> float:
    exponent = m.bit_length() - 1 + e  # floor(log2 of the number)
    if m == 0 or exponent < fmt.emin - fmt.precision:  # below half of the smallest subnormal
        return 0.0
    if exponent > fmt.emax:
        return inf
    quantum = max(exponent, fmt.emin) - fmt.precision + 1  # the result is a multiple of 2^quantum
    shift = quantum - e
    if shift <= 0:
        return ldexp(m << -shift, quantum)
    multiple = m >> shift
    rest, half = m & ((1 << shift) - 1), 1 << (shift - 1)
    if rest > half or (rest == half and multiple & 1):
        multiple += 1
    if multiple.bit_length() + quantum - 1 > fmt.emax:  # rounded up to 2^(emax + 1)
        return inf
    return ldexp(multiple, quantum)


def round_ratio(dtype: str, numerator: int, denominator: int) -> float:
    """numerator / denominator (denominator not 0) rounded once to the format."""
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    extra = FLOAT_FORMATS[dtype].precision + 3  # at least this many bits of the quotient, then one for the remainder
    scale = max(0, extra - (numerator.bit_length() - denominator.bit_length()))
    quotient, remainder = divmod(abs(numerator) << scale, denominator)
    m = quotient << 1 | (remainder != 0)
    return round_dyadic(dtype, -m if numerator < 0 else m, -scale - 1)


def round_sqrt(dtype: str, numerator: int, denominator: int = 1) -> float:
    """The square root of numerator / denominator (not negative) rounded once to the format."""
    extra = 2 * FLOAT_FORMATS[dtype].precision + 6
    scale = max(0, extra - (numerator.bit_length() - denominator.bit_length()))
    scale += scale % 2  # even, so that the root is scaled by a whole power of two
    radicand, remainder = divmod(numerator << scale, denominator)
    root = isqrt(radicand)
    inexact = remainder != 0 or root * root != radicand
    return round_dyadic(dtype, root << 1 | inexact, -scale // 2 - 1)


def round_cbrt(dtype: str, numerator: int, denominator: int = 1) -> float:
    """The cube root of numerator / denominator (both positive) rounded once to the format."""
    extra = 3 * FLOAT_FORMATS[dtype].precision + 9
    scale = max(0, extra - (numerator.bit_length() - denominator.bit_length()))
    scale += -scale % 3  # a multiple of three, so that the root is scaled by a whole power of two
    radicand, remainder = divmod(numerator << scale, denominator)
    root = _icbrt(radicand)
    inexact = remainder != 0 or root**3 != radicand
    return round_dyadic(dtype, root << 1 | inexact, -scale // 3 - 1)


def _icbrt(n: int) -> int:
    """The largest integer whose cube is at most n: bit by bit, the highest first."""
    root = 0
    for bit in range(n.bit_length() // 3, -1, -1):
        if (root | 1 << bit) ** 3 <= n:
            root |= 1 << bit
    return root


def round_number(dtype: str, value: float | int) -> float:
    """A float or integer rounded once to the format; zeros keep their sign, infinities and NaN stay."""
    if value == 0 or not isfinite(value):
        return float(value)
    return round_dyadic(dtype, *dyadic(value))
