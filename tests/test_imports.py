"""Data flows one way: imports are those that the table of docs/architecture.md allows; nothing heavy loads early."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "conform").rglob("*.py"))


DISTRIBUTIONS = {  # those of another name
    "iree": "iree-base-compiler", "flint": "python-flint", "yaml": "pyyaml", "pydantic_core": "pydantic",
}  # fmt: skip


@cache
def table() -> dict[str, set[str]]:
    """Each room's modules, as a path, with what it may import."""
    rows = re.findall(
        r"^\| `(conform/[^`]+)` \| .* \| ([^|]+) \|$", (ROOT / "docs/architecture.md").read_text(), re.MULTILINE
    )
    return {room: {_module(name) for name in allowed.split(", ")} for room, allowed in rows}


def _module(name: str) -> str:
    own = (ROOT / "conform" / name.replace(".", "/")).with_suffix(".py").exists() or (
        ROOT / "conform" / name.replace(".", "/")
    ).is_dir()
    return f"conform.{name}" if own else name


@cache
def imports(path: Path) -> set[str]:
    """The modules that a file imports anywhere, but for those of the standard library and for type checkers alone."""
    found = set()
    for node in _executed(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            found |= (
                {f"conform.{alias.name}" for alias in node.names} if node.module == "conform" else {str(node.module)}
            )
    return {name for name in found if name.partition(".")[0] not in sys.stdlib_module_names}


def _executed(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return []
    return [node, *(inner for child in ast.iter_child_nodes(node) for inner in _executed(child))]


@cache
def room_of(path: Path) -> str:
    """The row of the table that speaks of a file: the longest that begins its path."""
    name = path.relative_to(ROOT).as_posix()
    rooms = [room for room in table() if name == room or name.startswith(room) and room.endswith("/")]
    return max(rooms, key=len, default="")


def _is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def test_the_table_has_every_folder() -> None:
    folders = {f"conform/{path.name}/" for path in (ROOT / "conform").iterdir() if (path / "__init__.py").exists()}
    assert folders <= set(table())


def test_a_room_imports_what_the_table_allows() -> None:
    """In one test: each process of the tests would read all files."""
    forbidden = [found for room in table() for found in beyond_the_table(room)]
    assert not forbidden, "\n".join(forbidden)


def beyond_the_table(room: str) -> list[str]:
    own = room.removesuffix("/").removesuffix(".py").replace("/", ".")
    allowed = table()[room] | {own}
    files = [path for path in FILES if room_of(path) == room]
    assert files, f"{room} is not there"
    return [
        f"{path.relative_to(ROOT)} imports {module}"
        for path in files
        for module in sorted(imports(path))
        if "all" not in allowed and not any(_is_within(module, package) for package in allowed)
    ]


def test_the_references_share_nothing_with_the_interpreter() -> None:
    """Said by the table too; this is what I8 rests on, so it is said twice."""
    inside = {module for path in FILES if room_of(path) == "conform/refs/" for module in imports(path)}
    assert all(_is_within(module, "conform.refs") for module in inside if module.startswith("conform."))
    assert {module for module in inside if not module.startswith("conform.")} <= {"flint"}


def test_what_is_imported_is_a_dependency() -> None:
    """pytest is not: it loads `conform/pytest_plugin.py` itself, where there is one."""
    text = (ROOT / "pyproject.toml").read_text()
    extras = "dependencies|stablehlo|iree|onnx|certify|sigstore|ray"
    sections = re.findall(rf"\n(?:{extras}) = \[\n(.*?)\n\](?=\n)", text, re.DOTALL)
    declared = set(re.findall(r'^    "([\w-]+)', "\n".join(sections), re.MULTILINE))
    imported = {module.partition(".")[0] for path in FILES for module in imports(path)} - {"conform", "pytest"}
    assert {DISTRIBUTIONS.get(name, name) for name in imported} <= declared


def loaded_by(statement: str) -> set[str]:
    """The top-level modules in a fresh interpreter after `statement`."""
    program = f"{statement}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    result = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(result.stdout.split())


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        (
            "import conform.cli",
            {"numpy", "torch", "mpmath", "flint", "ml_dtypes", "yaml", "pydantic", "tabulate", "tqdm"},
        ),
        ("import conform", {"torch", "flint", "pydantic"}),
        ("import conform.straight_line", {"torch", "flint"}),
        ("from conform.interp.evaluate import evaluate", {"torch", "flint"}),
        ("from conform.interp import semantics; semantics.names()", {"torch", "flint"}),
    ],
)
def test_nothing_heavy_loads_before_it_is_needed(statement: str, absent: set[str]) -> None:
    assert not loaded_by(statement) & absent
