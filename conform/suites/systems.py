"""Matrices of systems: where a test does not say how one is drawn, its system has a solution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from conform.call.aliases import canonical
from conform.call.schemas import schema
from conform.interp.semantics import traits_of
from conform.suites.nodes import Draw, Node, Tensor

Call = tuple[tuple[Node, ...], dict[str, Node]]


def with_solutions(op: str, inputs: tuple[Node, ...], kwargs: Mapping[str, Node]) -> Call:
    """The nodes of a call of `op`, of which those tensors that are its matrices (`Traits.matrices`), and of which
    nothing is said, are drawn as matrices of its kind (inputs/matrices.py), and not number by number."""
    name = canonical(op)
    matrices = traits_of(name).matrices
    if matrices is None:
        return inputs, dict(kwargs)
    names = [one.name for one in schema(name).arguments]
    places = set(map(names.index, matrices.arguments))
    draw = Draw(matrices.kind)
    return (
        tuple(_drawn(node, draw) if at in places else node for at, node in enumerate(inputs)),
        {key: _drawn(node, draw) if key in matrices.arguments else node for key, node in kwargs.items()},
    )


def _drawn(node: Node, draw: Draw) -> Node:
    is_open = isinstance(node, Tensor) and node.draw is not None and node.draw.is_default
    return replace(node, draw=draw) if is_open and node.kind in ("float", "complex") else node
