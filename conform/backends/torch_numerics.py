"""What decides, beside its version, which kernels torch runs and how they compute: instructions, switches, precision.

Two processes that differ here are two backends: their results may differ, and each has failures of its own
(docs/torch-cpu.md). What a run record tells of it is read when the backend has been created, before its first call.
"""

from __future__ import annotations

import os
import re

import torch

Told = dict[str, str | int | bool]

# Variables of the environment by which ATen, oneDNN, MKL and cuBLAS choose kernels.
SWITCHES = (
    "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "ONEDNN_DEFAULT_FPMATH_MODE", "MKL_CBWR",
    "MKL_ENABLE_INSTRUCTIONS", "NVIDIA_TF32_OVERRIDE", "CUBLAS_WORKSPACE_CONFIG",
)  # fmt: skip
# Features of a processor that oneDNN uses and ATen's capability does not tell.
_FEATURES = ("avx512_bf16", "avx512_fp16", "amx_bf16", "amx_fp16")
_LIBRARIES = re.compile(r"^  - Intel\(R\) (?:oneAPI )?(.*?)(?: Version | v)(\d+(?:\.\d+)*)", re.MULTILINE)


def torch_numerics(device: str) -> Told:
    """What torch tells of itself and `device`, and the switches that are set."""
    told: Told = {
        "torch": str(torch.__version__),
        "libraries": ", ".join(f"{name} {version}" for name, version in _LIBRARIES.findall(torch.__config__.show())),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "features": " ".join(_features()),
        **{name: os.environ[name] for name in SWITCHES if name in os.environ},
        "threads": torch.get_num_threads(),
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
        "deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
        "flushes_denormals": _flushes_denormals(),
    }
    return told | (_cuda(device) if device.startswith("cuda") else {})


def _features() -> list[str]:
    has = getattr(torch.cpu, "get_capabilities", dict)()  # older versions of torch do not tell
    return [name for name in _FEATURES if has.get(name)]


def _flushes_denormals() -> bool:
    """Measured: torch.set_flush_denormal has no counterpart that tells."""
    smallest = torch.tensor([5e-324], dtype=torch.float64)
    return (smallest * 1).view(torch.int64).item() == 0


def _cuda(device: str) -> Told:
    matmul = torch.backends.cuda.matmul
    return {
        "hardware": torch.cuda.get_device_name(device),
        "cuda": str(torch.version.cuda),
        "cudnn": torch.backends.cudnn.version() or 0,
        "tf32_matmul": matmul.allow_tf32,
        "tf32_cudnn": torch.backends.cudnn.allow_tf32,
        "fp16_reduced_precision_reduction": bool(matmul.allow_fp16_reduced_precision_reduction),
        "bf16_reduced_precision_reduction": bool(matmul.allow_bf16_reduced_precision_reduction),
        "cudnn_benchmark": torch.backends.cudnn.benchmark,
    }
