"""What the ops of StableHLO work on: tensors, tokens and tuples. Each has a dtype and a shape, as a program asks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from conform.interp.stablehlo.quantization import Quantization
from conform.numerics.formats import Format, format_of

TOKEN = "token"


def contiguous(array: np.ndarray) -> np.ndarray:
    """`array` in C order, whose codes a view shows; unlike numpy's function it keeps 0 dimensions."""
    return np.ascontiguousarray(array).reshape(np.shape(array))


@dataclass(frozen=True, eq=False)
class Tensor:
    """An array in the storage dtype of its format; of a quantized tensor the integers that it stores, whose format
    `format` is, while `dtype` names the quantized type."""

    array: np.ndarray
    quantization: Quantization | None = None

    @cached_property
    def format(self) -> Format:
        return format_of(self.array)

    @property
    def dtype(self) -> str:
        return self.format.name if self.quantization is None else str(self.quantization)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def rank(self) -> int:
        return self.array.ndim

    def __str__(self) -> str:
        """`tensor<2x3xf32>`"""
        element = self.quantization or self.format.stablehlo_name.replace("si", "i")
        return f"tensor<{'x'.join(map(str, [*self.shape, element]))}>"


@dataclass(frozen=True)
class Token:
    """What orders side effects; it has no content."""

    dtype: str = TOKEN
    shape: tuple[int, ...] = ()

    def __str__(self) -> str:
        return "!stablehlo.token"


@dataclass(frozen=True, eq=False)
class Tuple:
    """Values in one."""

    values: tuple[Tensor | Token | Tuple, ...]
    shape: tuple[int, ...] = ()

    @property
    def dtype(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return f"tuple<{', '.join(map(str, self.values))}>"
