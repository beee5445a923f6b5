"""Inputs by number: a code stands for one operand, or for two, of which the first has the upper half of its bits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from conform.numerics.formats import Format

BLOCK, CALL, PIECE = 1 << 22, 1 << 18, 1 << 16  # codes: journaled, asked of the backend, and judged at once


@dataclass(frozen=True, order=True)
class Codes:
    """The codes from `first` to `last`, both among them."""

    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first + 1

    def cut(self, size: int) -> Iterator[Codes]:
        """These codes in parts that end at multiples of `size`."""
        start = self.first
        while start <= self.last:
            end = min(start - start % size + size - 1, self.last)
            yield Codes(start, end)
            start = end + 1

    def within(self, whole: Codes) -> slice:
        """Where these stand in an array of `whole`."""
        return slice(self.first - whole.first, self.last - whole.first + 1)

    def __str__(self) -> str:
        return f"{self.first:#x} to {self.last:#x}"


@dataclass(frozen=True)
class Space:
    """The inputs of `count` operands of the float format `fmt`, one or two."""

    fmt: Format
    count: int

    @property
    def codes(self) -> Codes:
        """All of them."""
        return Codes(0, (1 << self.count * self.fmt.bits) - 1)

    def operands(self, codes: Codes | np.ndarray) -> list[np.ndarray]:
        """The operands of each code, [n] each, in the format's storage."""
        numbers = np.arange(codes.first, codes.last + 1, dtype=np.uint64) if isinstance(codes, Codes) else codes
        shifts = [np.uint64(self._shift(at)) for at in range(self.count)]
        return [(numbers >> shift).astype(self.fmt.code_storage).view(self.fmt.storage) for shift in shifts]

    def binades(self) -> int:
        """How many values sign and exponent field of an operand have."""
        return 1 << (self.fmt.bits - self.fmt.mantissa_bits)

    def runs(self, codes: Codes, operand: int) -> tuple[np.ndarray, np.ndarray]:
        """(the places in `codes` where an operand's binade changes, the first one 0; the binade from there on)."""
        step = 1 << (self._shift(operand) + self.fmt.mantissa_bits)
        starts = np.arange(codes.first - codes.first % step, codes.last + 1, step)
        return np.maximum(starts - codes.first, 0), (starts // step) % self.binades()

    def _shift(self, operand: int) -> int:
        return (self.count - 1 - operand) * self.fmt.bits
