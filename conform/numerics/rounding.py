"""One exact rounding: of hi + lo, of a Fraction, and from any format to any other.

Torch and ml_dtypes round twice on some of these ways (float64 to bfloat16 or float8 through float32); here a number
is rounded once. What has no counterpart in the target:
* A number that rounds beyond `max_finite` becomes infinity. Formats without infinity give NaN, formats without NaN
  the largest number. Directed modes stop at the largest number where they point away from infinity (IEEE 754-2019,
  4.3.2). `saturate` gives the largest number always, for infinities too (torch's cast to float8_e4m3fn since 2.13).
* NaN becomes +0 in formats without NaN.
* A format without negative zero has +0 in its place (the storage's own conversion of -0).
* float8_e8m0fnu, which has neither zero nor sign: what lies below its smallest number rounds up to it, zero
  included (as torch casts), and negative numbers become NaN.
"""

from __future__ import annotations

import math
from enum import Enum
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from conform.numerics.eft import nudged_to_odd, two_sum
from conform.numerics.formats import FORMATS, Format, format_of
from conform.numerics.real import Real

FLOAT32, FLOAT64 = FORMATS["float32"], FORMATS["float64"]


class Mode(Enum):
    """Rounding-direction attributes of IEEE 754-2019, 4.3."""

    NEAREST_EVEN = "to nearest, ties to even"
    TOWARD_ZERO = "the number of the largest magnitude not above |x|"
    UP = "the smallest number not below x"
    DOWN = "the largest number not above x"


NEAREST_EVEN, TOWARD_ZERO, UP, DOWN = Mode
_FEWER_DIGITS = (FLOAT32, FORMATS["float16"], FORMATS["bfloat16"])  # than float64, with both zeros and infinities
_TO_INTEGER = {NEAREST_EVEN: np.rint, TOWARD_ZERO: np.trunc, UP: np.ceil, DOWN: np.floor}
_EXPONENT_FIELD = np.int64(0x7FF0_0000_0000_0000)


def round_to(
    fmt: Format, hi: np.ndarray, lo: np.ndarray | None = None, mode: Mode = NEAREST_EVEN, saturate: bool = False
) -> np.ndarray:
    """The exact hi + lo (float64 arrays of one shape, |lo| <= ulp(hi) / 2), rounded once to the float format `fmt`.

    A number that rounds to zero keeps its sign, an exact zero keeps that of `hi`. The result is in `fmt.storage`.
    """
    hi = np.asarray(hi, np.float64)
    with np.errstate(all="ignore"):
        if fmt == FLOAT64:
            rounded = _round_to_float64(hi, lo, mode)
            return np.asarray(_saturated(rounded) if saturate else rounded)
        if lo is not None:
            hi = nudged_to_odd(hi, lo)
        if fmt == FLOAT32 and mode is NEAREST_EVEN and not saturate:
            return np.asarray(hi.astype(np.float32))  # the host's conversion is one IEEE rounding
        return np.asarray(_round_float64(fmt, hi, mode, saturate).astype(fmt.storage))


def _round_float64(fmt: Format, x: np.ndarray, mode: Mode, saturate: bool) -> np.ndarray:
    """x rounded to a number of `fmt`, still as float64. Every step but the rounding to an integer is exact."""
    binade = (x.view(np.int64) & _EXPONENT_FIELD).view(np.float64)  # 2^floor(log2|x|), 0 for subnormals
    binade = np.minimum(np.maximum(binade, fmt.min_normal), 2.0**fmt.emax)
    quantum = binade * 2.0**-fmt.mantissa_bits
    rounded = _TO_INTEGER[mode](x / quantum) * quantum
    if not fmt.has_zero:
        return _without_zero(fmt, rounded, x, mode, saturate)
    overflows = np.abs(rounded) > fmt.max_finite
    if overflows.any():
        rounded = np.where(overflows, _overflow(fmt, x, mode, saturate), rounded)
    if not fmt.has_nan:
        rounded = np.where(np.isnan(x), 0.0, rounded)
    return rounded


def _overflow(fmt: Format, x: np.ndarray, mode: Mode, saturate: bool) -> np.ndarray:
    """What stands for numbers, and infinities, beyond the range of `fmt`."""
    largest = np.copysign(fmt.max_finite, x)
    if saturate or not fmt.has_nan:
        return largest
    beyond = np.copysign(np.inf, x) if fmt.has_inf else np.full_like(x, np.nan)
    if mode is NEAREST_EVEN:
        return beyond
    outward = np.isinf(x) | (x > 0 if mode is UP else x < 0 if mode is DOWN else False)
    return np.where(outward, beyond, largest)


