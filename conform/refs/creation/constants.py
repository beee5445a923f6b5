"""Tensors of one number, the identity matrix, tensors whose elements nobody sets, and a number out of a tensor."""

from __future__ import annotations

from math import isfinite, prod

from conform.refs.exact.promotion import COMPLEX, FLOAT, INTEGER, SCALAR_DTYPES, Scalar, category, convert
from conform.refs.exact.rounding import FLOAT_FORMATS, INTEGER_RANGES
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Shape
from conform.refs.references import reference


def fill_number(name: str, number: Scalar, dtype: str) -> Scalar:
    """A Python number as an element that it fills: converted, by P13 to P15, where the dtype holds it.

    ValueError for a complex number in a real dtype, an infinity or NaN in an integer dtype, and a finite number beyond
    the dtype's largest ones; uint8 takes -255..-1 too: they wrap.
    """
    kind = category(dtype)
    if isinstance(number, complex):
        if kind != COMPLEX:
            raise ValueError(f"{name} {number!r} is complex, and {dtype} is real")
        return convert(number, dtype)
    if kind == FLOAT and isfinite(number) and abs(number) > _largest(dtype):
        raise ValueError(f"{name} {number!r} is beyond the largest number of {dtype}")
    if kind == INTEGER:
        low, high = INTEGER_RANGES[dtype]
        least = low if isinstance(number, float) else min(low, -high)  # P13: no float wraps
        if not isfinite(number) or not least <= number <= high:
            raise ValueError(f"{name} {number!r} is outside the range of {dtype}, {low} to {high}")
        return convert(int(number), dtype)
    return convert(number, dtype)


def _largest(dtype: str) -> int:
    fmt = FLOAT_FORMATS[dtype]
    return (2**fmt.precision - 1) * 2 ** (fmt.emax - fmt.precision + 1)


def checked_size(size: list[int]) -> Shape:
    """A size[] argument as a shape; ValueError for negative sizes."""
    if any(extent < 0 for extent in size):
        raise ValueError(f"size {size} has a negative size")
    return tuple(size)


