"""What a record says besides its cases, worked out anew: counts, what was required, which checks count, the kit's own
figures, and the pages that people read."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from conform import kit
from conform.backends.names import holds_kernels
from conform.certify import page
from conform.judging.checks import chosen
from conform.judging.verdict import CHECKS
from conform.report import junit
from conform.report import record as records
from conform.report.html import page as report_page
from conform.report.html.records import contradictions, of_text
from conform.selftest.figure import shipped, total
from conform.selftest.green import last_green

Problem = tuple[str, str]  # a place and what is wrong there
REPORT, JUNIT = "report.html", "junit.xml"
_PACKED = re.compile(r"(eJ[A-Za-z0-9+/]{40,}={0,2})")  # base64 of what zlib has compressed


def of_cases(record: Mapping[str, Any]) -> Iterator[Problem]:
    """What does not follow from the cases of an expanded record."""
    for problem in contradictions(record):
        yield problem.partition(": ")[0], problem.partition(": ")[2]
    every = [case["id"] for key in ("cases", "not_counted") for case in record[key]]
    for case_id, times in Counter(every).items():
        if times > 1:
            yield case_id, f"stands there {times} times"
    if record["required"] != json.loads(json.dumps(_required(record))):
        yield "required", "is not what its cases give"
    yield from _checks(record)


def _required(record: Mapping[str, Any]) -> dict[str, object]:
    """The coverage of the cases, and what it has to be by default."""
    cases = [SimpleNamespace(**case) for case in record["cases"]]
    return records.required_json(
        records.Required(of_judged_ops=_is_of_kernels(record)), cases, record["summary"]["asked"], record["manifest"]
    )


def _checks(record: Mapping[str, Any]) -> Iterator[Problem]:
    """A certificate counts what a run counts by default, and leaves out nothing else."""
    usual = chosen(None, _is_of_kernels(record))
    if record["checks"]["selected"] != [check for check in CHECKS if check in usual]:
        yield "checks.selected", f"expected {', '.join(sorted(usual))}"
    for key, is_counted in (("cases", True), ("not_counted", False)):
        for case in record[key]:
            if (case["check"] in usual) != is_counted:
                yield case["id"], f"is among {key}, and asks for {case['check']}"


def _is_of_kernels(record: Mapping[str, Any]) -> bool:
    backend = record["backend"]
    return holds_kernels(str(backend.get("source") or backend["name"]))


def of_this_kit(record: Mapping[str, Any]) -> Iterator[Problem]:
    """What this kit says otherwise of itself; for records of this very kit."""
    if record["kit"]["selftest"] != total(shipped()):
        yield "kit.selftest", "is not this kit's figure"
    if record["truth"] != {"oracle": "interp", "digest": kit.truth_digest(), "i8": last_green()}:
        yield "truth", "is not that of this kit"


def other_reports(folder: Path) -> Iterator[str]:
    """Which reports of a draw are others than its record gives, made by this very kit."""
    record = of_text((folder / "run.json").read_text(encoding="utf-8"))
    if not _is_same((folder / REPORT).read_text(encoding="utf-8"), report_page.render([record])):
        yield REPORT
    if (folder / JUNIT).read_text(encoding="utf-8") != junit.render(record):
        yield JUNIT


def summary_differs(path: Path, result: str, conform: Mapping[str, Any]) -> bool:
    """Whether certificate.html is another than the statement gives."""
    return path.read_text(encoding="utf-8") != page.render(result, conform)


def _is_same(found: str, made: str) -> bool:
    """Equal, but for how well zlib compressed what they hold, which depends on its version."""
    one, other = (_PACKED.split(text) for text in (found, made))
    return len(one) == len(other) and all(a == b or _holds(a, b) for a, b in zip(one, other, strict=True))


def _holds(found: str, made: str) -> bool:
    """Whether what was packed holds what is packed now; no more than that is unpacked."""
    try:
        content = zlib.decompress(base64.b64decode(made))
        return zlib.decompressobj().decompress(base64.b64decode(found, validate=True), len(content) + 1) == content
    except (ValueError, zlib.error):
        return False
