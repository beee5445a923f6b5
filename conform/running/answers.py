"""Every answer of a run, kept on disk for who compares or certifies: how the calls of each case ended, and the bytes of
their outputs.

Each process of the kit appends to files of its own; equal outputs of one process stand once. No backend's process sees
them: they lie in a folder that is made for the comparison, and that a jail does not show.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from conform.backends.protocol import DTYPES
from conform.backends.reply import Output, Reply, of_each

MOST_BYTES = 2**26  # of an output that is kept; of a larger one the digest is
DIGEST_BYTES = 32
# What is kept of a reply, beside its outputs.
_OF_A_CALL = ("status", "reason", "declared", "mutated", "overrun", "aliases", "apart")


def digest_of(output: Output) -> str:
    """Of the bytes of an output's elements, in C order."""
    return blake2b(np.ascontiguousarray(output.array).view(np.uint8), digest_size=DIGEST_BYTES).hexdigest()


@dataclass
class Keeper:
    """Writes the answers of a process, to `FOLDER/SITTING-PID.jsonl` and `.bin`; made before the processes fork."""

    folder: Path
    sitting: int = 0
    _pid: int = 0
    _places: dict[str, int] = field(default_factory=dict)  # by digest, where the bytes stand
    _index: BinaryIO | None = None
    _data: BinaryIO | None = None

    @classmethod
    def behind(cls, folder: Path) -> Keeper:
        """One whose answers come behind those that the folder holds, of a run that was ended."""
        return cls(folder, sitting=len(list(folder.glob("*.jsonl"))))

    def keep(self, case_id: str, replies: Sequence[Reply]) -> None:
        """Notes how the calls of a case ended, and what came of them; of several answers to one case the last counts.
        """
        self._open()
        told = [{"calls": len([*equal]), **one} for one, equal in groupby(of_each(replies, self._told))]
        self._index.write(json.dumps({"id": case_id, "replies": told}).encode() + b"\n")

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
            (self.folder / f"{self.sitting:06}-{self._pid}.{kind}").open("ab", buffering=0) for kind in ("jsonl", "bin")
        )

    def _told(self, reply: Reply) -> dict[str, Any]:
        """What there is to say of one call; its outputs None where it has none."""
        said = {field: getattr(reply, field) for field in _OF_A_CALL}
        outputs = [self._kept(each) for each in reply.outputs] if reply.status == "ok" else None
        return {field: value for field, value in said.items() if value} | {"outputs": outputs}

    def _kept(self, output: Any) -> Any:
        """The description of one output; of what is no tensor how Python writes it."""
        if not isinstance(output, Output):
            return repr(output)
        array, digest = np.ascontiguousarray(output.array), digest_of(output)
        told = {
            "dtype": array.dtype.name, "shape": list(output.array.shape), "strides": list(output.strides),
            "digest": digest,
        }  # fmt: skip
        if array.nbytes > MOST_BYTES:
            return told
        if digest not in self._places:
            self._places[digest] = self._data.tell()
            self._data.write(array.tobytes())
        return told | {"at": self._places[digest]}


@dataclass(frozen=True)
class KeptOutput:
    """A tensor that was kept: its dtype by numpy's name, shape, strides in elements, the digest of its bytes, and where
    these are, if they are."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
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


Outputs = tuple[KeptOutput | str, ...] | None  # of a call; a str: how Python writes what is no tensor


@dataclass(frozen=True)
class KeptReply:
    """How so many equal calls in a row ended: what a `Reply` says, and its outputs; None where the call ended without.
    """

    calls: int
    status: str
    outputs: Outputs
    reason: str | None = None
    declared: bool = False
    mutated: tuple[int, ...] = ()
    overrun: bool = False
    aliases: tuple[tuple[int, int], ...] = ()
    apart: tuple[int, ...] = ()


Answer = tuple[KeptReply, ...]  # to the calls of a case, in their order


def read(folder: Path) -> Mapping[str, Answer]:
    """What keepers wrote there, by case id: the last, but for a line that was cut off when its process was killed."""
    found: dict[str, Answer] = {}
    for index in sorted(folder.glob("*.jsonl")):
        for line in index.read_bytes().splitlines(keepends=True):
            if not line.endswith(b"\n"):
                continue
            one = json.loads(line)
            found[one["id"]] = tuple(_reply(index, each) for each in one["replies"])
    return found


def outputs_of(folder: Path) -> Mapping[str, Outputs]:
    """The outputs alone, of the first call of each case."""
    return {case_id: replies[0].outputs for case_id, replies in read(folder).items()}


def _reply(index: Path, told: dict[str, Any]) -> KeptReply:
    outputs = told.pop("outputs")
    kept = None if outputs is None else tuple(_output(index, each) for each in outputs)
    return KeptReply(**{field: _frozen(value) for field, value in told.items()}, outputs=kept)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _output(index: Path, told: Any) -> KeptOutput | str:
    if isinstance(told, str):
        return told
    shape, strides = tuple(told["shape"]), tuple(told["strides"])
    return KeptOutput(told["dtype"], shape, strides, told["digest"], index.with_suffix(".bin"), told.get("at"))
