"""junit.xml for continuous integration: one testsuite an op, by family, one testcase a case with its time in seconds.

fail is a `failure`; error, crash and timeout are `error`s; what was not judged or does not count is `skipped` with its
status and reason.
What is printable is a character of XML 1.0 (section 2.2); `<` and its like ElementTree escapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from xml.etree import ElementTree

from conform.foreign import escaped
from conform.judging.verdict import NOT_JUDGED
from conform.report import failure, header, terminal

NOT_COUNTED = "not counted"
SKIPPED = (*NOT_JUDGED, NOT_COUNTED)


def render(record: Mapping) -> str:
    """The text of junit.xml."""
    by_op: dict[str, list[Timed]] = {op: [] for op in record["ops"]}
    cases = [*record["cases"], *map(_skipped, record["not_counted"])]
    every = list(zip_longest(cases, record["environment"]["timings"]["case_seconds"]))
    for case, seconds in every:
        by_op[case["op"]].append((case, seconds))
    root = ElementTree.Element("testsuites", name="conform", **_counts(every))
    for op, cases in by_op.items():
        family = record["ops"][op]["family"]
        suite = ElementTree.SubElement(root, "testsuite", name=escaped(op), package=family, **_counts(cases))
        properties = ElementTree.SubElement(suite, "properties")
        for line in (*header.lines(record), *terminal.why_partial(record), *terminal.warnings(record)):
            ElementTree.SubElement(properties, "property", name="conform", value=escaped(line))
        for case, seconds in cases:
            _testcase(suite, case, seconds, record)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _skipped(case: Mapping) -> Mapping:
    """A case that does not count, as one of those that were not judged."""
    reason = ": ".join(said for said in (case["check"], case["status"], case["reason"]) if said)
    return {**case, "status": NOT_COUNTED, "reason": reason}


Timed = tuple[Mapping, float | None]  # a case, and how long it took if anybody measured


def _counts(cases: list[Timed]) -> dict[str, str]:
    statuses = [case["status"] for case, _ in cases]
    return {
        "tests": str(len(statuses)),
        "failures": str(statuses.count("fail")),
        "errors": str(sum(statuses.count(status) for status in ("error", "crash", "timeout"))),
        "skipped": str(sum(statuses.count(status) for status in SKIPPED)),
        **_time(sum(seconds or 0.0 for _, seconds in cases) if any(seconds for _, seconds in cases) else None),
    }


def _time(seconds: float | None) -> dict[str, str]:
    return {} if seconds is None else {"time": f"{seconds:.6f}"}


def _testcase(suite: ElementTree.Element, case: Mapping, seconds: float | None, record: Mapping) -> None:
    names = {"classname": escaped(f"{header.backend_name(record)}.{case['op']}"), "name": escaped(case["id"])}
    element = ElementTree.SubElement(suite, "testcase", {**names, **_time(seconds)})
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
