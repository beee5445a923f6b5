"""Scripts of failures in what is written into arguments: they show it by torch alone (docs/torch-cpu.md)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.repro.test_repro import run

pytestmark = pytest.mark.one_in(6)

SUITE = """
presets:
  some: {type: tuple, elems: [{type: tensor, shape: [3], dtype: float32},
                              {type: tensor, shape: [2, 3], dtype: float32}]}
tests:
  - id: pad
    op: aten::replication_pad2d.out
    in: [{type: tensor, shape: [1, 2, 2], dtype: float32}, {type: const, value: [1, 1, 1, 1]}]
    kwargs: {out: {type: tensor, shape: [1, 4, 4], dtype: float32}}
  - id: softmax
    op: aten::_softmax.out
    in: [{type: tensor, shape: [2, 2], dtype: float32}, {type: const, value: 1}, {type: const, value: false}]
    kwargs: {out: {type: tensor, shape: [2, 2], dtype: float32}}
  - id: sgd
    op: aten::_fused_sgd_
    in: [{ref: some}, {ref: some}, {type: const, value: []}]
    kwargs: {weight_decay: {type: const, value: 0.0}, momentum: {type: const, value: 0.0},
             lr: {type: const, value: 1.0}, dampening: {type: const, value: 0.0}, nesterov: {type: const, value: false},
             maximize: {type: const, value: false}, is_first_step: {type: const, value: false}}
"""


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("suite.yaml").write_text(SUITE)
    assert run("check", "suite.yaml", "--backend", "cpu", "--layouts", "all", "--out", "out")[0] == 1


@pytest.mark.parametrize(("case_id", "part", "shown"), [
    ("pad/float32/typical/strided.1", "memory(", "out before [nan, nan,"),
    ("pad/float32/typical/transposed.1", "held = out.as_strided", "but what is returned is"),
    ("softmax/float32/typical/transposed.1", "held = out.as_strided", "differs"),
    ("sgd/float32/typical/transposed.3", "held = self_1.as_strided", "differs"),
])  # fmt: skip
@pytest.mark.usefixtures("checked")
def test_it_shows_what_is_written(case_id: str, part: str, shown: str) -> None:
    code, text, told = run("repro", case_id, "--run", "out")
    assert code == 0, told
    assert part in text
    Path("script.py").write_text(text)
    ended = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1, ended.stdout
    assert shown in ended.stdout
