"""What random tensors have in common: a draw, open elements, and what an answer is held to (P101).

No golden value is determined but where chance has no choice. The outcome of a call has the others open and `given`,
which says of a backend's outputs what they should have been had chance chosen as they show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from conform.interp.formulas import chance
from conform.interp.formulas.chance import Places
from conform.interp.golden import Given, Golden, Outcome
from conform.interp.ops.elementwise.arithmetic import exact
from conform.numerics.draws import Stream
from conform.numerics.formats import Format
from conform.numerics.rounding import round_to

CHANCE = "P101"


def stream_of(op: str, shape: Sequence[int]) -> Stream:
    return Stream(0, f"{op} {list(shape)}", 0, "a draw")


def opened(drawn: np.ndarray, fmt: Format, rule: str = CHANCE) -> Golden:
    return exact(drawn, fmt).opened(np.ones(drawn.shape, bool), rule)


def of_chance(
    drawn: np.ndarray,
    fmt: Format,
    may_be: Callable[[np.ndarray], np.ndarray],
    places: Callable[[np.ndarray], Iterable[Places]],
    rule: str,
    determined: np.ndarray | None = None,
) -> Outcome:
    """Independent draws: `may_be` says which elements of an answer any draw can have, `places` where those of a
    possible one lie in their distributions. `determined`: where chance has no choice."""

    def given(outputs: Sequence[np.ndarray]) -> Given:
        (actual,) = outputs
        possible = may_be(actual)
        fault = next(filter(None, map(chance.unlikely, places(actual))), None) if possible.all() else None
        return Given((exact(np.where(possible, actual, drawn), fmt),), fault)

    is_open = np.ones(drawn.shape, bool) if determined is None else ~determined
    golden = exact(drawn, fmt, zero_sign_free=fmt.is_float).opened(is_open, rule)
    return Outcome((golden,), given=given)


def rounded_draw(fmt: Format, numbers: np.ndarray) -> np.ndarray:
    """Numbers as the dtype holds them."""
    return round_to(fmt, np.asarray(numbers, np.float64))
