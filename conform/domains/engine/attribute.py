"""The attribute engine: solves the constraints on one attribute of an argument, and chooses a value."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from conform.domains.engine import generator
from conform.domains.engine.arguments import Argument
from conform.domains.engine.constraints import NEGATIONS, Constraint
from conform.domains.engine.coverage import Coverage, Place
from conform.domains.engine.generator import TYPICAL_INTEGERS, Dice, Limits, Window
from conform.domains.engine.spaces import Discrete, Space, enumerable
from conform.domains.engine.variables import Applied, Contradiction, VariableType, contradiction
from conform.numerics.draws import Stream

if TYPE_CHECKING:
    from conform.domains.engine.meta_argument import View

Scope = dict[str, "View"]  # what a constraint's parameters mean; own structure under "#name"
OWN = "#own"
# Of a place, the values that it can have (None where a Gen gives one) and what a spec prefers: candidates, best first.
Wish = Callable[[Place, Space | None, Sequence[Any], "Draft"], Sequence[Any]]


def no_wish(place: Place, space: Space | None, preferred: Sequence[Any], draft: Draft) -> Sequence[Any]:
    """Whatever comes."""
    return ()


class Draft:
    """A tuple in the making: its finished arguments, its randomness, and the one constraint that it shall break.

    to_break: what is still to be broken, after `spared` occasions that are let pass; pins: further constraints on the
    Dtype (or the Value, of a dtype argument) of single arguments; limits: of sizes; wish: what is preferred to
    anything else, where a place can have it.
    """

    __slots__ = ("coverage", "dice", "limits", "pins", "scope", "spared", "stream", "to_break", "wish")

    def __init__(self, coverage: Coverage, stream: Callable[[str], Stream]) -> None:
        self.scope: Scope = {}
        self.coverage = coverage
        self.stream = stream
        self.dice = Dice(stream("meta"))
        self.to_break: Constraint | None = None
        self.spared = 0
        self.pins: dict[str, Constraint] = {}
        self.limits = Limits()
        self.wish: Wish = no_wish


class AttributeEngine:
    """The constraints on one attribute of one argument, ready to be solved."""

    def __init__(self, argument: Argument, attribute: str, names: Sequence[str], is_paired: bool = False) -> None:
        """`names` are the op's arguments. ValueError for a parameter that is none of them and no own structure."""
        self.name = f"argument {argument.name}: {attribute}"
        self.place = Place(argument.name, attribute, is_paired)
        self.constraints = argument.constraints_on(attribute)
        self._is_real = argument.type.variable_type(attribute) is VariableType.FLOAT
        bound = [(one, _keys(argument, one, names)) for one in self.constraints]
        self._gen = next((each for each in bound if each[0].suffix == "Gen"), None)
        self._preferred = [each for each in bound if each[0].suffix == "Be"]
        restricting = [each for each in bound if each[0].suffix not in ("Gen", "Be")]
        # What is constant comes first, and a predicate last, when the space is as small as it gets.
        self._constant = [each for each in restricting if each[0].is_constant]
        self._varying = sorted(
            [each for each in restricting if not each[0].is_constant], key=lambda each: each[0].suffix == "St"
        )
        self._strict = [
            each
            for each in (*self._constant, *self._varying)
            if not each[0].lenience or each[0].lenient_where or not each[0].is_judged
        ]
        self._constant_spaces: dict[tuple[Space, Constraint | None], Space] = {}
        self._whole: Space | None = None  # the last that was asked for, and what the constants leave of it
        self._constant_space: Space | None = None

    @property
    def is_free(self) -> bool:
        """Whether nothing is demanded of the attribute."""
        return not self._constant and not self._varying and self._gen is None

    @property
    def is_given(self) -> bool:
        """Whether a Gen gives the value."""
        return self._gen is not None

    # --- Solving ------------------------------------------------------------------------------------------------------

    def space(self, whole: Space, scope: Scope, pin: Constraint | None = None) -> Space:
        """What of `whole` satisfies every constraint. Contradiction if nothing does."""
        space = self.constant_space(whole)
        for constraint, keys in self._varying:
            space = space.narrowed(constraint.suffix, value_of(constraint, keys, scope))
            if space.is_empty:
                raise self._contradiction(whole, scope)
        if pin is not None:
            space = space.narrowed(pin.suffix, pin.value)
            if space.is_empty:
                raise self._contradiction(whole, scope, (pin, pin.value))
        return space

    def constant_space(self, whole: Space) -> Space:
        """What of `whole` satisfies the constraints that depend on nothing. Contradiction if nothing does."""
        if whole is self._whole:
            return self._constant_space
        space = self._narrowed_by_constants(whole, None)
        if space.is_empty:
            raise self._contradiction(whole, {})
        self._whole, self._constant_space = whole, space
        return space

    def _narrowed_by_constants(self, whole: Space, broken: Constraint | None) -> Space:
        """What of `whole` satisfies the constraints that depend on nothing, and breaks `broken` if that is one."""
        space = self._constant_spaces.get((whole, broken))
        if space is None:
            space = whole
            for constraint, _ in self._constant:
                space = space.narrowed(*_as_asked(constraint, constraint.value, broken))
            if len(self._constant_spaces) < 64:
                self._constant_spaces[whole, broken] = space
        return space

    def _contradiction(self, whole: Space, scope: Scope, *more: Applied) -> Contradiction:
        """What to raise where the constraints, and `more`, leave nothing of `whole`, up to the first that does so."""
        own = ((one, value_of(one, keys, scope)) for one, keys in (*self._constant, *self._varying))
        applied, space = [], whole
        for constraint, value in itertools.chain(own, more):
            applied.append((constraint, value))
            space = space.narrowed(constraint.suffix, value)
            if space.is_empty:
                break
        return contradiction(self.name, whole, applied)

    def broken_space(self, whole: Space, draft: Draft, pin: Constraint | None = None) -> Space | None:
        """What of `whole` breaks the constraint that the draft shall break, and satisfies all others.

        None where that is none of this attribute, or cannot be broken here, or this occasion is spared. Otherwise
        nothing is left to break in the draft.
        """
        broken = draft.to_break
        if broken is None or broken not in self.constraints:
            return None
        space = self._narrowed_by_constants(whole, broken)
        try:
            for constraint, keys in self._varying:
                if space.is_empty:
                    return None
                value = value_of(constraint, keys, draft.scope)
                if constraint.suffix == "St":
                    space = enumerable(space)
                    value = _where_defined(value)
                space = space.narrowed(*_as_asked(constraint, value, broken))
        except Contradiction:
            return None
        if pin is not None and not space.is_empty:
            space = space.narrowed(pin.suffix, pin.value)
        if space.is_empty:
            return None
        if draft.spared:
            draft.spared -= 1
            return None
        draft.to_break = None
        return space

    # --- Choosing -----------------------------------------------------------------------------------------------------

    def choose(
        self, whole: Space, draft: Draft, pin: Constraint | None = None, preferred: tuple[Any, ...] = (),
        window: Window = TYPICAL_INTEGERS, each: bool = False, materialized: bool = False,
    ) -> Any:  # fmt: skip
        """A value; from `preferred` on as for `generator.choose`."""
        space = self.broken_space(whole, draft, pin) if draft.to_break is not None else None
        if space is None:
            if self._gen is not None:
                return self._wished_or_given(draft)
            space = self.space(whole, draft.scope, pin)
        if self._preferred:
            stated = [value for one, keys in self._preferred for value in value_of(one, keys, draft.scope)]
            preferred = (*stated, *preferred)
        for value in draft.wish(self.place, space, preferred, draft):
            if value in space:
                break
        else:
            value = generator.choose(
                space, self.place, draft.coverage, draft.dice, window, each, materialized, preferred
            )
        return float(value) if self._is_real else value

    def _wished_or_given(self, draft: Draft) -> Any:
        """What is wished that satisfies all constraints, else what the Gen gives."""
        for value in draft.wish(self.place, None, (), draft):
            if not self.violated(Discrete((value,)), draft.scope):
                return value
        return self.checked(self.given(draft), draft.scope)

    def chosen_from(self, space: Space, draft: Draft) -> Any:
        """A value of a space that has been solved."""
        return generator.choose(space, self.place, draft.coverage, draft.dice)

    def given(self, draft: Draft) -> Any:
        """What the Gen of this attribute gives."""
        return self.generated(draft.stream(f"{self.place.argument}.{self.place.attribute}"), draft.scope)

    def checked(self, value: Any, scope: Scope) -> Any:
        """A value that a Gen gave. Contradiction, with the constraints, where it satisfies not all the others."""
        broken = list(self.violated(Discrete((value,)), scope))
        if broken:
            raise Contradiction(f"{self.name}: Gen gives {value}, against {' and '.join(map(str, broken))}", broken)
        return value

    def generated(self, stream: Stream, scope: Scope) -> Any:
        """What the Gen of this attribute gives on the stream."""
        assert self._gen is not None
        constraint, keys = self._gen
        return constraint.value(stream, *[scope[key] for key in keys])

    def violated(self, space: Space, scope: Scope, strict: bool = False) -> Iterator[Constraint]:
        """The constraints that not every value of `space` satisfies; if `strict`, but for those of which any violation
        may be accepted, and is judged."""
        for constraint, keys in self._strict if strict else (*self._constant, *self._varying):
            if space.narrowed(constraint.suffix, value_of(constraint, keys, scope)) != space:
                yield constraint

    def value_of(self, constraint: Constraint, scope: Scope) -> Any:
        """The value that one of the constraints has."""
        keys = next(keys for one, keys in (*self._constant, *self._varying) if one is constraint)
        return value_of(constraint, keys, scope)


