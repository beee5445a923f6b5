"""What is under test: the process boundary and one file a backend. Importing this loads neither torch nor an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conform.backends.base import Backend
    from conform.backends.torch_device import TorchDevice

__all__ = ["Backend", "TorchDevice"]


def __getattr__(name: str) -> Any:
    if name == "Backend":
        from conform.backends.base import Backend

        return Backend
    if name == "TorchDevice":
        from conform.backends.torch_device import TorchDevice

        return TorchDevice
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
