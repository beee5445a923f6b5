"""The transforms of torch.fft: those of `transforms.py`, of lengths and dims that may be left out and a normalization
that has a name.

Each is one transform over all of its dims, since sums over several dims may be taken together, and what is bounded is
that: so of fft_hfftn, which torch documents as a transform for each dim.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from conform.interp.dims import wrap_dims
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
Sizes = Sequence[int] | None


def _places(shape: Sequence[int], s: Sizes, dim: int | Sizes, is_half: bool = False) -> tuple[list[int], list[int]]:
    """(the axes, the lengths along them): without `dim` as many of the last axes as s has, or all; -1 in s, and no s,
    are the sizes of the operand, or what of the last axis is_half makes even: twice the size less one."""
    if isinstance(dim, int):
        dim = [dim]
    axes = list(range(len(shape) - len(s or shape), len(shape))) if dim is None else wrap_dims(dim, len(shape))
    own = [shape[axis] for axis in axes]
    if is_half and own:
        own[-1] = 2 * (own[-1] - 1)
    given = [-1] * len(own) if s is None else s
    return list(axes), [size if length == -1 else length for size, length in zip(own, given, strict=False)]


def _elements(arguments: Mapping[str, Any], is_half: bool = False) -> int:
    """Of a result as long as the transform along each of its dims."""
    shape, dim = np.shape(arguments["self"]), arguments["dim"]
    s = _length(arguments["n"]) if "n" in arguments else arguments["s"]
    beyond = len(s or ()) > len(shape) or not shape
    if beyond:
        return 1
    axes, sizes = _places(shape, s, dim, is_half)
    along = dict(zip(axes, sizes, strict=False))
    return prod(max(along.get(d, size), 0) for d, size in enumerate(shape))


def _elements_of_half(arguments: Mapping[str, Any]) -> int:
    return _elements(arguments, is_half=True)


def _length(n: int | None) -> Sizes:
    return None if n is None else [n]


def _resized(self: np.ndarray, axes: Sequence[int], sizes: Sequence[int]) -> np.ndarray:
    """The first `sizes` elements along the axes, with zeros behind them where there are fewer; integers as float32."""
    refuse_many(prod(sizes))
    fmt = format_of(self)
    whole = self if fmt.is_float or fmt.is_complex else converted(self, DEFAULT_FLOAT)
    for axis, size in zip(axes, sizes, strict=True):
        whole = whole[(slice(None),) * axis + (slice(size),)]
        more = size - whole.shape[axis]
        whole = np.pad(whole, [(0, more if d == axis else 0) for d in range(whole.ndim)]) if more else whole
    return whole


def _frequencies(
    self: np.ndarray, s: Sizes, dim: int | Sizes, norm: str | None, sign: int, onesided: bool = False
) -> Golden:
    axes, sizes = _places(self.shape, s, dim)
    kept = sizes[-1] // 2 + 1 if onesided else None
    return complex_golden(_resized(self, axes, sizes), axes, NORMALIZATIONS[sign][norm], sign, kept)


def _of_half(self: np.ndarray, s: Sizes, dim: int | Sizes, norm: str | None, sign: int) -> Golden:
    """The real result of a half of frequencies; a forward one is the backward one of their conjugates."""
    axes, sizes = _places(self.shape, s, dim, is_half=True)
    half = _resized(self, axes, (*sizes[:-1], sizes[-1] // 2 + 1))
    fmt = format_of(half)
    whole = half if fmt.is_complex else converted(half, FORMATS[COMPLEX_OF[fmt.name]])
    whole = np.conj(whole) if sign == FORWARD else whole
    return complex_to_real(whole, axes, NORMALIZATIONS[sign][norm], sizes[-1])


@semantics("aten::fft_fft", along="dim", elements=_elements)
def fft(self: np.ndarray, n: int | None = None, dim: int = -1, norm: str | None = None) -> Golden:
    """sum over m of self[m] e^(-2 pi i k m / n) along dim, of self cut off at n elements, or with zeros up to n;
    norm "backward", the default: as it is, "ortho": over the root of n, "forward": over n; integers as float32 (P35,
    P130)"""
    return fftn(self, _length(n), [dim], norm)


@semantics("aten::fft_ifft", along="dim", elements=_elements)
def ifft(self: np.ndarray, n: int | None = None, dim: int = -1, norm: str | None = None) -> Golden:
    """fft of the exponent +2 pi i k m / n; norm "backward", the default: over n, "ortho": over its root, "forward": as
    it is (P35, P130)"""
    return ifftn(self, _length(n), [dim], norm)


@semantics("aten::fft_rfft", along="dim", elements=_elements)
def rfft(self: np.ndarray, n: int | None = None, dim: int = -1, norm: str | None = None) -> Golden:
    """The first n / 2 + 1 frequencies of fft of real numbers, of which the others are the conjugates (P35, P130)"""
    return rfftn(self, _length(n), [dim], norm)


@semantics("aten::fft_irfft", along="dim", elements=_elements_of_half)
def irfft(self: np.ndarray, n: int | None = None, dim: int = -1, norm: str | None = None) -> Golden:
    """The n real numbers, by default twice self's size less one, whose first n / 2 + 1 frequencies are self's: ifft of
    them and the conjugates of those between the ends (P35, P130, P131)"""
    return irfftn(self, _length(n), [dim], norm)


@semantics("aten::fft_hfft", along="dim", elements=_elements_of_half)
def hfft(self: np.ndarray, n: int | None = None, dim: int = -1, norm: str | None = None) -> Golden:
    """The n real frequencies, by default twice self's size less one, of numbers of which self has the first n / 2 + 1
    and the others are the conjugates: fft of all of them (P35, P130, P131)"""
    return hfftn(self, _length(n), [dim], norm)


@semantics("aten::fft_ihfft", along="dim", elements=_elements)
def ihfft(self: np.ndarray, n: int | None = None, dim: int = -1, norm: str | None = None) -> Golden:
    """The first n / 2 + 1 numbers of ifft of real frequencies, of which the others are the conjugates (P35, P130)"""
    return ihfftn(self, _length(n), [dim], norm)


@semantics("aten::fft_fft2", "aten::fft_fftn", along="dim", elements=_elements)
def fftn(self: np.ndarray, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Golden:
    """fft along each of dim, of s elements; -1 in s: of as many as there are. Without dim along as many of the last
    dims as s has, or all (P35, P130)"""
    return _frequencies(self, s, dim, norm, FORWARD)


@semantics("aten::fft_ifft2", "aten::fft_ifftn", along="dim", elements=_elements)
def ifftn(self: np.ndarray, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Golden:
    """ifft along each of dim, of s elements, as fftn has both (P35, P130)"""
    return _frequencies(self, s, dim, norm, BACKWARD)


@semantics("aten::fft_rfft2", "aten::fft_rfftn", along="dim", elements=_elements)
def rfftn(self: np.ndarray, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Golden:
    """fftn of real numbers, of the last of dim the first frequencies, as rfft has them (P35, P130)"""
    return _frequencies(self, s, dim, norm, FORWARD, onesided=True)


@semantics("aten::fft_irfft2", "aten::fft_irfftn", along="dim", elements=_elements_of_half)
def irfftn(self: np.ndarray, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Golden:
    """ifft along all of dim but the last, then irfft along that; s, as fftn has it, are the sizes of the result, and
    -1 or none for the last of them twice self's size less one (P35, P130, P131)"""
    return _of_half(self, s, dim, norm, BACKWARD)


