"""From a number of a float format to the one beside it."""

from __future__ import annotations

import numpy as np

from conform.interp.stablehlo.values import contiguous
from conform.numerics.formats import Format


def next_after(x: np.ndarray, y: np.ndarray, fmt: Format) -> np.ndarray:
    """The number of the format beside x on the side of y: y where they are equal, NaN where either is. Codes are a sign
    and a size, so that a step is one of the size."""
    codes = contiguous(x).view(fmt.code_storage).astype(np.int64)
    sign = np.int64(1) << np.int64(fmt.bits - 1)
    size = codes & ~sign if fmt.bits < 64 else codes & np.int64(2**63 - 1)
    x_number, y_number = x.astype(np.float64), y.astype(np.float64)
    is_negative = np.signbit(x_number)
    outward = (y_number > x_number) != is_negative
    stepped = np.where(size == 0, 1, np.where(outward, size + 1, size - 1))
    negative = np.where(size == 0, y_number < 0, is_negative)
    if not fmt.has_negative_zero:
        negative &= stepped != 0
    beside = (stepped | np.where(negative, sign, np.int64(0))).astype(fmt.code_storage).view(fmt.storage)
    nan = np.isnan(x_number) | np.isnan(y_number)
    quiet = np.where(np.isnan(x_number), x, y)
    return np.where(nan, quiet, np.where(x_number == y_number, y, beside)).astype(fmt.storage)
