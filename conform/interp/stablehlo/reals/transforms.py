"""Discrete Fourier transforms: the numbers that the op has of what it is given, and its bound, which is that of torch's
operators (`interp/ops/fft/transforms.py`). Errors of the operand come through a sum of factors of size 1."""

from __future__ import annotations

from math import prod

import numpy as np

from conform.errors import NoGolden
from conform.interp.golden import Golden
from conform.interp.program.complexes import Complex
from conform.interp.program.number import Number
from conform.interp.program.storage import stored
from conform.interp.stablehlo.ops.transforms import transformed
from conform.interp.stablehlo.reals.rules import rule
from conform.interp.stablehlo.registry import Call
from conform.numerics.formats import FORMATS, Format
from conform.numerics.real import Real
from conform.numerics.rounding import round_to

_RAISE = 1.0 + 2.0**-20  # what the norm may gain where numbers are rounded for it


@rule("stablehlo.fft")
def fft(call: Call) -> Number | Complex:
    """FFT, IFFT, RFFT or IRFFT over the last dimensions."""
    (operand,), kind, lengths = call.operands, str(call.attributes["fft_type"]), call.dims("fft_length")
    parts = _parts(operand)
    fmt, shape = parts[0].format, operand.shape
    if not all(np.isfinite(one.real.hi).all() for one in parts) or 0 in (*shape, *lengths):
        raise NoGolden(f"{call.op.name}: nothing is known of transforms of infinities, NaN or nothing")
    if getattr(operand, "array", None) is not None:
        golden = transformed(kind, operand.array, lengths)
        return _numbers(golden, fmt, golden.real, _of_norm(golden))
    exact = transformed(kind, _joined([one.real.hi for one in parts], FORMATS["float64"]), lengths)
    reached = [np.abs(one.real.hi) + np.abs(one.real.lo) + one.rad for one in parts]
    if not all(np.isfinite(one).all() for one in reached):
        raise NoGolden(f"{call.op.name}: nothing bounds the errors of its operand")
    own = transformed(kind, _joined(reached, fmt), lengths)
    told = _summed(kind, sum(np.abs(one.real.lo) + one.real.radius for one in parts), lengths)
    carried = _summed(kind, sum(one.rad for one in parts), lengths)
    real = Real(exact.real.hi, exact.real.lo, exact.real.radius + _spread(told, exact))
    return _numbers(exact, fmt, real, _of_norm(own) * _RAISE + _spread(carried + told, exact))


def _parts(operand: Number | Complex) -> list[Number]:
    if isinstance(operand, Complex):
        return [stored(operand.re), stored(operand.im)]
    if operand.format.is_complex:
        whole = Complex.exact(operand.array)
        return [whole.re, whole.im]
    return [stored(operand)]


def _joined(parts: list[np.ndarray], fmt: Format) -> np.ndarray:
    """An array of the format, or of complex numbers of it."""
    rounded = [np.asarray(round_to(fmt, part)) for part in parts]
    return rounded[0] if len(rounded) == 1 else rounded[0] + 1j * rounded[1].astype(rounded[0].dtype)


def _of_norm(golden: Golden) -> np.ndarray:
    """How far each part may lie off: of complex numbers the bound is one of both together."""
    budget = golden.budget * (np.sqrt(2.0) if golden.format.is_complex else 1.0)
    open_ = np.zeros(golden.value.shape, bool) if golden.open is None else golden.open
    return np.where(open_[..., None] if golden.format.is_complex else open_, np.inf, budget)


def _spread(sums: np.ndarray, golden: Golden) -> np.ndarray:
    """One number for each transform, beside its results."""
    return np.broadcast_to(sums[..., None] if golden.format.is_complex else sums, golden.real.shape)


def _summed(kind: str, sizes: np.ndarray, lengths: tuple[int, ...]) -> np.ndarray:
    """What errors of these sizes come to in any result of a transform, at most: of IRFFT all but one or two frequencies
    count twice; the inverse ones divide by the number of elements."""
    axes = tuple(range(sizes.ndim - len(lengths), sizes.ndim))
    total = sizes.sum(axis=axes, keepdims=True) * (2.0 if kind == "IRFFT" else 1.0)
    return total / prod(lengths) if kind in ("IFFT", "IRFFT") else total


def _numbers(golden: Golden, fmt: Format, real: Real, rad: np.ndarray) -> Number | Complex:
    """The results as Numbers of the format of the operand's parts."""
    rad = np.broadcast_to(rad, real.shape)
    if not golden.format.is_complex:
        return Number(fmt, real, rad, may_round=True)
    return Complex(*(Number(fmt, real[..., part], rad[..., part], may_round=True) for part in (0, 1)))
