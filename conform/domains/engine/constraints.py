"""Constraints: an attribute, a suffix, and a constant or a function of other arguments.

    Dtype.In(FLOATS)                                  the dtype is one of the floats
    Rank.Eq(lambda self: self.rank)                   as many dimensions as self has
    Size.Le(lambda self, d, dim: self.size(d))        every size d at most that of self
    Value.St(lambda groups, input: input.size(1) % groups == 0)       such that: the first parameter is the candidate
    Value.Gen(lambda stream, self: ...)               the value outright; the first parameter is a random stream

The parameters' names are the dependencies: arguments of the op, or of the argument's own structure
    rank, d, sizes        the number of dimensions; of a size: which one it is, and those before it
    length, i, previous   the length of a list; of an element: which one it is, and those before it
or the argument itself, as far as it is finished (attributes are generated in the order of `ATTRIBUTES`). A constraint
that is written for arguments of any name gives `parameters`, with "" for the argument itself.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from conform.domains.engine.mathematics import name_of, statement, text_of

ATTRIBUTES = ("Optional", "Dtype", "Length", "Rank", "Size", "Value")
SUFFIXES = ("Eq", "Ne", "In", "NotIn", "Lt", "Le", "Gt", "Ge", "St", "Be", "Gen")
OWN_STRUCTURE = ("rank", "d", "sizes", "length", "i", "previous")
NEGATIONS = {"Eq": "Ne", "Ne": "Eq", "In": "NotIn", "NotIn": "In", "Lt": "Ge", "Ge": "Lt", "Le": "Gt", "Gt": "Le"}


class Constraint:
    """attribute suffix value, with the value a constant or a function of `parameters`.

    lenience: why an implementation may accept a violation, None where it must refuse it; lenient_where: a function of
    arguments, where that holds for some calls only; is_judged: whether the kit has semantics for what is accepted;
    is_divisor: it keeps zero out of integer divisors; same_as: the tensor of which it demands what that has.
    """

    __slots__ = ("attribute", "is_divisor", "is_judged", "left", "lenience", "lenient_where", "parameters", "same_as",
                 "suffix", "text_given", "value")  # fmt: skip

    def __init__(
        self, attribute: str, suffix: str, value: Any, parameters: tuple[str, ...] | None = None, text: str = ""
    ) -> None:
        self.attribute, self.suffix, self.value = attribute, suffix, value
        self.parameters = parameters
        if callable(value) and parameters is None:
            self.parameters = tuple(inspect.signature(value).parameters)
        if suffix in ("St", "Gen") and not self.parameters:
            raise ValueError(f"{attribute}.{suffix}: expected a function with a parameter, found {value!r}")
        self.text_given = text
        self.lenience: str | None = None
        self.lenient_where: Callable[..., bool] | None = None
        self.is_judged = True
        self.left = attribute.lower()
        self.is_divisor = False
        self.same_as: str | None = None

    def lenient(self, reason: str, where: Callable[..., bool] | None = None) -> Constraint:
        """This constraint, of which a violation is known to be accepted; with `where`, by the calls for which it holds.

        The parameters of `where` are arguments of the op, the constraint's own among them.
        """
        new = copy.copy(self)
        new.lenience, new.lenient_where = reason, where
        return new

    def unjudged(self, reason: str, where: Callable[..., bool] | None = None) -> Constraint:
        """This constraint, `lenient` in the same way; the kit does not say what an implementation then gives."""
        new = self.lenient(reason, where)
        new.is_judged = False
        return new

    def is_lenient_for(self, views: Mapping[str, Any]) -> bool:
        """Whether an implementation may accept a call that breaks it. views: what constraints see of the call."""
        if self.lenience is None or self.lenient_where is None:
            return self.lenience is not None
        return self.lenient_where(*[views[name] for name in inspect.signature(self.lenient_where).parameters])

    def same(self, name: str) -> Constraint:
        """This constraint, which demands what the tensor `name` has: that tensor satisfies it."""
        new = copy.copy(self)
        new.same_as = name
        return new

    def of(self, left: str) -> Constraint:
        """This constraint on what is printed as `left`."""
        new = copy.copy(self)
        new.left = left
        return new

    @property
    def is_constant(self) -> bool:
        return self.parameters is None

    @property
    def given(self) -> str | None:
        """The parameter that is no dependency: the candidate of St, the stream of Gen."""
        return self.parameters[0] if self.suffix in ("St", "Gen") else None

    @property
    def dependencies(self) -> tuple[str, ...]:
        """The parameters that are arguments or own structure."""
        if self.parameters is None:
            return ()
        return self.parameters[1:] if self.suffix in ("St", "Gen") else self.parameters

    def __str__(self) -> str:
        if self.is_constant:
            return self.text_given or statement(self.left, self.suffix, self.value)
        if self.suffix == "Gen":
            return statement(self.left, self.suffix, self.text_given or name_of(self.value))
        candidate = (self.given, self.left) if self.given else None
        is_set = self.suffix in ("In", "NotIn", "Be")
        return statement(self.left, self.suffix, self.text_given or text_of(self.value, candidate, is_set))

    def __repr__(self) -> str:
        return f"<{self}>"


class Attribute:
    """One of the six attributes; its methods are the suffixes and make constraints."""

    def __init__(self, name: str) -> None:
        self.name = name

    def _constraint(self, suffix: str, value: Any, parameters: tuple[str, ...] | None, text: str) -> Constraint:
        if not callable(value) and suffix in ("In", "NotIn", "Be"):
            value = value if hasattr(value, "narrowed") else tuple(value)
        return Constraint(self.name, suffix, value, parameters, text)


def _method(suffix: str) -> Callable[..., Constraint]:
    def make(self: Attribute, value: Any, parameters: tuple[str, ...] | None = None, text: str = "") -> Constraint:
        return self._constraint(suffix, value, parameters, text)

    make.__name__ = suffix
    make.__doc__ = f"The constraint `attribute {suffix} value`; `text` replaces the printed value."
    return make


for _suffix in SUFFIXES:
    setattr(Attribute, _suffix, _method(_suffix))

Optional, Dtype, Length, Rank, Size, Value = (Attribute(name) for name in ATTRIBUTES)
