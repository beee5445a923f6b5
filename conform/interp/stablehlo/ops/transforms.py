"""Discrete Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conform.errors import Unjudged
from conform.interp import semantics
from conform.interp.golden import Golden
from conform.interp.stablehlo.ops.movement import states
from conform.interp.stablehlo.registry import Call, meaning

# The complex and the real type of an operand's.
TYPES = {
    "complex64": ("complex64", "float32"), "complex128": ("complex128", "float64"),
    "float32": ("complex64", "float32"), "float64": ("complex128", "float64"),
}  # fmt: skip


@meaning("stablehlo.fft")
def fft(call: Call) -> np.ndarray:
    """The transform of operand over its last dimensions, as many as fft_length has, correctly rounded; the inverse ones
    divide by the number of elements"""
    (operand,), kind, lengths = call.operands, call.attributes["fft_type"], call.dims("fft_length")
    call.require("C1", operand.rank >= len(lengths), f"fft_length {list(lengths)} of {operand}")
    result = call.results[0]
    complex_, real = TYPES.get(operand.dtype, ("", ""))
    wanted = {
        "FFT": (complex_, complex_),
        "IFFT": (complex_, complex_),
        "RFFT": (real, complex_),
        "IRFFT": (complex_, real),
    }
    call.require("C2", (operand.dtype, result.dtype) == wanted[kind], f"{kind} of {operand} with the result {result}")
    call.require("C3", 1 <= len(lengths) <= 3, f"fft_length {list(lengths)}")
    shape = list(operand.shape)
    if kind == "RFFT":
        call.require("C4", tuple(shape[-len(lengths) :]) == lengths, f"fft_length {list(lengths)} of {operand}")
        shape[-1] = shape[-1] // 2 + 1 if shape[-1] else 0
    if kind == "IRFFT":
        call.require(
            "C5", shape[-1] == (lengths[-1] // 2 + 1 if lengths[-1] else 0), f"fft_length {list(lengths)} of {operand}"
        )
        shape[-1] = lengths[-1]
        call.require("C4", tuple(shape[-len(lengths) :]) == lengths, f"fft_length {list(lengths)} of {operand}")
    states(call, "C5", result.dtype, shape)
    if not np.isfinite(operand.array).all():
        raise Unjudged(f"{call.op.name}: the kit transforms finite numbers alone")
    if 0 in shape:
        return np.zeros(shape, wanted[kind][1])
    return transformed(kind, operand.array, lengths).value


def transformed(kind: str, array: np.ndarray, lengths: Sequence[int]) -> Golden:
    """The transform of that kind over the last dimensions, as many as there are lengths."""
    dims = list(range(array.ndim - len(lengths), array.ndim))
    with np.errstate(all="ignore"):
        if kind in ("FFT", "IFFT"):
            return semantics.find("aten::_fft_c2c").function(array, dims, 0 if kind == "FFT" else 2, kind == "FFT")
        if kind == "RFFT":
            return semantics.find("aten::_fft_r2c").function(array, dims, 0, True)
        return semantics.find("aten::_fft_c2r").function(array, dims, 2, lengths[-1])