def _keys(argument: Argument, constraint: Constraint, names: Sequence[str]) -> tuple[str, ...]:
    """Where in the scope each dependency of a constraint is found."""
    own = argument.type.own_structure(constraint.attribute)
    keys = []
    for name in constraint.dependencies:
        if name in own:
            keys.append(f"#{name}")
        elif name in ("", argument.name) and "Dtype" in argument.attributes:
            keys.append(OWN)
        elif name in names and name != argument.name:
            keys.append(name)
        else:
            known = ", ".join([*own, *[other for other in names if other != argument.name]])
            raise ValueError(f"argument {argument.name}: {constraint.attribute}.{constraint.suffix} depends on "
                             f"{name!r}, expected one of {known}")  # fmt: skip
    return tuple(keys)


def value_of(constraint: Constraint, keys: Sequence[str], scope: Scope) -> Any:
    """The constraint's value; of St the predicate."""
    if constraint.parameters is None:
        return constraint.value
    if constraint.suffix == "St":
        return partial(_holds, constraint.value, [scope[key] for key in keys])
    if len(keys) == 1:
        return constraint.value(scope[keys[0]])
    return constraint.value(*[scope[key] for key in keys])


def _holds(function: Callable[..., bool], values: Sequence[Any], candidate: Any) -> bool:
    return function(candidate, *values)


def _where_defined(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """The predicate, false where it has no value: beside a broken constraint it meets what it was not made for."""

    def holds_and_is_defined(candidate: Any) -> bool:
        try:
            return holds(candidate)
        except (ArithmeticError, LookupError):
            return False

    return holds_and_is_defined


def _as_asked(constraint: Constraint, value: Any, broken: Constraint | None) -> tuple[str, Any]:
    """The suffix of a constraint and its value, negated if it is the one to be broken."""
    if constraint is not broken:
        return constraint.suffix, value
    if constraint.suffix == "St":
        return "St", lambda candidate: not value(candidate)
    return NEGATIONS[constraint.suffix], value
