"""The answers that a certificate keeps: `outputs.jsonl`, a line a case, and `outputs.bin`, compressed bytes.

Every case has its line, which says how its calls ended, with dtype, shape, strides and digest of each output; the bytes
stand there of all that did not pass and of a sample of what passed, which the nonce chooses.
"""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from itertools import chain, repeat
from math import prod
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from conform.backends.protocol import DTYPES, MAX_RANK
from conform.backends.reply import Output, Reply
from conform.errors import UsageError
from conform.foreign import each_key_once, line
from conform.running.answers import DIGEST_BYTES, Answer, KeptOutput, KeptReply

INDEX, DATA = "outputs.jsonl", "outputs.bin"
PASSING_KEPT = 1000  # of each draw
MOST_BYTES = 2**26  # of one output, as of answers
MOST_CALLS = 2**20  # of a case
_WHERE = {"replies": {"__all__": {"outputs": {"__all__": {"at", "size"}}}}}

Count = Annotated[int, Field(ge=0)]


class _Form(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class Kept(_Form):
    """One output: `at` and `size` say where its compressed bytes are, if they are."""

    dtype: str
    shape: list[int] = Field(max_length=MAX_RANK)
    strides: list[Count] = Field(max_length=MAX_RANK)
    digest: str = Field(pattern=rf"^[0-9a-f]{{{2 * DIGEST_BYTES}}}$")
    at: Count | None = None
    size: Count | None = None


class Ended(_Form):
    """How so many equal calls in a row ended, as `Reply` says it. outputs: None where there are none; a str for what is
    no tensor."""

    calls: int = Field(1, ge=1, le=MOST_CALLS)
    status: Literal["ok", "error", "unsupported", "fallback", "crash", "timeout"] = "ok"
    reason: str | None = None
    declared: bool = False
    mutated: list[Count] = []
    overrun: bool = False
    aliases: list[Annotated[list[Count], Field(min_length=2, max_length=2)]] = []
    apart: list[Count] = []
    outputs: list[Kept | str] | None = None


class Line(_Form):
    """The answers to the calls of a case, in their order; none where there was no call."""

    id: str
    replies: list[Ended]

    def text(self) -> str:
        return self.model_dump_json(exclude_defaults=True)

    def told(self) -> Any:
        """What of it enters a leaf: all but where bytes are."""
        return self.model_dump(exclude={"id": True, **_WHERE}, exclude_defaults=True)["replies"]

    @property
    def has_outputs(self) -> bool:
        """Whether a call gave any."""
        return any(one.outputs is not None for one in self.replies)

    @property
    def is_kept(self) -> bool:
        """Whether all of it is there, to be judged again."""
        return all(one.at is not None if isinstance(one, Kept) else is_number(one) for one in self.each())

    @property
    def shapes(self) -> list[list[int]]:
        """Those of the tensors of the first call."""
        return [one.shape for one in self.replies[0].outputs or () if isinstance(one, Kept)]

    def each(self) -> Iterator[Kept | str]:
        """Every output of every call."""
        return chain.from_iterable(one.outputs or () for one in self.replies)


def number_of(text: str) -> bool | int | float | complex | None:
    """What Python writes so. ValueError for anything but None and numbers."""
    if text in _WORDS:
        return _WORDS[text]
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return complex(text)


_WORDS = {"None": None, "True": True, "False": False}


def is_number(text: str) -> bool:
    """Whether `number_of` takes it."""
    try:
        number_of(text)
    except ValueError:
        return False
    return True


def is_lost(answer: Line) -> bool:
    """Whether an output is not kept that is not too large for that."""
    tensors = [one for one in answer.each() if isinstance(one, Kept) and one.at is None]
    return any(one.dtype in DTYPES and prod(one.shape) * DTYPES[one.dtype].itemsize <= MOST_BYTES for one in tensors)


def sizes(folder: Path, lines: Iterable[Line]) -> tuple[int, int]:
    """How many bytes there are of outputs, and how many of them are those of an answer."""
    kept = {(one.at, one.size) for answer in lines for one in answer.each() if isinstance(one, Kept)}
    return (folder / DATA).stat().st_size, sum(size for at, size in kept if at is not None)


def sampled(ids: Iterable[str], nonce: str, count: int | None) -> set[str]:
    """The cases that the nonce chooses, `count` of them; all where that is None."""
    every = list(ids)
    if count is None:
        return set(every)
    return set(sorted(every, key=lambda one: sha256(f"{nonce}\0{one}".encode()).digest())[:count])


def write(folder: Path, answers: Mapping[str, Answer], ids: Iterable[str], kept: Collection[str]) -> list[Line]:
    """Writes the answers to the cases `ids`, in that order, with the bytes of those to the cases `kept`."""
    with (folder / DATA).open("wb") as data:
        packer = _Packer(data)
        lines = [
            Line(id=one, replies=[packer.ended(reply, one in kept) for reply in answers.get(one, ())]) for one in ids
        ]  # fmt: skip
    (folder / INDEX).write_text("".join(f"{one.text()}\n" for one in lines), encoding="utf-8")
    return lines


@dataclass(frozen=True)
class _Packer:
    """Writes the bytes of outputs; equal ones stand once."""

    data: BinaryIO
    places: dict[str, tuple[int, int]] = field(default_factory=dict)  # by digest

    def ended(self, reply: KeptReply, is_kept: bool) -> Ended:
        outputs = None
        if reply.outputs is not None:
            outputs = [one if isinstance(one, str) else self._stored(one, is_kept) for one in reply.outputs]
        return Ended(
            calls=reply.calls, status=reply.status, reason=reply.reason, declared=reply.declared,
            mutated=list(reply.mutated), overrun=reply.overrun, aliases=list(map(list, reply.aliases)),
            apart=list(reply.apart), outputs=outputs,
        )  # fmt: skip

    def _stored(self, output: KeptOutput, is_kept: bool) -> Kept:
        array = output.array() if is_kept else None
        if array is not None and output.digest not in self.places:
            packed = zlib.compress(np.ascontiguousarray(array).tobytes())
            self.places[output.digest] = self.data.tell(), len(packed)
            self.data.write(packed)
        at, size = (None, None) if array is None else self.places[output.digest]
        shape, strides = list(output.shape), list(output.strides)
        return Kept(dtype=output.dtype, shape=shape, strides=strides, digest=output.digest, at=at, size=size)


def read(folder: Path) -> list[Line]:
    """The lines of somebody else's index. UsageError, with the place, for one that is not as it should be."""
    path, found = folder / INDEX, []
    for number, text in enumerate(path.read_bytes().splitlines(), 1):
        try:
            found.append(Line(**json.loads(text, object_pairs_hook=each_key_once)))
        except (ValueError, TypeError, RecursionError) as error:
            raise UsageError(f"{path}:{number}: {line(error)}") from None
    return found


@dataclass(frozen=True)
class Bytes:
    """The compressed bytes of somebody else's outputs."""

    path: Path

    def replies(self, answer: Line) -> Iterator[Reply]:
        """The replies to the calls of a case that is kept, one after the other. ValueError where the bytes are not what
        the index says."""
        for one in answer.replies:
            outputs = [number_of(each) if isinstance(each, str) else self._output(each) for each in one.outputs or ()]
            reply = Reply(
                one.status, one.reason, tuple(outputs), tuple(one.mutated), one.overrun, tuple(map(tuple, one.aliases)),
                tuple(one.apart), declared=one.declared,
            )  # fmt: skip
            yield from repeat(reply, one.calls)

    def _output(self, output: Kept) -> Output:
        if len(output.strides) != len(output.shape):
            raise ValueError(f"an output of shape {output.shape} and strides {output.strides}")
        return Output(self._array(output), tuple(output.strides))

    def _array(self, output: Kept) -> np.ndarray:
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
