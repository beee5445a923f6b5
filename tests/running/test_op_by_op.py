"""Backends that keep every intermediate: what their declaration is worth, and which defects only it shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import conform
from conform.bisect.subject import subject_of
from conform.frontends.steps import sent, steps_of
from conform.frontends.torch_export import program_of

pytestmark = pytest.mark.one_in(6)

HERE = Path(__file__).parent
MODELS = HERE.parents[1] / "examples" / "models"
ENCODER, GPT = "transformer.py::build", "gpt.py::build"


def backend(name: str = "Keeping", **options: Any) -> str:
    given = ", ".join(f"{key}={value!r}" for key, value in options.items())
    return f"{HERE / 'keeping.py'}::{name}({given})"


def end(module: nn.Module, args: Any, backend: str) -> dict[str, Any]:
    (case,) = conform.check(module, args, backend=backend).cases
    return case


def of_model(build: str, dtype: str, backend: str) -> dict[str, Any]:
    subject = subject_of(str(MODELS / build), (), 0, dtype)
    return end(subject.module.module, tuple(subject.args), backend)


# --- Defects in models ------------------------------------------------------------------------------------------------

# Of each that the bound of the module as a whole does not show: the operator and the line that are named.
HIDDEN = [
    (ENCODER, "float32", "eps", "aten::native_layer_norm (normalization.py"),
    (ENCODER, "float32", "tf32", "aten::addmm (activation.py"),
    (ENCODER, "bfloat16", "eps", "aten::native_layer_norm (normalization.py"),
    (ENCODER, "bfloat16", "half sums", "aten::addmm (linear.py"),
    (GPT, "bfloat16", "eps", "aten::native_layer_norm (gpt.py"),
    (GPT, "bfloat16", "half sums", "aten::addmm (gpt.py"),
    ("llama.py::build", "float32", "eps of variances", "aten::add.Scalar (llama.py"),
    ("llama.py::build", "bfloat16", "eps of variances", "aten::add.Scalar (llama.py"),
    ("resnet.py::build", "bfloat16", "eps of batches", "aten::_native_batch_norm_legit_no_training (resnet.py"),
]
DAILY = (0,)


@pytest.mark.parametrize(
    ("build", "dtype", "plant", "named"),
    [one if at in DAILY else pytest.param(*one, marks=pytest.mark.long) for at, one in enumerate(HIDDEN)],
)
def test_a_defect_that_hides_in_the_whole_shows_in_its_operator(build: str, dtype: str, plant: str, named: str) -> None:
    assert of_model(build, dtype, backend(plant=plant, keeps=False))["status"] == "pass"
    found = of_model(build, dtype, backend(plant=plant))
    assert found["status"] == "fail"
    assert f", in {named}" in found["reason"]
    assert found["reason"].endswith(" by itself")


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("build", [ENCODER, GPT, "llama.py::build", "resnet.py::build", "mixture.py::build"])
def test_what_rounds_each_result_once_passes(build: str, dtype: str) -> None:
    found = of_model(build, dtype, backend())
    assert (found["status"], found["reason"]) == ("pass", None)
    assert found["vacuous"] < 0.01 * found["compared"]


# --- What decides -----------------------------------------------------------------------------------------------------


class Cancels(nn.Module):
    """As a whole nothing bounds it: 0, and errors of the size of an ulp of 3 x."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 3.0 - x * 3.0


X = torch.tensor([[0.1, 0.2, 0.7]])


@pytest.mark.parametrize(
    ("options", "status", "reason"),
    [
        ({}, "pass", None),
        ({"whole": "a little more"}, "unjudged", "the bound is vacuous: none, or beyond 1e-2 of the scale"),
        ({"steps": "unsupported"}, "unjudged", "the bound is vacuous: none, or beyond 1e-2 of the scale"),
        ({"steps": "abort"}, "crash", "SIGABRT (Aborted), of its operators one by one"),
        ({"steps": "shorter"}, "fail", "output 0: None instead of a tensor, in aten::sub.Tensor"),
        ({"steps": "wider"}, "fail", "output 0: shape [2, 3] instead of [1, 3], in aten::mul.Tensor"),
    ],
)
def test_a_module_that_cannot_be_judged_as_a_whole(options: dict[str, str], status: str, reason: str | None) -> None:
    """It passes if each operator does, and what it gives is what the last of them gives."""
    found = end(Cancels(), (X,), backend("Split", **options))
    assert found["status"] == status
    assert (found["reason"] or "").startswith(reason or "")


def test_what_a_backend_does_not_declare_it_is_not_asked() -> None:
    assert end(Cancels(), (X,), backend(keeps=False))["status"] == "unjudged"
    assert end(nn.Linear(3, 2).eval(), (X,), backend("Split", steps="unsupported"))["status"] == "pass"


def test_a_manifest_declares_it_too(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text('claims: [{op: "*"}]\narithmetic: {keeps_intermediates: true}\n')
    run = conform.check(Cancels(), (X,), backend="cpu", manifest=str(tmp_path / "m.yaml"))
    assert [case["status"] for case in run.cases] == ["pass"]
    assert run.record["backend"]["keeps_intermediates"] is True


# --- The call ---------------------------------------------------------------------------------------------------------


class Many(nn.Module):
    """Operators of several outputs, of lists, of none; constants, integers, nests of arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.arange(12.0).reshape(3, 4))

    def forward(self, given: dict[str, Any], *, by: float) -> dict[str, torch.Tensor]:
        values, places = given["x"].topk(2, dim=-1)
        first, second = given["x"].split(2, dim=-1)
        rows = torch.nn.functional.embedding(places % 3, self.table)
        return {"a": rows * by, "b": torch.cat([first, values, second]), "c": torch.arange(3) + places.amax()}


def test_each_result_comes_back_once() -> None:
    given = {"x": torch.tensor([[0.5, 3.0, -1.0, 2.0]])}
    arrays = {"x": given["x"].numpy()}
    program = program_of(Many(), None, [arrays], {"by": 0.5}, of_kernels=True)
    names = [value.name for op in steps_of(program) for value in op.results if value is not None]
    assert len(names) == len(set(names))
    import pickle

    made = pickle.loads(sent(program, "Many", [arrays], {"by": 0.5}).module)(given, by=0.5)
    assert len(made) == len(names)
    expected = Many()(given, by=0.5)
    by_name = dict(zip(names, made, strict=True))
    for name, key in zip(program.function.results, "abc", strict=True):
        assert torch.equal(by_name[name], expected[key])


def test_a_module_of_many_kinds_of_operators_passes() -> None:
    run = conform.check(Many(), ([{"x": torch.tensor([[0.5, 3.0, -1.0, 2.0]])}], {"by": 0.5})[0], {"by": 0.5},
                        backend=backend())  # fmt: skip
    assert [(case["status"], case["reason"]) for case in run.cases] == [("pass", None)]
