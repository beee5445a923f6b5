"""The answers that a certificate keeps: `outputs.jsonl`, a line a case, and `outputs.bin`, compressed bytes.

Every case has its line, with dtype, shape and digest of each output; the bytes stand there of all that failed and of a
sample of those that passed, which the nonce chooses.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b, sha256
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from conform.backends.protocol import DTYPES, MAX_RANK
from conform.errors import UsageError
from conform.foreign import line
from conform.running.answers import DIGEST_BYTES, Answer, KeptOutput

INDEX, DATA = "outputs.jsonl", "outputs.bin"
PASSING_KEPT = 1000  # of each draw
MOST_BYTES = 2**26  # of one output, as of answers


class Kept(BaseModel):
    """One output: `at` and `size` say where its compressed bytes are, if they are."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    dtype: str
    shape: list[int] = Field(max_length=MAX_RANK)
    digest: str = Field(pattern=rf"^[0-9a-f]{{{2 * DIGEST_BYTES}}}$")
    at: int | None = Field(None, ge=0)
    size: int | None = Field(None, ge=0)

    def told(self) -> dict[str, Any]:
        """What of it enters a leaf."""
        return {"dtype": self.dtype, "shape": self.shape, "digest": self.digest}


class Line(BaseModel):
    """The answer to a case: its outputs, None where the call ended without; a str for what is no tensor."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    id: str
    outputs: list[Kept | str] | None

    def told(self) -> list[Any] | None:
        return None if self.outputs is None else [one if isinstance(one, str) else one.told() for one in self.outputs]

    @property
    def is_kept(self) -> bool:
        """Whether all of it can be judged again."""
        return self.outputs is not None and all(isinstance(one, Kept) and one.at is not None for one in self.outputs)


def is_lost(answer: Line) -> bool:
    """Whether an output is not kept that is not too large for that."""
    tensors = [one for one in answer.outputs or () if isinstance(one, Kept) and one.at is None]
    return any(one.dtype in DTYPES and prod(one.shape) * DTYPES[one.dtype].itemsize <= MOST_BYTES for one in tensors)


def sizes(folder: Path, lines: Iterable[Line]) -> tuple[int, int]:
    """How many bytes there are of outputs, and how many of them are those of an answer."""
    kept = {(one.at, one.size) for answer in lines for one in answer.outputs or () if isinstance(one, Kept)}
    return (folder / DATA).stat().st_size, sum(size for at, size in kept if at is not None)


def sampled(ids: Iterable[str], nonce: str, count: int | None) -> set[str]:
    """The cases that the nonce chooses, `count` of them; all where that is None."""
    every = list(ids)
    if count is None:
        return set(every)
    return set(sorted(every, key=lambda one: sha256(f"{nonce}\0{one}".encode()).digest())[:count])


def write(folder: Path, answers: Mapping[str, Answer], ids: Iterable[str], kept: Collection[str]) -> list[Line]:
    """Writes the answers to the cases `ids`, in that order, with the bytes of those to the cases `kept`."""
    places: dict[str, tuple[int, int]] = {}  # by digest: equal outputs stand once
    lines: list[Line] = []
    with (folder / DATA).open("xb") as data:

        def stored(output: KeptOutput, is_kept: bool) -> Kept:
            array = output.array() if is_kept else None
            if array is not None and output.digest not in places:
                packed = zlib.compress(np.ascontiguousarray(array).tobytes())
                places[output.digest] = data.tell(), len(packed)
                data.write(packed)
            at, size = (None, None) if array is None else places[output.digest]
            return Kept(dtype=output.dtype, shape=list(output.shape), digest=output.digest, at=at, size=size)

        for case_id in ids:
            answer = answers.get(case_id)
            told = None
            if answer is not None:
                told = [one if isinstance(one, str) else stored(one, case_id in kept) for one in answer]
            lines.append(Line(id=case_id, outputs=told))
    text = "".join(f"{one.model_dump_json(exclude_none=False)}\n" for one in lines)
    (folder / INDEX).write_text(text, encoding="utf-8")
    return lines


def read(folder: Path) -> list[Line]:
    """The lines of somebody else's index. UsageError, with the place, for one that is not as it should be."""
    path, found = folder / INDEX, []
    for number, text in enumerate(path.read_bytes().splitlines(), 1):
        try:
            found.append(Line(**json.loads(text)))
        except (ValueError, TypeError, RecursionError) as error:
            raise UsageError(f"{path}:{number}: {line(error)}") from None
    return found


@dataclass(frozen=True)
class Bytes:
    """The compressed bytes of somebody else's outputs."""

    path: Path

    def array(self, output: Kept) -> np.ndarray:
        """The elements of an output that is kept. ValueError where the bytes are not what the index says."""
        dtype = DTYPES.get(output.dtype)
        count = prod(output.shape)
        if dtype is None or min(output.shape, default=0) < 0 or count * np.dtype(dtype).itemsize > MOST_BYTES:
            raise ValueError(f"an output {output.dtype[:40]} of shape {output.shape}")
        size = count * np.dtype(dtype).itemsize
        with self.path.open("rb") as data:
            data.seek(output.at)
            packed = data.read(min(output.size, MOST_BYTES + 2**20))
        try:
            content = zlib.decompressobj().decompress(packed, size + 1)  # no more than it may be, whatever was packed
        except zlib.error as error:
            raise ValueError(f"its bytes cannot be unpacked: {error}") from None
        if len(content) != size or blake2b(content, digest_size=DIGEST_BYTES).hexdigest() != output.digest:
            raise ValueError("its bytes are not those of its digest")
        return np.frombuffer(content, dtype).reshape(output.shape)
