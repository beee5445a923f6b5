"""The transforms of torch.fft along one dim: those of `transforms.py`, of a length that may be left out and a
normalization that has a name; and the order of their frequencies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from conform.interp.dims import wrap_dim, wrap_dims
from conform.interp.golden import Golden
from conform.interp.operands import converted
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.fft.transforms import (
    BY_COUNT,
    BY_ROOT,
    COMPLEX_OF,
    complex_golden,
    complex_to_real,
    refuse_many,
)
from conform.interp.ops.shape.rearrangements import roll
from conform.interp.promotion import DEFAULT_FLOAT
from conform.interp.semantics import semantics
from conform.numerics.formats import FORMATS, format_of

FORWARD, BACKWARD = -1, 1  # the sign of the exponent
NORMALIZATIONS = {
    FORWARD: {None: 0, "backward": 0, "ortho": BY_ROOT, "forward": BY_COUNT},
    BACKWARD: {None: BY_COUNT, "backward": BY_COUNT, "ortho": BY_ROOT, "forward": 0},
}
Dims = Sequence[int] | None


def _size(shape: Sequence[int], n: int | None, dim: int, is_half: bool = False) -> int:
    """The length of the transform: n, or the size of the dim, of a half of the numbers twice that less one."""
    own = shape[dim % len(shape)]
    return n if n is not None else 2 * (own - 1) if is_half else own


def _elements(arguments: Mapping[str, Any], is_half: bool = False) -> int:
    """Of a result as long as the transform along its dim."""
    shape, dim = np.shape(arguments["self"]), arguments["dim"]
    if not -len(shape) <= dim < len(shape):
        return 1
    axis, size = dim % len(shape), _size(shape, arguments["n"], dim, is_half)
    return prod((*shape[:axis], *shape[axis + 1 :])) * max(size, 0)


def _elements_of_half(arguments: Mapping[str, Any]) -> int:
    return _elements(arguments, is_half=True)


def _resized(self: np.ndarray, axis: int, size: int) -> np.ndarray:
    """The first `size` elements along the axis, with zeros behind them where there are fewer; integers as float32."""
    refuse_many(size)
    fmt = format_of(self)
    whole = self if fmt.is_float or fmt.is_complex else converted(self, DEFAULT_FLOAT)
    whole = whole[(slice(None),) * axis + (slice(size),)]
    more = size - whole.shape[axis]
    return np.pad(whole, [(0, more if d == axis else 0) for d in range(whole.ndim)]) if more else whole


def _frequencies(
    self: np.ndarray, n: int | None, dim: int, norm: str | None, sign: int, onesided: bool = False
) -> Golden:
    axis, size = wrap_dim(dim, self.ndim), _size(self.shape, n, dim)
    kept = size // 2 + 1 if onesided else None
    return complex_golden(_resized(self, axis, size), [axis], NORMALIZATIONS[sign][norm], sign, kept)


def _of_half(self: np.ndarray, n: int | None, dim: int, norm: str | None, sign: int) -> Golden:
    """The real result of a half of frequencies; a forward one is the backward one of their conjugates."""
    axis, size = wrap_dim(dim, self.ndim), _size(self.shape, n, dim, is_half=True)
    half = _resized(self, axis, size // 2 + 1)
    fmt = format_of(half)
    whole = half if fmt.is_complex else converted(half, FORMATS[COMPLEX_OF[fmt.name]])
    whole = np.conj(whole) if sign == FORWARD else whole
    return complex_to_real(whole, [axis], NORMALIZATIONS[sign][norm], size)


@semantics("aten::fft_fft", along="dim", elements=_elements)
def fft(self: np.ndarray, n: int | None = None, dim: int = -1, norm: str | None = None) -> Golden:
    """sum over m of self[m] e^(-2 pi i k m / n) along dim, of self cut off at n elements, or with zeros up to n;
    norm "backward", the default: as it is, "ortho": over the root of n, "forward": over n; integers as float32 (P35,
    P130)"""
    return _frequencies(self, n, dim, norm, FORWARD)


@semantics("aten::fft_ifft", along="dim", elements=_elements)
def ifft(self: np.ndarray, n: int | None = None, dim: int = -1, norm: str | None = None) -> Golden:
    """fft of the exponent +2 pi i k m / n; norm "backward", the default: over n, "ortho": over its root, "forward": as
    it is (P35, P130)"""
    return _frequencies(self, n, dim, norm, BACKWARD)


@semantics("aten::fft_rfft", along="dim", elements=_elements)
def rfft(self: np.ndarray, n: int | None = None, dim: int = -1, norm: str | None = None) -> Golden:
    """The first n / 2 + 1 frequencies of fft of real numbers, of which the others are the conjugates (P35, P130)"""
    return _frequencies(self, n, dim, norm, FORWARD, onesided=True)


@semantics("aten::fft_irfft", along="dim", elements=_elements_of_half)
def irfft(self: np.ndarray, n: int | None = None, dim: int = -1, norm: str | None = None) -> Golden:
    """The n real numbers, by default twice self's size less one, whose first n / 2 + 1 frequencies are self's: ifft of
    them and the conjugates of those between the ends (P35, P130, P131)"""
    return _of_half(self, n, dim, norm, BACKWARD)


@semantics("aten::fft_hfft", along="dim", elements=_elements_of_half)
def hfft(self: np.ndarray, n: int | None = None, dim: int = -1, norm: str | None = None) -> Golden:
    """The n real frequencies, by default twice self's size less one, of numbers of which self has the first n / 2 + 1
    and the others are the conjugates: fft of all of them (P35, P130, P131)"""
    return _of_half(self, n, dim, norm, FORWARD)


@semantics("aten::fft_ihfft", along="dim", elements=_elements)
def ihfft(self: np.ndarray, n: int | None = None, dim: int = -1, norm: str | None = None) -> Golden:
    """The first n / 2 + 1 numbers of ifft of real frequencies, of which the others are the conjugates (P35, P130)"""
    return _frequencies(self, n, dim, norm, BACKWARD, onesided=True)


@semantics("aten::fft_fftshift", selects=True, moves=("self",))
def fftshift(self: np.ndarray, dim: Dims = None) -> Golden:
    """The frequency 0 in the middle: self moved by half of its size, rounded down, along each of dim, or along all"""
    return _moved(self, dim, lambda size: size // 2)


@semantics("aten::fft_ifftshift", selects=True, moves=("self",))
def ifftshift(self: np.ndarray, dim: Dims = None) -> Golden:
    """self before fftshift: moved by half of its size, rounded up, along each of dim, or along all"""
    return _moved(self, dim, lambda size: (size + 1) // 2)


def _moved(self: np.ndarray, dim: Dims, half: Callable[[int], int]) -> Golden:
    axes = range(self.ndim) if dim is None else wrap_dims(dim, self.ndim)
    return roll(self, [half(self.shape[axis]) for axis in axes], axes) if axes else exact(self.copy(), format_of(self))
