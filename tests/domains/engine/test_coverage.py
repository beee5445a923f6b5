"""Steering over every spec: what can appear does, as soon as a tuple can have it; keywords in pairs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import pytest

from conform.domains.engine.coverage import Coverage, Place
from conform.domains.engine.generator import Dice, Target
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.meta_tuple import MetaTuple, valid_tuples
from conform.domains.engine.op_spec import OpSpec
from conform.domains.specs import specs
from tests.every_spec import every_spec

EARLY = 96  # tuples of a spec in which everything appears
SAMPLE = 64  # tuples without steering, which show what can appear

Feature = tuple[str, str, object]  # of an argument: what of it, and which


class Watched(Coverage):
    """Notes every choice of something that has been, while something else of the place has not."""

    def __init__(self) -> None:
        super().__init__()
        self.had: set[tuple[Place, object]] = set()
        self.delays: list[tuple[Place, object]] = []

    def choose(self, place: Place, targets: Sequence[Target], dice: Dice) -> Target:
        chosen = super().choose(place, targets, dice)
        wanted = {target.label for target in targets if (place, target.label) not in self.had}
        if wanted and chosen.label not in wanted:
            self.delays.append((place, chosen.label))
        self.had.add((place, chosen.label))
        return chosen


class Unsteered(Coverage):
    """Chance alone."""

    def choose(self, place: Place, targets: Sequence[Target], dice: Dice) -> Target:
        return targets[dice.below(len(targets))]


@every_spec
def test_members_and_ends_come_as_soon_as_a_tuple_can_have_them(spec: OpSpec) -> None:
    watched = Watched()
    list(itertools.islice(valid_tuples(spec, 0, coverage=watched), 24))
    assert watched.delays == []


@pytest.mark.rotating
@pytest.mark.parametrize("spec", specs(), ids=lambda one: one.name)
def test_what_chance_shows_of_arguments_and_pairs_of_keywords_appears_early(spec: OpSpec) -> None:
    early = list(itertools.islice(valid_tuples(spec, 0), EARLY))
    possible = list(itertools.islice(valid_tuples(spec, 1, coverage=Unsteered()), SAMPLE))
    assert features_of(possible) - features_of(early) == set()
    assert pairs_of_keywords(spec, possible) - pairs_of_keywords(spec, early) == set()


def features_of(tuples: Iterable[MetaTuple]) -> set[Feature]:
    return {each for one in tuples for name, meta in one.arguments.items() for each in features(name, meta)}


def pairs_of_keywords(spec: OpSpec, tuples: Iterable[MetaTuple]) -> set[tuple[Feature, Feature]]:
    """Which flags, dtypes, names, kinds of number and Nones of two keywords come together."""
    keywords = [one.name for one in spec.schema.arguments if one.kwarg_only or one.has_default]
    return {
        pair
        for one in tuples
        for names in itertools.combinations([name for name in keywords if name in one.arguments], 2)
        for pair in itertools.product(*(choices(name, one.arguments[name]) for name in names))
    }


def choices(name: str, meta: MetaArgument) -> list[Feature]:
    """What a keyword is, but for that which follows from the other operands."""
    return [each for each in features(name, meta) if each[1] not in ("dtype", "rank", "length")]


def features(name: str, meta: MetaArgument) -> Iterator[Feature]:
    yield name, "is None", meta.optional
    if meta.optional:
        return
    if meta.type.is_list:
        yield name, "length", len(meta.structure)
    elif meta.type.is_tensor:
        yield name, "rank", meta.rank
        yield name, "dtype", meta.dtype
    elif meta.is_number:
        yield name, "kind", meta.dtype
    elif isinstance(meta.structure, bool | str):
        yield name, "value", meta.structure
