"""What bounds over many terms hide: the table of docs/contracts.md, and a share of it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from conform.selftest.plants import lengths

ROOT = Path(__file__).parents[3]


@pytest.fixture(name="kills")
def _kills(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(lengths, "LONG", lengths.LONG)  # which the table changes
    found = importlib.util.spec_from_file_location("kills", ROOT / "benchmarks" / "kills.py")
    module = importlib.util.module_from_spec(found)
    monkeypatch.setitem(sys.modules, "kills", module)
    found.loader.exec_module(module)
    return module


def test_in_float32_everything_shows_at_4096_terms(kills: ModuleType) -> None:
    wrong = [one for one in kills.WRONG if "float32" in one.dtypes]
    shown = {(one.words, one.op): kills.shown_by(one, "float32", 4096) for one in wrong}
    assert [wrong for wrong, by in shown.items() if by == "-"] == []
    assert shown["factors cut to TF32", "aten::mm"] == "one_hot"
    assert shown["last term dropped", "aten::sum.dim_IntList"] == "exact"
    assert shown["n - 1 for n", "aten::var.correction"] == "likely"
    assert shown["single pass", "aten::var.correction"] == "shifted"
    assert shown["weights in bfloat16", "aten::scaled_dot_product_attention"] == "structured"


@pytest.mark.long
def test_the_page_has_the_table(kills: ModuleType) -> None:
    assert kills.table() in kills.PAGE.read_text(encoding="utf-8")
