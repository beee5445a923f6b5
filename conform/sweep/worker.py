"""One worker: asks the backend, a call ahead, makes the goldens meanwhile, and judges."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

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

    def tally(self, block: Codes) -> Tally:
        """Raises BackendUnavailable if the backend cannot be started again."""
        calls, asked, found = deque(block.cut(CALL)), deque(), []
        answered: list[Codes] = []
        hung = 0
        while calls or asked:
            while calls and len(asked) < 2:
                self.process.submit(self.subject.sent(calls[0]))
                asked.append(calls.popleft())
            codes = asked.popleft()
            reply = self.process.receive(most_of_results(1, len(codes)))
            if reply.before is not None:
                known = reply.before.calls_before <= len(answered)
                found.append(self._late(answered[-reply.before.calls_before] if known else codes, reply.before))
            found.append(self._of_reply(codes, reply))
            hung += reply.status == "timeout"
            if hung == AT_MOST and codes.last < block.last:
                self.process.take_back(range(len(asked)))
                found.append(self._not_asked(Codes(codes.last + 1, block.last)))
                break
            answered.append(codes)
        return whole(self.subject.space, found)

    def _not_asked(self, codes: Codes) -> Tally:
        reason = f"not asked, for the backend hung on {AT_MOST} calls before"
        return without_result(self.subject.space, Lost(codes, NOT_RUN, reason))

    def _late(self, before: Codes, reply: Reply) -> Tally:
        """The backend died of the call `before` after it had answered that: its results are counted already, and that
        it is a crash besides. If it was the last call of another block, the call on which that was noticed is told."""
        reason = f"{reply.reason}, after it had answered"
        lost = Lost(before, reply.status, reason, reply.log)
        return replace(without_result(self.subject.space, lost), inputs=0)

    def _of_reply(self, codes: Codes, reply: Reply) -> Tally:
        space = self.subject.space
        if reply.status != "ok":
            return without_result(space, Lost(codes, reply.status, reply.reason or "", reply.log))
        call = self.subject.call(Codes(codes.first, codes.first))  # of one input: its schema is that of all
        if (wrong := harm(reply) or aliasing(call, reply) or _unlike(reply, len(codes))) is not None:
            return without_result(space, Lost(codes, "fail", wrong))
        output = reply.outputs[0]
        pieces = (self._of_piece(piece, _part(output, piece.within(codes))) for piece in codes.cut(PIECE))
        return whole(space, pieces)

    def _of_piece(self, codes: Codes, output: Output) -> Tally:
        try:
            with np.errstate(all="ignore"):  # what IEEE 754 flags, signalling NaNs too, are results here
                return self.judge.tally(codes, output)
        except Exception as error:
            if isinstance(error, ConformError):
                raise
            return without_result(self.subject.space, Lost(codes, DEFECT, str(defect(error))))


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
