"""The waivers for torch on CUDA, on a machine that has what they were measured on."""

from __future__ import annotations

import pytest
import torch

import conform
from conform.judging.verdict import FAILURES
from conform.running.waivers import read


def _is_measured() -> bool:
    if not torch.cuda.is_available():
        return False
    told = {"hardware": torch.cuda.get_device_name(), "torch": torch.__version__}
    return bool(read("torch-cuda").for_backend(told).entries)


@pytest.mark.long
@pytest.mark.skipif(not _is_measured(), reason="not the hardware, or not the torch, of docs/torch-cuda.md")
def test_torch_on_cuda_fails_for_known_reasons_only() -> None:
    run = conform.check("core", backend="cuda", waivers="torch-cuda")
    assert [(case["id"], case["reason"]) for case in run.cases if case["status"] in FAILURES] == []
