"""What of a certificate can be made again by the kit that made it: the must-pass list from suites and seeds, verdicts
from kept answers, and answers by the backend itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conform.backends.names import BUILT_IN, is_device
from conform.certify import outputs, rejudge
from conform.certify.envelope import CERTIFICATE
from conform.certify.evidence import Evidence
from conform.certify.found import RERUN, Asked, OnStep, Report
from conform.certify.statement import Conform, Draw
from conform.contracts.tables import contract_table
from conform.errors import UsageError
from conform.foreign import line
from conform.suites import load
from conform.suites.cases import Case, Selection
from conform.suites.repeats import times_of
from conform.suites.select import select


@dataclass(frozen=True)
class Remade:
    """The draws of a certificate whose files, records and leaves hold; `records` and `answers` by draw, `evidence` what
    the run was given besides."""

    directory: Path
    conform: Conform
    records: Mapping[str, Mapping[str, Any]]
    answers: Mapping[str, Sequence[outputs.Line]]
    evidence: Evidence
    asked: Asked
    report: Report
    on_step: OnStep

    def check(self, draw: Draw) -> None:
        """Every step of one draw; `made` are its cases by id, as the kit makes them now."""
        self.on_step(f"{draw.name}: must-pass list")
        record, listed = self.records[draw.name], self.conform.must_pass
        selection = Selection(seed=draw.seed, determinism=draw.determinism, **listed.selection)
        suite = load(listed.suites, seed=draw.seed, ops=selection.ops, ids=selection.ids)
        if suite.digest != record["suite"]["digest"]:
            self.report.find(f"{draw.name}/run.json, suite.digest", "is not that of the suites that this kit has")
        made = {case.id: case for group in select(suite, selection) for case in group}
        counted = {case["id"]: case for case in record["cases"]}
        there = {*counted, *(case["id"] for case in record["not_counted"])}
        for case_id in sorted(made.keys() - there)[:5]:
            self.report.find(f"{draw.name}: {case_id}", "is a case of the must-pass list, and not in the record")
        for case_id in sorted(there - made.keys())[:5]:
            self.report.find(f"{draw.name}: {case_id}", "is in the record, and no case of the must-pass list")
        if not self.report.is_verified:
            return
        self._left_out(draw.name, made, record["not_counted"])
        self._kept(draw.name, record["cases"])
        self._called(draw.name, made, counted)
        self._rejudged(draw.name, made, counted)
        if self.asked.rerun:
            self._rerun(draw.name, made)

    def _left_out(self, name: str, made: Mapping[str, Case], cases: Sequence[Mapping[str, Any]]) -> None:
        """That what does not count asks for a refusal, whatever a record calls it."""
        judge = self._judge(name)
        for case_id in (case["id"] for case in cases):
            domain = made[case_id].draw.test.domain
            if not (domain and domain.broken) and judge.counts(made[case_id]):
                self.report.find(f"{name}: {case_id}", "is said not to count, and does")

    def _kept(self, name: str, cases: Sequence[Mapping[str, Any]]) -> None:
        """That the answers are there which had to be kept: who signs does not choose what can be judged again."""
        size, told_size = outputs.sizes(self.directory / name, self.answers[name])
        if size != told_size:
            self.report.find(f"{name}/{outputs.DATA}", f"has {size} bytes, of which answers have {told_size}")
        by_id = {one.id: one for one in self.answers[name]}
        number = re.fullmatch(r"all but passing, and (\d{1,9}) of these", self.conform.kept)
        if number is None and self.conform.kept != "all":
            self.report.find(f"{CERTIFICATE}, kept", f"{self.conform.kept!r}")
            return
        passing = [case["id"] for case in cases if case["status"] == "pass"]
        chosen = outputs.sampled(passing, self.conform.nonce, None if number is None else int(number[1]))
        for case in cases:
            answer = by_id[case["id"]]
            if not answer.has_outputs and case["compared"]:
                self.report.find(f"{name}: {case['id']}", "values were compared, and there is no answer")
            elif (case["id"] in chosen or case["status"] != "pass") and outputs.is_lost(answer):
                self.report.find(f"{name}: {case['id']}", "its answer had to be kept, and is not")

    def _called(self, name: str, made: Mapping[str, Case], counted: Mapping[str, Mapping[str, Any]]) -> None:
        """That what passed was asked as often as the list says; of equal calls one more, in another process."""
        for answer in self.answers[name]:
            calls, times = sum(one.calls for one in answer.replies), made[answer.id].times
            if counted[answer.id]["status"] != "pass":
                continue
            asked = times_of(times, answer.shapes) + 1 if times > 1 else 1
            if calls != asked:
                self.report.find(f"{name}: {answer.id}", f"has answers to {calls} calls, not {asked}")

    def _rejudged(self, name: str, made: Mapping[str, Case], counted: Mapping[str, Mapping[str, Any]]) -> None:
        """Of the kept answers that have outputs, and of the other cases, the same number each."""
        kept = {one.id: one for one in self.answers[name] if one.is_kept}
        judge, data = self._judge(name), outputs.Bytes(self.directory / name / outputs.DATA)
        for what, ids in _by_kind(kept).items():
            chosen = outputs.sampled(ids, self.asked.sample_seed, self.asked.rejudge)
            for done, case_id in enumerate(one for one in ids if one in chosen):
                self.on_step(f"{name}: {what} judged again {done} of {len(chosen)}")
                try:
                    other = judge.difference(made[case_id], counted[case_id], kept[case_id], data)
                except ValueError as error:
                    other = str(error)
                if other is not None:
                    self.report.find(f"{name}: {case_id}", f"judged again: {other}")
            self.report.notes.append(f"{name}: {len(chosen):,} of {len(ids):,} {what} judged again")

    def _judge(self, name: str) -> rejudge.Judge:
        record = self.records[name]
        return rejudge.Judge(
            backend=record["backend"], checks=frozenset(record["checks"]["selected"]),
            table=contract_table(record["contract"]), suites=record["suite"]["names"],
            manifest=self.evidence.manifest, waivers=self.evidence.waivers_for(record["environment"]["numerics"]),
        )  # fmt: skip

    def _rerun(self, name: str, made: Mapping[str, Case]) -> None:
        told = self.conform.backend
        backend = self.asked.backend or str(told.get("source") or told["name"])
        if self.asked.backend is None and (told.get("source") or not (backend in BUILT_IN or is_device(backend))):
            raise UsageError(f"--rerun: what the certificate names is code of somebody's; name it: --backend {backend}")
        answered = [one for one in self.answers[name] if made[one.id].times == 1 and one.replies]
        chosen = outputs.sampled((one.id for one in answered), self.asked.sample_seed, RERUN)
        asked_again = [one for one in answered if one.id in chosen]
        cases, invocation = [made[one.id] for one in asked_again], self.records[name]["environment"]["invocation"]
        replies = rejudge.answers_again(backend, cases, self.asked.timeout_s, invocation.get("threads", 1))
        differing = 0
        for number, (answer, reply) in enumerate(zip(asked_again, replies, strict=True), 1):
            self.on_step(f"{name}: asked again {number} of {len(asked_again)}")
            if not rejudge.is_same(answer, reply):
                differing += 1
                self.report.find(f"{name}: {answer.id}", f"{backend} answers otherwise now")
        if not differing:
            self.report.notes.append(f"{name}: {len(asked_again)} calls asked again of {line(backend)}: the same bytes")


def _by_kind(kept: Mapping[str, outputs.Line]) -> dict[str, list[str]]:
    """The ids of the answers that have outputs, and of the rest: calls that ended otherwise, cases without a call."""
    found: dict[str, list[str]] = {"kept answers": [], "other ends": []}
    for case_id, answer in kept.items():
        found["kept answers" if answer.has_outputs else "other ends"].append(case_id)
    return {what: ids for what, ids in found.items() if ids}
