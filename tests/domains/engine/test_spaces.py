"""Spaces: narrowing, membership, complement, boundaries and how they print."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conform.domains.engine.spaces import (
    ANYTHING,
    INTEGERS,
    REALS,
    Discrete,
    Space,
    integers_between,
    such_that,
)


def narrowed(space: Space, *steps: tuple[str, object]) -> Space:
    for suffix, value in steps:
        space = space.narrowed(suffix, value)
    return space


@pytest.mark.parametrize(("steps", "printed", "boundaries"), [
    ([("Ge", 0), ("Lt", 5)], "[0, 5)", (0,)),
    ([("Gt", 0), ("Le", 5), ("Ne", 2)], "(0, 2) u (2, 5]", (5,)),
    ([("Ge", 0), ("NotIn", (0, 5))], "(0, 5) u (5, inf)", ()),
    ([("Ge", 1), ("Le", 1)], "{1}", (1,)),
    ([("Ge", 1), ("Lt", 1)], "{}", ()),
    ([("Lt", 5), ("In", (7, 2, 3, 2))], "{2, 3}", (2, 3)),
    ([("Le", float("inf"))], "(-inf, inf)", ()),
    ([("Gt", float("inf"))], "{}", ()),
])  # fmt: skip
def test_reals(steps: list[tuple[str, object]], printed: str, boundaries: tuple[object, ...]) -> None:
    space = narrowed(REALS, *steps)
    assert str(space) == printed
    assert space.boundaries() == boundaries
    assert space.is_empty == (printed == "{}")


@pytest.mark.parametrize(("steps", "printed"), [
    ([("Ge", 0), ("Lt", 5)], "[0, 4]"),
    ([("Gt", -2.5), ("Le", 2.5), ("Ne", 0)], "[-2, -1] u [1, 2]"),
    ([("Gt", 0), ("Lt", 1)], "{}"),
    ([("NotIn", (0, 1, 3))], "(-inf, -1] u {2} u [4, inf)"),
    ([("Eq", 3)], "{3}"),
    ([("Eq", 0.5)], "{}"),
])  # fmt: skip
def test_integers_have_closed_ends(steps: list[tuple[str, object]], printed: str) -> None:
    assert str(narrowed(INTEGERS, *steps)) == printed


@pytest.mark.parametrize(("space", "universe", "printed"), [
    (narrowed(REALS, ("Ge", 0), ("Lt", 5)), REALS, "(-inf, 0) u [5, inf)"),
    (narrowed(INTEGERS, ("NotIn", (2, 5))), INTEGERS, "{2} u {5}"),
    (Discrete((0, 3)), integers_between(0, 5), "[1, 2] u [4, 5]"),
    (Discrete(("a",)), Discrete(("a", "b")), "{b}"),
    (Discrete(("a",)), ANYTHING, "everything but {a}"),
    (narrowed(ANYTHING, ("Ne", "a")), ANYTHING, "{a}"),
])  # fmt: skip
def test_complements(space: Space, universe: Space, printed: str) -> None:
    assert str(space.complement(universe)) == printed


def test_what_has_no_order_is_in_no_half_line() -> None:
    assert ANYTHING.narrowed("Ge", 0).is_empty


def test_such_that_enumerates_and_searches_nothing() -> None:
    assert such_that(integers_between(-3, 8), lambda n: n % 4 == 0) == Discrete((0, 4, 8))
    for unbounded in (INTEGERS.narrowed("Ge", 0), REALS, integers_between(0, 10_000)):
        with pytest.raises(ValueError, match="has more than 4096 members"):
            such_that(unbounded, lambda n: True)
    with pytest.raises(ValueError, match="everything cannot be enumerated"):
        such_that(ANYTHING, lambda n: True)


def test_nan_is_no_bound() -> None:
    with pytest.raises(ValueError, match="Lt NaN holds for no number"):
        REALS.narrowed("Lt", float("nan"))


HOLDS = {
    "Eq": lambda n, v: n == v, "Ne": lambda n, v: n != v, "Lt": lambda n, v: n < v, "Le": lambda n, v: n <= v,
    "Gt": lambda n, v: n > v, "Ge": lambda n, v: n >= v,
}  # fmt: skip
STEPS = st.lists(st.tuples(st.sampled_from(sorted(HOLDS)), st.integers(-6, 6)), max_size=5)
UNIVERSES = st.sampled_from([REALS, INTEGERS, Discrete(tuple(range(-7, 8)))])
CANDIDATES = [n / 2 for n in range(-15, 16)]


@given(UNIVERSES, STEPS)
def test_a_space_has_what_every_step_holds_for(universe: Space, steps: list[tuple[str, int]]) -> None:
    space = narrowed(universe, *steps)
    for candidate in CANDIDATES:
        expected = candidate in universe and all(HOLDS[suffix](candidate, value) for suffix, value in steps)
        assert (candidate in space) == expected


@given(UNIVERSES, STEPS)
def test_a_value_is_in_a_space_or_in_its_complement(universe: Space, steps: list[tuple[str, int]]) -> None:
    space = narrowed(universe, *steps)
    complement = space.complement(universe)
    assert all((n in space) + (n in complement) == (n in universe) for n in CANDIDATES)
    assert all(boundary in space for boundary in space.boundaries())
