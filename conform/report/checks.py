"""What a run says of its check classes: which counted, how many cases passed in each, and what does not count."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from conform.judging.verdict import CHECKS, FAILURES


def selected(record: Mapping) -> list[str]:
    """One entry for the header of a report; none where every check counts."""
    chosen = record["checks"]["selected"]
    missing = [check for check in CHECKS if check not in chosen]
    if not missing:
        return []
    return [f"checks all but {', '.join(missing)}" if len(missing) < len(chosen) else f"checks {', '.join(chosen)}"]


def lines(record: Mapping) -> list[str]:
    """The counts of each check, and one line for each that does not count."""
    counts = record["checks"]["counts"]
    told = [f"{one['check']} {one['passed']} of {one['judged']}" for one in counts if one["is_counted"]]
    passed = [f"passed by check: {', '.join(told)}"] if told else []
    return passed + [_not_counted(one, record) for one in counts if not one["is_counted"]]


def _not_counted(count: Mapping, record: Mapping) -> str:
    """`not counted: refusal 3 of 37; the backend accepted invalid arguments: 34 (--checks names what counts)`."""
    failed = [one for one in record["not_counted"] if one["check"] == count["check"] and one["status"] in FAILURES]
    reasons = Counter(_kind(case) for case in failed)
    why = "".join(f"; {reason}: {cases}" for reason, cases in reasons.most_common())
    return f"not counted: {count['check']} {count['passed']} of {count['judged']}{why} (--checks names what counts)"


def _kind(case: Mapping) -> str:
    """What a failure has in common with others: of a crash, a hang and an exception its status alone."""
    return re.sub(r" \d.*", "", case["reason"].partition(":")[0]) if case["status"] == "fail" else case["status"]

