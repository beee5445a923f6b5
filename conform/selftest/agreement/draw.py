"""Element values for witness calls: raw codes, special values, and numbers close enough to each other to matter."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from conform.inputs.specials import special_values
from conform.numerics.draws import Stream
from conform.numerics.formats import FORMATS, Format

Shape = tuple[int, ...]

# Of eight words, how many make each kind of element.
_WILD = (2, 1, 3)  # raw codes, special values, moderate numbers, and the rest short ones
_TAME = (0, 0, 5)
_SPECIAL_ONE_IN = 64


class Draw:
    """The tensors and choices of the witness calls of one op and dtype: a pure function of both and the round."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def wild(self, dtype: str, *shape: int) -> np.ndarray:
        """Any values: all codes, special values, and numbers of similar size, whose sums and products round and tie."""
        return self._mixed(FORMATS[dtype], prod(shape), _WILD).reshape(shape)

    def tame(self, dtype: str, *shape: int) -> np.ndarray:
        """Finite numbers of similar size, so that sums of many of them cancel, round and tie instead of overflowing."""
        return self._mixed(FORMATS[dtype], prod(shape), _TAME).reshape(shape)

    def scattered(self, dtype: str, *shape: int) -> np.ndarray:
        """Finite floats of all magnitudes, zero and subnormal numbers among them, every second of a short
        significand: most sums are their largest term, unless that cancels. Other dtypes as `tame`."""
        if not FORMATS[dtype].is_float:
            return self.tame(dtype, *shape)
        fmt, words = FORMATS[dtype], self._stream.bits(prod(shape))
        return _scattered(fmt, words).astype(fmt.code_storage).view(fmt.storage).reshape(shape)

    def sparse(self, dtype: str, *shape: int) -> np.ndarray:
        """`tame`, with a special value at about every 64th place."""
        values = self.tame(dtype, *shape)
        replaced = self._stream.integers(0, _SPECIAL_ONE_IN - 1, shape) == 0
        return np.where(replaced, self._specials(FORMATS[dtype], prod(shape)).reshape(shape), values)

    def repeated(self, dtype: str, *shape: int) -> np.ndarray:
        """One to three different tame values, again and again."""
        few = self.tame(dtype, self.integer(1, 3))
        return few[self._stream.integers(0, len(few) - 1, shape)]

    def paired(self, dtype: str, *shape: int) -> np.ndarray:
        """`scattered`, but that neighbours along an axis, not the first, are equal or opposite: sums cancel up to what
        is left of them, however small."""
        values = self.scattered(dtype, *shape)
        if len(shape) < 2:
            return values
        axis = self.integer(1, len(shape) - 1)
        place = np.arange(shape[axis])
        signs = np.where(place % 2, self.choice((1, -1)), 1).reshape(-1, *[1] * (len(shape) - 1 - axis))
        mirrored = values.take(place // 2 * 2, axis) * signs.astype(values.dtype)
        return np.where(self._stream.bernoulli(0.1, shape), values, mirrored)

    def integers(self, low: int, high_inclusive: int, *shape: int, dtype: str = "int64") -> np.ndarray:
        """Integers of low .. high_inclusive."""
        return self._stream.integers(low, high_inclusive, shape).astype(dtype)

    def integer(self, low: int, high_inclusive: int) -> int:
        """One integer of low .. high_inclusive."""
        return int(self._stream.integers(low, high_inclusive, 1)[0])

    def mask(self, *shape: int, dtype: str = "bool") -> np.ndarray:
        """True at about every second place."""
        return np.asarray(self._stream.bernoulli(0.5, shape), dtype)

    def choice(self, items: Sequence[Any]) -> Any:
        """One of the items."""
        return items[self.integer(0, len(items) - 1)]

    def permutation(self, n: int) -> np.ndarray:
        """0 .. n - 1 in any order."""
        return self._stream.permutation(n)

    def _mixed(self, fmt: Format, count: int, weights: tuple[int, int, int]) -> np.ndarray:
        if fmt.is_complex:
            parts = self._mixed(fmt.component, 2 * count, weights)
            return parts.view(fmt.storage)
        words = self._stream.bits(2 * count).reshape(2, count)
        if fmt.kind == "bool":
            return (words[0] & np.uint64(1)).astype(bool)
        kind = (words[0] & np.uint64(7)).astype(np.int64)
        raw_below, special_below, moderate_below = np.cumsum(weights)
        codes = np.where(kind < moderate_below, _moderate(fmt, words[1]), _short(fmt, words[1]))
        codes = np.where(kind < raw_below, _raw(fmt, words[1]), codes)
        values = codes.astype(fmt.code_storage).view(fmt.storage)
        special = (kind >= raw_below) & (kind < special_below)
        return np.where(special, self._specials(fmt, count), values)

    def _specials(self, fmt: Format, count: int) -> np.ndarray:
        values = special_values(fmt.name)
        return values[self._stream.integers(0, len(values) - 1, count)]


def _raw(fmt: Format, words: np.ndarray) -> np.ndarray:
    """Any code of the format."""
    return words & np.uint64((1 << fmt.bits) - 1)


def _moderate(fmt: Format, words: np.ndarray) -> np.ndarray:
    """Codes of floats with any significand and magnitude 1/8 .. 16; of integers -20 .. 20 (0 .. 20 if unsigned)."""
    if not fmt.is_float:
        return _small_integers(fmt, words)
    mantissa = words & np.uint64((1 << fmt.mantissa_bits) - 1)
    exponent = np.uint64(fmt.bias - 3) + (words >> np.uint64(53)) % np.uint64(7)
    sign = words >> np.uint64(63)
    return (sign << np.uint64(fmt.bits - 1)) | (exponent << np.uint64(fmt.mantissa_bits)) | mantissa


def _scattered(fmt: Format, words: np.ndarray) -> np.ndarray:
    """Codes of floats with any sign and any exponent but the highest."""
    mantissa = words & np.uint64((1 << fmt.mantissa_bits) - 1)
    exponent = (words >> np.uint64(40)) % np.uint64((1 << (fmt.bits - 1 - fmt.mantissa_bits)) - 1)
    dropped = np.where(words >> np.uint64(63), np.uint64(fmt.mantissa_bits // 2 + 1), np.uint64(0))
    sign = (words >> np.uint64(62)) & np.uint64(1)
    magnitude = (exponent << np.uint64(fmt.mantissa_bits)) | mantissa >> dropped << dropped
    return (sign << np.uint64(fmt.bits - 1)) | magnitude


def _short(fmt: Format, words: np.ndarray) -> np.ndarray:
    """`_moderate` with the last half of the significand zero, give or take two bits: products that tie or are exact."""
    codes = _moderate(fmt, words)
    if not fmt.is_float:
        return codes
    dropped = np.uint64(fmt.mantissa_bits // 2 - 1) + (words >> np.uint64(60)) % np.uint64(4)
    return codes >> dropped << dropped


def _small_integers(fmt: Format, words: np.ndarray) -> np.ndarray:
    signed = fmt.kind == "int"
    values = words % np.uint64(41 if signed else 21)
    return (values.astype(np.int64) - (20 if signed else 0)).astype(np.uint64) & np.uint64((1 << fmt.bits) - 1)
