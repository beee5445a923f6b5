"""The codes of a float format: what each stands for, the class of a number, and its neighbours.

Everything follows from the row of the format and the definition at the head of formats.py, not from the conversions of
the storage. Numbers are float64 arrays, which hold every number of every format; codes are unsigned integers.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from conform.numerics.formats import Format


class NumberClass(Enum):
    """The classes of IEEE 754-2019, 5.7.2, without the two kinds of NaN and the sign."""

    ZERO = "zero"
    SUBNORMAL = "subnormal"
    NORMAL = "normal"
    INFINITE = "infinite"
    NAN = "nan"


def decode(fmt: Format, codes: np.ndarray) -> np.ndarray:
    """The numbers, float64, that `codes` (unsigned integers below 2^bits) stand for."""
    codes = np.asarray(codes).astype(np.uint64)
    field_mask = (1 << (fmt.exponent_bits + fmt.mantissa_bits)) - 1
    magnitude = (codes & np.uint64(field_mask)).astype(np.int64)
    negative = (codes >> np.uint64(fmt.bits - 1)).astype(bool) if fmt.is_signed else np.zeros(codes.shape, bool)
    numbers = np.where(negative, -1.0, 1.0) * _magnitude_of(fmt, np.minimum(magnitude, fmt.max_code))
    beyond = magnitude > fmt.max_code
    infinite = beyond & (magnitude == fmt.max_code + 1) if fmt.has_inf else np.zeros(codes.shape, bool)
    numbers = np.where(beyond, np.where(infinite, np.copysign(np.inf, numbers), np.nan), numbers)
    if fmt.is_signed and fmt.has_zero and not fmt.has_negative_zero:
        numbers = np.where(negative & (magnitude == 0), np.nan, numbers)  # the code of -0 is taken for NaN
    return numbers


def _magnitude_of(fmt: Format, code: np.ndarray) -> np.ndarray:
    """The number of a code without its sign, up to `max_code`."""
    field, mantissa = code >> fmt.mantissa_bits, code & ((1 << fmt.mantissa_bits) - 1)
    subnormal = (field == 0) & fmt.has_subnormals
    significand = np.where(subnormal, mantissa, mantissa + (1 << fmt.mantissa_bits))
    exponent = np.where(subnormal, fmt.emin, field - fmt.bias) - fmt.mantissa_bits
    return np.ldexp(significand.astype(np.float64), exponent)


def encode(fmt: Format, numbers: np.ndarray) -> np.ndarray:
    """The codes, in `fmt.code_storage`, of float64 `numbers`; ValueError for one that the format does not have.

    NaN is the quiet NaN without a sign bit, in fnuz formats the one code that they have for it.
    """
    numbers = np.asarray(numbers, np.float64)
    with np.errstate(invalid="ignore"):  # numbers far beyond the format leave int64; they are refused below
        position = _position(fmt, np.where(np.isfinite(numbers), numbers, 0.0 if fmt.has_zero else fmt.min_normal))
    magnitude = np.where(np.isinf(numbers), fmt.max_code + 1, np.abs(position)).astype(np.uint64)
    sign_bit = np.uint64(1 << (fmt.bits - 1) if fmt.is_signed else 0)
    codes = np.where(np.signbit(numbers), magnitude | sign_bit, magnitude)
    codes = np.where(np.isnan(numbers), np.uint64(_nan_code(fmt)), codes).astype(fmt.code_storage)
    lost = ~_same(decode(fmt, codes), numbers)
    if lost.any():
        raise ValueError(f"{fmt.name} does not have {float(numbers[lost][0])!r}: round it first")
    return codes


def _nan_code(fmt: Format) -> int:
    if not fmt.has_nan:
        return 0  # decodes to 0: an error in `encode`
    if fmt.has_inf:
        return fmt.max_code + 1 + (1 << (fmt.mantissa_bits - 1))
    return fmt.max_code + 1 if fmt.has_negative_zero or not fmt.is_signed else 1 << (fmt.bits - 1)


def _same(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    return ((lhs == rhs) & (np.signbit(lhs) == np.signbit(rhs))) | (np.isnan(lhs) & np.isnan(rhs))


def _position(fmt: Format, numbers: np.ndarray) -> np.ndarray:
    """Where finite numbers of the format stand in its order: int64, 0 for both zeros, negative below; for a format
    without zero the code."""
    _, exponent = np.frexp(numbers)
    exponent = np.where(numbers == 0, fmt.emin, np.clip(exponent - 1, fmt.emin, fmt.emax))
    quanta = np.ldexp(np.abs(numbers), fmt.mantissa_bits - exponent).astype(np.int64)
    field = exponent.astype(np.int64) - fmt.emin
    code = (field << fmt.mantissa_bits) + quanta - (0 if fmt.has_subnormals else 1 << fmt.mantissa_bits)
    return np.where(numbers < 0, -code, code)


def _at_position(fmt: Format, position: np.ndarray) -> np.ndarray:
    return np.where(position < 0, -1.0, 1.0) * _magnitude_of(fmt, np.abs(position))


def classify(fmt: Format, numbers: np.ndarray) -> np.ndarray:
    """The `NumberClass` of each of float64 `numbers` of the format, as an object array."""
    numbers = np.asarray(numbers, np.float64)
    magnitude = np.abs(numbers)
    rules = [
        (np.isnan(numbers), NumberClass.NAN),
        (np.isinf(numbers), NumberClass.INFINITE),
        (magnitude == 0, NumberClass.ZERO),
        (magnitude < fmt.min_normal, NumberClass.SUBNORMAL),
        (np.ones(numbers.shape, bool), NumberClass.NORMAL),
    ]
    classes = np.empty(numbers.shape, object)
    for condition, number_class in reversed(rules):
        classes[condition] = number_class
    return classes


def next_up(fmt: Format, numbers: np.ndarray) -> np.ndarray:
    """The least number of the format above each of float64 `numbers` of the format (IEEE 754-2019, 5.3.1, nextUp).

    Above both zeros lies the smallest positive number, above the largest one infinity, or, in a format without
    infinity, itself. NaN and infinity stay; below the smallest subnormal number lies -0 where the format has it.
    """
    numbers = np.asarray(numbers, np.float64)
    finite = np.isfinite(numbers)
    position = _position(fmt, np.where(finite, numbers, fmt.min_normal)) + 1
    above = _at_position(fmt, np.minimum(position, fmt.max_code))
    above = np.where(above == 0, -0.0 if fmt.has_negative_zero else 0.0, above)
    if fmt.has_inf:
        above = np.where(position > fmt.max_code, np.inf, above)
        above = np.where(numbers == -np.inf, -fmt.max_finite, above)
    return np.where(finite | (numbers == -np.inf), above, numbers)


def next_down(fmt: Format, numbers: np.ndarray) -> np.ndarray:
    """The greatest number of the format below each of `numbers`: -next_up(-x), and in a format without sign the code
    before."""
    numbers = np.asarray(numbers, np.float64)
    if fmt.is_signed:
        below = -next_up(fmt, -numbers)
        return below if fmt.has_negative_zero else below + 0.0
    finite = np.isfinite(numbers)
    position = np.maximum(_position(fmt, np.where(finite, numbers, fmt.min_normal)) - 1, 0)
    return np.where(finite, _at_position(fmt, position), numbers)