def _without_zero(fmt: Format, rounded: np.ndarray, x: np.ndarray, mode: Mode, saturate: bool) -> np.ndarray:
    rounded = np.maximum(rounded, fmt.min_normal)
    rounded = np.where(rounded > fmt.max_finite, _overflow(fmt, x, mode, saturate), rounded)
    return np.where(x < 0, np.nan, rounded)


def _round_to_float64(hi: np.ndarray, lo: np.ndarray | None, mode: Mode) -> np.ndarray:
    if lo is None:
        return hi.copy()
    nearest, rest = two_sum(hi, lo)  # RN(hi + lo) is IEEE addition; rest tells where the sum lies from it
    nearest = np.where(lo == 0, hi, nearest)  # -0 + 0 would be +0
    if mode is NEAREST_EVEN:
        return nearest
    return _directed(nearest, np.where(lo == 0, 0.0, rest), mode)


def _directed(nearest: np.ndarray, rest: np.ndarray, mode: Mode) -> np.ndarray:
    """The float64 next to nearest + rest in the direction of `mode`. `rest` is NaN where hi + lo overflowed."""
    overflowed = np.isnan(rest)
    rest = np.where(overflowed, -nearest, rest)
    below, above = np.nextafter(nearest, -np.inf), np.nextafter(nearest, np.inf)
    down = np.where(rest < 0, below, nearest)
    up = np.where(rest > 0, above, nearest)
    if mode is TOWARD_ZERO:
        return np.where(nearest > 0, down, up)
    return down if mode is DOWN else up


def _saturated(rounded: np.ndarray) -> np.ndarray:
    return np.where(np.isinf(rounded), np.copysign(FLOAT64.max_finite, rounded), rounded)


def decide(fmt: Format, real: Real) -> tuple[np.ndarray, np.ndarray]:
    """(value, undecided): the numbers of `real` rounded to nearest in `fmt.storage`, and where that is not yet certain.

    `undecided` is True where rounding hi + lo - radius and hi + lo + radius differ, the sign of zero included;
    the value there is one of the candidates, or meaningless where the radius is infinite.
    """
    if not real.radius.any():
        return round_to(fmt, real.hi, real.lo), np.zeros(real.shape, bool)
    if fmt not in _FEWER_DIGITS:
        return _by_ends(fmt, real)
    value, open_ = _by_wider_ends(fmt, real)
    if open_.any():
        value[open_], open_[open_] = _by_ends(fmt, real[open_])
    return value, open_


def _by_wider_ends(fmt: Format, real: Real) -> tuple[np.ndarray, np.ndarray]:
    """As `decide`, by float64 numbers outside hi + lo -+ radius: rounding is monotone. It leaves open what lies within
    2^-50 of itself of a boundary, and zeros, infinities and what is not known at all."""
    with np.errstate(all="ignore"):
        # |lo| + radius and the last sums are off by a rounding each.
        outward = (np.abs(real.lo) + real.radius) * (1.0 + 2.0**-40) + np.abs(real.hi) * 2.0**-51
        lower, upper = (round_to(fmt, end) for end in (real.hi - outward, real.hi + outward))
    return lower, np.asarray(lower.view(fmt.code_storage) != upper.view(fmt.code_storage))


def _by_ends(fmt: Format, real: Real) -> tuple[np.ndarray, np.ndarray]:
    with np.errstate(all="ignore"):
        ends = real.ends()
        rounded = round_to(fmt, ends.hi, ends.lo)
        lower, upper = rounded.view(fmt.code_storage)
        undecided = lower != upper
        if fmt.has_nan and not fmt.has_inf:  # both ends may be NaN, the one below, the other above all numbers
            undecided = undecided | (np.isnan(rounded[0]) & (np.signbit(ends.hi[0]) != np.signbit(ends.hi[1])))
    return np.asarray(rounded[0]), np.asarray(undecided)


class Ratio(NamedTuple):
    """A rational number, not in lowest terms: what a Fraction takes to find these is saved. The denominator is above
    0."""

    numerator: int
    denominator: int


def round_fraction(fmt: Format, number: Fraction | Ratio, zero_sign: float = 1.0) -> np.generic:
    """The exact `number` rounded to nearest even in `fmt.storage`; an exact zero takes the sign of `zero_sign`."""
    return round_to(fmt, np.float64(nearest_of(fmt, number, zero_sign)))[()]


