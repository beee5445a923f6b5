"""The values of each format at which implementations go wrong."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np

from conform.numerics.formats import Format, format_named

CORE_COUNT = 12  # how many values at the head of each list belong into every test, however small


@functools.cache
def special_values(format_name: str) -> np.ndarray:
    """The special values of a format, without duplicates: one-dimensional, in its storage dtype, read-only, core first.

    UsageError if there is no format of this name.
    """
    fmt = format_named(format_name)
    if fmt.kind == "bool":
        values = np.array([False, True])
    elif fmt.is_complex:
        values = _complex_specials(fmt)
    elif fmt.is_float:
        values = _float_specials(fmt)
    else:
        widest = np.int64 if fmt.kind == "int" else np.uint64
        values = np.array(_integer_specials(fmt), dtype=widest).astype(fmt.storage)
    values.flags.writeable = False
    return values


# --- Integers ---------------------------------------------------------------------------------------------------------

# Ends of narrower types, integers that float16, float32 and float64 no longer hold (2^p + 1), the square roots of 2^31
# and 2^63 (products that just wrap), and small odd divisors.
_INTEGERS = (
    2, 3, -2, 5, -7, 10, 100, 127, 128, 129, 200, 254, 255, 256, 257, -128, -129, 2049, 32767, 32768, 65535, 65537,
    46340, 46341, -(2**24) - 1, 2**31 - 1, 2**31, -(2**31), 2**32 - 1, 2**32 + 1, -(2**53) - 1, 3037000499,
    3037000500, 2**63 - 1,
)  # fmt: skip


def _integer_specials(fmt: Format) -> list[int]:
    low, high = fmt.min_value, fmt.max_value
    sign_bit = 2 ** (fmt.bits - 1)
    core = [0, 1, -1, low, high, sign_bit, 2**24 + 1, 2**53 + 1, 2, 3, high - 1, low + 1, sign_bit - 1]
    candidates = [*core, low // 2, high // 2 + 1, high // 3, *_INTEGERS]
    return list(dict.fromkeys(value for value in candidates if low <= value <= high))


# --- Floats -----------------------------------------------------------------------------------------------------------

# exp of these is halfway between the largest finite value and 2^(emax+1), the smallest normal value, and half the
# smallest subnormal value.
_EXP_THRESHOLDS = {
    "float16": (11.090110718526951, -9.704060527839234, -17.328679513998633),
    "bfloat16": (88.7208840768372, -87.33654475055311, -92.88172219503267),
    "float32": (88.72283908187068, -87.33654475055311, -103.97207708399179),
    "float64": (709.782712893384, -708.3964185322641, -745.1332191019412),
}
# Values of the format that come closest to a multiple of pi/2, where argument reduction cancels most (found by trying
# all values of the 16-bit formats; Muller, Elementary Functions, 3rd ed., table 11.1 for the others).
_NEAR_PI_MULTIPLES = {
    "float16": (177.5, 355.0),
    "bfloat16": (float(0x5E8000000000000), float(0x85000000000000000)),
    "float32": (16367173 * 2.0**72,),
    "float64": (6381956970095103 * 2.0**797,),
}
_PI_MULTIPLES = (math.pi / 4, 3 * math.pi / 2, 2 * math.pi, 11 * math.pi)
# Small and large arguments, logits and trigonometric arguments; where erf, tanh and gelu saturate; casts to integers.
_PLAIN = (
    0.25, 2.0, 3.0, 5.5, 10.0, 13.0, 22.0, 38.5, 1e-3, 1e-8, 1e-20, 1e5, 1e8, 1e10, 1e14, 1e22, 127.5, 128.0, 255.5,
    256.0, 32767.0, 65504.0, 2.0**31, 2.0**63,
)  # fmt: skip


def _float_specials(fmt: Format) -> np.ndarray:
    core = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, fmt.max_finite, -fmt.max_finite, fmt.min_subnormal,
            fmt.min_normal, 0.5]  # fmt: skip
    positive = [*_edges(fmt), *_halfway_cases(fmt), *_PLAIN, *with_neighbours(fmt, math.pi / 2),
                *with_neighbours(fmt, math.pi), *_PI_MULTIPLES, *_NEAR_PI_MULTIPLES.get(fmt.name, ())]  # fmt: skip
    candidates = core + [sign * value for value in positive for sign in (1.0, -1.0)]
    for threshold in _EXP_THRESHOLDS.get(fmt.name, ()):
        candidates += with_neighbours(fmt, threshold)
    nearest = [rounded(fmt, value) for value in candidates]
    kept = np.array([value for value in nearest if is_value(fmt, value)]).astype(fmt.storage)
    return without_duplicates(np.concatenate([kept, _nans(fmt)]))


def is_value(fmt: Format, value: float) -> bool:
    """Whether the format has `value`, a multiple of its spacing, a zero, an infinity or NaN."""
    if math.isnan(value):
        return fmt.has_nan
    if math.isinf(value):
        return fmt.has_inf
    if math.copysign(1.0, value) < 0 and not (fmt.is_signed and (value or fmt.has_negative_zero)):
        return False
    return fmt.has_zero if value == 0 else abs(value) <= fmt.max_finite


def _edges(fmt: Format) -> list[float]:
    """Ends of the subnormal and the normal range, the neighbours of 1, and powers of two."""
    largest_subnormal = fmt.min_normal - fmt.min_subnormal
    powers = [math.ldexp(1.0, fmt.precision), math.ldexp(1.0, -fmt.precision), math.ldexp(1.0, fmt.emax),
              math.ldexp(1.0, fmt.emin // 2), math.ldexp(1.0, fmt.emax // 2 + 1)]  # fmt: skip
    edges = [fmt.min_subnormal, largest_subnormal, *with_neighbours(fmt, fmt.min_normal), *with_neighbours(fmt, 1.0)]
    return [*edges, *powers, _neighbours(fmt, fmt.max_finite)[0], fmt.max_finite / 2]


def _halfway_cases(fmt: Format) -> list[float]:
    """Where rounding to an integer, or of sums, has to break a tie or just not: k + 0.5, 0.5 less an ulp, 2^p + 2."""
    half = math.ldexp(1.0, fmt.precision - 1)  # from here on every value is an integer
    return [1.5, 2.5, 3.5, 4.5, *with_neighbours(fmt, 0.5), *with_neighbours(fmt, 1.5), half / 2 + 0.5, half - 0.5,
            half + 1.0, 2 * half, 2 * half + 2.0]  # fmt: skip


def with_neighbours(fmt: Format, value: float) -> list[float]:
    """The multiple of the format's spacing nearest to `value` and those next to it; they may lie beyond its range."""
    nearest = rounded(fmt, value)
    return [nearest, *_neighbours(fmt, nearest)]


