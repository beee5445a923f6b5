"""What the ledger of I8 speaks of: which files make up the digest of an op."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from conform.domains.specs import spec_of
from conform.interp import semantics
from conform.selftest import green
from conform.selftest.agreement.agreement import WITNESSED_ELEMENTS, modules_of

ROOT = Path(green.__file__).parents[1]
EXP, MM = "aten::exp", "aten::mm"


@pytest.fixture
def fresh() -> Iterator[None]:
    """What is remembered of the files is forgotten, before and after."""
    remembering = [one for one in vars(green).values() if hasattr(one, "cache_clear")]
    for one in remembering:
        one.cache_clear()
    yield
    for one in remembering:
        one.cache_clear()


def changed(monkeypatch: pytest.MonkeyPatch, path: str) -> list[str]:
    """Which of two ops have another digest when the file has one more line."""
    before = {op: green.digest_of(op, modules_of(op)) for op in (EXP, MM)}
    (ROOT / path).read_bytes()  # it is there
    read_text, read_bytes = Path.read_text, Path.read_bytes
    monkeypatch.setattr(Path, "read_text", lambda self, **how: read_text(self, **how) + "#" * (self == ROOT / path))
    monkeypatch.setattr(Path, "read_bytes", lambda self: read_bytes(self) + b"#" * (self == ROOT / path))
    for one in vars(green).values():
        if hasattr(one, "cache_clear"):
            one.cache_clear()
    return [op for op in before if green.digest_of(op, modules_of(op)) != before[op]]


@pytest.mark.parametrize(
    ("path", "ops"),
    [
        ("interp/evaluate.py", [EXP, MM]),
        ("numerics/rounding.py", [EXP, MM]),
        ("numerics/functions/data/erf.npy", [EXP, MM]),
        ("refs/exact/tensor.py", [EXP, MM]),
        ("domains/engine/generator.py", [EXP, MM]),
        ("inputs/edges/functions.py", [EXP, MM]),
        ("selftest/agreement/compare.py", [EXP, MM]),
        ("numerics/matmul.py", [MM]),
        ("domains/contraction/matrices.py", [MM]),
        ("interp/ops/sorting/order.py", []),
        ("refs/fft/transforms.py", []),
        ("interp/stablehlo/checks.py", []),
        ("report/header.py", []),
        ("call/data/aliases.txt", []),
    ],
)
def test_a_file_counts_for_the_ops_that_it_is_part_of(
    fresh: None, monkeypatch: pytest.MonkeyPatch, path: str, ops: list[str]
) -> None:
    assert changed(monkeypatch, path) == ops


def test_the_schema_counts() -> None:
    modules = modules_of("aten::add.Tensor")
    assert green.digest_of("aten::add.Tensor", modules) != green.digest_of("aten::add.Scalar", modules)


def test_imports_are_those_that_python_sees() -> None:
    """They are read by a pattern, for to parse all files takes a second; here Python parses them."""
    checked = 0
    for room in ("domains", "inputs", "interp", "numerics", "refs", "selftest/agreement"):
        for path in (ROOT / room).rglob("*.py"):
            parts = ("conform", *path.relative_to(ROOT).with_suffix("").parts)
            module = ".".join(parts).removesuffix(".__init__")
            expected = set(imported(ast.parse(path.read_text(encoding="utf-8"))))
            assert green.imports(module) >= expected, module
            checked += len(expected)
    assert checked > 1000


def imported(tree: ast.AST) -> Iterator[str]:
    """Of the truth's modules."""
    for node in ast.walk(tree):
        names = [one.name for one in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names = [node.module, *(f"{node.module}.{name}" for name in names)]
        for name in names:
            parts = name.split(".")
            rooms = {"/".join(parts[1:2]), "/".join(parts[1:3])}
            stem = ROOT.joinpath(*parts[1:])
            is_module = stem.with_suffix(".py").is_file() or (stem / "__init__.py").is_file()
            if parts[0] == "conform" and len(parts) > 1 and is_module and rooms & set(green._OF_TRUTH):
                yield name


def test_i8_is_known_to_hold_for_every_op_that_ships() -> None:
    known = green.known(green.shipped())
    unknown = sorted(set(semantics.names()) - set(known))
    assert not unknown, "python tools/i8_figure.py compares what has changed"


def test_what_is_shipped_is_whole() -> None:
    """Of what it knows it names the modules, and enough elements of every dtype."""
    for op, told in green.shipped().items():
        assert told["modules"] == modules_of(op)
        assert set(told["elements"]) == set(spec_of(op).dtypes)
        assert min(told["elements"].values()) >= WITNESSED_ELEMENTS
    assert set(green.shipped()) <= set(semantics.names())
