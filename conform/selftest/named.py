"""Whether what is told of a planted backend's failures names the condition that was planted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conform.findings.causes import Cause, cause_of
from conform.findings.divides import LEAST_FAILING, Division, divisions
from conform.judging.verdict import FAILURES, FLUSHED, Verdict
from conform.selftest.plants.enumerated import Plant

NAMED, ANOTHER, NOTHING = "named", "another condition", "nothing"
EVERYWHERE, FEW = "fails nearly everywhere", "fails in one case"
OUTCOMES = (NAMED, ANOTHER, NOTHING, EVERYWHERE, FEW)
ALMOST_ALL = 0.9  # of the cases of an op: where so many fail, hardly any passing ones are left to tell them from
SUBNORMAL = "subnormal"


@dataclass(frozen=True)
class Told:
    """What is told of a plant's failures. causes: by dtype."""

    plant: Plant
    failing: int
    judged: int
    divisions: list[Division]
    causes: dict[str, Cause]

    @property
    def subjects(self) -> set[str]:
        """What the sentences are about."""
        found = {subject for each in self.divisions for one in each.told for subject in one.subjects}
        return found | ({SUBNORMAL} if any(one.words == FLUSHED for one in self.causes.values()) else set())

    @property
    def outcome(self) -> str:
        """One of OUTCOMES: the planted condition is told, another, or nothing is; or, where hardly any case passes, or
        one alone fails, there is nothing to tell it by."""
        if any(_is_of(subject, about) for about in self.plant.about for subject in self.subjects):
            return NAMED
        if self.failing >= ALMOST_ALL * self.judged:
            return EVERYWHERE
        if self.failing < LEAST_FAILING:
            return FEW
        return ANOTHER if self.divisions else NOTHING

    @property
    def wrong_causes(self) -> list[str]:
        """Those that the plant does not have."""
        words = [one.words for one in self.causes.values()]
        return [each for each in words if not any(one in each for one in self.plant.looks_like)]


def _is_of(subject: str, about: str) -> bool:
    """Whether a condition's subject is the one that is asked for: `layout of self` is one of `layout`."""
    return subject == about or subject.startswith(f"{about} of ")


def told_of(plant: Plant, verdicts: Sequence[Verdict]) -> Told:
    """Of the verdicts on all cases of the plant's op."""
    judged = [one for one in verdicts if one.asked is not None]
    failing = [one for one in judged if one.status in FAILURES]
    causes = {dtype: cause_of(one for one in judged if one.dtype == dtype) for dtype in {one.dtype for one in failing}}
    return Told(
        plant, len(failing), len(judged), divisions(verdicts), {dtype: one for dtype, one in causes.items() if one}
    )
