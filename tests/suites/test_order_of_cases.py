"""What a case is given does not depend on the cases before it: a table of edges was kept by settings once, to which 0,
0.0 and False are one key."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Sequence

import pytest

from conform.call.arguments import tensors
from conform.call.families import FAMILIES
from conform.interp import semantics
from conform.suites import load
from conform.suites.cases import Case, Selection
from conform.suites.select import select

MOST = 2**11  # elements: cases of more have the same values, and take longer


def special_cases(family: str) -> list[Case]:
    """The small ones of core, whose values a spec has a part in."""
    ops = [op for op in semantics.names() if semantics.find(op).family == family]
    groups = select(load(["core"], ops=ops), Selection(layouts="as-written"))
    cases = [case for group in groups for case in group if case.values != "typical"]
    return [case for case in cases if sum(one.size for one in tensors(case.draw.outline())) <= MOST]


def digests(cases: Sequence[Case], before: Callable[[], None]) -> dict[str, str]:
    """By id, that of what the case is given."""
    found = {}
    for case in cases:
        before()
        told = [(one.dtype.name, one.shape, one.tobytes()) for one in tensors(case.arguments(case.draw.arguments()))]
        found[case.id] = hashlib.sha256(repr(told).encode()).hexdigest()
    return found


def forget() -> None:
    """Every table that the room of inputs keeps, but for what it has loaded."""
    for name, module in list(sys.modules.items()):
        if name.startswith("conform.inputs"):
            for each in vars(module).values():
                if hasattr(each, "cache_clear") and each.__name__ != "_load":
                    each.cache_clear()


@pytest.mark.one_in(13)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_case_is_given_the_same_alone_and_behind_all_others(family: str) -> None:
    cases = special_cases(family)
    assert len(cases) > 50
    assert digests(cases, forget) == digests(cases, lambda: None)
