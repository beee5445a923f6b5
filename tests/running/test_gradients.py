"""Cases that ask for gradients: what is asked, wrong ones are caught, and honest ones pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import conform
from conform.backends.torch_device import TorchDevice
from conform.report.record import Run

pytestmark = pytest.mark.one_in(6)

SUITE = str(Path(__file__).with_name("gradients.yaml"))
Defect = Callable[[list[Any], list[Any], Sequence[Any]], Sequence[Any]]


class Planted(TorchDevice):
    """torch on the CPU, of whose gradients `defect` makes others."""

    name = "planted"

    def __init__(self, defect: Defect) -> None:
        super().__init__("cpu")
        self.defect = defect

    def gradients(
        self, op: str, args: list[Any], kwargs: dict[str, Any], cotangents: Sequence[Any], wanted: Sequence[int]
    ) -> Sequence[Any]:
        return self.defect(list(super().gradients(op, args, kwargs, cotangents, wanted)), args, cotangents)


def run(backend: Any, test: str = "*", **options: Any) -> Run:
    return conform.check([SUITE], backend, ids=[f"{test}/*/gradients"], gradients=True, **options)


def ends(run: Run) -> dict[str, tuple[str, str | None]]:
    """By test, how its case ended."""
    return {case["test"]: (case["status"], case["reason"]) for case in run.cases}


def _of_tanh_gelu(x: torch.Tensor, g: torch.Tensor) -> Sequence[torch.Tensor]:
    leaf = x.requires_grad_()
    with torch.enable_grad():
        return torch.autograd.grad(torch.nn.functional.gelu(leaf, approximate="tanh"), leaf, g)


# By name: the test, the defect of (gradients, args, cotangents), and what is said of it.
DEFECTS: dict[str, tuple[str, Defect, str]] = {
    "a factor dropped": ("exp", lambda f, a, g: g, "gradient of self: error above the bound"),
    "the sign": ("cos", lambda f, a, g: [-f[0]], "gradient of self: error above the bound"),
    "the other operand's": ("mul", lambda f, a, g: f[::-1], ": error above the bound"),
    "no sum over what was broadcast": (
        "add", lambda f, a, g: [f[0], g[0]], "gradient of self, other: output 1: shape [5, 7] instead of [7]",
    ),
    "one term of a sum missing": ("add", lambda f, a, g: [f[0], f[1] - g[0][0]], "gradient of other: error above"),
    "a detached operand": ("mul", lambda f, a, g: [f[0], torch.zeros_like(f[1])], "gradient of other: error above"),
    "no gradient of an operand": ("mul", lambda f, a, g: [f[0], None], "output 1: None instead of a tensor"),
    "one operand forgotten": ("mul", lambda f, a, g: f[:1], "1 outputs instead of 2"),
    "another dtype": ("exp", lambda f, a, g: [f[0].double()], "dtype float64 instead of float32"),
    "transposed": ("mm", lambda f, a, g: [f[0].t(), f[1]], "gradient of self: error above the bound"),
    "tanh's gelu for that of erf's": (
        "gelu", lambda f, a, g: _of_tanh_gelu(a[0].detach(), g[0]), "error above the bound",
    ),
    "1 for 0 below a kink": ("relu", lambda f, a, g: g, "gradient of self: error above the bound"),
    "a mean without its n": ("mean", lambda f, a, g: [g[0].expand(5, 7)], "error above the bound"),
    "softmax without what couples its elements": (
        "softmax", lambda f, a, g: [g[0] * torch.softmax(a[0], 1)], "error above the bound",
    ),
    "the tensors of a list exchanged": ("cat", lambda f, a, g: f[::-1], "gradient of tensors["),
    "to every element of the line": ("amax", lambda f, a, g: [g[0][:, None].expand(5, 7)], "error above the bound"),
    "in the order that it was": ("sort", lambda f, a, g: g[:1], "gradient of self: error above the bound"),
    "no mean subtracted": (
        "layer_norm", lambda f, a, g: [f[0] + f[0].abs().mean() * 1e-3, *f[1:]], "gradient of input: error above",
    ),
    "a cotangent changed": ("exp", lambda f, a, g: [f[0], g[0].mul_(2)][:1], "the backend changed its input tensor 1"),
    "an operand changed": ("exp", lambda f, a, g: [f[0], a[0].detach().mul_(2)][:1], "changed its input tensor 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", DEFECTS)
def test_a_planted_gradient_is_caught(name: str) -> None:
    test, defect, reason = DEFECTS[name]
    status, found = ends(run(Planted(defect), test))[test]
    assert status == "fail"
    assert reason in found


def no_defect(found: list[Any], args: list[Any], cotangents: Sequence[Any]) -> Sequence[Any]:
    return found


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_torch_passes(dtype: str) -> None:
    """Of eq, whose results are bools, nothing is asked; of digamma the kit has no gradient. What does not pass is known
    (docs/torch-cpu.md): gelu's erf in float32, and what norms add up in the half types."""
    found = ends(run(Planted(no_defect), dtypes=[dtype]))
    assert found.pop("digamma") == ("unjudged", "no gradient of aten::digamma")
    known = {"float32": {"gelu"}, "bfloat16": {"layer_norm"}, "float16": {"layer_norm"}}.get(dtype, set())
    others = {test: reason for test, (status, reason) in found.items() if status != "pass"}
    assert others.keys() <= known, others
    assert all("error above the bound" in reason for reason in others.values())
    assert len(found) == 13


