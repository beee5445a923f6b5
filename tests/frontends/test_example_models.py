"""The models of examples/models: torch passes on all of them in three dtypes, and defects inside do not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import conform
from conform.bisect.subject import subject_of

pytestmark = pytest.mark.one_in(6)

MODELS = Path(__file__).parents[2] / "examples" / "models"
BUILDS = (
    "lstm.py::build", "lstm.py::build_gru", "transformer.py::build_attention", "transformer.py::build_multihead",
    "transformer.py::build", "resnet.py::build", "gpt.py::build", "llama.py::build", "mixture.py::build",
)  # fmt: skip
LONG = ("lstm.py::build", "lstm.py::build_gru", "transformer.py::build_multihead")
DTYPES = ("float32", "bfloat16", "float16")


def cases() -> list[Any]:
    """Of the slow ones, and of one half type, only in the long run."""
    return [
        pytest.param(build, dtype, marks=[pytest.mark.long] if build in LONG or dtype == "float16" else [])
        for build in BUILDS for dtype in DTYPES
    ]  # fmt: skip


def built(build: str, dtype: str = "float32") -> tuple[nn.Module, list[Any]]:
    subject = subject_of(str(MODELS / build), (), 0, dtype)
    return subject.module.module, [as_tensors(one) for one in subject.args]


def as_tensors(value: Any) -> Any:
    from conform.backends.interpreter import to_torch

    if isinstance(value, list | tuple):
        return type(value)(map(as_tensors, value))
    return to_torch(value)


def output(module: nn.Module, args: list[Any]) -> Any:
    with torch.no_grad():
        return module(*args)


def test_every_model_is_here() -> None:
    assert {build.partition("::")[0] for build in BUILDS} == {path.name for path in MODELS.glob("*.py")}


@pytest.mark.parametrize(("build", "dtype"), cases())
def test_torch_passes(build: str, dtype: str) -> None:
    module, args = built(build, dtype)
    verdict = conform.golden(module, *args).verdict(output(module, args))
    assert (verdict.status, verdict.reason) == ("pass", None)
    assert verdict.vacuous <= 0.25 * (verdict.compared + verdict.vacuous) or dtype == "bfloat16"


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("g++"), reason="Inductor needs a C++ compiler")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("build", BUILDS)
def test_inductor_passes(build: str, dtype: str) -> None:
    """Attention alone and recurrent layers are kernels of eager torch, unless it is told to take them; and oneDNN, to
    which it hands an LSTM in bfloat16 otherwise, has a kernel for that on some processors alone."""
    module, args = built(build, dtype)
    options = {"lstm.py": "(recurrent=True, onednn=False)", "transformer.py": "(math_attention=True)"}
    backend = "inductor" + options.get(build.partition("::")[0], "")
    (case,) = conform.check(module, args, backend=backend, timeout_s=300).cases
    assert case["status"] == "pass", case


# --- Planted ----------------------------------------------------------------------------------------------------------


def no_mask(module: nn.Module) -> None:
    module.forward = lambda q, k, v: nn.functional.scaled_dot_product_attention(q, k, v, scale=0.3)


def other_eps(module: nn.Module) -> None:
    for part in module.modules():
        if hasattr(part, "eps"):
            part.eps = 1e-3


def wrong_rotation(module: nn.Module) -> None:
    module.sine.neg_()


def query_off_by_one(module: nn.Module) -> None:
    """The query is rotated as that of the next token, the key as its own."""
    rotated, angles = module.rotated, torch.atan2(module.sine.float(), module.cosine.float())
    step = angles[1]
    calls = iter(range(10))

    def rotate(x: torch.Tensor) -> torch.Tensor:
        own = module.cosine, module.sine
        if next(calls) % 2 == 0:
            module.cosine, module.sine = ((f(angles + step)).to(x.dtype) for f in (torch.cos, torch.sin))
        try:
            return rotated(x)
        finally:
            module.cosine, module.sine = own

    module.rotated = rotate


def other_groups(module: nn.Module) -> None:
    """Each key serves the wrong query heads."""
    module.key.weight.copy_(module.key.weight.roll(4, 0))


def swapped_cache(module: nn.Module) -> None:
    forward = module.forward
    module.forward = lambda tokens, cache: forward(tokens, cache[::-1])


def one_expert(module: nn.Module) -> None:
    module.chosen = 1


def unbiased(module: nn.Module) -> None:
    for norm in module.norms:
        norm.running_var.mul_(32 / 31)


PLANTS: list[tuple[str, Callable[[nn.Module], None], tuple[str, ...]]] = [
    ("transformer.py::build_attention", no_mask, ("float32", "bfloat16")),
    ("transformer.py::build", other_eps, ("float32",)),
    ("resnet.py::build", other_eps, ("float32",)),
    ("resnet.py::build", unbiased, ("float32",)),
    ("gpt.py::build", swapped_cache, ("float32", "bfloat16")),
    ("llama.py::build", other_eps, ("float32",)),
    ("llama.py::build", wrong_rotation, ("float32", "bfloat16")),
    ("llama.py::build", other_groups, ("float32", "bfloat16")),
    ("llama.py::build", query_off_by_one, DTYPES),
    ("mixture.py::build", one_expert, DTYPES),
]


@pytest.mark.parametrize(("build", "plant", "dtypes"), PLANTS)
def test_a_defect_inside_does_not_pass(build: str, plant: Callable, dtypes: tuple[str, ...]) -> None:
    for dtype in dtypes:
        module, args = built(build, dtype)
        truth = conform.golden(module, *args)
        with torch.no_grad():
            plant(module)
        assert truth.verdict(output(module, args)).status == "fail"


TIMED = """
import sys, time
sys.path.insert(0, {folder!r})
import conform
from test_example_models import built, output
module, args = built("gpt.py::build_wide")
conform.golden(module, *args)  # torch.export is done
started = time.process_time()
truth = conform.golden(module, *args)
print(time.process_time() - started, truth.verdict(output(module, args)).status)
"""


@pytest.mark.long
def test_a_wide_decoder_has_a_golden_in_seconds() -> None:
    """Width 256, 128 tokens, two layers, float32: 2.4 s of one thread; several cost more where they wait for a core."""
    script = TIMED.format(folder=str(Path(__file__).parent))
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", script], env=alone, capture_output=True, text=True, check=True)
    seconds, status = done.stdout.split()
    assert (status, float(seconds) < 4) == ("pass", True), seconds
