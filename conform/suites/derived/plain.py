"""Plain calls: what an argument is like where a target says nothing about it.

Keywords have their defaults, tensors one dtype and sizes by which dims can be told apart. What the spec does not allow
gives way to the next candidate, and at last to whatever the engine draws.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conform.domains.engine.arguments import Argument
from conform.domains.engine.attribute import Draft
from conform.domains.engine.coverage import Place
from conform.domains.engine.dtypes import category
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.meta_tuple import wished_tuple
from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.spaces import Discrete, Space
from conform.interp import semantics

SIZES, FREE_SIZE = (2, 3, 5, 7), 3
MANY = 1031  # a longer dim of the first tensor is no reason for one of another, which would multiply the work
_OTHER_DTYPES = ("float32", "float64", "int64", "bool")
_KINDS = (("bool", "int"), ("int", "bool"), ("float", "int"), ("float", "complex"))  # of numbers, by the category
# Of numbers; the second number of a call begins with the second of them, and so on.
_VALUES: dict[type, tuple[Any, ...]] = {
    bool: (True, False), int: (3, 17, 2, 1, 0), float: (2.5, 17.0, 0.5, 1.0, 0.0), complex: (1.5 - 0.5j,)
}  # fmt: skip


@dataclass(frozen=True)
class Plain:
    """The wish of a plain call.

    dtype: of all data tensors; rank: of the tensors; sizes: of the first tensor's last dims, as far as it has them;
    free_size: of a dim that may have any size beside the first tensor's; integers: of lists without default, such as
    strides; given: by argument and attribute, what comes before anything else (a Size: the sizes of all dims); ending:
    by list of integers, its last one, behind ones.
    """

    spec: OpSpec
    dtype: str = "float32"
    rank: int = 2
    sizes: tuple[int, ...] = SIZES
    free_size: int = FREE_SIZE
    integers: tuple[int, ...] = (2, 1, 0, 3)
    given: Mapping[tuple[str, str], Sequence[Any]] = field(default_factory=dict)
    ending: Mapping[str, int] = field(default_factory=dict)

    def __call__(self, place: Place, space: Space | None, preferred: Sequence[Any], draft: Draft) -> Sequence[Any]:
        name, attribute, _ = place
        if attribute != "Value" and isinstance(space, Discrete) and len(space.members) == 1:
            return space.members
        given = self.given.get((name, attribute))
        if given is not None:
            return given[draft.scope["#d"] :][:1] if attribute == "Size" else given
        one = argument_of(self.spec, place)
        match attribute:
            case "Optional":
                return (self.is_none(one),)
            case "Dtype":
                is_number = one.type.is_number or one.type.is_number_list
                return self._kinds(one, preferred) if is_number else self._dtypes(one)
            case "Length":
                return (len(self._default(one) or ()) or (2 if one.type.name == "TensorList" else 1),)
            case "Rank":
                return (*preferred, *self._ranks(one, space))
            case "Size":
                return self._sizes(one, space, draft.scope["#d"] - draft.scope["#rank"])
            case _:
                return tuple(self._values(one, preferred, draft))

    def _default(self, one: Argument) -> Any:
        return next(iter(self.spec.engines[one.name].default), None)

    def is_none(self, one: Argument) -> bool:
        """Left out if that is the default; given where the caller must choose."""
        return self.spec.engines[one.name].default == (None,)

    def _dtypes(self, one: Argument) -> tuple[str, ...]:
        if one is self.spec.data:
            return (self.dtype, *_OTHER_DTYPES)
        is_place = one.type.is_index and one.type.name != "Mask"
        return ("int64", "int32") if is_place else ("bool",) if one.type.is_index else (self.dtype, *_OTHER_DTYPES)

    def _kinds(self, one: Argument, preferred: Sequence[Any]) -> tuple[str, ...]:
        return (*preferred, *_KINDS[category(self.dtype)])

    def _ranks(self, one: Argument, space: Space | None) -> tuple[int, ...]:
        if one.type.is_index and one.type.name != "Mask" and not isinstance(space, Discrete):
            return (1,)
        return (self.rank, *range(self.rank + 1, 6), *range(self.rank - 1, -1, -1))

    def _sizes(self, one: Argument, space: Space | None, place: int) -> tuple[int, ...]:
        size = self.sizes[place] if -place <= len(self.sizes) else SIZES[0]
        if isinstance(space, Discrete):
            own = () if one is not self.spec.first_tensor and size > MANY else (size,)
            return (*own, *[member for member in space.members if member != 1], size)
        return (size,) if one is self.spec.first_tensor else (min(self.free_size, size) or self.free_size, size)

    def _values(self, one: Argument, preferred: Sequence[Any], draft: Draft) -> Iterator[Any]:
        if one.name in self.ending:
            yield self.ending[one.name] if draft.scope["#i"] == draft.scope["#length"] - 1 else 1
        elif one.type.is_number_list:
            yield from preferred
            values = _VALUES[kind_of_number(draft)]
            first = draft.scope["#i"] % len(values)
            yield from (*values[first:], *values[:first])
        elif one.type.is_list:
            default = self._default(one) or ()
            yield from default[draft.scope["#i"] :][:1]
            yield from self._dims() if one.type.name == "DimList" else self.integers
        elif one.type.is_number:
            yield from preferred
            yield from self._numbers(one, _VALUES[kind_of_number(draft)])
        elif one.type.name in ("Bool", "String", "ScalarType"):
            yield from preferred
            yield from (False,) if one.type.name == "Bool" else ()
        else:
            yield from preferred
            yield from self._dims() if one.type.name == "Dim" else _VALUES[float if one.type.name == "Float" else int]

    def _numbers(self, one: Argument, values: Sequence[Any]) -> Sequence[Any]:
        """The values in another order for each number of the call."""
        first = [each.name for each in self.spec.arguments if each.type.is_number].index(one.name) % len(values)
        return (*values[first:], *values[:first])

    def _dims(self) -> tuple[int, ...]:
        """The second dim, if there is one."""
        return (1, 0, 2, 3, 4) if self.rank > 1 else (0,)


def kind_of_number(draft: Draft) -> type:
    """The Python type of the number that is being made."""
    return {"bool": bool, "int": int, "float": float, "complex": complex}[draft.scope["#own"].dtype]


def argument_of(spec: OpSpec, place: Place) -> Argument:
    return spec.engines[place.argument].argument


def is_pointwise(spec: OpSpec) -> bool:
    """Whether a result depends on one element of each operand alone."""
    meaning = semantics.find(spec.name)
    return meaning is not None and meaning.traits.pointwise


def least_rank(spec: OpSpec) -> int:
    """The rank of the first tensor where rank 1 is wished for; 0 without tensors."""
    first = spec.first_tensor
    shape = shape_of(wished_tuple(spec, "rank", Plain(spec, rank=1)).arguments[first.name]) if first else ()
    return len(shape or ())


def shape_of(meta: MetaArgument) -> tuple[int, ...] | None:
    """The shape; of a list of tensors that of the first, None for None."""
    if meta.type.is_tensor_list:
        return next((one.shape for one in meta.structure if not one.is_none), None)
    return None if meta.is_none else meta.shape


def of_last_sizes(spec: OpSpec, size: int, dtype: str = "float32") -> Iterator[Plain]:
    """The wishes for a size of the first tensor's last dim where that follows from a list of integers, such as the
    sizes of an image: what windows there are takes one element each."""
    before = itertools.takewhile(lambda one: one is not spec.first_tensor, spec.order)
    for one in before:
        if one.type.name in ("IntList", "Shape"):
            yield Plain(spec, dtype, integers=(0, 1), ending={one.name: size})
