"""`conform.fold(module, ...)`: what becomes a constant, what is left, and that nothing else comes out afterwards."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

import conform
from conform.backends.eager import run_by_operators
from conform.backends.holding import Holding
from conform.backends.interpreter import Interpreter, to_torch
from conform.errors import NoGolden, UsageError
from conform.frontends.construction import module_of
from conform.frontends.folding import folded
from conform.frontends.steps import sent, steps_of
from conform.frontends.torch_export import program_of
from conform.inputs.layouts import logical
from conform.suites import load
from conform.suites.cases import Selection, draws

SHARES = 48


class Mixed(nn.Module):
    """Three ops of constants in a chain, one of a constant and the input, and a result that is a constant."""

    def __init__(self) -> None:
        super().__init__()
        self.t = nn.Parameter(torch.tensor([0.0, 0.5, 1.0]))
        self.register_buffer("unused", torch.ones(2))

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        weight = (self.t * 2).exp() + torch.arange(3)
        return {"b": x * weight, "a": self.t.neg()}


X = torch.tensor([[1.0, 2.0, -4.0]])


def made(module: nn.Module, *args: Any) -> tuple[Any, ...]:
    """What the interpreter gives op by op: each golden value rounded once."""
    found = run_by_operators(Interpreter(), module, list(args), {})
    return found if isinstance(found, tuple) else (found,)


def test_what_hangs_on_constants_alone_is_a_constant() -> None:
    module = conform.fold(Mixed().eval(), X)
    assert [step.op for step in module.steps] == ["aten::mul.Tensor"]
    weight = np.float32([1.0, 1 + np.float32(np.e), 2 + np.float32(7.389056)])
    held = {tuple(tensor.tolist()) for tensor in module.buffers()}
    assert held == {tuple(weight.tolist()), (-0.0, -0.5, -1.0)}
    first, second = module(X)
    assert first.tolist() == [-0.0, -0.5, -1.0]
    assert second.tolist() == [[1.0, float(2 * weight[1]), float(-4 * weight[2])]]


def test_the_folded_module_is_judged_as_the_other_one_is() -> None:
    module = Mixed().eval()
    small = conform.fold(module, X)
    for truth in (conform.golden(module, X), conform.golden(small, X)):
        assert truth.verdict(small(X)).status == "pass"
        assert truth.verdict([small(X)[0], small(X)[1] * (1 + 2.0**-18)]).status == "fail"


def test_large_results_and_what_is_not_determined_are_left() -> None:
    class Left(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            equal = torch.tensor([1.0, 1.0]).sort()
            return x + torch.empty(2), x + torch.arange(3000.0)[:2], x + equal.values

    found = folded(program_of(Left(), None, [np.float32([1, 2])], {}, of_kernels=True), 2000)
    (large,) = (one for one in found.left if "arange" in one)
    assert ": a result of more than 2000 elements (test_folding.py:" in large
    (unwritten,) = (one for one in found.left if "empty" in one)
    assert unwritten.startswith("aten::empty.memory_format is left: ")


def test_what_cannot_be_folded_says_why() -> None:
    class Branch(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x if x.sum() > 0 else -x

    with pytest.raises(NoGolden, match="cannot be exported"):
        conform.fold(Branch(), X)
    with pytest.raises(UsageError, match="inputs are those of a torch module"):
        conform.fold("module {}", X)
    with pytest.raises(UsageError, match="found int, expected the text or Path"):
        conform.fold(3)


def test_the_example_of_the_front_door_takes_keywords_and_a_limit() -> None:
    class Scaled(nn.Module):
        def forward(self, x: torch.Tensor, *, by: float) -> torch.Tensor:
            return x * torch.full((3,), 2.0).exp() * by

    assert [step.op for step in conform.fold(Scaled(), X, by=0.5).steps] == ["aten::mul.Tensor", "aten::mul.Tensor"]
    assert len(conform.fold(Scaled(), X, by=0.5, most_elements=2).steps) == 4


# --- Folded and unfolded give equal results ---------------------------------------------------------------------------


def _compared(test: Any) -> int | None:
    """Folds a test's module whose inputs are constants, too; how many ops became constants, None where it has no
    program, or an op of it no golden."""
    draw = next(draws(test, Selection()))
    given, module = logical(draw.arguments()), module_of(draw).module
    args, kwargs = pytree.tree_map(_tensor, (list(given.args), dict(given.kwargs)))
    holding = Holding(module, args, kwargs)
    try:
        program = program_of(holding, None, [], {}, of_kernels=True)
        every = pickle.loads(sent(program, test.id, [], {}).module)
        unfolded = made(every)
    except conform.ConformError:
        return None
    names = [value.name for op in steps_of(program) for value in op.results if value is not None]
    by_name = dict(zip(names, unfolded, strict=True))
    found = folded(program, 2**16)
    for name, array in found.program.constants.items():
        if name in by_name:
            assert to_torch(array).numpy().tobytes() == by_name[name].numpy().tobytes(), (test.id, name)
    return found.folded


def _tensor(leaf: Any) -> Any:
    return to_torch(np.asarray(leaf)) if isinstance(leaf, np.ndarray | np.generic) else leaf


def test_what_folds_is_what_the_interpreter_gives(pytestconfig: pytest.Config) -> None:
    """On a share of the suite's modules, of which every operand is a constant: so all that can be folded is."""
    tests = load(["modules"]).tests
    counts = [_compared(test) for test in tests[pytestconfig.getoption("--seed") % SHARES :: SHARES]]
    assert sum(count or 0 for count in counts) > 0


@pytest.mark.long
def test_what_folds_is_what_the_interpreter_gives_in_all_modules() -> None:
    counts = [_compared(test) for test in load(["modules"]).tests]
    assert sum(count or 0 for count in counts) > 400
    assert sum(count is None for count in counts) < 0.25 * len(counts)  # an op without a golden of its own


# --- A backend's own folding ------------------------------------------------------------------------------------------

FOLDS = """
import torch
from conform.backends import TorchDevice


class Folds(TorchDevice):
    name = "folds"

    def run_module(self, module, args, kwargs):
        if args or kwargs:
            return super().run_module(module, args, kwargs)
        return super().run_module(module.bfloat16(), args, kwargs).float()  # its folder computes in another type
"""


def test_a_backend_that_folds_wrongly_fails_where_its_inputs_are_constants(tmp_path: Path) -> None:
    (tmp_path / "folds.py").write_text(FOLDS)
    ids = ["nn_Linear_true/float32/typical/*", "nn_GELU/float32/typical/*"]
    run = conform.check(["modules"], f"{tmp_path / 'folds.py'}::Folds", ids=ids, layouts="all")
    found = {case["id"]: case["status"] for case in run.cases}
    assert {name for name, status in found.items() if status == "fail"} == {
        "nn_Linear_true/float32/typical/constants", "nn_GELU/float32/typical/constants",
    }  # fmt: skip
    assert "pass" in found.values()
