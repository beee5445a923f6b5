"""Every answer of a run, kept on disk while backends are compared: the bytes of the outputs, by case.

Each process of the kit appends to files of its own; equal outputs of one process stand once. No backend's process sees
them: they lie in a folder that is made for the comparison, and that a jail does not show.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from conform.backends.protocol import DTYPES
from conform.backends.reply import Output, Reply

MOST_BYTES = 2**26  # of an output that is kept; of a larger one the digest is
DIGEST_BYTES = 32


@dataclass
class Keeper:
    """Writes the answers of a process, to `FOLDER/PID.jsonl` and `PID.bin`; made before the processes fork."""

    folder: Path
    _pid: int = 0
    _places: dict[str, int] = field(default_factory=dict)  # by digest, where the bytes stand
    _index: BinaryIO | None = None
    _data: BinaryIO | None = None

    def keep(self, case_id: str, reply: Reply) -> None:
        """Notes how a call ended, and what came of it; of several answers to one case the last counts."""
        self._open()
        outputs = [self._kept(each) for each in reply.outputs] if reply.status == "ok" else None
        self._index.write(json.dumps({"id": case_id, "outputs": outputs}).encode() + b"\n")

    def close(self) -> None:
        """Closes the files of this process, which the next answer opens again."""
        if self._pid == os.getpid():
            self._index.close()
            self._data.close()
        self._pid = 0

    def _open(self) -> None:
        if self._pid == os.getpid():
            return
        self._pid, self._places = os.getpid(), {}
        self._index, self._data = (
            (self.folder / f"{self._pid}.{kind}").open("ab", buffering=0) for kind in ("jsonl", "bin")
        )

    def _kept(self, output: Any) -> Any:
        """The description of one output; of what is no tensor how Python writes it."""
        if not isinstance(output, Output):
            return repr(output)
        array = np.ascontiguousarray(output.array)
        digest = blake2b(array.view(np.uint8) if array.ndim else array.tobytes(), digest_size=DIGEST_BYTES).hexdigest()
        told = {"dtype": array.dtype.name, "shape": list(output.array.shape), "digest": digest}
        if array.nbytes > MOST_BYTES:
            return told
        if digest not in self._places:
            self._places[digest] = self._data.tell()
            self._data.write(array.tobytes())
        return told | {"at": self._places[digest]}


@dataclass(frozen=True)
class KeptOutput:
    """A tensor that was kept: its dtype by numpy's name, shape, the digest of its bytes, and where these are, if they
    are."""

    dtype: str
    shape: tuple[int, ...]
    digest: str
    data: Path
    at: int | None

    def equals(self, other: object) -> bool:
        """Whether it has the same dtype, shape and bytes."""
        mine = (self.dtype, self.shape, self.digest)
        return isinstance(other, KeptOutput) and mine == (other.dtype, other.shape, other.digest)

    def array(self) -> np.ndarray | None:
        """The elements; None of one that was too large to be kept."""
        if self.at is None:
            return None
        dtype = DTYPES[self.dtype]
        count = int(np.prod(self.shape, dtype=np.int64))
        return np.fromfile(self.data, dtype, count, offset=self.at).reshape(self.shape)


Answer = tuple[KeptOutput | str, ...] | None  # the outputs of a call; None: it ended without


def read(folder: Path) -> Mapping[str, Answer]:
    """What keepers wrote there, by case id."""
    found: dict[str, Answer] = {}
    for index in sorted(folder.glob("*.jsonl")):
        for line in index.read_bytes().splitlines():
            one = json.loads(line)
            outputs = one["outputs"]
            found[one["id"]] = None if outputs is None else tuple(_output(index, each) for each in outputs)
    return found


def _output(index: Path, told: Any) -> KeptOutput | str:
    if isinstance(told, str):
        return told
    return KeptOutput(told["dtype"], tuple(told["shape"]), told["digest"], index.with_suffix(".bin"), told.get("at"))
