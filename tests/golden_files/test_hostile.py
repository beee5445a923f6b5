"""Golden files of somebody who means harm: bad input is told in one line, and nothing of its size is built."""

from __future__ import annotations

import json
import os
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conform.errors import UsageError
from tests.golden_files.sets import EXP, change_file, change_manifest, put_parts, rehash, suite, verified, written

pytestmark = pytest.mark.one_in(6)

EXP_ID = "exp/float32/typical/contiguous"
FILE = "elementwise.safetensors"


@pytest.fixture
def held(tmp_path: Path) -> tuple[Path, str]:
    path = suite(tmp_path, EXP)
    written(tmp_path / "out", [path])
    return tmp_path / "out", path


def refused(held: tuple[Path, str], message: str) -> None:
    directory, path = held
    tracemalloc.start()
    with pytest.raises(UsageError, match=message) as told:
        verified(directory, [path])
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < 64 * 2**20
    assert len(str(told.value)) < 1000
    assert "\n" not in str(told.value)


# --- The manifest -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        b"", b"[]", b"null", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 100_000, b'{"schema": "conform.golden/1"}',
        b"1" + b"0" * 10_000, b'{"schema": "conform.golden/1", "schema": "conform.golden/1"}',
    ],
)  # fmt: skip
def test_what_is_no_manifest(held: tuple[Path, str], text: bytes) -> None:
    (held[0] / "manifest.json").write_bytes(text)
    refused(held, r"manifest.json: .*it is not as conform wrote it")


def of_head(**changed: Any) -> Callable[[dict], None]:
    return lambda manifest: manifest.update(changed)


def of_selection(**changed: Any) -> Callable[[dict], None]:
    return lambda manifest: manifest["selection"].update(changed)


WRITTEN = {"bytes": 0, "sha256": "0" * 64}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (of_head(schema="conform.golden/2"), "schema"),
        (of_head(more=1), "more"),
        (of_head(seed="0"), "seed"),
        (of_head(seed=True), "seed"),
        (of_head(contract="/etc/passwd"), "unknown table '/etc/passwd'"),
        (of_head(contract="\x1b[2J"), r"unknown table '\\x1b\[2J'"),
        (of_head(suite={"names": ["/etc/passwd"], "digest": ""}), "the set was written of /etc/passwd, not of"),
        (of_head(suite={"names": [], "digest": ""}), "suite.names"),
        (of_head(files={"../x.safetensors": WRITTEN}), "files"),
        (of_head(files={"/dev/zero": WRITTEN}), "files"),
        (of_head(files={FILE: {"bytes": -1, "sha256": "0" * 64}}), "bytes"),
        (of_head(files={FILE: {"bytes": 1, "sha256": "x"}}), "sha256"),
        (of_head(files={}), "no file 'elementwise.safetensors' among the files"),
        (of_head(cases=[]), "cases"),
        (of_head(cases={"x": {"op": 1, "dtype": "float32"}}), "op"),
        (of_selection(samples=0), "samples"),
        (of_selection(samples=10**12), "1000000000000 samples, and 1 cases"),
        (of_selection(dtypes=["floaty"]), "unknown dtype 'floaty'"),
        (of_selection(values="some"), "unknown choice 'some'"),
        (of_selection(ops=["nothing"]), "matches no case"),
    ],
)
def test_what_a_manifest_may_not_say(held: tuple[Path, str], change: Callable[[dict], None], message: str) -> None:
    change_manifest(held[0], change)
    refused(held, message)


