"""The transforms of torch.fft along one dim, by their definition: padded or cut, then summed."""

from __future__ import annotations

from collections.abc import Callable

from conform.refs.exact.promotion import COMPLEX, FLOAT, category, convert
from conform.refs.exact.rounding import COMPONENTS
from conform.refs.exact.tensor import RefTensor, Shape, rearranged, strides_of, wrap_dim, wrap_dims
from conform.refs.fft.transforms import BACKWARD, BY_ROOT, BY_SIZE, COMPLEX_OF, FORWARD, NONE, Transform, transformed
from conform.refs.references import reference


def _normalization(norm: str | None, sign: int) -> int:
    """Of which direction the transform is divided by its size: "backward", the default, or "forward"; "ortho": both by
    the root."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f"norm is backward, ortho or forward, found {norm!r}")
    if norm == "ortho":
        return BY_ROOT
    return BY_SIZE if (sign == FORWARD) == (norm == "forward") else NONE


def _dim(rank: int, dim: int) -> int:
    if not rank:
        raise ValueError("a transform needs a dim, found a 0-d tensor")
    return wrap_dim(dim, rank)


def _fitted(self: RefTensor, dim: int, size: int) -> RefTensor:
    """self of this size along the dim: cut off, or with zeros behind it."""
    if size < 1:
        raise ValueError(f"a transform has 1 point or more, found {size}")
    shape = (*self.shape[:dim], size, *self.shape[dim + 1 :])
    strides = strides_of(self.shape)
    zero = 0j if category(self.dtype) == COMPLEX else 0.0
    data = []
    for index in _indices(shape):
        is_inside = index[dim] < self.shape[dim]
        data.append(self.data[sum(i * step for i, step in zip(index, strides, strict=True))] if is_inside else zero)
    return RefTensor(self.dtype, shape, data)


def _indices(shape: Shape) -> list[Shape]:
    indices: list[Shape] = [()]
    for size in shape:
        indices = [(*index, i) for index in indices for i in range(size)]
    return indices


def _numbers(self: RefTensor) -> RefTensor:
    """Floats and complex numbers as they are, others as float32."""
    if self.dtype in ("float16", "bfloat16"):
        raise NotImplementedError(f"transforms of {self.dtype} are not covered")
    if category(self.dtype) in (FLOAT, COMPLEX):
        return self
    return RefTensor("float32", self.shape, [convert(x, "float32") for x in self.data])


def _complex(name: str) -> str:
    return COMPLEX_OF.get(name, name)


def _whole(self: RefTensor, n: int | None, dim: int, norm: str | None, sign: int) -> RefTensor:
    numbers = _numbers(self)
    dim = _dim(len(self.shape), dim)
    size = self.shape[dim] if n is None else n
    padded = _fitted(numbers, dim, size)
    transform = Transform((size,), sign, _normalization(norm, sign))
    return transformed(padded, [dim], transform, dtype=_complex(numbers.dtype), kept=transform.sizes)


def _first_half(self: RefTensor, n: int | None, dim: int, norm: str | None, sign: int) -> RefTensor:
    """What the whole transform of real numbers has in the first size // 2 + 1 places along the dim."""
    if category(self.dtype) == COMPLEX:
        raise ValueError(f"found {self.dtype}, expected real numbers")
    whole = _whole(self, n, dim, norm, sign)
    dim = _dim(len(self.shape), dim)
    shape = tuple(size // 2 + 1 if d == dim else size for d, size in enumerate(whole.shape))
    return rearranged(whole, shape, lambda index: index)


def _of_half(self: RefTensor, n: int | None, dim: int, norm: str | None, sign: int) -> RefTensor:
    """The real transform of numbers whose other half, along the dim, is conjugate."""
    numbers = _numbers(self)
    dim = _dim(len(self.shape), dim)
    size = 2 * (self.shape[dim] - 1) if n is None else n
    if size < 1:
        raise ValueError(f"a transform has 1 point or more, found {size}")
    half = _fitted(numbers, dim, size // 2 + 1)
    transform = Transform((size,), sign, _normalization(norm, sign), halved=True)
    dtype = COMPONENTS[_complex(numbers.dtype)]
    return transformed(half, [dim], transform, dtype=dtype, kept=transform.sizes)


@reference("aten::fft_fft")
def fft(self: RefTensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> RefTensor:
    """X[k] = sum_m x[m] e^(-2 pi i m k / n)."""
    return _whole(self, n, dim, norm, FORWARD)


@reference("aten::fft_ifft")
def ifft(self: RefTensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> RefTensor:
    """X[k] = sum_m x[m] e^(+2 pi i m k / n) / n."""
    return _whole(self, n, dim, norm, BACKWARD)


@reference("aten::fft_rfft")
def rfft(self: RefTensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> RefTensor:
    """The first half of fft of real numbers."""
    return _first_half(self, n, dim, norm, FORWARD)


@reference("aten::fft_irfft")
def irfft(self: RefTensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> RefTensor:
    """ifft of a half of which the other is conjugate."""
    return _of_half(self, n, dim, norm, BACKWARD)


@reference("aten::fft_hfft")
def hfft(self: RefTensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> RefTensor:
    """fft of a half of which the other is conjugate."""
    return _of_half(self, n, dim, norm, FORWARD)


@reference("aten::fft_ihfft")
def ihfft(self: RefTensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> RefTensor:
    """The first half of ifft of real numbers."""
    return _first_half(self, n, dim, norm, BACKWARD)


@reference("aten::fft_fftshift")
def fftshift(self: RefTensor, dim: list[int] | None = None) -> RefTensor:
    """The element at i moved to (i + size // 2) mod size along each of the dims."""
    return _shifted(self, dim, lambda size: size // 2)


@reference("aten::fft_ifftshift")
def ifftshift(self: RefTensor, dim: list[int] | None = None) -> RefTensor:
    """The element at i moved to (i - size // 2) mod size along each of the dims."""
    return _shifted(self, dim, lambda size: -(size // 2))


def _shifted(self: RefTensor, dim: list[int] | None, shift: Callable[[int], int]) -> RefTensor:
    rank = len(self.shape)
    dims = range(rank) if dim is None else wrap_dims(dim, rank)

    def source(index: Shape) -> Shape:
        moved = [(i - shift(size)) % size for i, size in zip(index, self.shape, strict=True)]
        return tuple(moved[d] if d in dims else i for d, i in enumerate(index))

    return rearranged(self, self.shape, source)
