"""`conform bisect`: the op that is wrong is named, whatever else is merely near; an honest backend has none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from torch import nn

from conform.backends.client import BackendProcess
from conform.bisect.asking import Backend
from conform.bisect.run import Bisection, bisected
from conform.bisect.subject import Subject
from conform.bisect.terminal import render
from conform.cli import main
from conform.contracts.tables import contract_table
from conform.frontends.modules import ModuleCall
from conform.operators import in_terms_of_the_kit

pytestmark = pytest.mark.one_in(6)


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(8, eps=1e-3), nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(self.norm(x)).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4).unbind(0)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(mixed.transpose(1, 2).flatten(2))


class Routed(nn.Module):
    """The comparison is one that honest errors turn, so the program has no golden behind it; its ops have."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.exp(x) * 3
        return torch.where(y >= y.mean() - (y.mean() - y[0, 0]), y, -y).sigmoid()


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8, eps=1e-3), nn.Linear(8, 3))


def convolutions() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4, eps=1e-3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 2, 3)
    )


INPUTS = {mlp: (5, 8), Attention: (2, 5, 8), convolutions: (2, 3, 8, 8), Routed: (3, 4)}


def subject(build: Callable[[], nn.Module], dtype: torch.dtype = torch.float32) -> Subject:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module = build().eval()
        for name, one in module.named_buffers():
            if "running" in name:
                one.copy_(0.5 + torch.rand(one.shape))
        x = torch.randn(INPUTS[build])
    return Subject(build.__name__, ModuleCall.of(module.to(dtype)), [in_terms_of_the_kit(x.to(dtype), "x")], {})


def planted(plant: str) -> str:
    return f"{Path(__file__).parent / 'planted.py'}::Wrong(plant={plant!r})"


def found(backend: str, what: Subject, timeout_s: float = 30.0) -> Bisection:
    with BackendProcess(backend, timeout_s=timeout_s) as process:
        return bisected(what, Backend(process, contract_table("opencl"), 60.0))


@pytest.fixture(scope="module")
def cpu() -> Iterator[Backend]:
    with BackendProcess("cpu") as process:
        yield Backend(process, contract_table("opencl"), 60.0)


def first_of(result: Bisection) -> str:
    return next(step.own.op for step in result.walk.steps if step.has_failed)


# --- Planted ----------------------------------------------------------------------------------------------------------

# Where torch takes a composite apart, the plant is in what is below; the op of the module is what is named.
PLANTS = {
    "transposed weight": (mlp, "aten::linear"), "gelu by tanh": (mlp, "aten::gelu"),
    "eps of layer norm": (mlp, "aten::layer_norm"), "no bias": (Attention, "aten::linear"),
    "no mask": (Attention, "aten::scaled_dot_product_attention"), "padding": (convolutions, "aten::conv2d"),
    "eps of batch norm": (convolutions, "aten::batch_norm"),
}  # fmt: skip


def daily(*chosen: str, of: Iterable[str]) -> list[Any]:
    """Parameters, those that are not chosen marked `long`: each starts a process of its own."""
    return [name if name in chosen else pytest.param(name, marks=pytest.mark.long) for name in of]


@pytest.mark.parametrize("plant", daily("transposed weight", "no mask", of=PLANTS))
def test_the_op_that_is_wrong_is_named(plant: str) -> None:
    build, named = PLANTS[plant]
    result = found(planted(plant), subject(build))
    steps = result.walk.steps
    assert first_of(result) == named
    assert steps[result.source].own.op == named
    assert {step.own.op for step in steps if step.alone.status == "fail"} == {named}
    assert result.exit_code == 1
    assert "FAIL" in render(result, "wrong")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("build", INPUTS)
def test_of_torch_no_op_leaves_its_contract(cpu: Backend, build: Callable, dtype: torch.dtype) -> None:
    result = bisected(subject(build, dtype), cpu)
    assert [step.own.op for step in result.walk.steps if step.has_failed] == []
    assert all(step.is_judged for step in result.walk.steps)
    assert result.exit_code == 0
    assert result.whole == pytest.approx(result.error, rel=0.5)
    assert dtype == torch.bfloat16 or sum(result.shares.values()) > 0.3