@reference("aten::full")
def full(
    size: list[int],
    fill_value: Scalar,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> RefTensor:
    """fill_value everywhere; without dtype that of the number: bool, int64, float32 or complex64."""
    shape = checked_size(size)
    dtype = dtype or SCALAR_DTYPES[type(fill_value)]
    return RefTensor(dtype, shape, [fill_number("fill_value", fill_value, dtype)] * prod(shape))


@reference("aten::full_like")
def full_like(
    self: RefTensor,
    fill_value: Scalar,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
    memory_format: object = None,
) -> RefTensor:
    """fill_value everywhere in a tensor of self's shape; without dtype of self's."""
    return full(list(self.shape), fill_value, dtype or self.dtype)


@reference("aten::new_full")
def new_full(
    self: RefTensor,
    size: list[int],
    fill_value: Scalar,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> RefTensor:
    """fill_value everywhere in a tensor of shape `size`; without dtype of self's."""
    return full(size, fill_value, dtype or self.dtype)


@reference("aten::new_ones")
def new_ones(
    self: RefTensor,
    size: list[int],
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> RefTensor:
    """1 everywhere in a tensor of shape `size`; without dtype of self's."""
    return full(size, 1, dtype or self.dtype)


@reference("aten::new_zeros")
def new_zeros(
    self: RefTensor,
    size: list[int],
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> RefTensor:
    """0 everywhere in a tensor of shape `size`; without dtype of self's."""
    return full(size, 0, dtype or self.dtype)


@reference("aten::zero")
def zero(self: RefTensor) -> RefTensor:
    """0 for every element of self."""
    return full(list(self.shape), 0, self.dtype)


@reference("aten::scalar_tensor")
def scalar_tensor(
    s: Scalar, dtype: str | None = None, layout: object = None, device: object = None, pin_memory: object = None
) -> RefTensor:
    """The number as a 0-d tensor; without dtype of float32, and of complex64 if it is complex."""
    return full([], s, dtype or ("complex64" if isinstance(s, complex) else "float32"))


@reference("aten::ones")
def ones(
    size: list[int], dtype: str | None = None, layout: object = None, device: object = None, pin_memory: object = None
) -> RefTensor:
    """1 everywhere; float32 without dtype."""
    return full(size, 1, dtype or "float32")


@reference("aten::zeros")
def zeros(
    size: list[int], dtype: str | None = None, layout: object = None, device: object = None, pin_memory: object = None
) -> RefTensor:
    """0 everywhere; float32 without dtype."""
    return full(size, 0, dtype or "float32")


@reference("aten::ones_like")
def ones_like(
    self: RefTensor,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
    memory_format: object = None,
) -> RefTensor:
    """1 everywhere in a tensor of self's shape; without dtype of self's."""
    return full(list(self.shape), 1, dtype or self.dtype)


@reference("aten::zeros_like")
def zeros_like(
    self: RefTensor,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
    memory_format: object = None,
) -> RefTensor:
    """0 everywhere in a tensor of self's shape; without dtype of self's."""
    return full(list(self.shape), 0, dtype or self.dtype)


@reference("aten::eye")
def eye(
    n: int, dtype: str | None = None, layout: object = None, device: object = None, pin_memory: object = None
) -> RefTensor:
    """The identity matrix of n rows."""
    return eye_m(n, n, dtype)


@reference("aten::eye.m")
def eye_m(
    n: int, m: int, dtype: str | None = None, layout: object = None, device: object = None, pin_memory: object = None
) -> RefTensor:
    """n rows of m columns: 1 where both indices are equal, else 0; float32 without dtype."""
    shape, dtype = checked_size([n, m]), dtype or "float32"
    return RefTensor(dtype, shape, [convert(int(row == column), dtype) for row in range(n) for column in range(m)])


@reference("aten::tril_indices")
def tril_indices(
    row: int, col: int, offset: int = 0, dtype: str | None = None, layout: object = None, device: object = None,
    pin_memory: object = None,
) -> RefTensor:  # fmt: skip
    """Rows and columns of the places on and below the diagonal of a matrix that is moved by offset to the right."""
    return _indices([(i, j) for i in range(row) for j in range(min(col, i + offset + 1))], row, col, dtype)


@reference("aten::triu_indices")
def triu_indices(
    row: int, col: int, offset: int = 0, dtype: str | None = None, layout: object = None, device: object = None,
    pin_memory: object = None,
) -> RefTensor:  # fmt: skip
    """Rows and columns of the places on and above the diagonal of a matrix that is moved by offset to the right."""
    return _indices([(i, j) for i in range(row) for j in range(max(i + offset, 0), col)], row, col, dtype)


def _indices(places: list[tuple[int, int]], row: int, col: int, dtype: str | None) -> RefTensor:
    dtype = dtype or "int64"
    checked_size([row, col])
    if dtype not in ("int32", "int64"):
        raise NotImplementedError(f"indices of {dtype}")
    return RefTensor(dtype, (2, len(places)), [place[side] for side in range(2) for place in places])


@reference("aten::empty.memory_format")
def empty(
    size: list[int],
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
    memory_format: object = None,
) -> RefTensor:
    """Any elements; float32 without dtype."""
    shape = checked_size(size)
    return RefTensor(dtype or "float32", shape, [UNSPECIFIED] * prod(shape))


@reference("aten::empty_strided")
def empty_strided(
    size: list[int],
    stride: list[int],
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> RefTensor:
    """Any elements, `stride` apart in memory; float32 without dtype."""
    if len(size) != len(stride) or any(step < 0 for step in stride):
        raise ValueError(f"stride {stride} has not one number, of 0 or more, for each of size {size}")
    return empty(size, dtype)


@reference("aten::empty_permuted")
def empty_permuted(
    size: list[int],
    physical_layout: list[int],
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> RefTensor:
    """Any elements, the dims in the order of physical_layout in memory; float32 without dtype."""
    if sorted(physical_layout) != list(range(len(size))):
        raise ValueError(f"physical_layout {physical_layout} does not order the {len(size)} dims")
    return empty(size, dtype)


@reference("aten::empty_like")
def empty_like(
    self: RefTensor,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
    memory_format: object = None,
) -> RefTensor:
    """Any elements in a tensor of self's shape; without dtype of self's."""
    return empty(list(self.shape), dtype or self.dtype)


@reference("aten::new_empty")
def new_empty(
    self: RefTensor,
    size: list[int],
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> RefTensor:
    """Any elements in a tensor of shape `size`; without dtype of self's."""
    return empty(size, dtype or self.dtype)


@reference("aten::new_empty_strided")
def new_empty_strided(
    self: RefTensor,
    size: list[int],
    stride: list[int],
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
) -> RefTensor:
    """Any elements, `stride` apart in memory; without dtype of self's."""
    return empty_strided(size, stride, dtype or self.dtype)


@reference("aten::_local_scalar_dense")
def local_scalar_dense(self: RefTensor) -> RefTensor:
    """The one element as a Python number, told as a 0-d tensor of what that is: bool, int64, float64 or complex128."""
    if len(self.data) != 1:
        raise ValueError(f"a tensor of {len(self.data)} elements is no number")
    dtype = {FLOAT: "float64", COMPLEX: "complex128", INTEGER: "int64"}.get(category(self.dtype), "bool")
    return RefTensor(dtype, (), [convert(self.data[0], dtype)])