def test_the_interpreter_passes() -> None:
    assert {status for status, _ in ends(run("self")).values()} == {"pass", "unjudged"}


class Kernels(conform.Backend):
    """One composition of torch's operators, one kernel that numpy computes, and one that is detached."""

    name = "kernels"

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if op == "aten::exp":
            return torch.exp2(args[0].double() * np.log2(np.e)).float()
        if op == "aten::cos":
            return torch.from_numpy(np.cos(args[0].numpy()))
        if op == "aten::relu":
            return args[0].detach().relu()
        raise conform.Unsupported("only three are done")


def test_kernels_without_a_graph_are_unsupported() -> None:
    found = ends(run(Kernels()))
    assert found["exp"] == ("pass", None)
    assert found["cos"][0] == "unsupported"
    assert found["cos"][1].startswith("no graph of autograd: RuntimeError: Can't call numpy() on Tensor that requires")
    assert found["relu"] == ("unsupported", "no output carries a graph of autograd")
    assert found["mul"] == ("unsupported", "only three are done")


class Raising(TorchDevice):
    name = "raising"

    def gradients(self, op: str, *rest: Any) -> Any:
        raise RuntimeError("no kernel of mine")


def test_what_a_backend_raises_is_an_error() -> None:
    status, reason = ends(run(Raising(), "exp"))["exp"]
    assert status == "error"
    assert reason.startswith("RuntimeError: no kernel of mine (in gradients, test_gradients.py")


def test_the_record_says_whose_gradient_is_the_worst() -> None:
    (case,) = run(Planted(DEFECTS["a detached operand"][1]), "mul").cases
    assert (case["id"], case["gradient"]) == ("mul/float32/typical/contiguous/gradients", "other")
    assert case["worst"]["inputs"][-1]["name"] == "cotangent"
    assert case["contract"]["source"].startswith("of a gradient: the running errors")


def test_nothing_is_asked_without_the_option() -> None:
    with pytest.raises(conform.UsageError, match="matches no case"):
        conform.check([SUITE], "cpu", ids=["*/gradients"])


def test_the_references_confirm_no_gradient() -> None:
    found = ends(run("cpu", oracle="refs", ops="aten::exp"))
    assert found == {"exp": ("unjudged", "the references have no gradients")}


def test_another_device_gets_leaves_of_its_own() -> None:
    """cpu:0 is no other device, but goes the way of one: all tensors are moved there, and gradients come back."""
    found = ends(run("cpu:0", "m*"))
    assert found == {"mean": ("pass", None), "mm": ("pass", None), "mul": ("pass", None)}
