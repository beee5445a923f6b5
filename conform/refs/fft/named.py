"""The transforms of torch.fft, by their definition: padded or cut, then summed over all of the dims at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from conform.refs.exact.promotion import COMPLEX, FLOAT, category, convert
from conform.refs.exact.rounding import COMPONENTS
from conform.refs.exact.tensor import RefTensor, Shape, rearranged, strides_of, wrap_dims
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


def _dims(rank: int, s: list[int] | None, dim: list[int] | None) -> list[int]:
    if not rank:
        raise ValueError("a transform needs a dim, found a 0-d tensor")
    if dim is not None:
        if s is not None and len(s) != len(dim):
            raise ValueError(f"{len(s)} sizes do not go with {len(dim)} dims")
        return wrap_dims(dim, rank)
    if s is not None and len(s) > rank:
        raise ValueError(f"{len(s)} sizes are more than the {rank} dims")
    return list(range(0 if s is None else rank - len(s), rank))


def _fitted(self: RefTensor, dims: list[int], sizes: Sequence[int]) -> RefTensor:
    """self of these sizes along the dims: cut off, or with zeros behind it."""
    if any(size < 1 for size in sizes):
        raise ValueError(f"a transform has 1 point or more, found sizes {list(sizes)}")
    shape = tuple(sizes[dims.index(d)] if d in dims else size for d, size in enumerate(self.shape))
    strides = strides_of(self.shape)
    zero = 0j if category(self.dtype) == COMPLEX else 0.0
    data = []
    for index in _indices(shape):
        is_inside = all(i < size for i, size in zip(index, self.shape, strict=True))
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


def _whole(self: RefTensor, s: list[int] | None, dim: list[int] | None, norm: str | None, sign: int) -> RefTensor:
    numbers = _numbers(self)
    dims = _dims(len(self.shape), s, dim)
    sizes = [self.shape[d] if s is None or s[i] == -1 else s[i] for i, d in enumerate(dims)]
    padded = _fitted(numbers, dims, sizes)
    transform = Transform(tuple(sizes), sign, _normalization(norm, sign))
    return transformed(padded, dims, transform, dtype=_complex(numbers.dtype), kept=transform.sizes)


def _first_half(self: RefTensor, s: list[int] | None, dim: list[int] | None, norm: str | None, sign: int) -> RefTensor:
    """What the whole transform of real numbers has in the first size // 2 + 1 places along the last of the dims."""
    if category(self.dtype) == COMPLEX:
        raise ValueError(f"found {self.dtype}, expected real numbers")
    whole = _whole(self, s, dim, norm, sign)
    last = _dims(len(self.shape), s, dim)[-1]
    shape = tuple(size // 2 + 1 if d == last else size for d, size in enumerate(whole.shape))
    return rearranged(whole, shape, lambda index: index)


def _of_half(self: RefTensor, s: list[int] | None, dim: list[int] | None, norm: str | None, sign: int) -> RefTensor:
    """The real transform of numbers whose other half, along the last of the dims, is conjugate."""
    numbers = _numbers(self)
    dims = _dims(len(self.shape), s, dim)
    own = [self.shape[d] for d in dims]
    own[-1] = 2 * (own[-1] - 1)
    sizes = [size if s is None or s[i] == -1 else s[i] for i, size in enumerate(own)]
    half = _fitted(numbers, dims, (*sizes[:-1], sizes[-1] // 2 + 1))
    if sizes[-1] < 1:
        raise ValueError(f"a transform has 1 point or more, found sizes {sizes}")
    transform = Transform(tuple(sizes), sign, _normalization(norm, sign), halved=True)
    dtype = COMPONENTS[_complex(numbers.dtype)]
    return transformed(half, dims, transform, dtype=dtype, kept=transform.sizes)


@reference("aten::fft_fft")
def fft(self: RefTensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> RefTensor:
    """X[k] = sum_m x[m] e^(-2 pi i m k / n)."""
    return _whole(self, n if n is None else [n], [dim], norm, FORWARD)


@reference("aten::fft_ifft")
def ifft(self: RefTensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> RefTensor:
    """X[k] = sum_m x[m] e^(+2 pi i m k / n) / n."""
    return _whole(self, n if n is None else [n], [dim], norm, BACKWARD)


@reference("aten::fft_rfft")
def rfft(self: RefTensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> RefTensor:
    """The first half of fft of real numbers."""
    return _first_half(self, n if n is None else [n], [dim], norm, FORWARD)


@reference("aten::fft_irfft")
def irfft(self: RefTensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> RefTensor:
    """ifft of a half of which the other is conjugate."""
    return _of_half(self, n if n is None else [n], [dim], norm, BACKWARD)


@reference("aten::fft_hfft")
def hfft(self: RefTensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> RefTensor:
    """fft of a half of which the other is conjugate."""
    return _of_half(self, n if n is None else [n], [dim], norm, FORWARD)


@reference("aten::fft_ihfft")
def ihfft(self: RefTensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> RefTensor:
    """The first half of ifft of real numbers."""
    return _first_half(self, n if n is None else [n], [dim], norm, BACKWARD)


@reference("aten::fft_fft2", "aten::fft_fftn")
def fftn(
    self: RefTensor, s: list[int] | None = None, dim: list[int] | None = None, norm: str | None = None
) -> RefTensor:
    """fft along each of the dims, all of them by default."""
    return _whole(self, s, dim, norm, FORWARD)


@reference("aten::fft_ifft2", "aten::fft_ifftn")
def ifftn(
    self: RefTensor, s: list[int] | None = None, dim: list[int] | None = None, norm: str | None = None
) -> RefTensor:
    """ifft along each of the dims."""
    return _whole(self, s, dim, norm, BACKWARD)


@reference("aten::fft_rfft2", "aten::fft_rfftn")
def rfftn(
    self: RefTensor, s: list[int] | None = None, dim: list[int] | None = None, norm: str | None = None
) -> RefTensor:
    """fftn of real numbers, of which the last dim keeps the first half."""
    return _first_half(self, s, dim, norm, FORWARD)


@reference("aten::fft_irfft2", "aten::fft_irfftn")
def irfftn(
    self: RefTensor, s: list[int] | None = None, dim: list[int] | None = None, norm: str | None = None
) -> RefTensor:
    """ifftn of numbers of which the last dim has the first half."""
    return _of_half(self, s, dim, norm, BACKWARD)


@reference("aten::fft_hfft2", "aten::fft_hfftn")
def hfftn(
    self: RefTensor, s: list[int] | None = None, dim: list[int] | None = None, norm: str | None = None
) -> RefTensor:
    """fftn of numbers of which the last dim has the first half."""
    return _of_half(self, s, dim, norm, FORWARD)


@reference("aten::fft_ihfft2", "aten::fft_ihfftn")
def ihfftn(
    self: RefTensor, s: list[int] | None = None, dim: list[int] | None = None, norm: str | None = None
) -> RefTensor:
    """ifftn of real numbers, of which the last dim keeps the first half."""
    return _first_half(self, s, dim, norm, BACKWARD)


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
