"""How well a condition divides failing from passing cases, or wrong from right elements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import lgamma, log

# A condition is told if it is true of nearly all failing and of nearly none of the passing ones, and if chance would
# not find its like.
NEARLY_ALL = 0.95
NEARLY_NONE = 0.1
BY_CHANCE = 0.05  # how often a search over so many conditions may find one where there is nothing


@dataclass(frozen=True)
class Condition:
    """What may be true of a case, or of an element.

    subject   what it is about: `alpha`, `layout of self`, `elements of the result`, `NaN`
    words     follow "only where"
    is_proxy  its truth follows from the choice of values, and says less than the values themselves
    """

    subject: str
    words: str
    is_proxy: bool = False


@dataclass(frozen=True)
class Split:
    """A condition, or two that hold together, and of how many failing and passing cases (or elements) it is true.

    draws: of how many failing ones that tell something by themselves, and of how many in all, where others repeat them
    """

    conditions: tuple[Condition, ...]
    failing: int
    passing: int
    all_failing: int
    all_passing: int
    draws: tuple[int, int] | None = None

    @property
    def exceptions(self) -> int:
        """Failing ones that it leaves out, and passing ones that it takes in."""
        return self.all_failing - self.failing + self.passing

    def divides(self, tried: int, most_fail: bool = True) -> bool:
        """Whether it is to be told, the best of `tried` conditions. most_fail: whether most of those of which it is
        true have to fail. An element may be right by luck where it is treated wrongly; a call of many hardly is."""
        return (
            self.failing >= NEARLY_ALL * self.all_failing
            and self.passing <= NEARLY_NONE * self.all_passing
            and (self.failing > self.passing or not most_fail)
            and log(tried) + self._log_chance() <= log(BY_CHANCE)
        )

    def _log_chance(self) -> float:
        """At least the logarithm of how probably a condition that has nothing to do with failing is true of so many
        failing ones: the upper tail of the hypergeometric distribution (Fisher's exact test), by the geometric series
        that its terms stay below."""
        failing, all_failing = self.draws or (self.failing, self.all_failing)
        true, everything = failing + self.passing, all_failing + self.all_passing
        first = (
            _log_choose(all_failing, failing) + _log_choose(self.all_passing, self.passing)
            - _log_choose(everything, true)
        )  # fmt: skip
        more, fewer = failing + 1, self.passing
        ratio = (all_failing - failing) * fewer / (more * (self.all_passing - fewer + 1))
        return 0.0 if ratio >= 1 else min(0.0, first - log(1 - ratio))

    @property
    def words(self) -> str:
        """Of the condition, or of both."""
        return " and ".join(one.words for one in self.conditions)

    @property
    def subjects(self) -> tuple[str, ...]:
        """What the condition is about, or both are."""
        return tuple(one.subject for one in self.conditions)

    def told(self, unit: str) -> str:
        """`only where ... (12 of 12 such cases; 0 of 31 others)`; unit: cases, elements."""
        only = "only" if self.failing == self.all_failing else "nearly only"
        such, others = self.failing + self.passing, self.all_failing + self.all_passing - self.failing - self.passing
        left = self.all_failing - self.failing
        return f"{only} where {self.words} ({self.failing:,} of {such:,} such {unit}; {left:,} of {others:,} others)"


def best(splits: Iterable[Split], tried: int, most_fail: bool = True) -> list[Split]:
    """Those that divide, with the fewest exceptions, of `tried` that were looked at: several where nothing tells them
    apart."""
    good = [one for one in splits if one.divides(tried, most_fail)]
    fewest = min((one.exceptions for one in good), default=0)
    return [one for one in good if one.exceptions == fewest]


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
