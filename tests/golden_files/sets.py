"""Small sets of golden files, and ways to change them."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from conform.golden_files.verify import Narrowed, Report, verify
from conform.golden_files.write import Summary, write
from conform.suites.cases import Selection

EXP = """
tests:
- {id: exp, op: aten::exp, in: [{type: const_tensor, shape: [3], dtype: float32, value: [0.0, 1.0, -.inf]}]}
"""
OTHERS = """
tests:
- {id: neg, op: aten::neg, in: [{type: const_tensor, shape: [2], dtype: bfloat16, value: [1.5, -.inf]}]}
- {id: add, op: aten::add, in: [{type: tensor, shape: [2, 3], dtype: float16}, {type: const, value: 2}]}
- {id: sum, op: aten::sum, in: [{type: tensor, shape: [40], dtype: float32}]}
"""


def silent(*_: object) -> None:
    pass


def suite(directory: Path, text: str, name: str = "mine.yaml") -> str:
    """The path of a suite file with this text."""
    path = directory / name
    path.write_text(text)
    return str(path)


def written(directory: Path, suites: Sequence[str], on_case: Callable = silent, **selection: Any) -> Summary:
    return write(directory, suites, Selection(**selection), on_case, silent)


def verified(directory: Path, suites: Sequence[str] = (), **narrowed: Any) -> Report:
    return verify(directory, suites, Narrowed(**narrowed), silent)


def findings(report: Report) -> list[tuple[str, str]]:
    return [(one.of, one.what) for one in report.findings]


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def manifest_of(directory: Path) -> dict[str, Any]:
    return json.loads((directory / "manifest.json").read_bytes())


def change_manifest(directory: Path, change: Callable[[dict[str, Any]], None]) -> None:
    held = manifest_of(directory)
    change(held)
    (directory / "manifest.json").write_text(json.dumps(held))


def change_file(directory: Path, name: str, change: Callable[[dict[str, Any], bytearray], None]) -> None:
    """Changes header and data of a file, and its hash in the manifest with it."""
    header, data = parts_of(directory / name)
    change(header, data)
    put_parts(directory / name, json.dumps(header, separators=(",", ":")).encode(), data)
    rehash(directory, name)


def parts_of(path: Path) -> tuple[dict[str, Any], bytearray]:
    whole = path.read_bytes()
    (length,) = struct.unpack("<Q", whole[:8])
    return json.loads(whole[8 : 8 + length]), bytearray(whole[8 + length :])


def put_parts(path: Path, header: bytes, data: bytes, length: int | None = None) -> None:
    path.write_bytes(struct.pack("<Q", len(header) if length is None else length) + header + data)


def rehash(directory: Path, name: str) -> None:
    whole = (directory / name).read_bytes()
    digest = {"bytes": len(whole), "sha256": hashlib.sha256(whole).hexdigest()}
    change_manifest(directory, lambda held: held["files"].update({name: digest}))
