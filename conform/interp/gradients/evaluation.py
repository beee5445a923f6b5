"""The gradient of a call, as a call of its own: its operands and the cotangents go in, the gradients come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from conform.call.bound import Bound
from conform.call.schemas import Argument, OpSchema
from conform.errors import Unjudged
from conform.interp.evaluate import other_readings
from conform.interp.golden import Golden, Outcome
from conform.interp.gradients import OF
from conform.interp.gradients.kinks import are_kinks
from conform.interp.gradients.rules import Rule, find
from conform.interp.program.apply import apply, steps_stored
from conform.interp.program.goldens import goldens_of
from conform.interp.program.number import Number, as_numbers
from conform.interp.program.storage import stored
from conform.numerics.formats import format_of

KINKS = "P160"  # the policy's rule of places without a gradient
COTANGENT = "cotangent"  # the name of an argument, with the number of its output if there are several


@dataclass(frozen=True)
class Place:
    """A tensor whose gradient is asked for: an argument by its name, and of a list the number in it."""

    name: str
    item: int | None = None

    def __str__(self) -> str:
        return self.name if self.item is None else f"{self.name}[{self.item}]"

    def of(self, arguments: Mapping[str, Any]) -> Any:
        value = arguments[self.name]
        return value if self.item is None else value[self.item]


@dataclass(frozen=True)
class GradientCall(Bound):
    """The call whose results are the gradients of the tensors `places` of another one."""

    places: tuple[Place, ...] = ()


def rule_of(op: str) -> Rule:
    """Unjudged for an op of which the kit has no gradient."""
    rule = find(op)
    if rule is None:
        raise Unjudged(f"no gradient of {op}")
    return rule


def places_of(call: Bound) -> tuple[Place, ...]:
    """The tensors of a call that have a gradient, floats all, in the order of the arguments."""
    found: list[Place] = []
    for name, value in call.arguments.items():
        if name in rule_of(call.op).operands:
            listed = isinstance(value, list | tuple)
            items = enumerate(value) if listed else [(None, value)]
            found += [Place(name, at) for at, one in items if isinstance(one, np.ndarray) and format_of(one).is_float]
    return tuple(found)


def outputs_of(call: Bound, outcome: Outcome) -> tuple[bool, ...]:
    """Of each result whether it has a cotangent."""
    only = rule_of(call.op).outputs
    return tuple(
        one.format.is_float and not one.is_none and not one.undocumented and (only is None or number in only)
        for number, one in enumerate(outcome.results)
    )


def gradient_call(call: Bound, cotangents: Sequence[np.ndarray | None], refusal: str | None = None) -> GradientCall:
    """The gradients of the tensors `places_of`, in that order: of sum(cotangent * result) over the results that have
    one. A backend may refuse them by the rule `refusal`, by which it may refuse the call. Unjudged for an op of which
    the kit has none."""
    places = places_of(call)
    names = _names(cotangents)
    given = {name: one for name, one in zip(names, cotangents, strict=True) if one is not None}
    added = tuple(Argument(name, "Tensor", None, True, False, True) for name in given)
    arguments = (*call.schema.arguments, *added)
    returns = ("Tensor",) * len(places)
    schema = OpSchema(OF + call.op, arguments, returns, call.schema.positional_count, (True,) * max(1, len(places)))

    def meaning(**arguments: Any) -> Outcome:
        of_call = {name: arguments[name] for name in call.arguments}
        given = [arguments.get(name) for name in names]
        readings = [of_call, *({**of_call, **one} for one in other_readings(call.schema, of_call))]
        first, *others = (_goldens(call.op, reading, given, places) for reading in readings)
        goldens = tuple(one.or_else(*more) for one, *more in zip(first, *others, strict=True))
        return Outcome(goldens, refusal)

    return GradientCall(schema, {**call.arguments, **given}, meaning, places)


def _names(cotangents: Sequence[Any]) -> list[str]:
    return [COTANGENT if len(cotangents) == 1 else f"{COTANGENT}_{number}" for number in range(len(cotangents))]


def _goldens(
    op: str, arguments: Mapping[str, Any], cotangents: Sequence[np.ndarray | None], places: Sequence[Place]
) -> tuple[Golden, ...]:
    made: list[Number] = []

    def evaluated() -> list[Number]:
        made[:] = gradients(op, arguments, [None if one is None else Number.exact(one) for one in cotangents], places)
        return made

    goldens = goldens_of(evaluated, OF + op)
    return tuple(_free(op, *pair) for pair in zip(goldens, made, strict=True))


def _free(op: str, golden: Golden, number: Number) -> Golden:
    """A golden of no table, the sign of whose zeros is free, without what hangs on a kink."""
    golden = replace(golden, zero_sign_free=True, bounded_as=OF + op)
    return golden if number.array is not None else golden.opened(are_kinks(number), KINKS)


def gradients(
    op: str, arguments: Mapping[str, Any], cotangents: Sequence[Number | None], places: Sequence[Place]
) -> list[Number]:
    """The gradients of the tensors `places` of a call, arrays or Numbers, each of its tensor's shape and dtype."""
    numbers = {name: as_numbers(value) for name, value in arguments.items()}

    @cache
    def results() -> tuple[Number, ...]:
        made = apply(op, **numbers)
        return tuple(made) if isinstance(made, list | tuple) else (made,)

    @cache
    def of(name: str) -> Any:
        return rule_of(op).function(numbers, cotangents, results, name)

    with steps_stored():
        return [_fitted(_item(of(place.name), place), place.of(numbers)) for place in places]


def _item(found: Any, place: Place) -> Number:
    return found if place.item is None else found[place.item]


def _fitted(number: Number, operand: Number) -> Number:
    """A gradient as the operand has it: added up over what it was broadcast over, and in its dtype."""
    shape = np.broadcast_shapes(number.shape, operand.shape)
    wide = number.moved(lambda part: np.broadcast_to(part, shape))
    summed = summed_to(wide, operand.shape)
    return summed if summed.format == operand.format else stored(summed).held_in(operand.format)


def summed_to(number: Number, shape: tuple[int, ...]) -> Number:
    """The number added up over the dims that broadcasting has added or widened."""
    added = number.ndim - len(shape)
    widened = [dim for dim in range(number.ndim) if dim < added or shape[dim - added] != number.shape[dim]]
    if not widened:
        return number
    return apply("aten::sum.dim_IntList", number, widened).moved(lambda part: part.reshape(shape))
