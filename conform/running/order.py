"""Which cases a process is given, in which order: all, those of a shard, or first those that show the most."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, zip_longest

from conform.running.head import Shard
from conform.suites.cases import Case

Group = list[tuple[int, Case]]  # cases of one draw, with their numbers in the suite


def numbered(groups: Iterable[Sequence[Case]]) -> list[Group]:
    """The groups of a suite, with every case's number in it."""
    number = iter(range(sum(map(len, groups))))
    return [[(next(number), case) for case in group] for group in groups]


def without(groups: Iterable[Group], ids: Iterable[str]) -> list[Group]:
    """The cases whose ids are not among `ids`."""
    known = set(ids)
    left = ([(number, case) for number, case in group if case.id not in known] for group in groups)
    return [group for group in left if group]


def of_shard(groups: Sequence[Group], shard: Shard | None) -> list[Group]:
    """Every so many-th group."""
    return list(groups if shard is None else groups[shard.number - 1 :: shard.count])


def by_coverage(groups: Iterable[Sequence[Case]]) -> list[list[Case]]:
    """Every case by itself, so ordered that each beginning of the list covers as much as it can: an op after the other
    gets its turn, of each op a dtype after the other, of each of those a value class or layout, a test after the other.
    The cases that nothing else tells apart come as a digest of their ids puts them."""
    cases = sorted(chain.from_iterable(groups), key=lambda case: hashlib.sha256(case.id.encode()).digest())
    return [[case] for case in _in_turn(cases, (_op, _dtype, _class, _test))]


def _in_turn(cases: list[Case], keys: Sequence[Callable[[Case], str]]) -> list[Case]:
    if not keys or len(cases) < 2:
        return cases
    parts: dict[str, list[Case]] = {}
    for case in cases:
        parts.setdefault(keys[0](case), []).append(case)
    rounds = zip_longest(*(_in_turn(part, keys[1:]) for part in parts.values()))
    return [case for turn in rounds for case in turn if case is not None]


def _op(case: Case) -> str:
    return case.op


def _dtype(case: Case) -> str:
    return case.dtype


def _class(case: Case) -> str:
    """The value class or the layout, without the number of the argument."""
    return (case.values if case.layout == "contiguous" else case.layout).partition(".")[0]


def _test(case: Case) -> str:
    return case.draw.test.id
