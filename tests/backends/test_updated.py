"""What a call leaves in arguments that no result shows, and a module in its buffers: kernels that do it wrong fail."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import torch

import conform
from conform.backends.torch_device import TorchDevice, overload
from conform.report.failure import place

OPS = ["aten::batch_norm", "aten::native_batch_norm", "aten::_native_batch_norm_legit", "aten::instance_norm"]
MODULE = "nn_BatchNorm1d_that_moves_statistics/float32/typical/contiguous"


class Kernel(TorchDevice):
    """Computes as torch does, and leaves in the running statistics what `left` makes of them, before and after."""

    name = "kernel"

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        statistics = [one for one in args[3:5] if one is not None]
        before = [one.clone() for one in statistics]
        result = overload(op)(*args, **kwargs)
        if args[5]:
            self.leave(statistics, before, args[6])
        return result

    def leave(self, statistics: list[torch.Tensor], before: list[torch.Tensor], momentum: float) -> None:
        """What torch leaves is right."""


class NotMoved(Kernel):
    def leave(self, statistics: list[torch.Tensor], before: list[torch.Tensor], momentum: float) -> None:
        for one, was in zip(statistics, before, strict=True):
            one.copy_(was)


class SharesSwapped(Kernel):
    """(1 - momentum) of the batch and momentum of what was."""

    def leave(self, statistics: list[torch.Tensor], before: list[torch.Tensor], momentum: float) -> None:
        for one, was in zip(statistics, before, strict=True):
            batch = (one - (1 - momentum) * was) / momentum if momentum else was
            one.copy_((1 - momentum) * batch + momentum * was)


class FillsGaps(Kernel):
    def leave(self, statistics: list[torch.Tensor], before: list[torch.Tensor], momentum: float) -> None:
        for one in statistics:
            left = one.clone()
            torch.as_strided(one, (one.untyped_storage().nbytes() // one.itemsize,), (1,), 0).zero_()
            one.copy_(left)


class MovesAlways(Kernel):
    """Without training, too."""

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = overload(op)(*args, **kwargs)
        for one in [] if args[5] else args[3:5]:
            one.mul_(0.5)
        return result


IDS = ["*_that_moves_*/float32/typical/*", "*/dtype_float32/float32/typical/contiguous"]


@cache
def cases(kernel: type) -> list[dict[str, Any]]:
    """Of every op, in training and without it."""
    found = conform.check("core", backend=kernel, ops=OPS, ids=IDS).record["cases"]
    return [one for one in found if one["op"] in OPS]


def test_what_torch_leaves_is_right() -> None:
    assert {(one["op"], one["status"]) for one in cases(Kernel)} == {(op, "pass") for op in OPS}


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (NotMoved, "error above the bound"), (SharesSwapped, "error above the bound"),
        (FillsGaps, "the backend wrote outside the tensors it was given"),
        (MovesAlways, "the backend changed its input tensor"),
    ],
)  # fmt: skip
def test_what_is_left_otherwise_fails(op: str, kernel: type, reason: str) -> None:
    found = [one for one in cases(kernel) if (one["op"], one["status"]) == (op, "fail")]
    assert any(one["reason"].startswith(reason) for one in found)
    wrong = {place(one["worst"]).partition(",")[0] for one in found if one["reason"] == "error above the bound"}
    assert wrong <= {"running_mean after the call", "running_var after the call"}


class RefusesLate(Kernel):
    """Refuses an input of rank 1 when the statistics have been moved."""

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if args[0].ndim < 2 and args[3] is not None:
            args[3].add_(1)
        return super().run(op, args, kwargs)


def test_a_call_that_is_refused_changes_nothing(tmp_path: Any) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_text("""
tests:
  - id: flat
    op: aten::native_batch_norm
    in: [{ref: four}, {ref: none}, {ref: none}, {ref: four}, {ref: four}, {ref: yes}, {ref: half}, {ref: half}]
  - id: rows
    op: aten::native_batch_norm
    in: [{ref: rows}, {ref: none}, {ref: none}, {ref: four}, {ref: four}, {ref: yes}, {ref: half}, {ref: half}]
presets:
  yes: {type: const, value: true}
  half: {type: const, value: 0.5}
  rows: {type: tensor, shape: [3, 4], dtype: float32}
  none: {type: const, value: null}
  four: {type: tensor, shape: [4], dtype: float32}
""")
    ends = {}
    for kernel in (Kernel, RefusesLate):
        found = conform.check(str(suite), backend=kernel, checks="refusal,accuracy", values="typical").record["cases"]
        (case,) = (one for one in found if one["test"] == "flat")
        ends[kernel] = case["status"], case["reason"]
    assert ends == {Kernel: ("pass", None), RefusesLate: ("fail", "the backend changed its input tensor 1")}


# --- Modules ----------------------------------------------------------------------------------------------------------


class OfModules(TorchDevice):
    name = "modules"

    def run_module(self, module: torch.nn.Module, args: list[Any], kwargs: dict[str, Any]) -> Any:
        with torch.no_grad():
            return self.ran(module, lambda: module(*args, **kwargs))

    def ran(self, module: torch.nn.Module, call: Callable[[], Any]) -> Any:
        return call()


class InEvaluation(OfModules):
    """By the batch's own statistics, but moves none."""

    def ran(self, module: torch.nn.Module, call: Callable[[], Any]) -> Any:
        before = {name: one.clone() for name, one in module.named_buffers()}
        result = call()
        for name, one in module.named_buffers():
            one.copy_(before[name])
        return result


class Uncounted(OfModules):
    """Does not count the batches."""

    def ran(self, module: torch.nn.Module, call: Callable[[], Any]) -> Any:
        result = call()
        module.module.num_batches_tracked.zero_()
        return result


class WithoutBuffers(OfModules):
    def ran(self, module: torch.nn.Module, call: Callable[[], Any]) -> Any:
        result = call()
        del module.module.running_mean
        return result


@pytest.mark.parametrize(
    ("backend", "status", "reason", "holder"),
    [
        (OfModules, "pass", None, None), (InEvaluation, "fail", "wrong value", "module.num_batches_tracked"),
        (Uncounted, "fail", "wrong value", "module.num_batches_tracked"),
        (WithoutBuffers, "error", "AttributeError: BatchNorm1d has no attribute `running_mean`", None),
    ],
)  # fmt: skip
def test_what_a_module_leaves_in_its_buffers(
    backend: type, status: str, reason: str | None, holder: str | None
) -> None:
    (case,) = conform.check("modules", backend=backend, ids=[MODULE]).record["cases"]
    assert (case["status"], case["reason"]) == (status, reason)
    assert holder is None or case["worst"]["holder"] == holder
