"""IREE's compiler and runtime for the CPU as the backend `iree`."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from conform.backends.base import Backend, BackendUnavailable
from conform.backends.interpreter import to_numpy, to_torch
from conform.errors import Unsupported

MISSING = "backend iree needs its compiler and runtime: pip install 'conform[iree]'"
PROGRAMS_KEPT = 16  # compiled: the calls of a case, and of the cases beside it, are of one program
TARGET = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
          "--iree-llvmcpu-target-cpu=host", "--iree-input-demote-f64-to-f32=false")  # fmt: skip


class IREE(Backend):
    """Compiles a StableHLO program for this processor (llvm-cpu), and runs it in one thread (local-sync)."""

    name = "iree"
    flushes_subnormals = True  # so its threads are set

    def __init__(self) -> None:
        try:
            import iree.compiler
            import iree.runtime
        except ImportError:
            raise BackendUnavailable(MISSING) from None
        self.compiler, self.runtime = iree.compiler, iree.runtime
        self.version = importlib.metadata.version("iree-base-compiler")
        self.config = iree.runtime.Config("local-sync")
        self.compiled = lru_cache(PROGRAMS_KEPT)(self._compiled)

    def numerics(self) -> dict[str, str | int | bool]:
        """The processor's instructions."""
        return {"instructions": torch.backends.cpu.get_cpu_capability()}

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        raise Unsupported("iree runs StableHLO programs (FILE.mlir), no operators of torch")

    def run_program(self, text: str, args: list[torch.Tensor]) -> Sequence[torch.Tensor]:
        found = self.compiled(text)(*(to_numpy(one) for one in args))
        results = found if isinstance(found, list | tuple) else (found,)
        return [to_torch(np.asarray(one)) for one in results]

    def _compiled(self, text: str) -> Any:
        try:
            binary = self.compiler.compile_str(text, input_type="stablehlo", extra_args=TARGET)
        except self.compiler.CompilerToolError as error:
            raise RuntimeError(f"IREE's compiler: {error}") from None
        module = self.runtime.VmModule.copy_buffer(self.config.vm_instance, binary)
        return self.runtime.load_vm_module(module, self.config)["main"]
