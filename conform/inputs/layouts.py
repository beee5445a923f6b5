"""Memory layouts: the same logical tensor over another storage, one argument at a time.

Whatever lies in a storage outside the tensor is poisoned, so that a backend that ignores strides or the offset shows it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from conform.errors import UsageError, did_you_mean
from conform.inputs.arguments import Arguments, Tensor, map_tensors, tensors

_POISON_BEFORE, _POISON_AFTER = 3, 2  # elements; three also breaks every vector alignment


@dataclass(frozen=True, eq=False)
class Placed:
    """A strided tensor over a one-dimensional contiguous storage; strides and offset in elements."""

    storage: np.ndarray
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def dtype(self) -> np.dtype:
        return self.storage.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def view(self) -> np.ndarray:
        """The tensor as a numpy view of the storage."""
        itemsize = self.storage.itemsize
        strides = tuple(stride * itemsize for stride in self.strides)
        return np.ndarray(self.shape, self.dtype, self.storage, self.offset * itemsize, strides)


def layouts_of(arguments: Arguments) -> list[str]:
    """"contiguous", then every LAYOUT.K that differs from it, tensor by tensor; empty tensors have no other layout."""
    names = ["contiguous"]
    for number, tensor in enumerate(tensors(arguments)):
        names += [f"{name}.{number}" for name, layout in LAYOUTS.items() if layout.applies_to(tensor.shape)]
    return names


def with_layout(arguments: Arguments, layout: str) -> Arguments:
    """`arguments` with tensor K of the layout "NAME.K" placed so; all else is shared.

    "expanded" changes the tensor's values: index 0 of the expanded dim is repeated. UsageError if the layout is none of
    `layouts_of(arguments)`.
    """
    if layout == "contiguous":
        return arguments
    name, _, digits = layout.partition(".")
    every = tensors(arguments)
    number = int(digits) if digits.isdecimal() else len(every)
    if name not in LAYOUTS or number >= len(every) or not LAYOUTS[name].applies_to(every[number].shape):
        known = layouts_of(arguments)
        raise UsageError(f"layout {layout!r}: expected one of {', '.join(known)}{did_you_mean(layout, known)}")
    place = LAYOUTS[name].place
    return map_tensors(arguments, lambda k, tensor: place(dense(tensor)) if k == number else tensor)


def logical(arguments: Arguments) -> Arguments:
    """`arguments` with every tensor as a plain array in row-major order."""
    return map_tensors(arguments, lambda _, tensor: dense(tensor))


def dense(tensor: Tensor) -> np.ndarray:
    """The tensor's values as an array in row-major order: itself if it is one, a copy of a Placed."""
    return tensor.view().copy() if isinstance(tensor, Placed) else tensor


@functools.cache
def poison(dtype: np.dtype) -> np.ndarray:
    """What stands in a storage outside the tensor, 0-d: NaN, or the largest value of types without NaN (True for bool)."""
    if dtype == np.bool_:
        return np.array(True)
    if dtype.kind in "iu":
        return np.array(np.iinfo(dtype).max, dtype)
    return _not_a_number(dtype)


def _not_a_number(dtype: np.dtype) -> np.ndarray:
    """NaN; for ml_dtypes' integers and the floats without NaN, whose kinds numpy does not tell apart, all bits but the sign."""
    with np.errstate(invalid="ignore"):
        nan = np.array(math.nan, np.float64).astype(dtype)
    if dtype.kind == "c" or np.isnan(nan.astype(np.float64)):
        return nan
    return _largest_code(dtype)