def _neighbours(fmt: Format, value: float) -> tuple[float, float]:
    """The values of the format next to `value` (one of its values): toward zero and away from it."""
    if value == 0.0:
        return -fmt.min_subnormal, fmt.min_subnormal
    mantissa, _ = math.frexp(value)
    above = math.copysign(_spacing(fmt, value), value)
    is_power_of_two = abs(mantissa) == 0.5 and abs(value) > fmt.min_normal
    return value - (above / 2 if is_power_of_two else above), value + above


def rounded(fmt: Format, value: float) -> float:
    """`value` to the nearest multiple of the format's spacing there, ties to even; exact in float64."""
    if value == 0.0 or not math.isfinite(value):
        return value
    spacing = _spacing(fmt, value)
    return math.copysign(round(abs(value) / spacing) * spacing, value)


def _spacing(fmt: Format, value: float) -> float:
    _, exponent = math.frexp(value)
    return math.ldexp(1.0, max(exponent - 1, fmt.emin) - fmt.precision + 1)


def _nans(fmt: Format) -> np.ndarray:
    """Quiet NaNs of both signs; in formats with infinities (IEEE 754's encoding) one with a payload too."""
    if not fmt.has_nan:
        return np.empty(0, dtype=fmt.storage)
    if not fmt.has_inf or fmt.mantissa_bits < 2:
        return np.array([math.nan, -math.nan]).astype(fmt.storage)
    quiet = (2 ** (fmt.exponent_bits + 1) - 1) << (fmt.mantissa_bits - 1)
    codes = [quiet, quiet | 1 << (fmt.bits - 1), quiet | 1]
    return np.array(codes, dtype=fmt.code_storage).view(fmt.storage)


def without_duplicates(values: np.ndarray) -> np.ndarray:
    """`values` without the values (of a 2-d array: the rows) that an earlier one equals bit for bit."""
    _, first = np.unique(values.view(f"u{values.itemsize}"), axis=0, return_index=True)
    return values[np.sort(first)]


# --- Complex ----------------------------------------------------------------------------------------------------------


def _complex_specials(fmt: Format) -> np.ndarray:
    """Every pair of seven finite parts, and some with an infinite or NaN part (policy P8 leaves their results open)."""
    part = fmt.component
    finite = [0.0, -0.0, 1.0, -1.0, -1.5, part.max_finite, part.min_subnormal]
    core = [(1.0, 0.0), (0.0, 1.0), (-0.0, -1.0), (1.0, 1.0), (-1.0, -0.0), (0.0, -0.0)]
    wild = [(math.inf, 0.0), (0.0, -math.inf), (math.inf, math.nan), (math.nan, 0.0), (1.0, math.nan), (-math.inf, 1.0)]
    pairs = np.array([*core, *itertools.product(finite, repeat=2), *wild]).astype(part.storage)
    return without_duplicates(pairs).reshape(-1).view(fmt.storage)
