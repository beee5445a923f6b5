"""What an exception that leaves a backend's `run` means: the case's status and its reason."""

from __future__ import annotations

import re
import sysconfig
import traceback
from pathlib import Path

import torch

from conform.errors import Fallback, Unsupported

# The messages by which torch says that a backend does not do something, as opposed to failing at it. Everything else, a
# plain NotImplementedError of the backend's own included, is an error: a backend says it by raising Unsupported.
_WITHOUT_KERNEL = (
    # No kernel of this operator for this device (c10 dispatcher, OperatorEntry::reportError).
    (NotImplementedError, re.compile(r"Could not run '[^']+' with arguments from the '\w+' backend")),
    # None for any device, unless a library brings one (ATen, transformers/attention.cpp).
    (NotImplementedError, re.compile(r"\w+ not implemented\. This is an operator for privateuse1 backends")),
)
_LIBRARY_LACKS = re.compile(r"(CUDA|HIP) error: (CU|ROC|HIP)BLAS_STATUS_NOT_(SUPPORTED|IMPLEMENTED)\b", re.IGNORECASE)
_UNSUPPORTED = (
    *_WITHOUT_KERNEL,
    # A kernel, but not for this dtype (AT_DISPATCH_SWITCH; RuntimeError in older versions of torch).
    (RuntimeError, re.compile(r"\"[^\"]+\" not implemented for '\w+'")),
    # The same in the words of kernels that ask for dtypes themselves (Half on CUDA), and of those that call cuDNN and
    # cuBLAS, which have no type for the dtype, no engine for the computation, or none for the sizes and strides.
    (RuntimeError, re.compile(r"\w+Tensor is not supported$")),
    (RuntimeError, re.compile(r"getCudnnDataTypeFromScalarType\(\) not supported for \w+")),
    (RuntimeError, re.compile(r"GET was unable to find an engine to execute this computation")),
    (RuntimeError, _LIBRARY_LACKS),
    # MPS without the operator (mps_error_fallback), and without the dtype.
    (NotImplementedError, re.compile(r"The operator '[^']+' is not currently implemented for the MPS device")),
    (TypeError, re.compile(r"Cannot convert a MPS Tensor to \w+ dtype as the MPS framework doesn't support \w+")),
)
_MAX_LINES = 4
_MAX_CHARACTERS = 600
_ADDRESS = re.compile(r"\b(at )0x[0-9a-fA-F]+")
_NOT_THE_BACKENDS = (Path(__file__).parent.parent, Path(torch.__file__).parent)
_STANDARD_LIBRARY = Path(sysconfig.get_paths()["stdlib"])


def classify(error: Exception) -> tuple[str, str]:
    """("unsupported", "fallback" or "error", reason).

    A reason holds no address or directory: it is the same in every run.
    """
    for type_, status in ((Unsupported, "unsupported"), (Fallback, "fallback")):
        if isinstance(error, type_):
            return status, _first_lines(str(error)) or "no reason given"
    message = _first_lines(str(error))
    for type_, pattern in _UNSUPPORTED:
        if isinstance(error, type_) and pattern.match(str(error)):
            return "unsupported", message.splitlines()[0].partition(". ")[0]
    return "error", f"{type(error).__name__}: {message}{_place(error)}"


def lacks_operator(error: Exception) -> bool:
    """Whether torch says that it has no kernel of the operator for the device, whatever the arguments."""
    return any(isinstance(error, type_) and pattern.match(str(error)) for type_, pattern in _WITHOUT_KERNEL)


def device_is_lost(error: Exception) -> bool:
    """Whether the device refuses all later work of this process, as CUDA does after a failed assertion in a kernel."""
    accelerator_error = getattr(torch, "AcceleratorError", ())  # torch 2.8; a RuntimeError of this text before
    if isinstance(error, accelerator_error):
        return True
    return bool(re.match(r"(CUDA|HIP) error:", str(error))) and not _LIBRARY_LACKS.match(str(error))


def _first_lines(message: str) -> str:
    lines = [line.rstrip() for line in message.strip().splitlines()]
    return _ADDRESS.sub(r"\1...", "\n".join(lines[:_MAX_LINES]))[:_MAX_CHARACTERS]


def _place(error: Exception) -> str:
    """` (in FUNCTION, FILE:LINE)` of the innermost frame in the backend's own code; empty if there is none."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.is_file() and _may_be_the_backends(path):
            return f" (in {frame.name}, {path.name}:{frame.lineno})"
    return ""


def _may_be_the_backends(path: Path) -> bool:
    """Whether a file is not torch's, the kit's or the standard library's (in whose directory site-packages lies)."""
    if any(path.is_relative_to(package) for package in _NOT_THE_BACKENDS):
        return False
    return not path.is_relative_to(_STANDARD_LIBRARY) or "site-packages" in path.parts
