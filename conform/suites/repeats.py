"""Cases of several equal calls: equal calls have equal answers.

For each op and dtype the first plain case of the suite is asked again and again, and that with the largest tensor: what
adds in an order of its own does so where there is much to add. Large tensors are asked for less often: of 4 million
elements a thousand calls would take minutes, for every op. What comes out is known with the first answer: a case has
as many calls as what goes in allows, of which that may leave fewer (`times_of`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from conform.call.arguments import tensors
from conform.interp.semantics import traits_of
from conform.suites.cases import GIVEN

if TYPE_CHECKING:
    from conform.suites.cases import Case

REPEATED = "repeated"  # the end of the id of a case of several equal calls
MOST_ELEMENTS = 2**22  # of the largest tensor, in all the calls of a case
FEWEST = 3  # calls, however large a tensor is, if so many are asked for


def with_repeats(groups: Sequence[Sequence[Case]], times: int) -> list[list[Case]]:
    """The groups, with a case of `times` calls, or as many as large tensors allow, behind those that are chosen; once
    is no repetition, and adds none."""
    chosen = {case.id for case in _chosen(groups)} if times > 1 else set()
    return [[*group, *(_repeated(case, times) for case in group if case.id in chosen)] for group in groups]


def times_of(times: int, shapes: Iterable[Sequence[int]]) -> int:
    """How often a call is asked again of which `times` are wanted and that has tensors of these shapes."""
    largest = max(map(prod, shapes), default=0)
    return min(times, max(FEWEST, MOST_ELEMENTS // max(1, largest)))


def _repeated(case: Case, times: int) -> Case:
    return replace(case, id=f"{case.id}/{REPEATED}", times=times_of(times, _shapes(case)))


def _chosen(groups: Iterable[Sequence[Case]]) -> Iterable[Case]:
    first: dict[tuple[str, str], Case] = {}
    largest: dict[tuple[str, str], Case] = {}
    for case in (case for group in groups for case in group if _is_plain(case)):
        key = (case.op, case.dtype)
        first.setdefault(key, case)
        if key not in largest or _size(case) > _size(largest[key]):
            largest[key] = case
    return [*first.values(), *largest.values()]


def _size(case: Case) -> int:
    """Elements of the largest tensor that goes in."""
    return max(map(prod, _shapes(case)), default=0)


def _shapes(case: Case) -> list[Sequence[int]]:
    """Those of the tensors that go in."""
    test = case.draw.test
    return [one.shape for one in (tensors(case.draw.arguments()) if test.is_given else test.tensors)]


def _is_plain(case: Case) -> bool:
    """Whether it is a valid call of plain numbers in plain memory, whose result is determined."""
    is_usual = case.values in ("typical", GIVEN) and case.layout == "contiguous"
    return is_usual and case.draw.test.domain is None and not traits_of(case.op).undetermined
