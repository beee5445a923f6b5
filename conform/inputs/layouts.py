"""Memory layouts: the same logical tensor over another storage, one argument at a time.

Whatever lies in a storage outside the tensor is poisoned, so that a backend which ignores strides or offset shows it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from conform.call.arguments import Arguments, map_tensors, tensors
from conform.errors import UsageError, did_you_mean
from conform.numerics.formats import format_of

_POISON_BEFORE, _POISON_AFTER = 3, 2  # elements; three also breaks every vector alignment
_ODD_STRIDE = 4099  # elements; prime, and far outside the storages of most cases


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


def layouts_of(arguments: Arguments, written: Collection[int] = ()) -> list[str]:
    """"contiguous", then every LAYOUT.K that differs from it, tensor by tensor.

    There are no negative strides: torch has none. In tensors that are `written` into, by their numbers, no elements
    share memory: what stands there then is nowhere said.
    """
    names = ["contiguous"]
    for number, tensor in enumerate(tensors(arguments)):
        fitting = [name for name, layout in LAYOUTS.items() if layout.applies_to(tensor.shape)]
        names += [f"{name}.{number}" for name in fitting if name != "expanded" or number not in written]
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


def dense(tensor: np.ndarray | Placed) -> np.ndarray:
    """The tensor's values as an array in row-major order: itself if it is one, a copy of a Placed."""
    if isinstance(tensor, Placed):
        return tensor.view().copy()
    return tensor if tensor.flags.c_contiguous else tensor.copy()


@functools.cache
def poison(dtype: np.dtype) -> np.ndarray:
    """What stands in a storage outside the tensor, 0-d: NaN, or the largest value (True) of types without NaN."""
    fmt = format_of(dtype)
    value: complex
    if fmt.kind == "complex":
        value = complex(math.nan, math.nan)
    elif fmt.kind == "float":
        value = math.nan if fmt.has_nan else fmt.max_finite
    else:
        value = 2 ** (fmt.bits - 1) - 1 if fmt.kind == "int" else 2**fmt.bits - 1
    return np.array(value).astype(dtype)


# --- One function a layout: a dense array in, a Placed out ------------------------------------------------------------


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[dim + 1 :]) for dim in range(len(shape)))


def _permuted(values: np.ndarray, order: tuple[int, ...]) -> Placed:
    """Laid out in memory with the dims in `order`, the last one densest."""
    moved = values.transpose(order)
    strides = dict(zip(order, _row_major(moved.shape), strict=True))
    return Placed(moved.reshape(-1), values.shape, tuple(strides[dim] for dim in range(values.ndim)))


def _transposed(values: np.ndarray) -> Placed:
    dims = range(values.ndim)
    return _permuted(values, (*dims[:-2], dims[-1], dims[-2]))


def _channels_last(values: np.ndarray) -> Placed:
    """Rank 4 as NHWC, rank 5 as NDHWC: torch's memory formats channels_last and channels_last_3d."""
    return _permuted(values, (0, *range(2, values.ndim), 1))


def _strided(values: np.ndarray) -> Placed:
    """Step 2 in the last dim, poison in the gaps."""
    storage = np.full(2 * values.size, poison(values.dtype))
    storage[::2] = values.reshape(-1)
    return Placed(storage, values.shape, tuple(2 * stride for stride in _row_major(values.shape)))


def _offset(values: np.ndarray) -> Placed:
    """Three poisoned elements before, two behind."""
    storage = np.full(_POISON_BEFORE + values.size + _POISON_AFTER, poison(values.dtype))
    storage[_POISON_BEFORE : _POISON_BEFORE + values.size] = values.reshape(-1)
    return Placed(storage, values.shape, _row_major(values.shape), _POISON_BEFORE)


def _expanded(values: np.ndarray) -> Placed:
    """Stride 0 in the first dim longer than 1, which repeats the values at its index 0."""
    dim = next(dim for dim, size in enumerate(values.shape) if size > 1)
    slab = values.take([0], axis=dim)
    strides = list(_row_major(slab.shape))
    strides[dim] = 0
    return Placed(slab.reshape(-1), values.shape, tuple(strides))


def _odd_strides(values: np.ndarray) -> Placed:
    """Row-major, but the dims whose strides address nothing have strides of their own: all dims of an empty tensor,
    else those of size 1. Torch calls such a tensor contiguous.
    """
    addresses = [values.size > 0 and size > 1 for size in values.shape]
    dims = zip(addresses, _row_major(values.shape), range(values.ndim), strict=True)
    strides = tuple(stride if used else _ODD_STRIDE - 2 * dim for used, stride, dim in dims)
    return Placed(values.reshape(-1), values.shape, strides)


@dataclass(frozen=True)
class Layout:
    """How a dense array is placed, and to which shapes: those where the result differs from the contiguous layout."""

    place: Callable[[np.ndarray], Placed]
    applies_to: Callable[[tuple[int, ...]], bool]


def _has_channels(shape: tuple[int, ...]) -> bool:
    return len(shape) in (4, 5) and min(shape) > 0 and shape[1] > 1 and max(shape[2:]) > 1


LAYOUTS = {
    "transposed": Layout(_transposed, lambda shape: len(shape) > 1 and min(shape) > 0 and min(shape[-2:]) > 1),
    "strided": Layout(_strided, lambda shape: math.prod(shape) > 1),
    "offset": Layout(_offset, lambda shape: math.prod(shape) > 0),
    "expanded": Layout(_expanded, lambda shape: math.prod(shape) > 1),
    "channels_last": Layout(_channels_last, _has_channels),
    "odd_strides": Layout(_odd_strides, lambda shape: len(shape) > 0 and min(shape) < 2),
}
