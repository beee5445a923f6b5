"""Backends that flush subnormals to zero: what that makes of a result, all of them or none.

Source: TOSA specification, reference check (a zero passes where the bound reaches below the smallest normal number;
formats of 8 bits and fewer keep subnormals) and its rule that either all values are flushed to sign-preserved zero, or
none. Whether "all" holds shows in one output: zeros are allowed for unless another subnormal result was kept in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from conform.contracts.components import components
from conform.interp.blocks.blocks import flat, spans
from conform.interp.golden import Golden
from conform.numerics.formats import Format, format_of
from conform.numerics.real import Real
from conform.numerics.ulp import ulp


def concerns(golden: Golden) -> bool:
    """Whether results may be flushed: not where no rounding made them (moves and negations keep subnormals), and not in
    formats of 8 bits."""
    return golden.real is not None and flushes(golden.format)


def allowed(golden: Golden, actual: np.ndarray, real: Real, bound_ulp: np.ndarray, sign_counts: bool) -> np.ndarray:
    """Where `actual` is the zero that a result within the bound is flushed to, of its sign if that counts.

    Of goldens that flushing concerns, and backends that kept no subnormal. Whether a number is below the normal ones is
    decided before it is rounded, as some processors do (IEEE 754-2019, 7.5): one that rounds to the smallest normal
    number may be flushed.
    """
    fmt, size = golden.format, np.abs(real.hi)
    # Half an ulp is the correctly rounded result alone; others within a bound may be nearer to zero.
    least = size - np.where(bound_ulp > 0.5, bound_ulp, 0.0) * ulp(fmt, real.hi)
    rest = np.where(real.lo == 0, 0.0 if real.rest is None else real.rest, real.lo)  # real.py, R5; its sign counts
    below = (least < fmt.min_normal) | ((size == fmt.min_normal) & (rest * np.sign(real.hi) < 0))
    zero = (actual == 0) & below
    return zero & (~np.asarray(sign_counts) | golden.zero_sign_free | (np.signbit(actual) == np.signbit(real.hi)))


def kept_some(golden: Golden, actual: np.ndarray, operands: Iterable[Any]) -> bool:
    """Whether a result, or a part of a complex one, is a subnormal number that was computed. What has the magnitude of
    a subnormal in one of `operands`, arguments of the call, may have been moved: sin(x) = x near 0."""
    tensors = [tensor for tensor in tensors_in(operands) if flushes(format_of(tensor))]
    blocks = (flat(actual, place)[_closed(golden, place)] for place in spans(actual.size))
    return any(_are_computed(_subnormals(golden.format, got), tensors) for got in blocks)


def _closed(golden: Golden, place: slice) -> np.ndarray | slice:
    """The elements of `place` that the op's meaning does not leave open."""
    return slice(None) if golden.open is None else ~flat(golden.open, place)


def _are_computed(kept: np.ndarray, tensors: Sequence[np.ndarray]) -> bool:
    """Whether one of the magnitudes `kept` is that of no subnormal in the tensors."""
    for tensor in tensors:
        for place in spans(tensor.size):
            if not kept.size:
                return False
            kept = np.setdiff1d(kept, _subnormals(format_of(tensor), flat(tensor, place)))
    return kept.size > 0


def are_subnormals_of(actual: np.ndarray, operands: Iterable[Any]) -> np.ndarray:
    """Which elements are subnormal numbers of a tensor among `operands`; of real numbers."""
    fmt = format_of(actual)
    found, sizes = np.zeros(actual.shape, bool), np.abs(actual).astype(np.float64)
    for tensor in tensors_in(operands):
        if flushes(format_of(tensor)):
            for place in spans(tensor.size):
                found |= np.isin(sizes, _subnormals(format_of(tensor), flat(tensor, place)))
    return found & subnormal(fmt, actual)


def tensors_in(operands: Iterable[Any]) -> Iterator[np.ndarray]:
    """The arrays among `operands`, and in lists of them."""
    for operand in operands:
        if isinstance(operand, np.ndarray):
            yield operand
        elif isinstance(operand, list | tuple):
            yield from tensors_in(operand)


def _subnormals(fmt: Format, array: np.ndarray) -> np.ndarray:
    """The magnitudes of the subnormal numbers in `array`, as float64, in any order."""
    if fmt.is_complex:
        array, fmt = components(fmt, array), fmt.component
    if not fmt.is_float:
        return np.empty(0)
    return np.abs(array[subnormal(fmt, array)]).astype(np.float64)


def flushes(fmt: Format) -> bool:
    """Whether the numbers of a format, or the parts of its complex numbers, may be flushed."""
    return (fmt.is_float or fmt.is_complex) and fmt.bits >= 16


def subnormal(fmt: Format, array: np.ndarray) -> np.ndarray:
    """Which elements are subnormal numbers of `fmt`, a format of real numbers."""
    return (np.abs(array) < fmt.min_normal) & (array != 0)


def has_subnormals(array: np.ndarray) -> bool:
    """Whether an element of the tensor, or a part of one, would be flushed."""
    fmt = format_of(array)
    return flushes(fmt) and any(_subnormals(fmt, flat(array, place)).size for place in spans(array.size))


def flushed(array: np.ndarray) -> np.ndarray:
    """The tensor with zeros of their sign for subnormal numbers, in the parts of complex ones too; the tensor itself
    where it has none."""
    fmt = format_of(array)
    if not has_subnormals(array):
        return array
    if fmt.is_complex:
        parts = np.stack([array.real, array.imag], axis=-1)
        return np.ascontiguousarray(_flushed(fmt.component, parts)).view(array.dtype)[..., 0]
    return _flushed(fmt, array)


def _flushed(fmt: Format, array: np.ndarray) -> np.ndarray:
    return np.where(subnormal(fmt, array), np.copysign(array.dtype.type(0), array), array)
