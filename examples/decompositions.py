"""torch's default decompositions as a backend: what operators come to where a runtime has kernels for core ATen alone.

    conform check core --backend examples/decompositions.py::Decompositions

`torch.export` replaces operators by these (`run_decompositions`). docs/torch-decompositions.md has what the kit finds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import conform
from conform.backends import TorchDevice
from conform.backends.torch_device import overload


class Decompositions(TorchDevice):
    """Each operator by its decomposition, in eager torch on the CPU; unsupported where there is none."""

    name = "decompositions"

    def __init__(self) -> None:
        super().__init__("cpu")
        self.table = torch.export.default_decompositions()

    def kernel(self, op: str) -> Callable[..., Any]:
        """The decomposition of an overload."""
        function = overload(op)
        if function not in self.table:
            raise conform.Unsupported(f"torch decomposes no {op}")
        return self.table[function]