@semantics("aten::fft_hfft2", "aten::fft_hfftn", along="dim", elements=_elements_of_half)
def hfftn(self: np.ndarray, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Golden:
    """fft along all of dim but the last, then hfft along that; s as irfftn has it (P35, P130, P131)"""
    return _of_half(self, s, dim, norm, FORWARD)


@semantics("aten::fft_ihfft2", "aten::fft_ihfftn", along="dim", elements=_elements)
def ihfftn(self: np.ndarray, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Golden:
    """ifftn of real numbers, of the last of dim the first half, as ihfft has it (P35, P130)"""
    return _frequencies(self, s, dim, norm, BACKWARD, onesided=True)


@semantics("aten::fft_fftshift", selects=True, moves=("self",))
def fftshift(self: np.ndarray, dim: Sizes = None) -> Golden:
    """The frequency 0 in the middle: self moved by half of its size, rounded down, along each of dim, or along all"""
    return _moved(self, dim, lambda size: size // 2)


@semantics("aten::fft_ifftshift", selects=True, moves=("self",))
def ifftshift(self: np.ndarray, dim: Sizes = None) -> Golden:
    """self before fftshift: moved by half of its size, rounded up, along each of dim, or along all"""
    return _moved(self, dim, lambda size: (size + 1) // 2)


def _moved(self: np.ndarray, dim: Sizes, half: Callable[[int], int]) -> Golden:
    axes = range(self.ndim) if dim is None else wrap_dims(dim, self.ndim)
    return roll(self, [half(self.shape[axis]) for axis in axes], axes) if axes else exact(self.copy(), format_of(self))
