"""What the arguments of a test are, once symbols, references and template variables are replaced.

The written forms come down to few: every tensor form is a `Tensor`, `int_list` and literals are `Const`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple


class Size(NamedTuple):
    """How many values (scalars, tensors, containers) a node makes, how many elements its tensors have in all, and how
    deep nodes are nested in it (a literal counts as one, whatever it holds)."""

    values: int
    elements: int
    depth: int = 1


@dataclass(frozen=True, slots=True)
class Draw:
    """How elements are drawn. `init` is a method; `low` and `high` (inclusive) are None for the dtype's default.
    is_default: nothing was said of it."""

    init: str
    low: int | float | None = None
    high: int | float | None = None
    mean: float = 0.0
    std: float = 1.0
    p: float = 0.5
    is_default: bool = field(default=False, compare=False)

    @property
    def has_random_digits(self) -> bool:
        """Whether the last digits that a sum of such floats keeps are random: sizes differ by a factor of two or more.

        Of numbers that are nearly alike, as uniform(0.1, 0.100001) gives them, every addition loses nearly the same.
        """
        if self.init == "normal":
            return self.std > 0 and abs(self.mean) <= 2 * self.std
        low, high = (0.0, 1.0) if self.low is None or self.high is None else (self.low, self.high)
        return self.init == "uniform" and high > low and high - low >= max(abs(low), abs(high)) / 2


@dataclass(frozen=True, slots=True)
class Tensor:
    """`kind` is "float", "int", "bool" or "complex"; `dtype` is None where the run chooses one of that kind.

    Either `draw` or `value` is None. `value` is nested lists of the shape, with a last dimension of 2 (real, imaginary)
    for a complex dtype; a bare number for rank 0.
    """

    shape: tuple[int, ...]
    kind: str
    dtype: str | None
    draw: Draw | None
    value: Any = None
    requires_grad: bool = False


@dataclass(frozen=True, slots=True)
class Scalar:
    """A Python scalar. `dtype` is that of the written node, if any; either `draw` or `value` is None."""

    kind: str
    dtype: str | None
    draw: Draw | None
    value: bool | int | float | None = None


@dataclass(frozen=True, slots=True)
class Const:
    """A literal: None, bool, int, float, str, or lists and dicts of them."""

    value: Any


@dataclass(frozen=True, slots=True)
class Given:
    """A value that was given in Python, with arrays for its tensors: it is what it is, and no file has it."""

    value: Any


@dataclass(frozen=True, slots=True)
class Repeated:
    """A Python list of `length` values of one element, each drawn anew."""

    element: Node
    length: int
    size: Size = field(init=False, repr=False)

    def __post_init__(self) -> None:
        inside = size_of(self.element)
        values, elements = self.length * inside.values, self.length * inside.elements
        object.__setattr__(self, "size", Size(1 + values, elements, 1 + inside.depth))


@dataclass(frozen=True, slots=True)
class Sequence:
    """A Python list or tuple of the parts' values."""

    parts: tuple[Node, ...]
    is_tuple: bool
    size: Size = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", total_size(self.parts))


@dataclass(frozen=True, slots=True)
class Mapping:
    """A dict of the entries' values (in constructor arguments only)."""

    entries: dict[str, Node]
    size: Size = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", total_size(self.entries.values()))


@dataclass(frozen=True, slots=True)
class Optional:
    """None with probability `p_none`, else the element's value."""

    p_none: float
    element: Node
    size: Size = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", total_size((self.element,)))


@dataclass(frozen=True, slots=True)
class ClassPath:
    """Where a class is found: an import path, or a file and the attribute in it. Nothing is imported here."""

    text: str  # as written
    file: Path | None = None
    attribute: str | None = None


@dataclass(frozen=True, slots=True)
class Construct:
    """An object to be constructed from a class and arguments, and passed as it is."""

    path: ClassPath
    args: tuple[Node, ...]
    kwargs: dict[str, Node]
    size: Size = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", total_size((*self.args, *self.kwargs.values())))


Node = Tensor | Scalar | Const | Given | Repeated | Sequence | Mapping | Optional | Construct


def size_of(node: Node) -> Size:
    """The size of a node's largest value, without walking into it again.

    A dimension of size 0 counts as 1: numpy and torch compute strides from the others, which must not overflow either.
    """
    if isinstance(node, Tensor):
        return Size(1, math.prod(size or 1 for size in node.shape))
    return Size(1, 0) if isinstance(node, Scalar | Const | Given) else node.size


def total_size(parts: Iterable[Node]) -> Size:
    """The size of a container of these parts."""
    sizes = [size_of(part) for part in parts]
    depth = 1 + max((size.depth for size in sizes), default=0)
    return Size(1 + sum(size.values for size in sizes), sum(size.elements for size in sizes), depth)


def holds_object(node: Node) -> bool:
    """Whether a value of the node is an object to be constructed, or has one inside."""
    match node:
        case Construct():
            return True
        case Repeated() | Optional():
            return holds_object(node.element)
        case Sequence():
            return any(map(holds_object, node.parts))
        case Mapping():
            return any(map(holds_object, node.entries.values()))
        case _:
            return False


def tensors(node: Node) -> Iterator[Tensor]:
    """The tensors of a node in the order of their numbers, those of an optional included; a list's once."""
    match node:
        case Tensor():
            yield node
        case Repeated():
            if node.length:
                yield from tensors(node.element)
        case Optional():
            yield from tensors(node.element)
        case Sequence():
            for part in node.parts:
                yield from tensors(part)
        case Mapping():
            for part in node.entries.values():
                yield from tensors(part)
        case Construct():
            for part in (*node.args, *node.kwargs.values()):
                yield from tensors(part)
