"""The circuit breaker: an op on which a backend hangs again and again is not asked for any more.

Every call that hangs costs the whole time limit. So once an op has hung AT_MOST times, its later cases are not run:
later in the order of the suite, whatever was run first, so that a record does not depend on workers and shards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from conform.judging.verdict import Verdict

AT_MOST = 3

Numbered = Mapping[str, tuple[int, Verdict]]  # verdicts by case id, each with the number of its case in the suite


class Breaker:
    """Which ops are still asked for, where verdicts come in the order of the suite."""

    def __init__(self) -> None:
        self._hung: Counter[str] = Counter()

    def note(self, verdict: Verdict) -> bool:
        """Takes a verdict into account; whether its op is given up because of it."""
        if verdict.status != "timeout":
            return False
        self._hung[verdict.op] += 1
        return self._hung[verdict.op] == AT_MOST

    def has_given_up(self, op: str) -> bool:
        """Whether the op hung too often."""
        return self._hung[op] >= AT_MOST


def last_asked(verdicts: Iterable[tuple[int, Verdict]]) -> dict[str, int]:
    """Of each op that hung at least AT_MOST times, the number of the case on which it did for the last time that
    counts."""
    hung: dict[str, list[int]] = {}
    for number, verdict in verdicts:
        if verdict.status == "timeout":
            hung.setdefault(verdict.op, []).append(number)
    return {op: sorted(numbers)[AT_MOST - 1] for op, numbers in hung.items() if len(numbers) >= AT_MOST}


def counted(verdicts: Numbered) -> tuple[list[Verdict], list[str]]:
    """The verdicts that stand, and the ops that were given up: of those, what came after the last hang is not told, for
    in another order it would not have been asked."""
    last = last_asked(verdicts.values())
    return [one for number, one in verdicts.values() if number <= last.get(one.op, number)], sorted(last)
