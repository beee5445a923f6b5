"""Operands that are converted where they are read: no copy of a whole one is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Change = Callable[[np.ndarray], np.ndarray]  # of some elements, one by one; their dtype stays


def unchanged(x: np.ndarray) -> np.ndarray:
    """The change that is none."""
    return x


def moved(operand: np.ndarray | Converted, move: Callable[[np.ndarray], np.ndarray]) -> np.ndarray | Converted:
    """The operand with `move`, which only rearranges or repeats elements, applied to it."""
    return Converted(move(operand.array), operand.change) if isinstance(operand, Converted) else move(operand)


class Converted:
    """An array, but for its elements, which `change` gives of the array's own.

    Stands for a factor in sums of products: it is sliced, of which nothing is converted yet, and read by coordinates or
    into another dtype.
    """

    def __init__(self, array: np.ndarray, change: Change) -> None:
        self.array, self.change = array, change

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def ndim(self) -> int:
        return self.array.ndim

    @property
    def size(self) -> int:
        return self.array.size

    @property
    def dtype(self) -> np.dtype:
        return self.array.dtype

    @property
    def T(self) -> Converted:  # noqa: N802 - numpy's name
        return Converted(self.array.T, self.change)

    @property
    def mT(self) -> Converted:  # noqa: N802 - numpy's name
        return Converted(self.array.mT, self.change)

    @property
    def flat(self) -> Converted:
        return Converted(self.array.flat, self.change)

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: Any) -> Converted | np.ndarray:
        part = self.array[index]
        by_coordinates = isinstance(index, tuple) and any(isinstance(each, np.ndarray) for each in index)
        return self.change(part) if by_coordinates else Converted(part, self.change)

    def astype(self, dtype: Any, copy: bool = True) -> np.ndarray:
        return self.change(self.array).astype(dtype, copy=copy)