def test_a_manifest_that_never_ends(held: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    path = held[0] / "manifest.json"
    path.unlink()
    path.symlink_to("/dev/zero")
    refused(held, "manifest.json: expected a regular file")
    path.unlink()
    os.mkfifo(path)
    refused(held, "manifest.json: expected a regular file")
    path.unlink()
    with path.open("wb") as file:
        file.truncate(2**40)  # nothing of it is on the disk
    monkeypatch.setattr("conform.golden_files.manifest.MAX_BYTES", 2**20)
    refused(held, "manifest.json: more than 1048576 bytes")


# --- The tensors ------------------------------------------------------------------------------------------------------


def entry(**changed: Any) -> Callable[[dict, bytearray], None]:
    return lambda header, data: header[f"{EXP_ID}#self"].update(changed)


@pytest.mark.parametrize(
    "change",
    [
        entry(dtype="F33"),
        entry(dtype=["F32"]),
        entry(shape=[-3]),
        entry(shape=[3.0]),
        entry(shape=[True, 3]),
        entry(shape="3"),
        entry(shape=[1] * 65 + [3]),
        entry(shape=[2**62, 2**62]),
        entry(data_offsets=[0, 2**62]),
        entry(data_offsets=[0]),
        entry(data_offsets=[12, 0]),
        entry(data_offsets=[-12, 0]),
        entry(more=1),
        lambda header, data: header.update(x=1),
        lambda header, data: header.update(x={"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}),
        lambda header, data: header.pop(f"{EXP_ID}#self"),
        lambda header, data: data.extend(b"x"),
        lambda header, data: data.clear(),
    ],
)
def test_headers_that_do_not_add_up(held: tuple[Path, str], change: Callable[[dict, bytearray], None]) -> None:
    change_file(held[0], FILE, change)
    refused(held, f"{FILE}: .*it is not as conform wrote it")


@pytest.mark.parametrize(
    ("header", "length"),
    [
        (b"", None),
        (b"{}", 2**64 - 1),
        (b"{}", 2**31),
        (b"[]", None),
        (b"[" * 100_000, None),
        (b'{"a": 1, "a": 1}', None),
        (b"\xff", None),
        (b'{"a": {"dtype": "F32", "shape": [NaN], "data_offsets": [0, 0]}}', None),
    ],
)
def test_what_is_no_header(held: tuple[Path, str], header: bytes, length: int | None) -> None:
    put_parts(held[0] / FILE, header, b"", length)
    rehash(held[0], FILE)
    refused(held, f"{FILE}: .*it is not as conform wrote it")


def test_a_file_that_is_none(held: tuple[Path, str]) -> None:
    path = held[0] / FILE
    path.unlink()
    os.mkfifo(path)
    refused(held, f"{FILE}: expected a regular file")
    path.unlink()
    path.symlink_to("/etc/passwd")
    refused(held, f"{FILE}: expected a regular file")


def test_an_empty_tensor_of_an_impossible_shape(held: tuple[Path, str]) -> None:
    """It takes no bytes, so the header adds up; nothing is built of it."""
    extra = {"dtype": "F32", "shape": [2**62, 0, 2**62], "data_offsets": [0, 0]}
    change_file(held[0], FILE, lambda header, data: header.update({"x": extra}))
    assert [one.what for one in verified(*([held[0], [held[1]]])).findings] == ["extra tensor 'x'"]


def test_any_change_of_a_byte_is_found_or_told(held: tuple[Path, str]) -> None:
    """But for digests, versions and seeds that nothing is drawn by, of which nobody can tell."""
    directory, path = held
    chance = random.Random(0)
    for name in (FILE, "manifest.json"):
        whole = (directory / name).read_bytes()
        for _ in range(60):
            changed = bytearray(whole)
            changed[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
            (directory / name).write_bytes(changed)
            try:
                found = not verified(directory, [path]).is_same
            except UsageError:
                found = True
            assert found or name == "manifest.json" and _only_tells(whole, bytes(changed))
        (directory / name).write_bytes(whole)
    assert verified(directory, [path]).is_same


def _only_tells(before: bytes, after: bytes) -> bool:
    """Whether what changed says where a set came from, and nothing of its numbers."""
    old, new = (json.loads(text) for text in (before, after))
    for told in (old, new):
        for key in ("kit", "seed"):
            told.pop(key)
        told["suite"].pop("digest")
    return old == new