@pytest.mark.long
def test_of_an_exact_backend_no_error_arises_but_by_rounding() -> None:
    """Each op is correctly rounded, so the chain's error is that of its roundings alone."""
    result = found("self", subject(mlp))
    assert result.exit_code == 0
    assert result.error < 2.0**-22
    assert all(step.alone.max_error_ulp <= 0.5 for step in result.walk.steps)


# --- What does not answer ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plant", daily("aborts", of=("aborts", "hangs", "halves")))
def test_a_crash_a_hang_and_a_wrong_dtype_are_the_ops(plant: str) -> None:
    """And the ops behind it run, on the golden's numbers in its place."""
    status = {"aborts": "crash", "hangs": "timeout", "halves": "fail"}[plant]
    result = found(planted(plant), subject(mlp), timeout_s=8.0 if plant == "hangs" else 30.0)
    assert first_of(result) == "aten::gelu"
    assert [step.alone.status for step in result.walk.steps] == ["pass", status, "pass", "pass"]
    assert result.walk.substitutes.keys() == {"gelu"}


def test_an_op_whose_thread_aborts_while_others_run_is_the_one_that_fails() -> None:
    result = found(planted("aborts later"), subject(mlp))
    assert first_of(result) == "aten::gelu"
    assert [step.own.status for step in result.walk.steps] == ["pass", "crash", "pass", "pass"]


def test_an_op_that_is_refused_is_not_judged_and_named() -> None:
    result = found(planted("refuses"), subject(mlp))
    assert result.exit_code == 0
    assert [step.own.status for step in result.walk.steps] == ["pass", "unsupported", "pass", "pass"]
    assert "3 of 4 are judged; aten::gelu: no such kernel" in render(result, "wrong")
    assert "look where the backend" in render(result, "wrong")


@pytest.mark.long
def test_what_is_wrong_as_a_whole_alone_is_no_ops() -> None:
    result = found(planted("none").replace("Wrong(plant='none')", "Fused"), subject(mlp))
    assert result.exit_code == 0
    assert result.whole > 100 * result.error
    assert "look where the backend compiles or fuses them" in render(result, "fused")


# --- The op as a case -------------------------------------------------------------------------------------------------

