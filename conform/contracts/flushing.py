"""Backends that flush subnormals to zero: what that makes of a result, all of them or none.

Source: TOSA specification, reference check (a zero passes where the bound reaches below the smallest normal number;
formats of 8 bits and fewer keep subnormals) and its rule that either all values are flushed to sign-preserved zero, or
none. Whether "all" holds shows in one output: zeros are allowed for unless another subnormal result was kept in it.
"""

from __future__ import annotations

import numpy as np

from conform.contracts.components import components
from conform.interp.blocks.blocks import flat, spans
from conform.interp.golden import Golden
from conform.numerics.formats import Format
from conform.numerics.real import Real
from conform.numerics.ulp import ulp


def concerns(golden: Golden) -> bool:
    """Whether results may be flushed: not where no rounding made them (moves, negations, maxima keep subnormals), and
    not in formats of 8 bits."""
    return golden.real is not None and flushes(golden.format)


def allowed(golden: Golden, actual: np.ndarray, real: Real, bound_ulp: np.ndarray, sign_counts: bool) -> np.ndarray:
    """Where `actual` is the zero that a result within the bound is flushed to, of its sign if that counts.

    Of goldens that flushing concerns, and backends that kept no subnormal.
    """
    fmt = golden.format
    # Half an ulp is the correctly rounded result alone; others within a bound may be nearer to zero.
    least = np.abs(real.hi) - np.where(bound_ulp > 0.5, bound_ulp, 0.0) * ulp(fmt, real.hi)
    zero = (actual == 0) & (least < fmt.min_normal)
    return zero & (~np.asarray(sign_counts) | golden.zero_sign_free | (np.signbit(actual) == np.signbit(real.hi)))


def kept_some(golden: Golden, actual: np.ndarray) -> bool:
    """Whether a result (or a part of it) that is subnormal came back as a number other than zero."""
    pairs = ((flat(golden.value, place), flat(actual, place)) for place in spans(actual.size))
    return any(_kept(golden.format, expected, got) for expected, got in pairs)


def _kept(fmt: Format, expected: np.ndarray, got: np.ndarray) -> bool:
    if fmt.is_complex:
        expected, got, fmt = components(fmt, expected), components(fmt, got), fmt.component
    return bool((subnormal(fmt, expected) & (got != 0)).any())


def partly(golden: Golden, actual: np.ndarray, index: int) -> bool:
    """Whether the element at this flat index was flushed and another was not."""
    return flushes(golden.format) and actual.flat[index] == 0 and kept_some(golden, actual)


def flushes(fmt: Format) -> bool:
    return fmt.is_float and fmt.bits >= 16


def subnormal(fmt: Format, array: np.ndarray) -> np.ndarray:
    """Which elements are subnormal numbers of `fmt`."""
    return (np.abs(array) < fmt.min_normal) & (array != 0)


def flushed(fmt: Format, array: np.ndarray) -> np.ndarray:
    """Subnormal operands as zeros of their sign."""
    return np.where(subnormal(fmt, array), np.copysign(array.dtype.type(0), array), array)