def nearest_of(fmt: Format, number: Fraction | Ratio, zero_sign: float = 1.0) -> float:
    """As `round_fraction`, for `round_to` to store: the number of the format, or an infinity beyond all of them."""
    if number.numerator == 0:
        return math.copysign(0.0, zero_sign)
    if fmt == FLOAT64:
        return _nearest_double(int(number.numerator), int(number.denominator))
    numerator, denominator = abs(int(number.numerator)), int(number.denominator)
    exponent = min(max(_floor_log2(numerator, denominator), fmt.emin), fmt.emax)
    shift = exponent - fmt.mantissa_bits
    steps = _nearest_even(numerator << max(-shift, 0), denominator << max(shift, 0))  # of 2^shift
    beyond = exponent == fmt.emax and steps > int(math.ldexp(fmt.max_finite, -shift))
    rounded = math.inf if beyond else math.ldexp(steps, shift)
    rounded = rounded if fmt.has_zero else max(rounded, fmt.min_normal)
    return rounded if number.numerator > 0 else -rounded


def _nearest_double(numerator: int, denominator: int) -> float:
    """Python's quotient of integers is that."""
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def _nearest_even(numerator: int, denominator: int) -> int:
    """The quotient rounded to an integer."""
    whole, rest = divmod(numerator, denominator)
    return whole + (2 * rest > denominator or (2 * rest == denominator and whole % 2 == 1))


def _floor_log2(numerator: int, denominator: int) -> int:
    exponent = numerator.bit_length() - denominator.bit_length()
    return exponent if numerator << max(-exponent, 0) >= denominator << max(exponent, 0) else exponent - 1


def convert(
    array: np.ndarray, source: Format, fmt: Format, mode: Mode = NEAREST_EVEN, saturate: bool = False
) -> np.ndarray:
    """`array`, in the storage of `source`, converted to `fmt` with at most one rounding.

    To bool: x != 0. Integer to integer wraps modulo 2^bits. Float to integer goes toward zero, and is 0 outside
    `in_integer_range`. Complex to real drops the imaginary part. `mode` and `saturate` are those of `round_to` and
    concern float targets alone.
    """
    array = np.asarray(array)
    if source == fmt:
        return array.copy()
    if fmt.is_complex:
        return _to_complex(array, source, fmt, mode, saturate)
    if source.is_complex and fmt.kind != "bool":
        return convert(array.real, source.component, fmt, mode, saturate)
    if fmt.kind == "bool":
        return np.asarray((array if source.is_complex else widened(array, source)) != 0)
    numbers = widened(array, source)
    if fmt.is_float:
        real = Real.exact(numbers) if source.is_float else Real.of_integers(numbers)
        return round_to(fmt, real.hi, real.lo, mode, saturate)
    return _truncated(numbers, fmt) if source.is_float else _wrapped(numbers, fmt)


def in_integer_range(array: np.ndarray, fmt: Format) -> np.ndarray:
    """Where the elements of `array`, of any real format, are finite and, rounded toward zero, fit the integer `fmt`."""
    source = format_of(array)
    numbers = widened(array, source)
    if not source.is_float:
        return (numbers >= fmt.min_value) & (numbers <= fmt.max_value)
    truncated = np.trunc(numbers)
    return (truncated >= float(fmt.min_value)) & (truncated < float(fmt.max_value + 1))


def widened(array: np.ndarray, source: Format) -> np.ndarray:
    """A real array in the widest dtype of its kind, float64, int64 or uint64, which holds every value exactly."""
    if source.is_float:
        with np.errstate(invalid="ignore"):  # a signalling NaN
            return np.asarray(array).astype(np.float64)
    return np.asarray(array).astype(np.uint64 if source.kind == "uint" else np.int64)


def _to_complex(array: np.ndarray, source: Format, fmt: Format, mode: Mode, saturate: bool) -> np.ndarray:
    result = np.zeros(array.shape, fmt.storage)
    if source.is_complex:
        result.imag = convert(array.imag, source.component, fmt.component, mode, saturate)
        array, source = array.real, source.component
    result.real = convert(array, source, fmt.component, mode, saturate)
    return result


def _wrapped(integers: np.ndarray, fmt: Format) -> np.ndarray:
    """int64 or uint64 to the integer format `fmt`, modulo 2^bits."""
    if fmt.bits >= 8:
        return integers.astype(fmt.storage)
    low = integers.astype(np.int64) & ((1 << fmt.bits) - 1)
    return np.where(low > fmt.max_value, low - (1 << fmt.bits), low).astype(fmt.storage)


def _truncated(x: np.ndarray, fmt: Format) -> np.ndarray:
    in_range = np.where(in_integer_range(x, fmt), np.trunc(x), 0.0)
    return in_range.astype(np.uint64 if fmt.kind == "uint" else np.int64).astype(fmt.storage)
