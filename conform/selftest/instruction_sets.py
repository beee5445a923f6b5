"""The instruction sets that torch's kernels on x86-64 are chosen by: how to hold a process to one, which this one has.

ATen, oneDNN and MKL each choose a kernel at run time by what the processor has, and results differ with the choice. A
process that starts with the variables of a set takes the same kernels on every processor that has the set. ATen
believes its variable, so a set that the processor lacks kills the process (SIGILL).
"""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path

# MKL has no other branch that Intel documents for all processors (Developer Guide, Reproducibility Conditions).
_MKL = {"MKL_CBWR": "COMPATIBLE"}
PINS: dict[str, dict[str, str]] = {
    "default": {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41", **_MKL},
    "avx2": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", **_MKL},
    "avx512": {"ATEN_CPU_CAPABILITY": "avx512", "ONEDNN_MAX_CPU_ISA": "AVX512_CORE", **_MKL},
    "avx512_bf16": {"ATEN_CPU_CAPABILITY": "avx512", "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16", **_MKL},
    "avx512_fp16": {"ATEN_CPU_CAPABILITY": "avx512", "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_FP16", **_MKL},
}
_AVX2 = {"avx2", "fma", "f16c"}
_AVX512 = {*_AVX2, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
_AVX512_BF16 = {*_AVX512, "avx512_bf16"}
_NEEDED = {"default": {"sse4_1"}, "avx2": _AVX2, "avx512": _AVX512, "avx512_bf16": _AVX512_BF16,
           "avx512_fp16": {*_AVX512_BF16, "avx512_fp16"}}  # fmt: skip


@cache
def supported() -> frozenset[str]:
    """The sets that this processor has; none where it is no x86-64, or where the system does not list its features."""
    info = Path("/proc/cpuinfo")
    if platform.machine() not in ("x86_64", "AMD64") or not info.exists():
        return frozenset()
    lines = [line for line in info.read_text(encoding="utf-8").splitlines() if line.startswith("flags")]
    features = set(lines[0].partition(":")[2].split()) if lines else set()
    return frozenset(name for name, needed in _NEEDED.items() if needed <= features)


def usual() -> str:
    """The set that the self-test and the kit's own tests run on: AVX2, which nearly every processor has, or what every
    processor has."""
    return "avx2" if "avx2" in supported() else "default"


def hold() -> None:
    """Holds torch, which must not have been imported yet, to the kernels of the usual set: a planted defect shows where
    torch itself is within its bound, and how far off it is differs with its kernels."""
    os.environ.update(PINS[usual()])
