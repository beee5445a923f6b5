"""Meta arguments: everything about an argument but the data inside its tensors; and the engine that makes them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from conform.domains.engine.arguments import SCALAR, TENSOR, Argument, ArgumentType
from conform.domains.engine.attribute import OWN, AttributeEngine, Draft, Scope
from conform.domains.engine.constraints import Constraint
from conform.domains.engine.dtypes import ALL, SMALL_FLOATS
from conform.domains.engine.elements import Elements
from conform.domains.engine.spaces import Discrete, Space
from conform.domains.engine.structural import Part, StructuralEngine
from conform.domains.engine.variables import WHOLE, Contradiction, VariableType
from conform.numerics.formats import format_named

View = Any  # a meta argument of a tensor, a tuple of them, or the plain value of anything else

_BOOLS = WHOLE[VariableType.BOOL]
_KINDS = WHOLE[VariableType.SCALAR_DTYPE]
_SCALARS = {"bool": _BOOLS, "int": WHOLE[VariableType.INT], "float": WHOLE[VariableType.FLOAT],
            "complex": WHOLE[VariableType.COMPLEX]}  # fmt: skip


class MetaArgument:
    """An argument without its tensor data.

    optional: whether it is None; dtype: of a tensor or a number; structure: the shape of a tensor, the meta arguments
    of a list of tensors or numbers, the values of another list, the value of what has no dtype; value: the value of a
    number, the space of a tensor's elements (None: any), or the Elements of one that is there; outside: the space of
    the one element that breaks a constraint; stands_for: the name of a format that is no dtype of the engine.
    """

    __slots__ = ("dtype", "optional", "outside", "stands_for", "structure", "type", "value")

    def __init__(self, type_: ArgumentType) -> None:
        self.type = type_
        self.optional = False
        self.dtype: str | None = None
        self.structure: Any = None
        self.value: Any = None
        self.outside: Space | None = None
        self.stands_for: str | None = None

    @property
    def is_none(self) -> bool:
        return self.optional

    @property
    def is_number(self) -> bool:
        return self.type.is_number or self.type.name == "WrappedNumber"

    @property
    def shape(self) -> tuple[int, ...]:
        return self.structure

    @property
    def rank(self) -> int:
        return len(self.structure)

    @property
    def numel(self) -> int:
        return math.prod(self.structure)

    @property
    def chosen(self) -> int | None:
        """How many places a mask chooses, None where it has not been drawn."""
        if isinstance(self.value, Elements):
            return self.value.count()
        return None

    @property
    def elements(self) -> Elements | None:
        """Those that are there, None where they have not been drawn."""
        return self.value if isinstance(self.value, Elements) else None

    def size(self, d: int) -> int:
        """The size of dim d, negative ones from the end; 1 of a 0-d tensor. Contradiction if there is no such dim."""
        rank = len(self.structure)
        if not -max(rank, 1) <= d < max(rank, 1):
            raise Contradiction(f"a tensor of {rank} dimensions has no dim {d}")
        return self.structure[d] if rank else 1

    @property
    def view(self) -> View:
        """What constraints see: tensors and numbers as meta arguments, lists as tuples, anything else as its value."""
        if self.type.is_tensor or self.is_number:
            return self
        return None if self.optional else self.structure

    def __str__(self) -> str:
        if self.optional:
            return "None"
        if self.type.is_tensor_list or self.type.is_number_list:
            return "[" + ", ".join(map(str, self.structure)) + "]"
        if self.type.is_tensor:
            marked = f" with {self.outside} in it" if self.outside is not None else ""
            return f"{self.stands_for or self.dtype}{list(self.structure)}{marked}"
        found = self.value if self.is_number else self.stands_for or self.structure
        return repr(list(found) if isinstance(found, tuple) else found)

    __repr__ = __str__


def tensor_metas(meta: MetaArgument) -> tuple[MetaArgument, ...]:
    """The tensors of an argument, in the order of their numbers."""
    if meta.type.is_tensor_list:
        return tuple(element for element in meta.structure if not element.optional)
    return (meta,) if meta.type.is_tensor and not meta.optional else ()


class MetaArgumentEngine:
    """Makes the meta arguments of one argument, attribute after attribute."""

    def __init__(
        self,
        argument: Argument,
        names: Sequence[str],
        paired: tuple[str, ...] = (),
        default: tuple[Any, ...] = (),
    ) -> None:
        """`paired`: attributes to be covered in pairs; `default`: the schema's, if it has one, in a tuple."""
        self.argument = argument
        self.default = default
        self._engines = {
            attribute: AttributeEngine(argument, attribute, names, attribute in paired)
            for attribute in argument.attributes
        }
        self._structure = StructuralEngine(argument, self._engines)
        self._optional = self._engines.get("Optional")
        self._dtypes = WHOLE[argument.type.dtypes]
        self._whole = None if argument.type.value is None else WHOLE[argument.type.value]

    @property
    def values(self) -> AttributeEngine:
        """The engine of Value."""
        return self._engines["Value"]

    @property
    def constant_kinds(self) -> tuple[str, ...]:
        """The kinds of number that the constant constraints on Dtype allow."""
        return self._engines["Dtype"].constant_space(_KINDS).members

    def generate(self, draft: Draft) -> MetaArgument:
        """A meta argument that fits the draft. Contradiction if there is none."""
        type_ = self.argument.type
        meta = MetaArgument(type_)
        if type_.is_tensor_list:
            return self._tensor_list(meta, draft)
        if self._is_none(draft):
            meta.optional = True
        elif type_.is_tensor:
            self._tensor(meta, draft)
        elif type_.is_number:
            self._number(meta, draft)
        elif type_.is_number_list:
            self._number_list(meta, draft)
        elif type_.is_list:
            meta.structure = self._structure.list_of_values(draft, self._default_of(tuple))
        else:
            pin = draft.pins.get(self.argument.name)
            meta.structure = self._engines["Value"].choose(self._whole, draft, pin, self._default_of(object))
        return meta

    def _is_none(self, draft: Draft) -> bool:
        return self._optional is not None and self._optional.choose(_BOOLS, draft)

    def _tensor(self, meta: MetaArgument, draft: Draft) -> None:
        draft.scope[OWN] = meta
        pin = draft.pins.get(self.argument.name)
        meta.dtype = self._engines["Dtype"].choose(self._dtypes, draft, pin)
        meta.structure = self._structure.shape(draft)
        values = self._engines["Value"]
        if values.is_free or not meta.numel:
            return  # a tensor without elements satisfies whatever is said of them
        whole = elements_of(meta.dtype)
        meta.value = values.space(whole, draft.scope)
        if draft.to_break is not None:
            meta.outside = values.broken_space(whole, draft)

    def _number(self, meta: MetaArgument, draft: Draft) -> None:
        draft.scope[OWN] = meta
        kinds = tuple(type(value).__name__ for value in self.default)
        meta.dtype = self._engines["Dtype"].choose(_KINDS, draft, preferred=kinds)
        preferred = tuple(value for value in self.default if type(value).__name__ == meta.dtype)
        meta.value = self._engines["Value"].choose(_SCALARS[meta.dtype], draft, preferred=preferred)
        if meta.dtype == "float":
            meta.value = float(meta.value)

    def _tensor_list(self, meta: MetaArgument, draft: Draft) -> MetaArgument:
        count = self._structure.length(draft)
        scope = draft.scope
        scope["#length"] = count
        elements: list[MetaArgument] = []
        for number in range(count):
            scope["#i"], scope["#previous"] = number, tuple(elements)
            element = MetaArgument(ELEMENT)
            elements.append(element)
            element.optional = self._is_none(draft)
            if not element.optional:
                self._tensor(element, draft)
        meta.structure = tuple(elements)
        return meta

    def _number_list(self, meta: MetaArgument, draft: Draft) -> None:
        count, scope = self._structure.length(draft), draft.scope
        scope["#length"] = count
        elements: list[MetaArgument] = []
        for number in range(count):
            scope["#i"], scope["#previous"] = number, tuple(elements)
            elements.append(MetaArgument(SCALAR))
            self._number(elements[-1], draft)
        meta.structure = tuple(elements)

    def _default_of(self, kind: type) -> tuple[Any, ...]:
        """The schema's default, where it is of the kind and not None; a list as a tuple."""
        values = [tuple(value) if isinstance(value, list) else value for value in self.default]
        return tuple(value for value in values if isinstance(value, kind) and value is not None)

    # --- Checking a finished one --------------------------------------------------------------------------------------

    def violations(self, meta: MetaArgument, scope: Scope) -> list[Constraint]:
        """The constraints that a finished meta argument breaks, each once, in the order of attributes."""
        found: list[Constraint] = []
        for constraint in self.broken(meta, scope):
            if all(constraint is not other for other in found):
                found.append(constraint)
        return found

    def broken(self, meta: MetaArgument, scope: Scope, strict: bool = False) -> Iterator[Constraint]:
        """The constraints that are broken, one after the other, some more than once; `strict` as in `violated`."""
        for attribute, space in self._parts(meta, scope):
            yield from self._engines[attribute].violated(space, scope, strict)

    def outside(self, constraint: Constraint, elements: Elements, scope: Scope) -> Discrete | None:
        """The first element that breaks the constraint on Value."""
        found = elements.outside(constraint.suffix, self.values.value_of(constraint, scope))
        return None if found is None else Discrete((found,))

    def _parts(self, meta: MetaArgument, scope: Scope) -> Iterator[Part]:
        """Each attribute with the values it has, as a space; the scope is set for it."""
        if meta.type.is_tensor_list or meta.type.is_number_list:
            yield from self._structure.parts_of_length(len(meta.structure))
            scope["#length"] = len(meta.structure)
            for number, element in enumerate(meta.structure):
                scope["#i"], scope["#previous"] = number, meta.structure[:number]
                yield from self._parts(element, scope)
            return
        if "Optional" in self._engines:
            yield "Optional", Discrete((meta.optional,))
        if meta.optional:
            return
        if meta.type.is_tensor:
            yield from self._parts_of_tensor(meta, scope)
        elif meta.type.is_number:
            scope[OWN] = meta
            yield "Dtype", Discrete((meta.dtype,))
            yield "Value", Discrete((meta.value,))
        elif meta.type.is_list:
            yield from self._structure.parts_of_list(meta.structure, scope)
        else:
            yield "Value", Discrete((meta.structure,))

    def _parts_of_tensor(self, meta: MetaArgument, scope: Scope) -> Iterator[Part]:
        scope[OWN] = meta
        yield "Dtype", Discrete((meta.dtype,))
        yield from self._structure.parts_of_shape(meta.structure, scope)
        for space in (meta.value, meta.outside):
            if space is not None:
                yield "Value", space


WRAPPED_NUMBER = replace(TENSOR, name="WrappedNumber")  # a Python number in place of a tensor
ELEMENT = ArgumentType("Tensor", ("Tensor",), ("Dtype", "Rank", "Size", "Value"))


def elements_of(dtype: str) -> Space:
    """What an element of the dtype may be."""
    return _ELEMENTS[dtype]


def _elements(dtype: str) -> Space:
    fmt = format_named(dtype)
    if fmt.kind == "bool":
        return WHOLE[VariableType.BOOL]
    if fmt.is_integer:
        integers = WHOLE[VariableType.INT].narrowed("Ge", fmt.min_value)
        return integers.narrowed("Le", fmt.max_value)
    return WHOLE[VariableType.COMPLEX if fmt.is_complex else VariableType.FLOAT]


_ELEMENTS = {dtype: _elements(dtype) for dtype in (*ALL, *SMALL_FLOATS)}
