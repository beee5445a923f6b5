"""Argument types: which attributes an argument has, of which variable type, and which schema types it stands for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from conform.call import schemas
from conform.domains.engine.constraints import ATTRIBUTES, Constraint
from conform.domains.engine.spaces import Discrete
from conform.domains.engine.variables import ENUMERABLE, ORDERED, WHOLE, VariableType

_INT = ("int", "SymInt")
_TENSOR = ("Dtype", "Rank", "Size", "Value")
_OF_SIZES = ("rank", "d", "sizes")
_OF_ELEMENTS = ("length", "i", "previous")


@dataclass(frozen=True)
class ArgumentType:
    """What the arguments of one kind have.

    schema_types: torch's names for it, a list as "int[]"; value: the variable type of Value where it is always the
    same; dtypes: that of a tensor's Dtype; is_index: indices, masks and counts, whose elements choose or
    number, and out arguments, whose elements nothing reads: they never take special values.
    """

    name: str
    schema_types: tuple[str, ...]
    attributes: tuple[str, ...]
    value: VariableType | None = None
    dtypes: VariableType = VariableType.TENSOR_DTYPE
    is_index: bool = False

    @cached_property
    def is_tensor(self) -> bool:
        return "Rank" in self.attributes and "Length" not in self.attributes

    @cached_property
    def is_tensor_list(self) -> bool:
        return "Rank" in self.attributes and "Length" in self.attributes

    @cached_property
    def is_number_list(self) -> bool:
        return "Length" in self.attributes and "Dtype" in self.attributes and "Rank" not in self.attributes

    @cached_property
    def is_list(self) -> bool:
        return "Length" in self.attributes

    @cached_property
    def is_number(self) -> bool:
        return self.attributes == ("Dtype", "Value")

    def own_structure(self, attribute: str) -> tuple[str, ...]:
        """The names of `OWN_STRUCTURE` that a constraint on the attribute may take."""
        elements = _OF_ELEMENTS if self.is_list and attribute != "Length" else ()
        return elements + (_OF_SIZES if attribute == "Size" else ())

    def variable_type(self, attribute: str) -> VariableType | None:
        """The type of an attribute's variable; None for a Value whose type follows from the dtype."""
        if attribute == "Value":
            return self.value
        if attribute == "Dtype":
            return VariableType.SCALAR_DTYPE if self.is_number or self.is_number_list else self.dtypes
        return VariableType.BOOL if attribute == "Optional" else VariableType.INT


TENSOR = ArgumentType("Tensor", ("Tensor",), _TENSOR)
SMALL_FLOAT_TENSOR = replace(TENSOR, name="SmallFloatTensor", dtypes=VariableType.SMALL_FLOAT)
INDEX_TENSOR = ArgumentType("IndexTensor", ("Tensor",), _TENSOR, is_index=True)
MASK = ArgumentType("Mask", ("Tensor",), _TENSOR, is_index=True)
OUT = ArgumentType("Out", ("Tensor",), _TENSOR, is_index=True)
TENSOR_LIST = ArgumentType("TensorList", ("Tensor[]",), ("Length", *_TENSOR))
OUT_LIST = replace(TENSOR_LIST, name="OutList", is_index=True)
COUNT_LIST = replace(TENSOR_LIST, name="CountList", is_index=True)
OPTIONAL_TENSOR_LIST = ArgumentType("TensorOptList", ("Tensor?[]",), ("Optional", "Length", *_TENSOR))
INDEX_TENSOR_LIST = replace(OPTIONAL_TENSOR_LIST, name="IndexTensorOptList", is_index=True)
SCALAR = ArgumentType("Scalar", ("Scalar",), ("Dtype", "Value"))
SCALAR_LIST = ArgumentType("ScalarList", ("Scalar[]",), ("Length", "Dtype", "Value"))
BOOL = ArgumentType("Bool", ("bool",), ("Value",), VariableType.BOOL)
INT = ArgumentType("Int", _INT, ("Value",), VariableType.INT)
FLOAT = ArgumentType("Float", ("float",), ("Value",), VariableType.FLOAT)
STRING = ArgumentType("String", ("str", "MemoryFormat", "Layout", "Device"), ("Value",), VariableType.STRING)
DIM = ArgumentType("Dim", _INT, ("Value",), VariableType.INT)
INDEX = ArgumentType("Index", _INT, ("Value",), VariableType.INT)
LENGTH = ArgumentType("Length", _INT, ("Value",), VariableType.INT)
DIM_LIST = ArgumentType("DimList", ("int[]", "SymInt[]"), ("Length", "Value"), VariableType.INT)
SHAPE = ArgumentType("Shape", ("int[]", "SymInt[]"), ("Length", "Value"), VariableType.INT)
INT_LIST = ArgumentType("IntList", ("int[]", "SymInt[]"), ("Length", "Value"), VariableType.INT)
BOOL_LIST = ArgumentType("BoolList", ("bool[]",), ("Length", "Value"), VariableType.BOOL)
FLOAT_LIST = ArgumentType("FloatList", ("float[]",), ("Length", "Value"), VariableType.FLOAT)
SCALAR_TYPE = ArgumentType("ScalarType", ("ScalarType",), ("Value",), VariableType.TENSOR_DTYPE)

