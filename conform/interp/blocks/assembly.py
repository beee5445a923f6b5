"""Goldens put together from the goldens of blocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from conform.interp.golden import Golden
from conform.numerics.parts import write

ARRAYS = (  # some of them may be no arrays
    "value", "terms", "magnitude", "grid", "amplified", "budget", "scale", "zero_sign_free",
)  # fmt: skip


def assembled(parts: Iterable[tuple[slice, Golden]], count: int) -> Golden:
    """One golden of parts at their places along the first axis, of `count` entries in all."""
    whole = Assembly(count)
    for place, part in parts:
        whole.fill(place, part)
    return whole.golden()


class Assembly:
    """A golden whose first dimensions are `shape`, which parts of one op and format fill, one after the other.

    A part without some alternative that another one has stands for it itself: both readings say the same there.
    """

    def __init__(self, *shape: int) -> None:
        self.shape = shape
        self.whole: Golden | None = None
        self.alternatives: list[Assembly] = []
        self.rules: dict[str, None] = {}

    def fill(self, place: slice | tuple[slice, ...], part: Golden) -> None:
        """`part` at `place`, where nothing was filled in before."""
        if self.whole is None and part.value.shape[: len(self.shape)] == self.shape:
            self.whole = part
            return
        is_first, self.whole = self.whole is None, self.whole or self._empty(part)
        more = part.alternatives[len(self.alternatives) :]  # from the first part on they may be of another format
        self.alternatives += [Assembly(*self.shape) if is_first else self._copy() for _ in more]
        for mine, its in self._arrays(part):
            mine[place] = its
        if part.real is not None:
            write(self.whole.real, place, part.real)
        if part.open is not None:
            self._open()[place] = part.open
            self.rules |= dict.fromkeys(part.open_rule.split(", "))
        own = replace(part, alternatives=())
        for number, alternative in enumerate(self.alternatives):
            alternative.fill(place, part.alternatives[number] if number < len(part.alternatives) else own)

    def _empty(self, part: Golden) -> Golden:
        def whole(array: np.ndarray) -> np.ndarray:
            return np.empty((*self.shape, *array.shape[len(self.shape) :]), array.dtype)

        arrays = {name: whole(array) for name in ARRAYS if isinstance(array := getattr(part, name), np.ndarray)}
        real = None if part.real is None else part.real.map_parts(whole)
        return replace(part, **arrays, real=real, open=None, open_rule=None, alternatives=())

    def _arrays(self, part: Golden) -> list[tuple[np.ndarray, np.ndarray]]:
        """The arrays of the whole but its reals, each beside that of the part; no grid is one of 0."""
        part = replace(part, grid=0.0) if part.grid is None else part
        pairs = [(getattr(self.whole, name), getattr(part, name)) for name in ARRAYS]
        return [(mine, its) for mine, its in pairs if isinstance(mine, np.ndarray)]

    def _open(self) -> np.ndarray:
        if self.whole.open is None:
            self.whole = replace(self.whole, open=np.zeros(self.whole.value.shape, bool))
        return self.whole.open

    def _copy(self) -> Assembly:
        """What was filled in so far, in arrays of its own."""
        copy = Assembly(*self.shape)
        copy.whole, copy.rules = self.whole.rearranged(np.copy), dict(self.rules)
        return copy

    def golden(self) -> Golden:
        """What was filled in."""
        if not self.rules and not self.alternatives:
            return self.whole
        others = tuple(alternative.golden() for alternative in self.alternatives)
        return replace(self.whole, open_rule=", ".join(self.rules) or None, alternatives=others)
