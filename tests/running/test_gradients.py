"""Cases that ask for gradients: what is asked, wrong ones are caught, and honest ones pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch

import conform
from conform.backends.torch_device import TorchDevice
from conform.report.record import Run

ENDING = "/gradients"


class Planted(TorchDevice):
    """torch on the CPU, of whose gradients `defect` makes others."""

    name = "planted"

    def __init__(self, defect: Callable[..., Any] | None = None) -> None:
        super().__init__("cpu")
        self.defect = defect

    def gradients(
        self, op: str, args: list[Any], kwargs: dict[str, Any], cotangents: Sequence[Any], wanted: Sequence[int]
    ) -> Sequence[Any]:
        found = super().gradients(op, args, kwargs, cotangents, wanted)
        return found if self.defect is None else self.defect(found, args, cotangents)


def run(op: str, defect: Callable[..., Any] | None, dtype: str = "float32", **options: Any) -> Run:
    return conform.check(
        "core", Planted(defect), ops=op, dtypes=[dtype], ids=[options.pop("ids", f"*{ENDING}")], gradients=True, **options
    )  # fmt: skip


def statuses(run: Run) -> set[str]:
    return {case["status"] for case in run.cases}


# op, case, the defect of (gradients, args, cotangents), and what is said of it
def _first(change: Callable[..., Any]) -> Callable[..., Any]:
    return lambda found, args, cotangents: [change(found, args, cotangents), *found[1:]]


DEFECTS = {
    "a factor dropped": ("aten::exp", "exp_float/*", _first(lambda f, a, g: g[0]), "error above the bound"),
    "the sign": ("aten::cos", "cos_float/*", _first(lambda f, a, g: -f[0]), "error above the bound"),
    "the other operand's": (
        "aten::mul.Tensor", "mul.Tensor/size_31/*", lambda f, a, g: f[::-1], "error above the bound",
    ),
    "no sum over what was broadcast": (
        "aten::add.Tensor", "add_broadcast/*", lambda f, a, g: [f[0], g[0]], "shape",
    ),
    "one term of a sum missing": (
        "aten::add.Tensor", "add_broadcast/*", lambda f, a, g: [f[0], f[1] - g[0][0].expand_as(f[1]) * 0.5],
        "error above the bound",
    ),
    "a detached operand": (
        "aten::mul.Tensor", "mul.Tensor/size_31/*", lambda f, a, g: [f[0], torch.zeros_like(f[1])],
        "error above the bound",
    ),
    "no gradient of an operand": (
        "aten::mul.Tensor", "mul.Tensor/size_31/*", lambda f, a, g: [f[0], None], "None instead of a tensor",
    ),
    "another dtype": ("aten::exp", "exp_float/*", _first(lambda f, a, g: f[0].double()), "dtype"),
    "transposed": (
        "aten::mm", "mm_float/*", lambda f, a, g: [f[0].t().contiguous().reshape(f[0].shape), f[1]],
        "error above the bound",
    ),
    "tanh's gelu for that of erf's": (
        "aten::gelu", "gelu_float/*",
        _first(lambda f, a, g: torch.ops.aten.gelu_backward(g[0], a[0], approximate="tanh")), "error above the bound",
    ),
    "a mean without its n": ("aten::mean", "mean.default/*", _first(lambda f, a, g: g[0].expand_as(a[0])), "above"),
    "a cotangent changed": (
        "aten::exp", "exp_float/*", lambda f, a, g: [f[0], g[0].mul_(2)][:1], "changed its input tensor 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DEFECTS)
def test_a_planted_gradient_is_caught(name: str) -> None:
    op, ids, defect, reason = DEFECTS[name]
    found = run(op, defect, ids=f"{ids}{ENDING}")
    assert found.cases
    assert statuses(found) == {"fail"}
    assert all(reason in case["reason"] for case in found.cases), found.cases[0]["reason"]


HONEST = ("aten::exp", "aten::mul.Tensor", "aten::sum.dim_IntList", "aten::mm", "aten::_softmax", "aten::cat")


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_torch_passes(dtype: str) -> None:
    found = conform.check("smoke", "cpu", ops=HONEST, dtypes=[dtype], ids=[f"*{ENDING}"], gradients=True)
    assert statuses(found) == {"pass"}, [case for case in found.cases if case["status"] != "pass"]
    assert len({case["op"] for case in found.cases}) == 4
