"""What of a certificate can be made again by the kit that made it: the must-pass list from suites and seeds, verdicts
from kept answers, and answers by the backend itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conform.certify import outputs, rejudge
from conform.certify.found import RERUN, Asked, OnStep, Report
from conform.certify.issue import CERTIFICATE
from conform.certify.rejudge import NotByValues
from conform.certify.statement import Conform, Draw
from conform.errors import UsageError
from conform.foreign import line
from conform.judging.verdict import FAILURES
from conform.suites import load
from conform.suites.cases import Case, Selection, select


@dataclass(frozen=True)
class Remade:
    """The draws of a certificate whose files, records and leaves hold; `records` and `answers` by draw."""

    directory: Path
    conform: Conform
    records: Mapping[str, Mapping[str, Any]]
    answers: Mapping[str, Sequence[outputs.Line]]
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
        self._kept(draw.name, record["cases"])
        self._rejudged(draw.name, made, counted)
        if self.asked.rerun:
            self._rerun(draw.name, made)

    def _kept(self, name: str, cases: Sequence[Mapping[str, Any]]) -> None:
        """That the answers are there which had to be kept: who signs does not choose what can be judged again."""
        size, told_size = outputs.sizes(self.directory / name, self.answers[name])
        if size != told_size:
            self.report.find(f"{name}/{outputs.DATA}", f"has {size} bytes, of which answers have {told_size}")
        by_id = {one.id: one for one in self.answers[name]}
        number = re.fullmatch(r"failing, and (\d{1,9}) passing", self.conform.kept)
        if number is None and self.conform.kept != "all":
            self.report.find(f"{CERTIFICATE}, kept", f"{self.conform.kept!r}")
            return
        passing = [case["id"] for case in cases if case["status"] == "pass"]
        chosen = outputs.sampled(passing, self.conform.nonce, None if number is None else int(number[1]))
        for case in cases:
            answer = by_id[case["id"]]
            if answer.outputs is None and case["compared"]:
                self.report.find(f"{name}: {case['id']}", "values were compared, and there is no answer")
            elif (case["id"] in chosen or case["status"] in (*FAILURES, "waived")) and outputs.is_lost(answer):
                self.report.find(f"{name}: {case['id']}", "its answer had to be kept, and is not")

    def _rejudged(self, name: str, made: Mapping[str, Case], counted: Mapping[str, Mapping[str, Any]]) -> None:
        answers = {one.id: one for one in self.answers[name] if rejudge.can_be_judged(counted[one.id], one)}
        chosen = outputs.sampled(answers, self.asked.sample_seed, self.asked.rejudge)
        data, done = outputs.Bytes(self.directory / name / outputs.DATA), 0
        for case_id in (one for one in answers if one in chosen):
            self.on_step(f"{name}: judged again {done} of {len(chosen)}")
            try:
                other = rejudge.difference(
                    made[case_id], counted[case_id], answers[case_id], data, self.records[name]
                )  # fmt: skip
            except NotByValues:
                continue
            except ValueError as error:
                other = str(error)
            done += 1
            if other is not None:
                self.report.find(f"{name}: {case_id}", f"judged again: {other}")
        self.report.notes.append(f"{name}: {done} of {len(answers)} kept answers judged again")

    def _rerun(self, name: str, made: Mapping[str, Case]) -> None:
        backend = self.asked.backend or str(self.conform.backend.get("source") or self.conform.backend["name"])
        if self.asked.backend is None and "::" in backend:
            raise UsageError(f"--rerun: the backend is in a file; name it: --backend {backend}")
        deterministic = [one for one in self.answers[name] if made[one.id].times == 1 and one.outputs is not None]
        chosen = outputs.sampled((one.id for one in deterministic), self.asked.sample_seed, RERUN)
        asked_again = [one for one in deterministic if one.id in chosen]
        replies = rejudge.answers_again(backend, [made[one.id] for one in asked_again], self.asked.timeout_s)
        differing = 0
        for number, (answer, reply) in enumerate(zip(asked_again, replies, strict=True), 1):
            self.on_step(f"{name}: asked again {number} of {len(asked_again)}")
            if not rejudge.is_same(answer, reply):
                differing += 1
                self.report.find(f"{name}: {answer.id}", f"{backend} answers otherwise now")
        if not differing:
            self.report.notes.append(f"{name}: {len(asked_again)} calls asked again of {line(backend)}: the same bytes")
