"""Every guarantee that the package states is numbered in order and names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import conform.numerics as numerics

TESTS = Path(__file__).parent.parent
ENTRY = re.compile(r"^ ?(\d+)\. (.*?)(?=^ ?\d+\. |\Z)", re.MULTILINE | re.DOTALL)


def test_every_guarantee_names_its_tests() -> None:
    guarantees = {int(number): text for number, text in ENTRY.findall(numerics.__doc__ or "")}
    assert list(guarantees) == list(range(1, len(guarantees) + 1))
    for number, text in guarantees.items():
        named = re.findall(r"^ {8}(\S+\.py)::(\w+)$", text, re.MULTILINE)
        assert named, f"guarantee {number} names no test"
        for file, test in named:
            tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
            found = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            assert test in found, f"guarantee {number}: no {test} in {file}"
