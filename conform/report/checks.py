"""What a run says of its check classes: which counted, how many cases passed in each, and what does not count."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from conform.judging.verdict import CHECKS, FAILURES, GRADIENTS, JUDGED


def selected(record: Mapping) -> list[str]:
    """One entry for the header of a report; none where every check counts."""
    chosen = record["checks"]["selected"]
    missing = [check for check in CHECKS if check not in chosen]
    if not missing:
        return []
    return [f"checks all but {', '.join(missing)}" if len(missing) < len(chosen) else f"checks {', '.join(chosen)}"]


def lines(record: Mapping) -> list[str]:
    """How many cases passed in each check, and what failed in those that do not count."""
    counts = [f"{one['check']} {one['passed']} of {one['judged']}" for one in record["checks"]["counts"]]
    failed: dict[str, Counter[str]] = {}
    for case in record["not_counted"]:
        if case["status"] in FAILURES:
            failed.setdefault(case["check"], Counter())[_kind(case)] += 1
    passed = [f"passed by check: {', '.join(counts)}"] if counts else []
    passed += _gradients(record["cases"])
    if record["not_counted"] and not record["summary"]["asked"]:
        passed.append(f"{len(record['not_counted'])} cases ran, of which none counts (--checks names what does)")
    return passed + [_not_counted(check, reasons) for check, reasons in sorted(failed.items())]


def _gradients(cases: Sequence[Mapping]) -> list[str]:
    """`gradients: 40 of 42 judged cases pass, 3 not judged`, where any were asked for."""
    asked = Counter(case["status"] for case in cases if case["id"].endswith(f"/{GRADIENTS}"))
    if not asked:
        return []
    judged = sum(asked[status] for status in JUDGED)
    return [f"gradients: {asked['pass']} of {judged} judged cases pass, {asked.total() - judged} not judged"]


def _not_counted(check: str, reasons: Counter[str]) -> str:
    """`the backend accepted invalid arguments: 34, not counted (check refusal; --checks names what counts)`."""
    told = ", ".join(f"{reason}: {cases}" for reason, cases in reasons.most_common())
    return f"{told}, not counted (check {check}; --checks names what counts)"


def _kind(case: Mapping) -> str:
    """What a failure has in common with others: of a crash, a hang and an exception its status alone."""
    return re.sub(r" \d.*", "", case["reason"].partition(":")[0]) if case["status"] == "fail" else case["status"]

