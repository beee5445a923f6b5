"""Taking a certificate of somebody else's apart: each step finds what does not add up, and names the place.

What the envelope says is believed of nothing: files are hashed, leaves and root made again, the must-pass list made
from suites and seeds, results counted anew from the records, kept answers judged again. Nothing is executed that the
folder names; a backend runs only where the verifier names it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pydantic import ValidationError

from conform import kit
from conform.certify import (
    envelope,
    evidence,
    keyless,
    leaves,
    levels,
    merkle,
    must_pass,
    outputs,
    proof,
    restated,
    statement,
)
from conform.certify.envelope import CERTIFICATE
from conform.certify.found import Asked, OnStep, Report
from conform.certify.issue import SUMMARY, draws_of, environment_of, source_of, told_of_pairs
from conform.certify.must_pass import canonical
from conform.certify.remade import Remade
from conform.errors import ConformError
from conform.foreign import line
from conform.golden_files.container import digest_of
from conform.judging.credit import NOT_CREDITED, credit
from conform.judging.verdict import FAILURES, REFUSAL
from conform.report.header import i8_is_whole
from conform.report.run_json import expanded
from conform.report.schema import read_dict
from conform.report.waivers import are_right
from conform.verbs.checking import EQUIVALENCE_FILE


def verify(directory: Path, asked: Asked, on_step: OnStep = lambda _: None) -> Report:
    """Everything that can be checked of a certificate's folder. UsageError for one that has no certificate in it, or a
    key that is none."""
    report = Report()
    key = None if asked.key is None else envelope.public_key_of(asked.key)
    on_step("signature")
    opened = envelope.opened(directory / CERTIFICATE, key)
    if not opened.is_signed:
        report.find(CERTIFICATE, f"the signature is not that of the key {opened.key_id[:16]}")
        return report  # nothing in it was said by anybody
    who = f"signed by the key {opened.key_id[:16]}"
    report.notes.append(f"{who}, which is --key's" if key else f"{who}, which nobody vouched for: name it by --key")
    _named(directory, opened.payload, asked, report)
    try:
        told = statement.Statement.model_validate(opened.statement)
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        report.find(f"{CERTIFICATE}, {place}", error.errors()[0]["msg"])
        return report
    _Folder(directory, told, asked, report, on_step).check()
    if report.result == statement.FAILED:
        report.find("result", "FAILED: the certificate itself says that not everything passed")
    return report


def _named(directory: Path, payload: bytes, asked: Asked, report: Report) -> None:
    """The bundle that may stand beside the certificate; it says nothing until somebody names who must have signed."""
    if asked.named is not None:
        keyless.check(directory, payload, asked.named, report)
    elif (directory / keyless.BUNDLE).exists():
        report.notes.append(f"{keyless.BUNDLE} was not looked at: name who must have signed by --identity and --issuer")


@dataclass
class _Folder:
    """A folder whose statement is signed and has the form; the steps, in their order."""

    directory: Path
    statement: statement.Statement
    asked: Asked
    report: Report
    on_step: OnStep

    @property
    def conform(self) -> statement.Conform:
        return self.statement.predicate.conform

    def check(self) -> None:
        """Every step; those that read what an earlier one found wrong are left out."""
        self.on_step("files")
        self._files()
        if not self.report.is_verified:
            return
        self.on_step("records and leaves")
        for step in (
            self._leaves, self._draws, self._restated, self._results, self._credit, self._waived, self._selftest,
            self._truth, self._equivalence,
        ):  # fmt: skip
            self._guarded(step)
        if not self.report.is_verified:
            return
        if self.conform.kit.get("digest") != kit.digest():
            made_by = f"made by conform {self.conform.kit.get('version')}, {self.conform.kit.get('digest')}"
            self.report.find("kit", f"{made_by}; this one is {kit.digest()}, and may make other cases")
            return
        self.on_step("what the records and pages say")
        self._guarded(self._of_this_kit)
        remade = Remade(
            self.directory, self.conform, self.records, self.answers, self.evidence, self.asked, self.report,
            self.on_step,
        )  # fmt: skip
        for draw in self.conform.draws:
            self._guarded(lambda draw=draw: remade.check(draw))
        if self.asked.selftest:
            self._guarded(self._selftest_again)

    def _guarded(self, step: Callable[[], None]) -> None:
        """A step that fails on what somebody wrote finds that."""
        try:
            step()
        except Exception as error:
            self.report.find(self.directory, f"cannot be checked further: {type(error).__name__}: {line(error)}")

    # --- What stands in the folder ------------------------------------------------------------------------------------

    def _files(self) -> None:
        told = self.conform.files
        here = {path.relative_to(self.directory).as_posix(): path for path in self.directory.rglob("*")}
        has_links = any(path.is_symlink() for path in here.values())
        for name, path in sorted(here.items()):
            if path.is_symlink():
                self.report.find(name, "is a link")
            elif path.is_dir() and any(one.startswith(f"{name}/") for one in told):
                continue
            elif name not in (CERTIFICATE, keyless.BUNDLE, *told):
                self.report.find(name, "is no file of the certificate")
        for name, written in told.items():
            path = here.get(name)
            if path is None:
                self.report.find(name, "is missing")
            elif not path.is_symlink():
                found = digest_of(path)
                if (found.bytes, found.sha256) != (written.bytes, written.sha256):
                    sizes = f"{found.bytes} bytes, {written.bytes} then"
                    self.report.find(name, f"is not the file that was signed: {sizes}")
        if not (self.report.is_verified or has_links):  # which may lead to what has no end
            self._changed_cases()

    def _changed_cases(self) -> None:
        """Which cases a changed file was changed in, as far as it can be read."""
        try:
            made, signed = [leaf for _, leaf in self._made()], leaves.read(self.directory)
        except (ConformError, KeyError, TypeError, ValueError, RecursionError, OSError):
            return
        names = [case_id for case_id, _ in self._made()]
        for case_id, leaf, was in zip(names, made, signed, strict=False):
            if leaf != was:
                self.report.find(case_id, "its record or answer is not the one that was signed")

    # --- What the records say -----------------------------------------------------------------------------------------

    @cached_property
    def records(self) -> dict[str, dict[str, Any]]:
        return {draw.name: expanded(read_dict(self.directory / draw.name)) for draw in self.conform.draws}

    @cached_property
    def evidence(self) -> evidence.Evidence:
        """The manifest and the waivers, which the folder holds."""
        return evidence.read(self.directory, self.conform, next(iter(self.records.values())), self.report)

    @cached_property
    def answers(self) -> dict[str, list[outputs.Line]]:
        return {draw.name: outputs.read(self.directory / draw.name) for draw in self.conform.draws}

    def _made(self) -> Iterator[tuple[str, bytes]]:
        """Each case with its leaf, made again."""
        for name, record in self.records.items():
            hashes = leaves.hashes(name, record["cases"], self.answers[name])
            yield from ((f"{name}: {case['id']}", leaf) for case, leaf in zip(record["cases"], hashes, strict=True))

    def _leaves(self) -> None:
        told, signed = self.conform.merkle, leaves.read(self.directory)
        made = list(self._made())
        for (case_id, leaf), was in zip(made, signed, strict=False):
            if leaf != was:
                self.report.find(case_id, "its leaf is not that of leaves.txt")
        if len(made) != told.leaves or merkle.root([leaf for _, leaf in made]).hex() != told.root:
            self.report.find("merkle.root", f"is not that of the {len(made)} cases of the records")
        for name, record in self.records.items():
            ids = [case["id"] for case in record["cases"]]
            if ids != [one.id for one in self.answers[name]]:
                self.report.find(f"{name}/{outputs.INDEX}", "has other cases than the record")

    def _draws(self) -> None:
        told = self.conform
        if self.asked.nonce is not None and (told.nonce, told.nonce_is) != (self.asked.nonce, "given"):
            self.report.find("nonce", f"{told.nonce!r} ({told.nonce_is}), not the one that was given: an older run?")
        if told.nonce_is == "the date":
            self.report.notes.append(f"nobody gave a nonce: the date, {told.nonce}, chose half of the draws")
            if told.nonce != told.date:
                self.report.find("nonce", f"{told.nonce!r} is said to be the date, {told.date}")
        if told.draws != draws_of(told.nonce, told.nonce_is, told.draws[0].determinism):
            self.report.find("draws", "are not those of the nonce")
        for draw in told.draws:
            seed = self.records[draw.name]["seed"]
            if seed != draw.seed:
                self.report.find(f"{draw.name}/run.json", f"has the seed {seed}, not {draw.seed}")

    def _results(self) -> None:
        """What the statement says, counted anew."""
        told, records = self.conform, list(self.records.values())
        first, cases = records[0], [case for record in records for case in record["cases"]]
        listed = must_pass.told(first, told.must_pass.selection)
        asked = levels.Asked(first["contract"], told.draws[0].determinism, listed["is_whole"])
        same = {
            "kit": first["kit"], "truth": first["truth"], "backend": first["backend"],
            "environment": environment_of(first),
            "manifest": source_of(first["manifest"]),
            "waivers": self.evidence.standing(cases, first["environment"]["numerics"], listed),
            "summary": {name: record["summary"] for name, record in self.records.items()},
            "ops": statement.ops_of(cases),
            "must_pass": listed, "levels": levels.standing(cases, asked),
        }  # fmt: skip
        written = told.model_dump(by_alias=True)
        for name, made in same.items():
            if canonical(written[name]) != canonical(json.loads(json.dumps(made))):
                self.report.find(f"{CERTIFICATE}, {name}", "is not what the records say")
        for record in records[1:]:
            ours, others = map(_of_every_draw, (first, record))
            for name in (name for name in ours if ours[name] != others[name]):
                self.report.find(f"run.json, {name}", "differs between the draws")
        self._result(records)

    def _result(self, records: Sequence[Mapping[str, Any]]) -> None:
        predicate, told = self.statement.predicate, self.conform
        codes = [int(not _is_conformant(record)) for record in records]
        has_waived = any(record["summary"]["waived"] for record in records)
        result = statement.result_of(codes, has_waived, told.model_dump(by_alias=True))
        made = statement.statement_of(statement.predicate_of(result, told.model_dump(by_alias=True)))
        if canonical(made) != canonical(self.statement.model_dump(by_alias=True)):
            is_other = predicate.result != result
            what = f"says {predicate.result}, the records {result}" if is_other else "is not that of the records"
            self.report.find(f"{CERTIFICATE}, predicate", what)
        self.report.result = result
        self.report.levels = [level.name for level in told.levels if level.held]
        if not told.must_pass.is_whole:
            self.report.notes.append("of a part of the must-pass list: " + " ".join(told.must_pass.suites))

    def _restated(self) -> None:
        """That the records say of their cases what these give."""
        for name, record in self.records.items():
            for place, problem in restated.of_cases(record):
                self.report.find(f"{name}/run.json, {place}", problem)

    def _of_this_kit(self) -> None:
        """What the kit that made the certificate, which is this one, says of itself, and the pages that it makes."""
        for name, record in self.records.items():
            for place, problem in restated.of_this_kit(record):
                self.report.find(f"{name}/run.json, {place}", problem)
            for report in restated.other_reports(self.directory / name):
                self.report.find(f"{name}/{report}", "is not that of the record beside it")
        told = self.conform.model_dump(by_alias=True)
        if restated.summary_differs(self.directory / SUMMARY, self.statement.predicate.result, told):
            self.report.find(SUMMARY, "is not the page of this certificate")

    def _equivalence(self) -> None:
        """That the statement says of the second backend what the comparison in the folder does."""
        path = self.directory / EQUIVALENCE_FILE
        made = told_of_pairs(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None
        if made != self.conform.equivalence:
            self.report.find(f"{CERTIFICATE}, equivalence", f"is not what {EQUIVALENCE_FILE} says")

    def _credit(self) -> None:
        """That refusals were credited where they tell something, and nowhere else."""
        for name, record in self.records.items():
            every = [SimpleNamespace(**case) for case in (*record["cases"], *record["not_counted"])]
            tells = credit(every)
            for one in every:
                if one.check == REFUSAL and one.status == "pass" and not tells(one):
                    self.report.find(f"{name}: {one.id}", "a refusal that earns no credit, and has some")
                elif one.rule == NOT_CREDITED and tells(one):
                    self.report.find(f"{name}: {one.id}", "a refusal that earns credit, and has none")

    def _waived(self) -> None:
        """That whatever is waived is what an entry expects."""
        for name, record in self.records.items():
            for case_id in self.evidence.unwaived(record["cases"], record["environment"]["numerics"]):
                what = f"is waived, and no failure that {evidence.WAIVERS} expects on {self.conform.date}"
                self.report.find(f"{name}: {case_id}", what)

    def _selftest(self) -> None:
        """That a whole certificate has the share of the self-test that the nonce chooses; run again, if asked for."""
        told, seed = self.conform.selftest, self.conform.draws[-1].seed
        if (told is not None) != self.conform.must_pass.is_whole:
            self.report.find("selftest", "belongs to the whole list, and to it alone")
        if told is None:
            return
        if told.seed != seed:
            self.report.find("selftest", f"is the share of the seed {told.seed}, not of {seed}")
        caught = f"{told.caught:,} of {told.tried:,} planted defects caught, {told.explained:,} explained"
        again = "" if self.asked.selftest else "; --selftest runs it again"
        self.report.notes.append(f"self-test: {caught}; I8 on {told.pairs:,} pairs of op and dtype{again}")

    def _selftest_again(self) -> None:
        self.on_step("self-test")
        told = self.conform.selftest
        if told is not None and (found := proof.run(told.seed)) != told.model_dump():
            other = next(name for name, value in found.items() if getattr(told, name) != value)
            self.report.find("selftest", f"{other} {found[other]!r} now, {getattr(told, other)!r} then")

    def _truth(self) -> None:
        if not i8_is_whole(self.conform.truth.get("i8")):
            self.report.notes.append("I8 was not known to hold for every op of that kit (conform selftest --full)")


def _of_every_draw(record: Mapping[str, Any]) -> dict[str, Any]:
    """What of a record is the same, whatever was drawn."""
    same = {name: record[name] for name in ("kit", "truth", "contract", "backend")}
    return same | {
        "environment": environment_of(record),
        "suite.names": record["suite"]["names"], "checks.selected": record["checks"]["selected"],
        "waivers": source_of(record["waivers"]), "manifest": source_of(record["manifest"]),
    }  # fmt: skip


def _is_conformant(record: Mapping[str, Any]) -> bool:
    """Whether a run's exit code was 0, by its record."""
    failed = any(case["status"] in FAILURES for case in record["cases"])
    covered = record["required"]["coverage"] >= record["required"]["min_coverage"]
    whole = record["stopped"] is None and record["kit"].get("digest") == record["kit"].get("digest_at_end")
    return bool(record["summary"]["judged"]) and not failed and covered and whole and are_right(record)
