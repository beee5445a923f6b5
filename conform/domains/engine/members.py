"""The domain of an op of lists that means another op of each of their tensors, from the spec of that: what it says of a
tensor is said of each of the list, beside the others in its place; what it says of a number that all have, of every
place."""

from __future__ import annotations

import copy
import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from conform.call.foreach import ForEach
from conform.domains.engine.arguments import (
    INDEX_TENSOR,
    SCALAR,
    SCALAR_LIST,
    TENSOR,
    TENSOR_LIST,
    Argument,
    argument,
    results,
)
from conform.domains.engine.constraints import Constraint, Dtype, Length, Rank, Size
from conform.domains.engine.dtypes import ALL, SCALAR_KINDS, category
from conform.domains.engine.mathematics import text_of
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.spaces import ANYTHING, REALS, Discrete, Everything, Intervals, Space

NO_TENSORS = "P222: lists without tensors"
_OF_ONE = ("rank", "d", "sizes")  # what a constraint on a member's argument may ask of that itself


def with_members(each: ForEach, member: OpSpec, besides: Mapping[str, Constraint]) -> OpSpec:
    """The spec of the overload of lists; besides: by the member's argument a constraint that it has in lists alone."""
    named = {one.name: one for one in member.arguments}
    arguments = []
    for name, its in each.places.items():
        if its in named:
            asked = (*named[its].constraints, *([besides[its]] if its in besides else []))
            arguments.append(_Lifting(each, name).argument(named[its], asked))
    (result,) = member.results
    first = each.listed[0]
    length = Length.Eq(lambda given: len(given), (first,), f"length({first})").same(first)
    given = [_Lifting(each, None).constraint(one) for one in result.constraints]
    return OpSpec(each.lists.name, arguments, [results(length, given)])


class _Lifting:
    """From the constraints on an argument of the member to those on the one that is given for it; name: of that one,
    None for the result."""

    def __init__(self, each: ForEach, name: str | None) -> None:
        self.each, self.name = each, name
        self.is_numbers = name is not None and name in each.listed and each.holds_numbers(name)
        self.is_list = name is None or name in each.listed and not self.is_numbers
        self.mine = {its: mine for mine, its in each.places.items()}

    def argument(self, its: Argument, constraints: Sequence[Constraint]) -> Argument:
        own = [self.constraint(one) for one in constraints]
        declared = {one.name: one.type for one in self.each.lists.arguments}[self.name]
        if self.is_numbers:
            return argument(self.name, INDEX_TENSOR, [*self._of_numbers(), *own])
        if declared == "Tensor" and its.type.is_tensor:
            return argument(self.name, its.type, [Rank.Eq(0), *(one for one in own if one.attribute != "Size")])
        if not self.is_list:
            return replace(argument(self.name, its.type, own), may_be_none=its.may_be_none)
        type_ = SCALAR_LIST if declared == "Scalar[]" else TENSOR_LIST
        if type_ is TENSOR_LIST:
            type_ = replace(type_, dtypes=its.type.dtypes, is_index=its.type.is_index)
        return argument(self.name, type_, [self._length(), *own])

    def _length(self) -> Constraint:
        first = self.each.listed[0]
        if self.name == first:
            return Length.Ge(1).unjudged(NO_TENSORS)
        return Length.Eq(lambda given: len(given), (first,), f"length({first})").same(first)

    def _of_numbers(self) -> list[Constraint]:
        """One dim, as long as the lists."""
        first = self.each.listed[0]
        return [Rank.Eq(1), Size.Eq(lambda given: len(given), (first,), f"length({first})")]

    def constraint(self, one: Constraint) -> Constraint:
        """The member's constraint on what is in the argument."""
        new = copy.copy(one)
        if one.same_as is not None:
            new.same_as = self.mine.get(one.same_as)
        if one.lenient_where is not None:
            new.lenient_where = self._of_any(one.lenient_where)
        if self.is_numbers and one.attribute == "Dtype":
            return self._of_kinds(one, new)
        if one.parameters is None:
            return new
        new.parameters, new.value = self._asked(one)
        new.text_given = self._renamed(one.text_given or _text(one))
        return new

    def _asked(self, one: Constraint) -> tuple[tuple[str, ...], Callable[..., Any]]:
        """The parameters of a constraint on the list, and its value of them: of each member, or what is left by all."""
        given = 1 if one.suffix in ("St", "Gen") else 0
        own = {name for name in one.dependencies if name in ("", self.each.places.get(self.name or ""))}
        needed = [self.mine[name] for name in one.dependencies if name in self.mine and name not in own]
        structure = [name for name in one.dependencies if name in _OF_ONE]
        if not self.is_list:
            needed = [self.each.listed[0], *needed]
        names = tuple(dict.fromkeys([*([""] if own else []), *structure, *needed, *(["i"] if self.is_list else [])]))

        def of_member(number: int, candidates: Sequence[Any], views: dict[str, Any]) -> Any:
            return one.value(*candidates, *[self._view(name, number, views, name in own) for name in one.dependencies])

        def value(*every: Any) -> Any:
            candidates, views = every[:given], dict(zip(names, every[given:], strict=True))
            if self.is_list:
                return of_member(views["i"], candidates, views)
            places = self._places(views)
            if one.suffix == "Gen":  # of what the smallest tensor allows: the others demand no more (P60)
                first = views[self.each.listed[0]] or (_a_number(),)
                views |= {self.each.listed[0]: (min(first, key=lambda tensor: tensor.numel),)}
                places = range(1)
            return joined(one.suffix, [of_member(place, candidates, views) for place in places])

        return ((one.given, *names) if given else names), value

    def _places(self, views: dict[str, Any]) -> range:
        """The places that every list of these has: where one is shorter than another the call is refused for that."""
        return range(min(len(view) for view in views.values() if isinstance(view, tuple)))

    def _view(self, name: str, number: int, views: dict[str, Any], is_own: bool) -> Any:
        """What the member's constraint sees of an argument of its own at that place."""
        if is_own:
            return _as_number(views[""]) if self.is_numbers else views[""]
        if name not in self.mine:
            return views[name] if name in _OF_ONE else _default(self.each.left_out[name])
        mine = self.mine[name]
        if mine not in self.each.listed:
            return views[mine]
        if self.each.holds_numbers(mine):
            return _as_number(views[mine])
        # A constraint on the list itself, as on one that holds the results, sees the element that it is asked about.
        return views[mine][number] if isinstance(views[mine], tuple) else views[mine]

    def _of_kinds(self, one: Constraint, new: Constraint) -> Constraint:
        """Of the dtype of a tensor of numbers what the member says of the kind of one."""
        names, value = self._asked(one) if one.parameters else ((), None)

        def dtypes(*every: Any) -> tuple[str, ...]:
            kinds = Discrete(SCALAR_KINDS).narrowed(one.suffix, value(*every) if value else one.value)
            return tuple(dtype for dtype in ALL if SCALAR_KINDS[category(dtype)] in kinds)

        made = Dtype.In(dtypes if names else dtypes(), names or None, f"dtypes whose numbers are as {one}")
        made.lenience, made.lenient_where, made.is_judged = new.lenience, new.lenient_where, new.is_judged
        return made

    def _of_any(self, where: Callable[..., bool]) -> Callable[..., bool]:
        """Whether the condition holds for any member; what it is asked for may be a list."""
        names = tuple(inspect.signature(where).parameters)
        mine = tuple(dict.fromkeys([self.each.listed[0], *(self.mine[name] for name in names if name in self.mine)]))

        def of_any(*every: Any) -> bool:
            views = dict(zip(mine, every, strict=True))
            return any(where(*[self._view(name, one, views, False) for name in names]) for one in self._places(views))

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        of_any.__signature__ = inspect.Signature([inspect.Parameter(each, kind) for each in mine])
        return of_any

    def _renamed(self, text: str) -> str:
        """The member's text in the names of the lists."""
        for its, mine in self.mine.items():
            of_one = f"{mine}[i]" if mine in self.each.listed else mine
            text = re.sub(rf"\b{its}\b", of_one, text)
        return text


