"""The structural engine: lengths, ranks, and the sizes or values that belong to them.

A Gen on Size or on the Value of a list gives all sizes or values at once, as a tuple; a constraint broken there is
broken in one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conform.domains.engine.arguments import Argument
from conform.domains.engine.attribute import AttributeEngine, Draft, Scope
from conform.domains.engine.generator import MAX_LENGTH, MAX_RANK
from conform.domains.engine.spaces import Discrete, Space, integers_between
from conform.domains.engine.variables import WHOLE, Contradiction

Part = tuple[str, Space]  # an attribute, and the values that it has


class StructuralEngine:
    """Solves the attributes of one argument that say how much of it there is."""

    def __init__(self, argument: Argument, engines: Mapping[str, AttributeEngine]) -> None:
        self._argument = argument
        self._engines = engines
        self._whole_value = WHOLE[argument.type.value] if argument.type.value else None

    def shape(self, draft: Draft) -> tuple[int, ...]:
        """Rank and sizes of a tensor."""
        engine, scope, counts = self._engines["Size"], draft.scope, _counts(draft)
        rank = self._engines["Rank"].choose(counts, draft, window=(0, MAX_RANK), each=True, materialized=True)
        scope["#rank"] = rank
        given = self._given(engine, rank, draft)
        sizes: tuple[int, ...] = ()
        numel = 1
        for d in range(rank):
            scope["#d"], scope["#sizes"] = d, sizes
            if given is not None:
                size = self._given_or_broken(engine, counts, given[d], draft)
            else:
                window = draft.limits.window(rank, numel, draft.dice)
                size = engine.choose(counts, draft, window=window, materialized=True)
            sizes += (size,)
            numel *= size
        return sizes

    def length(self, draft: Draft) -> int:
        """How many elements a list has."""
        counts, window = _counts(draft), (0, MAX_LENGTH)
        return self._engines["Length"].choose(counts, draft, window=window, each=True, materialized=True)

    def list_of_values(self, draft: Draft, default: tuple[Any, ...]) -> tuple[Any, ...]:
        """Length and values of a list; preferably the default's, if it has one."""
        engine, scope = self._engines["Value"], draft.scope
        length = self.length(draft)
        scope["#length"] = length
        given = self._given(engine, length, draft)
        values: tuple[Any, ...] = ()
        for number in range(length):
            scope["#i"], scope["#previous"] = number, values
            if given is not None:
                value = self._given_or_broken(engine, self._whole_value, given[number], draft)
            else:
                preferred = default[0][number : number + 1] if default else ()
                value = engine.choose(self._whole_value, draft, preferred=preferred)
            values += (value,)
        return values

    def _given(self, engine: AttributeEngine, count: int, draft: Draft) -> tuple[Any, ...] | None:
        """All that a Gen gives at once, None without one. Contradiction where that are more or fewer."""
        given = engine.given(draft) if engine.is_given else None
        if given is not None and len(given) != count:
            raise Contradiction(f"{engine.name}: Gen gives {len(given)} values {given}, expected {count}")
        return given

    def _given_or_broken(self, engine: AttributeEngine, whole: Space, value: Any, draft: Draft) -> Any:
        broken = engine.broken_space(whole, draft) if draft.to_break is not None else None
        if broken is None:
            return engine.checked(value, draft.scope)
        return engine.chosen_from(broken, draft)

    # --- The parts of a finished structure ----------------------------------------------------------------------------

    def parts_of_length(self, length: int) -> Iterator[Part]:
        yield "Length", Discrete((length,))

    def parts_of_shape(self, shape: tuple[int, ...], scope: Scope) -> Iterator[Part]:
        yield "Rank", Discrete((len(shape),))
        scope["#rank"] = len(shape)
        for d, size in enumerate(shape):
            scope["#d"], scope["#sizes"] = d, shape[:d]
            yield "Size", Discrete((size,))

    def parts_of_list(self, values: tuple[Any, ...], scope: Scope) -> Iterator[Part]:
        yield from self.parts_of_length(len(values))
        scope["#length"] = len(values)
        for number, value in enumerate(values):
            scope["#i"], scope["#previous"] = number, values[:number]
            yield "Value", Discrete((value,))


def _counts(draft: Draft) -> Space:
    return integers_between(0, draft.limits.largest)
