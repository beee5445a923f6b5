"""Judgements that are kept from run to run: an answer that is byte for byte one of them is not judged again.

A folder holds them, in one folder for each question: whatever decides what a case asks and how its answer is judged,
the kit itself before all. Each process of the kit adds what it judged to a packed file of its own, a line a judgement,
so that of a killed one only the end is lost. Anybody can write such a file, so what is read of one is checked.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO

import numpy as np

from conform.backends.protocol import Most, most_of_results
from conform.backends.reply import Output, Reply
from conform.contracts.arithmetic import IEEE, Arithmetic
from conform.errors import UsageError
from conform.foreign import line
from conform.interp.golden import Outcome
from conform.judging.compared import UNBOUNDED, VACUOUS
from conform.judging.verdict import Verdict
from conform.running.journal import told_of, verdict_of
from conform.suites.cases import Case

DIGEST_BYTES = 16
LEVEL = 1  # of packing: a third of the time of the usual one, for a sixth more bytes
OF_TORCH = ("aten::", "torch.nn.")  # the names of ops and classes that no user defines
NOT_OURS = "it is not as conform wrote it"
KEPT = ("pass", "fail", "unspecified")  # what an answer was judged to be; not what time or memory decided


@dataclass(frozen=True)
class Judged:
    """The judgements on the answers to one case. most: what a reply to it may take; lines: by answer, where each
    stands."""

    most: Most
    lines: dict[str, slice] = field(default_factory=dict)


@dataclass
class Known:
    """What is known of one question, and what a process adds to it; read before the processes fork."""

    folder: Path
    arithmetic: Arithmetic = IEEE  # that the backend declares
    _judged: dict[str, Judged] = field(default_factory=dict)  # by case id
    _text: bytearray = field(default_factory=bytearray)  # of all files
    _pid: int = 0
    _added: BinaryIO | None = None

    @classmethod
    def of(cls, directory: Path, question: Mapping[str, Any]) -> Known:
        """The judgements in a directory, which is made, on this question: what decides, beside the backend, what is
        asked and how answers are judged. UsageError where it cannot be read or made, with the place for a line that no
        run wrote."""
        told = json.dumps(question, sort_keys=True, default=list)
        known = cls(directory / hashlib.sha256(told.encode()).hexdigest()[: 2 * DIGEST_BYTES])
        try:
            known.folder.mkdir(parents=True, exist_ok=True)
            for path in sorted(known.folder.glob("*.gz")):
                for number, text in enumerate(_lines(path), 1):
                    known._note(f"{path}:{number}", text)
        except OSError as error:
            raise UsageError(f"--known {directory}: {error.strerror}") from None
        return known

    def by(self, arithmetic: Arithmetic) -> Known:
        """The same, of a backend that declares this arithmetic, by which its answers are judged."""
        return replace(self, arithmetic=arithmetic)

    def on(self, case: Case) -> Judged | None:
        """The judgements on answers to the case, if there are any."""
        return self._judged.get(case.id) if _is_the_kits(case) else None

    def verdict(self, case: Case, reply: Reply) -> Verdict | None:
        """The verdict on an answer, if it was given before. UsageError for one that no run wrote."""
        found = self.on(case)
        place = found and found.lines.get(self._answer(reply))
        if not place:
            return None
        try:
            verdict = verdict_of(self._text[place].decode())
            if verdict.id != case.id:
                raise ValueError(f"it is about {line(verdict.id, 200)}")
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{self.folder}: a judgement on {case.id}: {error}; {NOT_OURS}") from None
        return replace(verdict, was_known=True)

    def add(self, case: Case, reply: Reply, outcome: object, verdict: Verdict) -> None:
        """Keeps a judgement that will be the same on the same answer."""
        is_by_answer = verdict.status in KEPT or verdict.rule in (VACUOUS, UNBOUNDED)
        if is_by_answer and reply.status == "ok" and isinstance(outcome, Outcome) and _is_the_kits(case):
            size = len(outcome.goldens), sum(golden.value.size for golden in outcome.goldens)
            told = json.dumps([case.id, self._answer(reply), *size])
            self._file().write(f"{told}\t{told_of(verdict)}\n".encode())

    def close(self) -> None:
        """Ends the file of this process."""
        if self._pid == os.getpid():
            self._added.close()
        self._pid = 0

    def _file(self) -> BinaryIO:
        if self._pid != os.getpid():
            self._pid = os.getpid()
            self._added = gzip.GzipFile(self.folder / f"{token_hex(8)}.gz", "xb", LEVEL)
        return self._added

    def _note(self, place: str, text: bytes) -> None:
        head, _, verdict = text.partition(b"\t")
        try:
            case_id, answer, outputs, elements = json.loads(head)
            judged = self._judged.setdefault(case_id, Judged(most_of_results(int(outputs), int(elements))))
            judged.lines[answer] = slice(len(self._text), len(self._text) + len(verdict))
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            raise UsageError(f"{place}: {error}; {NOT_OURS}") from None
        self._text += verdict

    def _answer(self, reply: Reply) -> str | None:
        """The digest of all that is judged of an answer; None of what is none."""
        if reply.status != "ok":
            return None
        digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
        form = _form(reply.result)
        digest.update(repr((self.arithmetic, form, reply.mutated, reply.overrun, reply.aliases, reply.apart)).encode())
        for output in reply.outputs:
            if isinstance(output, Output):
                digest.update(np.ascontiguousarray(output.array).reshape(-1).view(np.uint8))
        return digest.hexdigest()


def _form(result: Any) -> Any:
    """A result without the elements of its tensors."""
    if isinstance(result, tuple | list):
        return type(result).__name__, [_form(each) for each in result]
    if isinstance(result, Output):
        return Output, result.array.dtype.name, result.array.shape, result.strides
    return result


def _is_the_kits(case: Case) -> bool:
    """Whether a suite alone tells its question, of an op or class whose meaning is the kit's or torch's, and its answer
    is judged alone: neither beside the other side of a pair, nor by a call that its golden makes."""
    test = case.draw.test
    is_told = not (test.is_given or test.takes_objects or (test.is_module and test.op.given is not None))
    return is_told and test.op_name.startswith(OF_TORCH) and test.pair is None and not case.of_gradients


def _lines(path: Path) -> Iterator[bytes]:
    """The whole lines of a file, of which the end may be missing."""
    with suppress(EOFError, zlib.error, gzip.BadGzipFile), gzip.open(path, "rb") as file:
        for text in file:
            if text.endswith(b"\n"):
                yield text
