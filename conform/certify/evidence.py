"""What a run was given besides suites: the manifest and the waivers, of which the folder holds the files."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from conform.certify.found import Report
from conform.certify.statement import Conform
from conform.manifest.claimed import place_of
from conform.manifest.language import Manifest
from conform.manifest.language import read as manifest_of
from conform.running import waivers as waiving
from conform.running.waivers import Waivers

MANIFEST, WAIVERS = "manifest.yaml", "waivers.yaml"


def put(out: Path, manifest: str | None, waivers: str | None) -> None:
    """Copies the files that a run is given into the folder. UsageError for what is none."""
    if manifest is not None:
        manifest_of(manifest)
        shutil.copyfile(manifest, out / MANIFEST)
    if waivers is not None:
        waiving.read(waivers)
        shutil.copyfile(waiving.path_of(waivers), out / WAIVERS)


@dataclass(frozen=True)
class Evidence:
    """The manifest and the waivers of a certificate, under the names that they had, and its day."""

    manifest: Manifest | None
    waivers: Waivers | None
    day: date

    def waivers_for(self, numerics: Mapping[str, Any]) -> Waivers | None:
        """Those that held on the day for a backend that tells this of its arithmetic."""
        return None if self.waivers is None else self.waivers.for_backend(numerics, self.day)


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
        _check(waivers, told.waivers, day, report)
        waivers = waivers.model_copy(update={"source": told.waivers["source"]})
    return Evidence(manifest, waivers, day)


def _check(waivers: Waivers, told: Mapping[str, Any], day: date, report: Report) -> None:
    """That the waivers of a record are those of the file, and none of them was used that had expired."""
    pairs = list(zip(waivers.entries, told["entries"], strict=False))
    is_same = len(waivers.entries) == len(told["entries"]) and waivers.digest == told["digest"]
    if not is_same or any(waiving.entry(one, its["state"], its["cases"]) != its for one, its in pairs):
        report.find(WAIVERS, f"is not the {told['source']} by which the record was made")
    for one, its in pairs:
        if one.has_expired(day) and its["state"] not in (waiving.EXPIRED, waiving.ELSEWHERE):
            report.find(f"{WAIVERS}:{one.line}", f"had expired on {one.until}, before {day}")
