"""Specs come family by family, in the order of the list of families, whatever was imported before they were asked for.

The suites that are made from them, and what `conform gen` writes, have this order.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ORDER = "from conform.domains.specs import specs; print(*(one.name for one in specs()))"


@cache
def names_after(statement: str) -> list[str]:
    """The specs in a fresh interpreter after `statement`."""
    words = [sys.executable, "-c", f"{statement}\n{ORDER}"]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize(
    "statement",
    ["from conform import kit; kit.load()", "import conform.domains.sorting, conform.domains.attention"],
)
def test_the_order_of_imports_does_not_show(statement: str) -> None:
    first = names_after("pass")
    assert names_after(statement) == first
    assert first[0] == "aten::add.Tensor"
    assert first.index("aten::add.Tensor") < first.index("aten::exp") < first.index("aten::sort")
