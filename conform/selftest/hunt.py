"""Does the core suite catch a planted defect? The plainest case that fails under it in what torch does right there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from conform.backends.client import BackendProcess
from conform.backends.launcher import Template
from conform.backends.reply import Reply
from conform.judging.checks import EVERY
from conform.judging.verdict import ALIASING, MUTATION, Verdict
from conform.selftest import plants
from conform.selftest.plants.enumerated import Plant
from conform.selftest.plants.host import AS
from conform.selftest.trial import Prepared, Trial, planted_as, prepare, replies, same_reply

_PLANTS = Path(plants.__file__).parent
HOST = f"{_PLANTS / 'host.py'}::Host"
HONEST = f"{_PLANTS / 'honest.py'}::Honest"  # called torch: all but a few operators are answered by it
FIRST_BATCH = 2  # cases; the batches grow, since most defects show at once


CAUGHT = ("fail", "crash")  # an error is a refusal, which a defect is not to be


@dataclass(frozen=True)
class Catch:
    """What became of a plant.

    case_id: of the case that failed under it, None if it survived; shown: cases that it answered otherwise than torch
    and that passed all the same, up to that one.
    """

    plant: Plant
    case_id: str | None
    shown: int


class Hunt:
    """Runs the cases of a trial on plants; a context manager. What it makes of an op it keeps until the next op."""

    def __init__(self, trial: Trial, template: Template | None = None) -> None:
        self.trial = trial
        self._template = template
        self._op = ""

    def __enter__(self) -> Hunt:
        with ExitStack() as stack:
            template = self._template or stack.enter_context(Template())
            self._host = stack.enter_context(BackendProcess(HOST, template=template))
            self._torch = stack.enter_context(BackendProcess(HONEST, template=template))
            self._open = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._open.__exit__(*error)

    def catch(self, plant: Plant) -> Catch:
        """What becomes of a plant on the cases of its op."""
        shown = 0
        for prepared, reply in self._answered_otherwise(plant):
            if self._is_caught(prepared, reply):
                return Catch(plant, prepared.case.id, shown)
            shown += 1
        return Catch(plant, None, shown)

    def verdicts(self, plant: Plant) -> list[Verdict]:
        """How the cases of its op that torch passes end under a plant, plainest first."""
        otherwise = {prepared.case.id: reply for prepared, reply in self._answered_otherwise(plant)}
        described = self._host.describe()
        return [
            self.trial.verdict(one, otherwise[one.case.id], described)
            if one.case.id in otherwise else self._of_torch(one)
            for one in self._prepared if self._torch_passes(one)
        ]  # fmt: skip

    def _answered_otherwise(self, plant: Plant) -> Iterator[tuple[Prepared, Reply]]:
        """The cases to which the plant makes a difference. Where torch refuses comes last: a defect is to show in a
        result if it can."""
        refused: list[tuple[Prepared, Reply]] = []
        for batch in self._batches(plant.op):
            concerned = [one for one in batch if plant.concerns(one.bound)]
            calls = [planted_as(one.call, AS, plant.defect) for one in concerned]
            for one, reply in zip(concerned, list(replies(self._host, calls)), strict=True):
                honest = self._honest[one.case.id]
                if not same_reply(honest, reply):
                    if honest.status == "ok":
                        yield one, reply
                    else:
                        refused.append((one, reply))
        yield from refused

    def _batches(self, op: str) -> Iterator[Sequence[Prepared]]:
        """The op's cases, plainest first, each with what torch answers to it."""
        if op != self._op:
            self._op, self._prepared = op, []
            self._honest: dict[str, Reply] = {}
            self._verdicts: dict[str, Verdict] = {}
        cases, start, size = self.trial.cases.get(op, []), 0, FIRST_BATCH
        while start < len(cases):
            for case in cases[len(self._prepared) : start + size]:
                self._prepared.append(prepare(case))
            batch = self._prepared[start : start + size]
            new = [one for one in batch if one.case.id not in self._honest]
            answers = replies(self._torch, [one.call for one in new])
            self._honest |= {one.case.id: reply for one, reply in zip(new, answers, strict=True)}
            yield batch
            start, size = start + size, 2 * size

    def _is_caught(self, prepared: Prepared, reply: Reply) -> bool:
        checks = self._checks(prepared)
        return bool(checks) and self.trial.verdict(prepared, reply, self._host.describe(), checks).status in CAUGHT

    def _checks(self, prepared: Prepared) -> frozenset[str]:
        """What may fail the case under a plant: every check where torch's answer is right, or wrong in its memory
        alone, but that one; else none. An answer is right, too, where all its elements are open: it has a shape."""
        verdict, honest = self._of_torch(prepared), self._honest[prepared.case.id]
        if verdict.status == "fail" and verdict.check in (MUTATION, ALIASING):
            others = EVERY - {verdict.check}
            passes = self.trial.verdict(prepared, honest, self._torch.describe(), others).status == "pass"
            return others if passes else frozenset()
        is_open = verdict.status == "unspecified" and honest.status == "ok"
        return EVERY if verdict.status == "pass" or is_open else frozenset()

    def _torch_passes(self, prepared: Prepared) -> bool:
        return self._of_torch(prepared).status == "pass"

    def _of_torch(self, prepared: Prepared) -> Verdict:
        case_id = prepared.case.id
        if case_id not in self._verdicts:
            reply = self._honest[case_id]
            self._verdicts[case_id] = self.trial.verdict(prepared, reply, self._torch.describe())
        return self._verdicts[case_id]
