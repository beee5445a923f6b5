"""A program as data: functions of ops, whose operands are values that were named before, and whose attributes are not.

A front end writes it, an op set (`aten.py`) says what its ops mean, `evaluation.py` runs it. Nothing here depends on
either: the same form holds torch's operators and those of any other set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# A value by its name; None for one that is not given; a list of tensors is one operand.
Operand = str | None | tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor that a program names: its dtype by torch's name, and its shape."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"


@dataclass(frozen=True, slots=True)
class Op:
    """One step: `results = name(operands, attributes)`, in the source at `location` ("model.py:12", or empty).

    `attributes` are all arguments that are no tensors of the program, by name. `results` has None for an output that
    nobody can use.
    """

    name: str
    operands: tuple[Operand, ...]
    attributes: Mapping[str, Any]
    results: tuple[Value | None, ...]
    location: str = ""

    def used(self) -> Iterator[str]:
        """The names of its operands, those in lists too."""
        for operand in self.operands:
            for name in operand if isinstance(operand, tuple) else (operand,):
                if name is not None:
                    yield name


@dataclass(frozen=True, slots=True)
class Function:
    """`results` of `arguments`, by ops in an order in which each value is made before it is used."""

    arguments: tuple[Value, ...]
    ops: tuple[Op, ...]
    results: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A function, and the tensors that it holds: parameters, buffers and constants by their names in it."""

    function: Function
    constants: Mapping[str, np.ndarray] = field(default_factory=dict)
