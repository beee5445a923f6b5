"""junit.xml for continuous integration: one testsuite an op, one testcase a case.

fail is a `failure`; error, crash and timeout are `error`s; what was not judged or does not count is `skipped` with its
status and reason.
What is printable is a character of XML 1.0 (section 2.2); `<` and its like ElementTree escapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree

from conform.foreign import escaped
from conform.judging.verdict import NOT_JUDGED
from conform.report import failure, header, terminal

NOT_COUNTED = "not counted"
SKIPPED = (*NOT_JUDGED, NOT_COUNTED)


def render(record: Mapping) -> str:
    """The text of junit.xml."""
    by_op: dict[str, list[Mapping]] = {}
    every = [*record["cases"], *map(_skipped, record["not_counted"])]
    for case in every:
        by_op.setdefault(case["op"], []).append(case)
    root = ElementTree.Element("testsuites", name="conform", **_counts(every))
    for op, cases in by_op.items():
        suite = ElementTree.SubElement(root, "testsuite", name=escaped(op), **_counts(cases))
        properties = ElementTree.SubElement(suite, "properties")
        for line in (*header.lines(record), *terminal.why_partial(record), *terminal.warnings(record)):
            ElementTree.SubElement(properties, "property", name="conform", value=escaped(line))
        for case in cases:
            _testcase(suite, case, record)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _skipped(case: Mapping) -> Mapping:
    """A case that does not count, as one of those that were not judged."""
    reason = ": ".join(said for said in (case["check"], case["status"], case["reason"]) if said)
    return {**case, "status": NOT_COUNTED, "reason": reason}


def _counts(cases: list[Mapping]) -> dict[str, str]:
    statuses = [case["status"] for case in cases]
    return {
        "tests": str(len(statuses)),
        "failures": str(statuses.count("fail")),
        "errors": str(sum(statuses.count(status) for status in ("error", "crash", "timeout"))),
        "skipped": str(sum(statuses.count(status) for status in SKIPPED)),
    }


def _testcase(suite: ElementTree.Element, case: Mapping, record: Mapping) -> None:
    classname = f"{header.backend_name(record)}.{case['op']}"
    element = ElementTree.SubElement(suite, "testcase", classname=escaped(classname), name=escaped(case["id"]))
    status = case["status"]
    if status == "pass":
        return
    message = escaped(f"{status}: {case['reason']}")
    if status in SKIPPED:
        ElementTree.SubElement(element, "skipped", message=message)
        return
    tag = "failure" if status == "fail" else "error"
    outcome = ElementTree.SubElement(element, tag, type=status, message=message)
    outcome.text = "\n".join(failure.aligned(failure.details(case, record)))
