"""One worker: asks the backend, a call ahead, makes the goldens meanwhile, and judges: but for a block whose answers
are byte for byte those of a sweep that is known."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256

import numpy as np

from conform.backends.client import BackendProcess
from conform.backends.given import Given
from conform.backends.launcher import Template
from conform.backends.protocol import most_of_results
from conform.backends.reply import Output, Reply
from conform.contracts.arithmetic import arithmetic_of
from conform.contracts.tables import contract_table, names
from conform.errors import ConformError
from conform.judging.declared import arithmetic_for
from conform.judging.ended import defect
from conform.judging.structure import aliasing, harm
from conform.running.breaker import AT_MOST
from conform.sweep.judged import Judge
from conform.sweep.space import CALL, PIECE, Codes
from conform.sweep.subject import Subject
from conform.sweep.tally import Lost, Tally, whole, without_result

DEFECT = "defect"  # the status of codes on which the kit failed
NOT_RUN = "not_run"  # of those that a backend that hangs was not asked for


@dataclass(frozen=True)
class Plan:
    """What a worker needs to know; it travels to its process."""

    subject: Subject
    backend: str | Given
    contract: str
    timeout_s: float


@contextmanager
def worker(plan: Plan, template: Template) -> Iterator[Worker]:
    """A worker with a backend's process of its own, which ends with the context."""
    with BackendProcess(plan.backend, timeout_s=plan.timeout_s, template=template) as process:
        declared = arithmetic_for(plan.subject.op, arithmetic_of(process.describe()))
        tables = {name: contract_table(name) for name in names()}
        contract = contract_table(plan.contract)
        tables[contract.name] = contract
        yield Worker(plan.subject, process, Judge(plan.subject, tuple(tables.values()), contract.name, declared))


@dataclass(frozen=True)
class Worker:
    subject: Subject
    process: BackendProcess
    judge: Judge

    def tally(self, block: Codes, known: Mapping[str, Tally] | None = None) -> Tally:
        """That of a block, `known` by the digest of its answers. Raises BackendUnavailable if the backend cannot be
        started again."""
        calls, asked, found = deque(block.cut(CALL)), deque(), _Block(self, known or {})
        answered: list[Codes] = []
        hung = 0
        while calls or asked:
            while calls and len(asked) < 2:
                self.process.submit(self.subject.sent(calls[0]))
                asked.append(calls.popleft())
            codes = asked.popleft()
            reply = self.process.receive(most_of_results(1, len(codes)))
            if reply.before is not None:
                is_of_block = reply.before.calls_before <= len(answered)
                found.add_lost(self._late(answered[-reply.before.calls_before] if is_of_block else codes, reply.before))
            if (lost := self._lost(codes, reply)) is not None:
                found.add_lost(without_result(self.subject.space, lost))
            else:
                found.add(codes, reply.outputs[0])
            hung += reply.status == "timeout"
            if hung == AT_MOST and codes.last < block.last:
                self.process.take_back(range(len(asked)))
                found.add_lost(self._not_asked(Codes(codes.last + 1, block.last)))
                break
            answered.append(codes)
        return found.tally()

    def _not_asked(self, codes: Codes) -> Tally:
        reason = f"not asked, for the backend hung on {AT_MOST} calls before"
        return without_result(self.subject.space, Lost(codes, NOT_RUN, reason))

    def _late(self, before: Codes, reply: Reply) -> Tally:
        """The backend died of the call `before` after it had answered that: its results are counted already, and that
        it is a crash besides. If it was the last call of another block, the call on which that was noticed is told."""
        reason = f"{reply.reason}, after it had answered"
        lost = Lost(before, reply.status, reason, reply.log)
        return replace(without_result(self.subject.space, lost), inputs=0)

    def _lost(self, codes: Codes, reply: Reply) -> Lost | None:
        """How codes are lost whose results cannot be judged."""
        if reply.status != "ok":
            return Lost(codes, reply.status, reply.reason or "", reply.log)
        call = self.subject.call(Codes(codes.first, codes.first))  # of one input: its schema is that of all
        wrong = harm(reply) or aliasing(call, reply) or _unlike(reply, len(codes))
        return None if wrong is None else Lost(codes, "fail", wrong)

    def of_output(self, codes: Codes, output: Output) -> Tally:
        """That of the results of one call."""
        pieces = (self._of_piece(piece, _part(output, piece.within(codes))) for piece in codes.cut(PIECE))
        return whole(self.subject.space, pieces)

    def _of_piece(self, codes: Codes, output: Output) -> Tally:
        try:
            with np.errstate(all="ignore"):  # what IEEE 754 flags, signalling NaNs too, are results here
                return self.judge.tally(codes, output)
        except Exception as error:
            if isinstance(error, ConformError):
                raise
            return without_result(self.subject.space, Lost(codes, DEFECT, str(defect(error))))


@dataclass
class _Block:
    """The results of a block. Where tallies are `known`, no result is judged before all are there."""

    worker: Worker
    known: Mapping[str, Tally]
    found: list[Tally] = field(default_factory=list)
    kept: list[tuple[Codes, Output]] = field(default_factory=list)
    is_whole: bool = True

    def __post_init__(self) -> None:
        self._digest = sha256(repr(self.worker.judge.arithmetic).encode())

    def add_lost(self, tally: Tally) -> None:
        """Results that are not there."""
        self.is_whole = False
        self.found.append(tally)

    def add(self, codes: Codes, output: Output) -> None:
        """The results of one call."""
        array = np.ascontiguousarray(output.array)
        self._digest.update(array.dtype.name.encode())
        self._digest.update(array.view(np.uint8))
        if self.known and self.is_whole:
            self.kept.append((codes, replace(output, array=array.copy())))  # the next reply may lie where this one does
        else:
            self.found.append(self.worker.of_output(codes, output))

    def tally(self) -> Tally:
        """That of all results, judged if it is none of the known ones."""
        answers = self._digest.hexdigest() if self.is_whole else None
        if answers in self.known:
            return self.known[answers]
        judged = (self.worker.of_output(*each) for each in self.kept)
        return replace(whole(self.worker.subject.space, [*self.found, *judged]), answers=answers)


def _unlike(reply: Reply, count: int) -> str | None:
    """What is wrong with the outputs' structure; their dtype is the golden's business."""
    if len(reply.outputs) != 1:
        return f"{len(reply.outputs)} outputs instead of 1"
    output = reply.outputs[0]
    if not isinstance(output, Output):
        return f"{type(output).__name__} instead of a tensor"
    return None if output.array.shape == (count,) else f"shape {list(output.array.shape)} instead of {[count]}"


def _part(output: Output, place: slice) -> Output:
    return Output(output.array[place], output.strides)
