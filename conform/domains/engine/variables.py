"""Variables: the types of what is generated, their values, and what is said where constraints leave none of them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from conform.domains.engine import dtypes
from conform.domains.engine.constraints import Constraint
from conform.domains.engine.mathematics import shown
from conform.domains.engine.spaces import ANYTHING, INTEGERS, REALS, Discrete, Space


class VariableType(Enum):
    """The types of values; complex numbers are a type of their own, since they have no order."""

    BOOL = "Bool"
    INT = "Int"
    FLOAT = "Float"
    COMPLEX = "Complex"
    STRING = "String"
    SCALAR_DTYPE = "ScalarDtype"
    TENSOR_DTYPE = "TensorDtype"
    SMALL_FLOAT = "SmallFloat"
    TUPLE = "Tuple"


WHOLE: dict[VariableType, Space] = {
    VariableType.BOOL: Discrete((False, True)),
    VariableType.INT: INTEGERS,
    VariableType.FLOAT: REALS,
    VariableType.COMPLEX: ANYTHING,
    VariableType.STRING: ANYTHING,
    VariableType.SCALAR_DTYPE: Discrete(dtypes.SCALAR_KINDS),
    VariableType.TENSOR_DTYPE: Discrete(dtypes.ALL),
    VariableType.SMALL_FLOAT: Discrete(dtypes.SMALL_FLOATS),
    VariableType.TUPLE: ANYTHING,
}
Applied = tuple[Constraint, Any]  # a constraint and its value, of St the predicate
ORDERED = (VariableType.INT, VariableType.FLOAT)
ENUMERABLE = (VariableType.BOOL, VariableType.INT, VariableType.SCALAR_DTYPE, VariableType.TENSOR_DTYPE,
              VariableType.SMALL_FLOAT)


class Contradiction(ValueError):
    """No value satisfies all constraints of a variable. `clash` holds the constraints that cannot hold together."""

    def __init__(self, message: str, clash: Sequence[Constraint] = ()) -> None:
        super().__init__(message)
        self.clash = tuple(clash)


def contradiction(name: str, whole: Space, applied: Sequence[Applied]) -> Contradiction:
    """What is to be raised where constraints leave nothing of `whole`: it names the smallest part that does so."""
    clash = _clash(whole, applied)
    stated = " and ".join(_with_value(*each) for each in clash)
    return Contradiction(f"{name} in {whole}: no value satisfies {stated}", [each for each, _ in clash])


def _clash(whole: Space, applied: Sequence[Applied]) -> list[Applied]:
    """A smallest part of the applied constraints that leaves nothing: each that can be spared is."""
    kept = list(applied)
    for one in applied:
        fewer = [other for other in kept if other is not one]
        if _leave_nothing(whole, fewer):
            kept = fewer
    return kept


def _leave_nothing(whole: Space, constraints: Sequence[Applied]) -> bool:
    space = whole
    try:
        for constraint, value in constraints:
            space = space.narrowed(constraint.suffix, value)
    except ValueError:  # without its neighbours a "such that" has too much to enumerate: they are needed
        return False
    return space.is_empty


def _with_value(constraint: Constraint, value: Any) -> str:
    """The constraint, with what its function came to."""
    if constraint.is_constant or constraint.suffix in ("St", "Gen"):
        return str(constraint)
    return f"{constraint} (= {shown(value)})"