BACKENDS = '''
import torch
from conform.backends import TorchDevice


class Direct(TorchDevice):
    """gelu is the other one, as an operator too."""

    name = "direct"

    def run(self, op, args, kwargs):
        if op == "aten::gelu":
            return torch.nn.functional.gelu(args[0], approximate="tanh")
        return super().run(op, args, kwargs)


class Below(TorchDevice):
    """addmm forgets the bias; linear as an operator does not come to it."""

    name = "below"

    def run(self, op, args, kwargs):
        return args[1] @ args[2] if op == "aten::addmm" else super().run(op, args, kwargs)
'''
MODEL = """
import torch
from torch import nn


def build():
    return nn.Sequential(nn.Linear(8, 8), nn.GELU()).eval(), (torch.randn(5, 8),)


def nothing():
    return 3


class Rows(nn.Module):
    def forward(self, x, y):
        return (x @ y) * 2


def rows():
    return Rows(), (torch.randn(2, 3, 4), torch.randn(4, 5))


def exits():
    raise SystemExit(0)


class Exits(nn.Module):
    def forward(self, x):
        raise SystemExit("done")


def exits_later():
    return Exits(), (torch.randn(2),)


def drops_out():
    return nn.Sequential(nn.Linear(2, 2), nn.Dropout()), (torch.randn(2),)
"""
SUITE = """
tests:
- id: block
  op: {type: module, path: torch.nn.Linear, args: [8, 4]}
  in: [{type: tensor, shape: [3, 8], kind: float}]
- {id: plain, op: aten::exp, in: [{type: tensor, shape: [3, 8], kind: float}]}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("backends.py", BACKENDS), ("model.py", MODEL), ("suite.yaml", SUITE)):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def conform_(*words: str) -> Any:
    return CliRunner().invoke(main, words)


@pytest.mark.parametrize(("backend", "op"), [
    pytest.param("Direct", "op: aten::gelu", marks=pytest.mark.long), ("Below", 'args: ["aten::linear"]'),
])
def test_the_op_becomes_a_case_that_fails_by_itself(place: Path, backend: str, op: str) -> None:
    """One that fails only where a module is taken apart stays a module."""
    told = conform_("bisect", "model.py::build", "--backend", f"backends.py::{backend}", "--out", "found")
    assert told.exit_code == 1, told.output
    assert "written: found/repro.yaml" in told.output
    assert op in (place / "found/repro.yaml").read_text()
    again = conform_("check", "found/repro.yaml", "--backend", f"backends.py::{backend}", "--determinism", "1")
    assert again.exit_code == 1, again.output
    honest = conform_("check", "found/repro.yaml", "--backend", "cpu", "--quiet")
    assert honest.exit_code == 0, honest.output


def test_a_case_of_a_suite_is_a_subject(place: Path) -> None:
    told = conform_("bisect", "block/float32/typical/contiguous", "--suite", "suite.yaml", "--backend", "cpu")
    assert told.exit_code == 0, told.output
    assert "no op leaves its contract (1 of 1 are judged)" in told.output


def test_a_view_whose_schema_promises_memory_of_its_own_is_none(place: Path) -> None:
    """torch.export has the product of a batch with a matrix seen by `_unsafe_view`."""
    told = conform_("bisect", "model.py::rows", "--backend", "cpu")
    assert told.exit_code == 0, told.output


def test_models_take_a_dtype(place: Path) -> None:
    told = conform_("bisect", "model.py::build", "--backend", "cpu", "--dtype", "bfloat16")
    assert told.exit_code == 0, told.output
    assert "bfloat16 [5, 8]" in told.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plain/float32/typical/contiguous", "--suite", "suite.yaml"], "is one op, aten::exp, already"),
        (["absent/float32/typical/contiguous", "--suite", "suite.yaml"], "no test of suite.yaml has a case"),
        (["block/float32/typical/contiguous", "--suite", "suite.yaml", "--dtype", "float16"], "stands in its id"),
        (["model.py::absent"], "has no attribute 'absent'"),
        (["model.py::nothing"], "returned int, expected (module, (input, ...))"),
        (["model.py::exits"], "model.py::exits: RuntimeError: it calls sys.exit(0)"),
        (["models.py::build"], "there is no file"),
        (["model.py::build", "--dtype", "int8"], "expected a float dtype"),
        (["model.py::build", "--timeout", "0"], "expected seconds > 0"),
        (["model.py::build", "--contract", "absent"], "absent"),
        (["model.py::build", "--backend", "absent"], "absent"),
    ],
)
def test_what_cannot_be_bisected_is_a_message(place: Path, words: list[str], message: str) -> None:
    backend = [] if "--backend" in words else ["--backend", "cpu"]
    told = conform_("bisect", *words, *backend)
    assert told.exit_code == 2, told.output
    assert message in told.output


@pytest.mark.parametrize(
    ("build", "message"),
    [
        ("exits_later", "module Exits cannot be exported: RuntimeError: it calls sys.exit('done')"),
        ("drops_out", "chance has a part in it (a module in training mode: call its eval() first)"),
    ],
)
def test_a_model_that_cannot_be_judged_is_no_model_that_is_right(place: Path, build: str, message: str) -> None:
    told = conform_("bisect", f"model.py::{build}", "--backend", "cpu")
    assert (told.exit_code, message in told.output) == (3, True), told.output


def test_errors_are_relative_and_classes_count() -> None:
    from conform.bisect.walk import relative_error
    from conform.interp.program.number import Number

    golden = Number.exact(np.array([3.0, -4.0], np.float32))
    assert relative_error(np.array([3.0, -4.0], np.float32), golden) == 0
    assert relative_error(np.array([3.0, -4.5], np.float32), golden) == pytest.approx(0.1)
    assert relative_error(np.array([3.0, np.nan], np.float32), golden) == np.inf
    nan = Number.exact(np.array([np.nan, np.inf], np.float32))
    assert relative_error(np.array([np.nan, np.inf], np.float32), nan) == 0
    assert relative_error(np.array([1.0, np.inf], np.float32), nan) == np.inf
    assert relative_error(np.array([1, 3]), Number.exact(np.array([1, 2]))) == 0.5
    assert relative_error(np.array([1e-300, 0]), Number.exact(np.array([0.0, 0.0]))) == np.inf
