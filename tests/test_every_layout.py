"""One case a layout, from the suite to the record: right backends pass all of them, and who ignores one thing about
memory fails where that shows, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import conform
from conform.backends import TorchDevice

SUITE = """
tests:
- id: t
  op: aten::mul
  in: [{type: tensor, shape: [3, 4], dtype: float32}, {type: tensor, shape: [4], dtype: float32}]
"""


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("s.yaml").write_text(SUITE)
    return "s.yaml"


def statuses(suite: str, backend: object) -> dict[str, str]:
    run = conform.check(suite, backend=backend, layouts="all", seed=1)
    return {case["layout"]: case["status"] for case in run.cases}


ALL = [
    "contiguous", "expanded.0", "expanded.1", "offset.0", "offset.1", "strided.0", "strided.1", "transposed.0",
]  # fmt: skip


class Dense(TorchDevice):
    """Reads every tensor as if its elements lay one behind the other, from the storage's first on."""

    name = "dense"
    keeps_strides = keeps_offset = False

    def __init__(self) -> None:
        super().__init__("cpu")

    def run(self, op: str, args: list, kwargs: dict) -> object:
        return super().run(op, [self.misread(tensor) for tensor in args], kwargs)

    def misread(self, tensor: torch.Tensor) -> torch.Tensor:
        strides = tensor.stride() if self.keeps_strides else torch.empty(tensor.shape).stride()
        offset = tensor.storage_offset() if self.keeps_offset else 0
        storage = tensor.untyped_storage()
        needed = offset + sum((size - 1) * step for size, step in zip(tensor.shape, strides, strict=True)) + 1
        if 4 * needed > len(storage):
            return torch.zeros(tensor.shape)
        return torch.as_strided(tensor, tensor.shape, strides, offset)


class IgnoresStrides(Dense):
    keeps_offset = True


class IgnoresOffset(Dense):
    keeps_strides = True


def test_what_is_right_passes_every_layout(suite: str) -> None:
    """What is expanded has other values than the rest, and so a golden of its own."""
    assert statuses(suite, "self") == dict.fromkeys(ALL, "pass")


@pytest.mark.parametrize(
    ("backend", "failing"),
    [
        (IgnoresStrides, {"transposed.0", "expanded.0", "strided.0", "expanded.1", "strided.1"}),
        (IgnoresOffset, {"offset.0", "offset.1"}),
    ],
)
def test_who_ignores_a_part_of_the_layout_fails_there(suite: str, backend: type[Dense], failing: set[str]) -> None:
    found = statuses(suite, backend)
    assert {layout for layout, status in found.items() if status != "pass"} == failing
    assert list(found) == ALL


def test_the_default_run_of_a_built_in_suite_has_every_layout() -> None:
    run = conform.check("smoke", backend="self", ops=["aten::add.Tensor"], dtypes=["float32"])
    kinds = {case["layout"].partition(".")[0] for case in run.cases}
    assert kinds == {"contiguous", "transposed", "expanded", "strided", "offset"}
    assert {case["status"] for case in run.cases} == {"pass"}


def test_the_first_case_s_result_is_wrong_where_tensors_are_expanded_and_nowhere_else(suite: str) -> None:
    first: list[torch.Tensor] = []

    def run(op: str, args: list, kwargs: dict) -> torch.Tensor:
        first.append(args[0] * args[1])
        return first[0].clone()

    found = statuses(suite, run)
    assert {layout for layout, status in found.items() if status != "pass"} == {"expanded.0", "expanded.1"}
