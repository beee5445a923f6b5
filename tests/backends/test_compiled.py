"""torch.compile as a backend: what it hands back is no result of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import Any

import pytest
import torch

import conform
from conform.backends.compiled import Compiled
from conform.backends.given import bring_home
from conform.backends.one_op import OneOp
from conform.errors import Fallback

pytestmark = pytest.mark.one_in(6)

needs_a_compiler = pytest.mark.skipif(not shutil.which("g++"), reason="Inductor needs a C++ compiler")


def test_dynamo_alone_runs_eager_kernels() -> None:
    backend = Compiled("aot_eager")
    x = torch.tensor([1.0, 2.0])
    assert backend.run("aten::add.Tensor", [x, x], {"alpha": 2}).tolist() == [3, 6]
    assert (backend.name, backend.device) == ("aot_eager", "cpu")


class AsAWhole(Compiled):
    def kernel(self, op: str) -> Any:
        raise AssertionError(f"{op} was asked by itself")


def test_a_module_is_compiled_as_a_whole() -> None:
    backend = AsAWhole("aot_eager")
    module, x = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()).eval(), torch.tensor([[1.0, 2.0]])
    with torch.no_grad():
        assert torch.equal(backend.run_module(module, [x], {}), module(x))
    recurrent = torch.nn.GRU(2, 3).eval()
    with pytest.raises(Fallback, match=r"a graph break: .*RNN, GRU, or LSTM"):
        backend.run_module(recurrent, [x], {})
    assert Compiled("aot_eager", recurrent=True).run_module(recurrent, [x], {})[0].shape == (1, 3)
    with pytest.raises(Fallback, match="a graph break"):
        backend.run_module(Broken(), [x], {})


class Compiles(conform.Backend):
    name = "compiles"

    def __init__(self) -> None:
        self.graphs: list[Any] = []

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        torch._dynamo.reset()

        def backend(graph: Any, inputs: Any) -> Any:
            self.graphs.append(graph)
            return graph

        return torch.compile(lambda x: torch.ops.aten.neg(x), backend=backend, fullgraph=True)(args[0])


def test_a_backend_of_operators_may_compile_them_in_modules_too() -> None:
    backend, x = Compiles(), torch.tensor([1.0, -2.0])
    assert backend.run_module(OneOp("aten::neg"), [x], {}).tolist() == [-1.0, 2.0]
    assert len(backend.graphs) == 1


@pytest.mark.long
def test_a_backend_of_operators_does_without_torchs_compiler() -> None:
    statement = (
        "import sys, torch; from conform.backends.eager import run_by_operators;"
        "from conform.backends.one_op import OneOp;"
        "from conform.backends.torch_device import TorchDevice;"
        "run_by_operators(TorchDevice(), OneOp('aten::neg'), [torch.ones(2)], {});"
        "assert 'torch._dynamo' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", statement], check=True)


def test_a_module_that_came_by_value_finds_what_it_names() -> None:
    scope = {"__name__": "a_file_that_is_not_here", "factor": 3.0, "torch": torch}
    exec("class Own(torch.nn.Module):\n    def forward(self, x):\n        return torch.neg(x) * factor", scope)
    try:
        bring_home(scope["Own"].__mro__)
        found = Compiled("aot_eager").run_module(scope["Own"](), [torch.tensor([1.0])], {})
    finally:
        sys.modules.pop("a_file_that_is_not_here")
    assert found.tolist() == [-3.0]


class Broken(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x if x.sum() > 0 else -x


@needs_a_compiler
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch's own
def test_inductor_compiles_what_it_has_code_for() -> None:
    backend = Compiled("inductor")
    assert backend.run("aten::neg", [torch.tensor([1.0, 2.0])], {}).tolist() == [-1, -2]
    with pytest.raises(Fallback, match=r"no code for it; eager torch was called: aten\.sort\."):
        backend.run("aten::sort", [torch.tensor([2.0, 1.0])], {})
    attention = OneOp("aten::scaled_dot_product_attention")  # eager torch's whole
    with pytest.raises(Fallback, match=r"eager torch was called: aten\._scaled_dot_product_flash"):
        backend.run_module(attention, [torch.ones(1, 2, 3, 4)] * 3, {})
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
