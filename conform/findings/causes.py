"""Which cause is told of the failures of an op and dtype: one that explains nearly all wrong elements, or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from conform.contracts.causes import needed
from conform.findings.splits import NEARLY_ALL
from conform.judging.verdict import FAILURES, FLUSHED, JUDGED, REFUSAL, Verdict

FLUSHING_HINT = "; a backend that flushes subnormal numbers declares `flushes_subnormals`"


class Cause(NamedTuple):
    """words: "as if ..."; how many of the wrong elements it explains."""

    words: str
    explained: int
    wrong: int

    def told(self) -> str:
        """As a sentence behind the op and dtype."""
        hint = FLUSHING_HINT if self.words == FLUSHED else ""
        return f"looks {self.words} ({self.explained:,} of {self.wrong:,} wrong elements){hint}"

    @staticmethod
    def joined(every: Collection[Cause]) -> Cause:
        """The same cause of several dtypes as one."""
        words = next(iter(every)).words
        return Cause(words, sum(one.explained for one in every), sum(one.wrong for one in every))


def cause_of(verdicts: Iterable[Verdict]) -> Cause | None:
    """The cause of the failures of one op and dtype that explains most of the wrong elements, and nearly all; both of
    all elements, and of each case on average, so that no large case speaks for the others.

    A case that failed without a comparison (a crash, a wrong dtype) is explained by none. Calls that have to be refused
    have no elements, and count for nothing.
    """
    judged = [one for one in verdicts if one.status in JUDGED and one.check != REFUSAL]
    failed = [one for one in judged if one.status in FAILURES]
    wrong = sum(one.wrong for one in failed)
    counts: Counter[str] = Counter()
    for one in failed:
        counts.update(one.causes)
    for words, explained in counts.most_common():
        enough = len(failed) >= needed(words).failing * len(judged) and explained >= needed(words).elements
        if enough and explained >= NEARLY_ALL * wrong and _share(words, failed) >= NEARLY_ALL:
            return Cause(words, explained, wrong)
    return None


def _share(words: str, failed: Sequence[Verdict]) -> float:
    """The mean over the cases of the share that is explained."""
    shares = [one.causes.get(words, 0) / one.wrong if one.wrong else 0.0 for one in failed]
    return sum(shares) / len(shares)
