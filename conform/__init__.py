"""conform: a conformance kit for tensor backends.

    import conform
    g = conform.golden("aten::exp", x)      # the correctly rounded result, and how far another array is from it
    run = conform.check("core", backend="cpu")

Everything is imported where it is first used, so that the command line answers at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conform.api import Golden, assert_close, golden
    from conform.backends.base import Backend
    from conform.errors import ConformError, Fallback, InvalidArguments, Unjudged, Unsupported, UsageError
    from conform.folding import fold
    from conform.frontends.construction import draw_parameters
    from conform.own_ops import op
    from conform.straight_line import check

__all__ = [
    "Backend",
    "ConformError",
    "Fallback",
    "Golden",
    "InvalidArguments",
    "Unjudged",
    "Unsupported",
    "UsageError",
    "assert_close",
    "check",
    "draw_parameters",
    "fold",
    "golden",
    "op",
]

_HOME = {
    "Backend": "conform.backends.base",
    "check": "conform.straight_line",
    "draw_parameters": "conform.frontends.construction",
    "fold": "conform.folding",
    "golden": "conform.api",
    "op": "conform.own_ops",
    "Golden": "conform.api",
    "assert_close": "conform.api",
    **dict.fromkeys(
        ("ConformError", "Fallback", "InvalidArguments", "Unjudged", "Unsupported", "UsageError"), "conform.errors"
    ),
}

_MODULES = ("backends", "ops")  # conform.backends.TorchDevice and conform.ops.add need no import of their own


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"conform.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'conform' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value