def _text(one: Constraint) -> str:
    """What stands on the right side of a constraint."""
    candidate = (one.given, one.left) if one.given else None
    return text_of(one.value, candidate, one.suffix in ("In", "NotIn", "Be"))


def _a_number() -> MetaArgument:
    """A tensor that stands for those of a list that has none."""
    found = MetaArgument(TENSOR)
    found.dtype, found.structure = "float32", ()
    return found


def _as_number(tensor: MetaArgument) -> MetaArgument:
    """A number of a tensor that holds one for each member."""
    found = MetaArgument(SCALAR)
    found.dtype, found.value = SCALAR_KINDS[category(tensor.dtype)], None
    return found


def _default(value: Any) -> Any:
    """What constraints see of an argument that is left out."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    found = MetaArgument(SCALAR)
    found.dtype, found.value = type(value).__name__, value
    return found


def joined(suffix: str, values: Sequence[Any]) -> Any:
    """The value of one constraint that says what `values` say together. LookupError where there is none."""
    if suffix == "In":
        return functools.reduce(_common, values, ANYTHING)
    if suffix == "NotIn":
        return functools.reduce(_union, values, ())
    if suffix in ("Ge", "Gt"):
        return max(values)
    if suffix in ("Le", "Lt"):
        return min(values)
    if any(one != values[0] for one in values):
        raise LookupError(f"no value is {' and '.join(map(str, values))}")
    return values[0]


def _common(one: Space | tuple[Any, ...], other: Space | tuple[Any, ...]) -> Space | tuple[Any, ...]:
    if one == ANYTHING or other == ANYTHING:
        return other if one == ANYTHING else one
    return (Discrete(one) if isinstance(one, tuple) else one).narrowed("In", other)


def _union(one: Any, other: Any) -> Any:
    """What lies in either: of intervals over the reals, or of tuples."""
    spaces = [each for each in (one, other) if isinstance(each, Intervals | Everything | Discrete) or each]
    if len(spaces) < 2:
        return spaces[0] if spaces else ()
    if isinstance(one, Intervals) and isinstance(other, Intervals):
        return one.complement(REALS).narrowed("In", other.complement(REALS)).complement(REALS)
    return tuple(dict.fromkeys([*one, *other]))
