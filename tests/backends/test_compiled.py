"""torch.compile as a backend: what it hands back is no result of its own."""

from __future__ import annotations

import shutil

import pytest
import torch

import conform
from conform.backends.compiled import Compiled
from conform.errors import Fallback

needs_a_compiler = pytest.mark.skipif(not shutil.which("g++"), reason="Inductor needs a C++ compiler")


def test_dynamo_alone_runs_eager_kernels() -> None:
    backend = Compiled("aot_eager")
    x = torch.tensor([1.0, 2.0])
    assert backend.run("aten::add.Tensor", [x, x], {"alpha": 2}).tolist() == [3, 6]
    assert (backend.name, backend.device) == ("aot_eager", "cpu")


@needs_a_compiler
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch's own
def test_inductor_compiles_what_it_has_code_for() -> None:
    backend = Compiled("inductor")
    assert backend.run("aten::neg", [torch.tensor([1.0, 2.0])], {}).tolist() == [-1, -2]
    with pytest.raises(Fallback, match=r"no code for it; eager torch was called: aten\.sort\."):
        backend.run("aten::sort", [torch.tensor([2.0, 1.0])], {})
    with pytest.raises(RuntimeError):  # what must be refused is
        backend.run("aten::add.Tensor", [torch.ones(2), torch.ones(3)], {})


@needs_a_compiler
def test_what_was_handed_back_is_not_judged() -> None:
    run = conform.check(
        "core", backend="inductor", ops=["aten::neg", "aten::sort"], timeout_s=300,
        ids=["neg/rank_1/float32/typical/contiguous", "sort/rank_1/float32/typical/contiguous"],
    )  # fmt: skip
    assert {case["op"]: case["status"] for case in run.cases} == {"aten::neg": "pass", "aten::sort": "fallback"}
    assert (run.summary["judged"], run.summary["fallback"]) == (1, 1)
