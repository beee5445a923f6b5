"""The must-pass list: what a whole certificate has run, and what a narrower one has run of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Any

from conform.manifest.language import read as manifest_of

SUITES = ("core", "scale", "generated", "negative")
MODULES = "modules"  # on the list of who claims modules
_A_MODULE = "torch.nn.Linear"


def suites_for(manifest: str | None) -> tuple[str, ...]:
    """The suites of the whole list, for a backend with this manifest file."""
    claimed = [] if manifest is None else [glob for claim in manifest_of(manifest).claims for glob in claim.op]
    return (*SUITES, MODULES) if _are_modules(claimed) else SUITES


def _are_modules(globs: Iterable[str]) -> bool:
    return any(glob.startswith("torch.") or fnmatchcase(_A_MODULE, glob) for glob in globs)


def is_whole(record: Mapping[str, Any], selection: Mapping[str, Sequence[str]]) -> bool:
    """Whether nothing of the list was left out of a run, which may have had other suites besides."""
    claims = record["manifest"]["claims"] if record["manifest"] else []
    needed = (*SUITES, MODULES) if _are_modules(name for claim in claims for name in claim["for"]) else SUITES
    return set(needed) <= set(record["suite"]["names"]) and not any(selection.values())


def told(record: Mapping[str, Any], selection: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The list of a run, with a digest of all that says which cases it has but the seeds."""
    found = {
        "suites": list(record["suite"]["names"]), "suite_digest": record["suite"]["digest"],
        "selection": {name: list(globs) for name, globs in selection.items()}, "contract": record["contract"],
        "is_whole": is_whole(record, selection),
    }  # fmt: skip
    return found | {"digest": sha256(canonical(found)).hexdigest()}


def canonical(value: object) -> bytes:
    """JSON of one form: sorted keys, no blanks."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
