"""junit.xml for continuous integration: one testsuite an op, one testcase a case.

fail is a `failure`; error, crash and timeout are `error`s; what was not judged is `skipped` with its status and reason.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree

from conform.judging.verdict import NOT_JUDGED
from conform.report import failure, header, terminal

# XML 1.0, section 2.2: the only characters a document may hold. A backend's message may hold any.
FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(record: Mapping) -> str:
    """The text of junit.xml."""
    by_op: dict[str, list[Mapping]] = {}
    for case in record["cases"]:
        by_op.setdefault(case["op"], []).append(case)
    root = ElementTree.Element("testsuites", name="conform", **_counts(record["cases"]))
    for op, cases in by_op.items():
        suite = ElementTree.SubElement(root, "testsuite", name=_clean(op), **_counts(cases))
        properties = ElementTree.SubElement(suite, "properties")
        for line in (*header.lines(record), *terminal.why_partial(record)):
            ElementTree.SubElement(properties, "property", name="conform", value=_clean(line))
        for case in cases:
            _testcase(suite, case, record)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _counts(cases: list[Mapping]) -> dict[str, str]:
    statuses = [case["status"] for case in cases]
    return {
        "tests": str(len(statuses)),
        "failures": str(statuses.count("fail")),
        "errors": str(sum(statuses.count(status) for status in ("error", "crash", "timeout"))),
        "skipped": str(sum(statuses.count(status) for status in NOT_JUDGED)),
    }


def _testcase(suite: ElementTree.Element, case: Mapping, record: Mapping) -> None:
    classname = f"{header.backend_name(record)}.{case['op']}"
    element = ElementTree.SubElement(suite, "testcase", classname=_clean(classname), name=_clean(case["id"]))
    status = case["status"]
    if status == "pass":
        return
    message = _clean(f"{status}: {case['reason']}")
    if status in NOT_JUDGED:
        ElementTree.SubElement(element, "skipped", message=message)
        return
    tag = "failure" if status == "fail" else "error"
    outcome = ElementTree.SubElement(element, tag, type=status, message=message)
    outcome.text = _clean("\n".join(failure.aligned(failure.details(case, record))))


def _clean(text: str) -> str:
    return FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
