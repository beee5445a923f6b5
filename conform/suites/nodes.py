"""What the arguments of a test are, once symbols, references and template variables are replaced.

The written forms come down to few: every tensor form is a `Tensor`, `int_list` and literals are `Const`, `list` and
`tuple` are `Sequence`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Draw:
    """How elements are drawn. `init` is a method; `low`, `high` (inclusive) are None where the dtype's default holds."""

    init: str
    low: int | float | None = None
    high: int | float | None = None
    mean: float = 0.0
    std: float = 1.0
    p: float = 0.5


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
class Sequence:
    """A Python list or tuple of the elements' values."""

    elements: tuple[Node, ...]
    is_tuple: bool = False


@dataclass(frozen=True, slots=True)
class Mapping:
    """A dict of the entries' values (constructor arguments only)."""

    entries: dict[str, Node]


@dataclass(frozen=True, slots=True)
class Optional:
    """None with probability `p_none`, else the element's value."""

    p_none: float
    element: Node


@dataclass(frozen=True, slots=True)
class Const:
    """A literal: None, bool, int, float, str, or lists and dicts of them."""

    value: Any


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


Node = Tensor | Scalar | Sequence | Mapping | Optional | Const | Construct


def tensors(node: Node) -> Iterator[Tensor]:
    """The tensors of a node in order, those of absent optionals included."""
    if isinstance(node, Tensor):
        yield node
    else:
        for child in children(node):
            yield from tensors(child)


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly inside."""
    match node:
        case Sequence():
            return node.elements
        case Optional():
            return (node.element,)
        case Mapping():
            return tuple(node.entries.values())
        case Construct():
            return (*node.args, *node.kwargs.values())
        case _:
            return ()
