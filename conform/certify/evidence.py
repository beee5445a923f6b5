"""What a run was given besides suites: the manifest and the waivers, of which the folder holds the files."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from conform.certify.found import Report
from conform.certify.statement import Conform
from conform.judging.verdict import FAILURES
from conform.manifest.claimed import place_of
from conform.manifest.language import Manifest
from conform.manifest.language import read as manifest_of
from conform.running import waivers as waiving
from conform.running.waivers import Waiver, Waivers

MANIFEST, WAIVERS = "manifest.yaml", "waivers.yaml"
WAIVED = "waived"


@dataclass(frozen=True)
class Evidence:
    """The manifest and the waivers of a certificate, under the names that they had, and its day."""

    manifest: Manifest | None
    waivers: Waivers | None
    day: date

    def waivers_for(self, numerics: Mapping[str, Any]) -> Waivers | None:
        """Those that held on the day for a backend that tells this of its arithmetic."""
        return None if self.waivers is None else self.waivers.for_backend(numerics, self.day)

    def standing(
        self, cases: Iterable[Mapping[str, Any]], numerics: Mapping[str, Any], listed: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """The waivers as the statement has them: of each entry its state, and how many failures of all draws it
        expected. Of the whole must-pass list one expects too much that no draw shows, if its suites are listed."""
        if self.waivers is None:
            return None
        are_shown = listed["is_whole"] and self.waivers.are_shown_by(listed["suites"])
        expected = {one.number: 0 for one in self.waivers_for(numerics).entries}
        for failure in filter(None, map(_failure, cases)):
            for one in self.waivers.entries:
                if one.number in expected and one.is_for(failure) and one.expects(failure):
                    expected[one.number] += 1

        def state(one: Waiver) -> str:
            if one.number not in expected:
                return waiving.EXPIRED if one.has_expired(self.day) else waiving.ELSEWHERE
            return waiving.USED if expected[one.number] else one.if_passing if are_shown else waiving.NOT_ASKED

        entries = [waiving.entry(one, state(one), expected.get(one.number, 0)) for one in self.waivers.entries]
        return {"source": self.waivers.source, "digest": self.waivers.digest, "entries": entries}

    def unwaived(self, cases: Iterable[Mapping[str, Any]], numerics: Mapping[str, Any]) -> Iterator[str]:
        """The ids of cases that are said to be waived, and that not the entry expects by whose rule they are."""
        held = self.waivers_for(numerics)
        for case in (case for case in cases if case["status"] == WAIVED):
            failure = _failure(case)
            entries = (one for one in held.entries if one.is_for(failure) and one.expects(failure)) if held else ()
            first = next(iter(entries), None)
            if first is None or case["rule"] != f"waiver at {held.source}:{first.line}":
                yield case["id"]


def _failure(case: Mapping[str, Any]) -> Any:
    """A failing case as it would have ended without waivers; None for one that does not fail."""
    if case["status"] == WAIVED:
        status, _, reason = case["reason"].partition(": ")
        return SimpleNamespace(**{**case, "status": status, "reason": reason})
    return SimpleNamespace(**case) if case["status"] in FAILURES else None


def put(out: Path, manifest: str | None, waivers: str | None, today: str) -> Evidence:
    """Copies the files that the runs are given into the folder. UsageError for what is none."""
    claims = held = None
    if manifest is not None:
        claims = manifest_of(manifest)
        shutil.copyfile(manifest, out / MANIFEST)
    if waivers is not None:
        held = waiving.read(waivers).model_copy(update={"is_shared": True})  # by the draws
        shutil.copyfile(waiving.path_of(waivers), out / WAIVERS)
    return Evidence(claims, held, date.fromisoformat(today))


def read(directory: Path, told: Conform, record: Mapping[str, Any], report: Report) -> Evidence:
    """What the folder holds; finds what is not what the statement and a record tell of it."""
    day = date.fromisoformat(told.date)
    manifest = None if told.manifest is None else manifest_of(str(directory / MANIFEST))
    if manifest is not None:
        claims = [{key: one[key] for key in ("line", "for")} for one in record["manifest"]["claims"]]
        if manifest.digest != told.manifest["digest"] or claims != list(map(place_of, manifest.claims)):
            report.find(MANIFEST, f"is not the {told.manifest['source']} by which the record was made")
        manifest = manifest.model_copy(update={"source": told.manifest["source"]})
    waivers = None if told.waivers is None else waiving.read(str(directory / WAIVERS))
    if waivers is not None:
        if waivers.digest != told.waivers["digest"]:
            report.find(WAIVERS, f"is not the {told.waivers['source']} by which the record was made")
        waivers = waivers.model_copy(update={"source": told.waivers["source"]})
    return Evidence(manifest, waivers, day)
