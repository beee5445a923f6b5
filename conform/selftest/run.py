"""The self-test: I8, and every planted defect caught or explained."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TypeVar

from conform.errors import UsageError, did_you_mean
from conform.selftest.agreement.agreement import WITNESSED_ELEMENTS, Agreement, agree, ops_and_dtypes
from conform.selftest.hunt import Catch, Hunt
from conform.selftest.plants.catalogue import plants, torch_ops
from conform.selftest.plants.enumerated import Plant
from conform.selftest.survivors import Explanation, explanation_of, explanations
from conform.selftest.trial import Trial
from conform.suites.cases import Selection

# Without --full: a share, the same every time.
SHARE_OF_PLANTS = 400
SHARE_OF_PAIRS = 24
FEW_ELEMENTS = 1_000

Progress = Callable[[int, int], None]
Thing = TypeVar("Thing")


@dataclass
class SelfTest:
    """What a self-test found.

    planted: how many defects there are, of the ops asked for; catches: what became of those that were tried;
    agreements: I8 by op and dtype; is_full: nothing was left out.
    """

    planted: int
    is_full: bool
    least: int = WITNESSED_ELEMENTS
    catches: list[Catch] = field(default_factory=list)
    agreements: list[Agreement] = field(default_factory=list)

    @property
    def problems(self) -> list[str]:
        """Why the self-test fails, one line a cause; empty if it holds."""
        disagreeing = [one for one in self.agreements if one.disagreements or one.compared < self.least]
        return [*map(str, disagreeing), *problems_of(self.catches, self.is_full)]


def self_test(
    ops: Sequence[str] = (), full: bool = False, seed: int = 0, progress: Progress = lambda done, of: None
) -> SelfTest:
    """Runs I8 and the planted defects: all of them if `full`, else a share that `seed` chooses; of the ops that match a
    glob, if there are any. `progress` is told the steps done, of how many. UsageError for a glob that matches no op."""
    names = matching(ops)
    every = [plant for op in names for plant in plants(op).values()]
    pairs = [pair for pair in ops_and_dtypes() if pair[0] in names]
    tried = every if full else share(every, SHARE_OF_PLANTS, seed, lambda one: f"{one.op} {one.defect}")
    agreeing = pairs if full else share(pairs, SHARE_OF_PAIRS, seed, " ".join)
    least = WITNESSED_ELEMENTS if full else FEW_ELEMENTS
    found, steps = SelfTest(len(every), full and not ops, least), len(tried) + len(agreeing)
    for op, dtype in agreeing:
        found.agreements.append(agree(op, dtype, least))
        progress(len(found.agreements), steps)
    for catch in catches_of(tried):
        found.catches.append(catch)
        progress(len(agreeing) + len(found.catches), steps)
    return found


def matching(globs: Sequence[str]) -> list[str]:
    """The overloads, of those that torch has and the kit knows, that match one of the globs; all where there is none.

    UsageError for a glob that matches none.
    """
    names = torch_ops()
    for glob in globs:
        if not any(_matches(name, glob) for name in names):
            hint = did_you_mean(glob, [*names, *{name.partition(".")[0] for name in names}])
            raise UsageError(f"--op {glob!r} matches no op that has planted defects{hint}")
    return [name for name in names if not globs or any(_matches(name, glob) for glob in globs)]


def _matches(name: str, glob: str) -> bool:
    return fnmatchcase(name, glob) or fnmatchcase(name.partition(".")[0], glob)


def share(things: Sequence[Thing], count: int, seed: int, name: Callable[[Thing], str]) -> list[Thing]:
    """`count` of them, in their order: those whose names have the smallest hashes."""
    hashed = {name(one): hashlib.sha256(f"{seed} {name(one)}".encode()).digest() for one in things}
    chosen = set(sorted(hashed, key=hashed.__getitem__)[:count])
    return [one for one in things if name(one) in chosen]


def catches_of(tried: Sequence[Plant]) -> Iterator[Catch]:
    """What becomes of each plant, one after the other."""
    if tried:
        with Hunt(Trial(selection=Selection(ops=sorted({one.op for one in tried})))) as hunt:
            yield from map(hunt.catch, tried)


def problems_of(catches: Sequence[Catch], is_full: bool) -> list[str]:
    """Survivors without a reason, and reasons without a survivor."""
    problems = _unused(catches) if is_full else []
    for one in catches:
        explanation, of = explanation_of(one.plant), f"{one.plant.op}: {one.plant.defect} ({one.plant.bug})"
        if one.case_id is None and explanation is None:
            seen = f"{one.shown} cases answered otherwise and passed" if one.shown else "no case answered otherwise"
            problems.append(f"survives without a reason: {of}; {seen}")
        if one.case_id is not None and explanation is not None and not explanation.caught_where:
            problems.append(f"caught by {one.case_id}, though it is said to survive: {of}")
    return problems


def _unused(catches: Sequence[Catch]) -> list[str]:
    used = {explanation_of(one.plant) for one in catches}
    return [f"survivors.yaml speaks of no plant: {_shown(one)}" for one in explanations() if one not in used]


def _shown(one: Explanation) -> str:
    return f"{one.defect} on {', '.join(one.ops)}"
