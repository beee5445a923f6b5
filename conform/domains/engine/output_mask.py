"""The argument `output_mask` of backward ops, and what it makes of their results."""

from __future__ import annotations

from collections.abc import Callable

from conform.domains.engine.arguments import Argument, booleans, optional
from conform.domains.engine.constraints import Constraint, Length, Optional, Value

Possible = tuple[bool, bool, bool]
NO_OPERAND = "of an operand that is None there is no gradient"
NOTHING_WANTED = "where no gradient is wanted there is nothing to judge"


def output_mask(
    possible: Callable[..., Possible] = lambda: (True, True, True), names: tuple[str, ...] = ()
) -> Argument:
    """Which of three gradients are wanted: one at least, and none that is not `possible` with the arguments `names`."""

    def impossible(i: int, *given: object) -> tuple[bool, ...]:
        return () if possible(*given)[i] else (True,)

    def the_last(i: int, previous: tuple[bool, ...], *given: object) -> tuple[bool, ...]:
        return () if any(previous) or any(possible(*given)[i + 1 :]) else (False,)

    return booleans(
        "output_mask",
        Length.Eq(3),
        Value.NotIn(impossible, ("i", *names), text="{True} where there is no such operand").unjudged(NO_OPERAND),
        Value.NotIn(the_last, ("i", "previous", *names), text="{False} for all").unjudged(NOTHING_WANTED),
        Value.Be((True,)),
    )


def of_wanted(*results: Argument) -> tuple[Argument, ...]:
    """The results that output_mask wants; None in the places of the others."""
    return tuple(optional(one, _is_unwanted(place)) for place, one in enumerate(results))


def _is_unwanted(place: int) -> Constraint:
    return Optional.Eq(lambda mask: not mask[place], ("output_mask",), f"not output_mask[{place}]")
