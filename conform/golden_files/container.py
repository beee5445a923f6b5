"""The container: safetensors files, written by way of a nameless file and read with every size checked.

Definition: https://github.com/huggingface/safetensors#format. 8 bytes: the header's length, little-endian; the header,
a JSON object; the tensors, without gaps, in the order of the header.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conform.errors import UsageError
from conform.foreign import each_key_once, line
from conform.golden_files.encoding import ITEM_BYTES, Encoded, size_bytes

MAX_HEADER_BYTES = 100_000_000  # what safetensors' own reader takes
MAX_DIMS = 64
_ALIGNMENT = 8  # of the tensors' beginning
_PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class Digest:
    """What identifies a file's contents."""

    bytes: int
    sha256: str


class Writer:
    """A file in the making: nothing of it is in memory but its header, nor in the directory before `close`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.keys: dict[str, dict[str, Any]] = {}
        self.data_bytes = 0
        self._data = tempfile.TemporaryFile(dir=path.parent)  # noqa: SIM115  (gone with the process, however that ends)

    def add(self, key: str, tensor: Encoded) -> None:
        """Appends a tensor under a key that is new."""
        if key in self.keys:
            raise ValueError(f"{self.path.name} has a tensor {key!r} already")
        end = self.data_bytes + len(tensor.data)
        self.keys[key] = {
            "dtype": tensor.dtype, "shape": list(tensor.shape), "data_offsets": [self.data_bytes, end],
        }  # fmt: skip
        self._data.write(tensor.data)
        self.data_bytes = end

    def close(self, metadata: dict[str, str]) -> None:
        """Writes the file."""
        header = json.dumps({"__metadata__": metadata, **self.keys}, separators=(",", ":")).encode()
        header += b" " * (-len(header) % _ALIGNMENT)
        self._data.seek(0)
        with self.path.open("xb") as file:
            file.write(len(header).to_bytes(8, "little") + header)
            shutil.copyfileobj(self._data, file, _PIECE_BYTES)
            file.flush()
            os.fsync(file.fileno())
        self.discard()

    def discard(self) -> None:
        """Forgets what was added."""
        self._data.close()


def open_regular(path: Path) -> Any:
    """A file to be read, which is neither a link nor a pipe or device that would never end. UsageError."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise UsageError(f"{path}: expected a regular file")
        return path.open("rb")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None


def digest_of(path: Path) -> Digest:
    """Size and SHA-256 of a file. UsageError if it cannot be read."""
    whole, size = hashlib.sha256(), 0
    with open_regular(path) as file:
        while piece := file.read(_PIECE_BYTES):
            whole.update(piece)
            size += len(piece)
    return Digest(size, whole.hexdigest())


@dataclass(frozen=True)
class Place:
    """Where a tensor lies in a file, by its header."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


class Reader:
    """A file of somebody else's. What the header says is checked against the file's size before anything is read."""

    def __init__(self, path: Path) -> None:
        """UsageError for a file that is not as the format has it."""
        self._path = path
        self._file = open_regular(path)
        try:
            size = os.fstat(self._file.fileno()).st_size
            length = int.from_bytes(self._file.read(8), "little")
            if length > min(MAX_HEADER_BYTES, size - 8):
                raise ValueError(f"a header of {length} bytes, in a file of {size}")
            self._data_at = 8 + length
            self.places = _places(_parsed(self._file.read(length)), size - self._data_at)
        except (ValueError, RecursionError) as error:
            self._file.close()
            raise UsageError(f"{path}: {line(error)}; it is not as conform wrote it") from None

    def read(self, key: str) -> bytes:
        """The bytes of a tensor that the file has."""
        place = self.places[key]
        self._file.seek(self._data_at + place.begin)
        return self._file.read(place.end - place.begin)

    def close(self) -> None:
        self._file.close()


def _parsed(header: bytes) -> dict[str, Any]:
    found = json.loads(header, object_pairs_hook=each_key_once)
    if not isinstance(found, dict):
        raise ValueError("the header is no JSON object")
    return found


def _places(header: dict[str, Any], data_bytes: int) -> dict[str, Place]:
    """Each tensor's place. ValueError unless they fill the data, one behind the other."""
    places = {key: _place(key, told) for key, told in header.items() if key != "__metadata__"}
    end = 0
    for key, place in sorted(places.items(), key=lambda item: (item[1].begin, item[1].end)):
        if place.begin != end:
            raise ValueError(f"tensor {key!r} begins at {place.begin}, the one before it ends at {end}")
        end = place.end
    if end != data_bytes:
        raise ValueError(f"the tensors take {end} bytes, the file has {data_bytes}")
    return places


def _place(key: str, told: Any) -> Place:
    if not isinstance(told, dict) or told.keys() != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"tensor {key!r}: expected dtype, shape and data_offsets")
    dtype, shape, offsets = told["dtype"], told["shape"], told["data_offsets"]
    if not isinstance(dtype, str) or dtype not in ITEM_BYTES:
        raise ValueError(f"tensor {key!r}: unknown dtype {dtype!r}")
    if not _are_sizes(shape) or len(shape) > MAX_DIMS:
        raise ValueError(f"tensor {key!r}: shape {shape!r}")
    if not _are_sizes(offsets) or len(offsets) != 2:
        raise ValueError(f"tensor {key!r}: data_offsets {offsets!r}")
    place = Place(dtype, tuple(shape), *offsets)
    if place.end - place.begin != size_bytes(dtype, place.shape):
        raise ValueError(f"tensor {key!r}: {place.end - place.begin} bytes for {dtype} of shape {shape}")
    return place


def _are_sizes(found: Any) -> bool:
    return isinstance(found, list) and all(type(each) is int and 0 <= each < 2**63 for each in found)
