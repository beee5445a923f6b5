"""A program as data: functions of ops, whose operands are values that were named before, and whose attributes are not.

A front end writes it, an op set (`aten.py`) says what its ops mean, `evaluation.py` runs it. Nothing here depends on
either: the same form holds torch's operators and those of any other set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

# A value by its name; None for one that is not given; a list of tensors is one operand.
Operand = str | None | tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor that a program names: its dtype by torch's name, and its shape, in which None is a size that only
    running tells. What is no tensor has the name of its type as its dtype.

    bounds: of each size the largest that it may be, None where nothing bounds it; () where nothing bounds any.
    """

    name: str
    dtype: str
    shape: tuple[int | None, ...]
    bounds: tuple[int | None, ...] = ()

    def holds(self, dtype: str, shape: tuple[int, ...]) -> bool:
        """Whether a tensor of `dtype` and `shape` may be this value."""
        same = len(shape) == len(self.shape) and all(b in (None, a) for a, b in zip(shape, self.shape, strict=True))
        return same and dtype == self.dtype and self.bounds_hold(shape)

    def bounds_hold(self, shape: tuple[int, ...]) -> bool:
        """Whether no size is above its bound."""
        return all(most is None or size <= most for size, most in zip(shape, self.bounds, strict=False))

    def __str__(self) -> str:
        bounds = self.bounds or (None,) * len(self.shape)
        return f"{self.dtype}[{', '.join(map(_size, self.shape, bounds))}]"


def _size(size: int | None, most: int | None) -> str:
    if most is not None:
        return f"<={most}"
    return "?" if size is None else str(size)


@dataclass(frozen=True, slots=True)
class Op:
    """One step: `results = name(operands, attributes)`, in the source at `location` ("model.py:12", or empty).

    `attributes` are all arguments that are no tensors of the program, by name. `results` has None for an output that
    nobody can use. `regions` are functions that its meaning runs: blocks of its own, which see the values named around
    them, and functions that it calls by name, which see none. `is_within_op`: a conversion to another float dtype, by
    which an operator computes that was taken apart: it may round there, and the program means no rounding.
    """

    name: str
    operands: tuple[Operand, ...]
    attributes: Mapping[str, Any]
    results: tuple[Value | None, ...]
    location: str = ""
    regions: tuple[Function, ...] = ()
    is_within_op: bool = False

    def used(self) -> Iterator[str]:
        """The names of its operands, those in lists too, and what its regions take from around them."""
        for operand in self.operands:
            for name in operand if isinstance(operand, tuple) else (operand,):
                if name is not None:
                    yield name
        for region in self.regions:
            yield from region.captured


@dataclass(frozen=True)
class Function:
    """`results` of `arguments`, by ops in an order in which each value is made before it is used."""

    arguments: tuple[Value, ...]
    ops: tuple[Op, ...]
    results: tuple[str, ...]

    @cached_property
    def captured(self) -> frozenset[str]:
        """The names that it uses and does not define."""
        own = {one.name for one in self.arguments}
        own |= {one.name for op in self.ops for one in op.results if one is not None}
        return frozenset(
            name for name in (*self.results, *(n for op in self.ops for n in op.used())) if name not in own
        )


@dataclass(frozen=True, slots=True)
class Program:
    """A function, and the tensors that it holds: parameters, buffers and constants by their names in it. `updates`: the
    buffers, by the names that their module has for them, of which the function's last results are the new contents."""

    function: Function
    constants: Mapping[str, np.ndarray] = field(default_factory=dict)
    updates: tuple[str, ...] = ()