RESULT = "result"  # the name of every output

Group = Constraint | Iterable["Group"]


@dataclass(frozen=True)
class Argument:
    """An argument of an op, or a result: its type and the constraints on it."""

    name: str
    type: ArgumentType
    constraints: tuple[Constraint, ...] = field(default=())
    may_be_none: bool = False

    def __post_init__(self) -> None:
        """ValueError for an attribute that the type does not have, or a suffix that does not fit the attribute."""
        for constraint in self.constraints:
            if constraint.attribute not in self.attributes:
                raise ValueError(f"argument {self.name}: a {self.type.name} has no {constraint.attribute}; "
                                 f"it has {', '.join(self.attributes)}")  # fmt: skip
            _check_suffix(self, constraint)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of the type, and Optional where the argument may be None, in the order of generation."""
        names = {*self.type.attributes, *(["Optional"] if self.may_be_none else [])}
        return tuple(name for name in ATTRIBUTES if name in names)

    def constraints_on(self, attribute: str) -> tuple[Constraint, ...]:
        return tuple(one for one in self.constraints if one.attribute == attribute)

    def check_against(self, declared: schemas.Argument) -> None:
        """ValueError if torch's schema declares an argument of another name, type or optionality."""
        plain = re.sub(r"\[\d+\]", "[]", declared.type)
        expected = {f"{one}?" if self.may_be_none else one for one in self.type.schema_types}
        if declared.name != self.name or plain not in expected:
            raise ValueError(f"argument {self.name}: found {' or '.join(sorted(expected, reverse=True))} {self.name}, "
                             f"expected torch's {declared.type} {declared.name}")  # fmt: skip


def _check_suffix(argument: Argument, constraint: Constraint) -> None:
    kind = argument.type.variable_type(constraint.attribute)
    if kind is None:
        return
    unordered = constraint.suffix in ("Lt", "Le", "Gt", "Ge") and kind not in ORDERED
    if unordered or (constraint.suffix == "St" and kind not in ENUMERABLE):
        raise ValueError(f"argument {argument.name}: {constraint.attribute} is a {kind.value}, "
                         f"which has no {constraint.suffix}")  # fmt: skip
    for value in _constants(constraint):
        if isinstance(WHOLE[kind], Discrete) and value not in WHOLE[kind]:
            raise ValueError(f"argument {argument.name}: {constraint}: {value!r} is no {kind.value}; "
                             f"those are {WHOLE[kind]}")  # fmt: skip


def _constants(constraint: Constraint) -> tuple[Any, ...]:
    """The single values that a constraint names itself."""
    if not constraint.is_constant:
        return ()
    if constraint.suffix in ("In", "NotIn", "Be"):
        return constraint.value if isinstance(constraint.value, tuple) else ()
    return (constraint.value,)


# --- What specs are written with --------------------------------------------------------------------------------------


def _flattened(groups: Iterable[Group]) -> list[Constraint]:
    found: list[Constraint] = []
    for group in groups:
        found += [group] if isinstance(group, Constraint) else _flattened(group)
    return found


def _printed_as(name: str, type_: ArgumentType, attribute: str) -> str:
    """What a constraint is a statement of: dtype(self), size(tensors[i], d), dims[i]."""
    has_parts = type_.is_tensor_list or type_.is_number_list
    of_element = has_parts and attribute != "Length" or type_.is_list and attribute == "Value"
    element = f"{name}[i]" if of_element else name
    named = {"Dtype": "dtype({})", "Rank": "rank({})", "Size": "size({}, d)", "Length": "length({})",
             "Optional": "({} is None)"}  # fmt: skip
    return named.get(attribute, "{}").format(element)


