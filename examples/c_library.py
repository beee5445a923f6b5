"""The C library's float functions as a backend: how far off are expf, sinf, ... of the libm that is installed?

    conform sweep tanh --backend examples/c_library.py::Libm --out tanhf

`Libm` needs a C compiler (`cc`), for a loop around the function: about 5 to 20 ns an input, minutes for all 2^32.
`LibmByCtypes` needs none and calls through ctypes one by one, at about half a microsecond: for part of the inputs
(`--range`), or patience.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import platform
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

import conform

NAMES = {
    f"aten::{name}": f"{name}f"
    for name in (
        "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1",
        "lgamma", "log", "log10", "log1p", "log2", "sin", "sinh", "sqrt", "tan", "tanh",
    )
}  # fmt: skip
"""What torch and C call the functions of one operand that both have."""

LOOP = """
void apply(float (*f)(float), const float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = f(x[i]); }
"""


def libm() -> ctypes.CDLL:
    """The library that the system's linker finds as `m`."""
    return ctypes.CDLL(ctypes.util.find_library("m"))


class Libm(conform.Backend):
    """Each function in a compiled loop."""

    name = "libm"
    version = " ".join(platform.libc_ver())

    def __init__(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder, "loop.c"), Path(folder, "loop.so")
            source.write_text(LOOP)
            subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
            self._apply = ctypes.CDLL(str(library)).apply
        self._apply.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_long]
        self._libm = libm()

    def run(self, op: str, args: list, kwargs: dict) -> torch.Tensor:
        x = _operand(op, args, kwargs)
        y = torch.empty_like(x)
        function = ctypes.cast(getattr(self._libm, NAMES[op]), ctypes.c_void_p)
        self._apply(function, x.data_ptr(), y.data_ptr(), x.numel())
        return y


class LibmByCtypes(conform.Backend):
    """Each function called from Python, an element at a time."""

    name = "libm_by_ctypes"
    version = Libm.version

    def run(self, op: str, args: list, kwargs: dict) -> torch.Tensor:
        x = _operand(op, args, kwargs)
        function: Callable[[float], float] = getattr(libm(), NAMES[op])
        function.argtypes, function.restype = [ctypes.c_float], ctypes.c_float
        results = np.fromiter(map(function, x.flatten().tolist()), np.float32, x.numel())
        return torch.from_numpy(results).reshape(x.shape)


def _operand(op: str, args: list, kwargs: dict) -> torch.Tensor:
    if op not in NAMES or kwargs or [type(one) for one in args] != [torch.Tensor] or args[0].dtype != torch.float32:
        raise conform.Unsupported("C's float functions of one operand")
    return args[0].contiguous()
