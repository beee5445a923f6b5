"""XLA:CPU, which jaxlib holds, as the backend `xla`: StableHLO programs, compiled as JAX compiles them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from torch.utils.dlpack import from_dlpack

from conform.backends.base import Backend, BackendUnavailable
from conform.errors import Unsupported

MISSING = "backend xla needs jaxlib: pip install 'conform[stablehlo]'"
QUANTIZED = "!quant."
LOWERING = ("builtin.module(func.func(stablehlo-legalize-quantized-op-to-qdq,stablehlo-legalize-quant-to-math,"
            "chlo-legalize-to-stablehlo))")  # fmt: skip
PROGRAMS_KEPT = 16  # compiled: the calls of a case, and of the cases beside it, are of one program


class XLA(Backend):
    """Compiles a program by XLA for the CPU, and runs it there. Tensors go in and out by DLPack."""

    name = "xla"
    flushes_subnormals = True  # its client sets the processor so while a program runs

    def __init__(self) -> None:
        try:
            import jaxlib
            from jaxlib import xla_client
        except ImportError:
            raise BackendUnavailable(MISSING) from None
        self.version = str(jaxlib.__version__)
        self.engine = xla_client
        self.client = xla_client.make_cpu_client()
        self.compiled = lru_cache(PROGRAMS_KEPT)(self._compiled)

    def numerics(self) -> dict[str, str | int | bool]:
        """The processor's instructions, and XLA's switches."""
        told: dict[str, str | int | bool] = {"instructions": torch.backends.cpu.get_cpu_capability()}
        return told | ({"XLA_FLAGS": os.environ["XLA_FLAGS"]} if os.environ.get("XLA_FLAGS") else {})

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        raise Unsupported("xla runs StableHLO programs (FILE.mlir), no operators of torch")

    def run_program(self, text: str, args: list[torch.Tensor]) -> Sequence[torch.Tensor]:
        from jaxlib import _jax

        device = self.client.local_devices()[0]
        buffers = [_jax.dlpack_managed_tensor_to_buffer(one.contiguous().__dlpack__(), device, None) for one in args]
        results = self.compiled(text).execute_sharded(buffers).disassemble_into_single_device_arrays()
        return [from_dlpack(_jax.buffer_to_dlpack_managed_tensor(one, None)) for (one,) in results]

    def _compiled(self, text: str) -> Any:
        devices = self.engine.DeviceList((self.client.local_devices()[0],))
        text = _without_quantized_types(text) if QUANTIZED in text else text
        return self.client.compile_and_load(text, devices, self.engine.CompileOptions())


def _without_quantized_types(text: str) -> str:
    """The program in integers and floats, as StableHLO's own passes lower it: XLA has no quantized types."""
    from jaxlib.mlir import ir, passmanager
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext, _stablehlo
    from jaxlib.mlir.dialects import chlo, stablehlo

    context, registry = ir.Context(), ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    _stablehlo.register_stablehlo_passes()
    with context, ir.Location.unknown():
        stablehlo.register_dialect(context)
        chlo.register_dialect(context)
        # What may make quantized types brings their dialect, which has no binding of its own.
        passmanager.PassManager.parse("builtin.module(vhlo-legalize-to-stablehlo)").run(ir.Module.create().operation)
        module = ir.Module.parse(text)
        passmanager.PassManager.parse(LOWERING).run(module.operation)
        return str(module)