def argument(name: str, type_: ArgumentType, constraints: Sequence[Group]) -> Argument:
    """An argument of a type, with constraints, or groups of them as the vocabulary gives."""
    bound = [one.of(_printed_as(name, type_, one.attribute)) for one in _flattened(constraints)]
    return Argument(name, type_, tuple(bound))


def optional(one: Argument, *constraints: Group) -> Argument:
    """The argument, which may be None; `constraints` are further ones, such as those on Optional."""
    more = [each.of(_printed_as(one.name, one.type, each.attribute)) for each in _flattened(constraints)]
    return Argument(one.name, one.type, (*one.constraints, *more), may_be_none=True)


def tensor(name: str, *constraints: Group) -> Argument:
    """A tensor of data."""
    return argument(name, TENSOR, constraints)


def small_float_tensor(name: str, *constraints: Group) -> Argument:
    """A tensor of data of 8-bit floats."""
    return argument(name, SMALL_FLOAT_TENSOR, constraints)


def index_tensor(name: str, *constraints: Group) -> Argument:
    """A tensor whose elements are places in another; constrain its Value."""
    return argument(name, INDEX_TENSOR, constraints)


def mask(name: str, *constraints: Group) -> Argument:
    """A tensor that chooses."""
    return argument(name, MASK, constraints)


def out(name: str, *constraints: Group) -> Argument:
    """A tensor that the op writes its result into."""
    return argument(name, OUT, constraints)


def outs(name: str, *constraints: Group) -> Argument:
    """A list of tensors that the op writes its results into."""
    return argument(name, OUT_LIST, constraints)


def counts(name: str, *constraints: Group) -> Argument:
    """A list of tensors that count something, each in a float; give their Value."""
    return argument(name, COUNT_LIST, constraints)


def tensors(name: str, *constraints: Group) -> Argument:
    """A list of tensors: Length, and Dtype, Rank, Size and Value of each element i."""
    return argument(name, TENSOR_LIST, constraints)


def index_tensors(name: str, *constraints: Group) -> Argument:
    """A list of index tensors, each of which may be None (Optional)."""
    return argument(name, INDEX_TENSOR_LIST, constraints)


def scalar(name: str, *constraints: Group) -> Argument:
    """A Python number: Dtype is "bool", "int", "float" or "complex"."""
    return argument(name, SCALAR, constraints)


def scalars(name: str, *constraints: Group) -> Argument:
    """A list of Python numbers: Length, and Dtype and Value of each element i."""
    return argument(name, SCALAR_LIST, constraints)


def boolean(name: str, *constraints: Group) -> Argument:
    """True or False."""
    return argument(name, BOOL, constraints)


def integer(name: str, *constraints: Group) -> Argument:
    """An int without a more special meaning."""
    return argument(name, INT, constraints)


def real(name: str, *constraints: Group) -> Argument:
    """A float."""
    return argument(name, FLOAT, constraints)


def string(name: str, *constraints: Group) -> Argument:
    """A string, or the name of a memory format, layout or device."""
    return argument(name, STRING, constraints)


def dim(name: str, *constraints: Group) -> Argument:
    """The number of a dimension."""
    return argument(name, DIM, constraints)


def index(name: str, *constraints: Group) -> Argument:
    """A place in a dimension."""
    return argument(name, INDEX, constraints)


def length(name: str, *constraints: Group) -> Argument:
    """How many of something."""
    return argument(name, LENGTH, constraints)


def dims(name: str, *constraints: Group) -> Argument:
    """A list of dimensions."""
    return argument(name, DIM_LIST, constraints)


def shape(name: str, *constraints: Group) -> Argument:
    """A list of sizes."""
    return argument(name, SHAPE, constraints)


def integers(name: str, *constraints: Group) -> Argument:
    """A list of ints: strides, paddings."""
    return argument(name, INT_LIST, constraints)


def booleans(name: str, *constraints: Group) -> Argument:
    """A list of bools."""
    return argument(name, BOOL_LIST, constraints)


def reals(name: str, *constraints: Group) -> Argument:
    """A list of floats."""
    return argument(name, FLOAT_LIST, constraints)


def dtype(name: str, *constraints: Group) -> Argument:
    """A dtype by torch's name; its Value is the name."""
    return argument(name, SCALAR_TYPE, constraints)


def result(*constraints: Group) -> Argument:
    """An output of the op: exactly one dtype and shape must satisfy the constraints."""
    return argument(RESULT, TENSOR, constraints)


def results(*constraints: Group) -> Argument:
    """The outputs of an op that gives a list of them: Length, and Dtype, Rank and Size of each output i."""
    return argument(RESULT, TENSOR_LIST, constraints)
