"""From generated tuples to the nodes of the test language.

What a node can draw is drawn at replay, within the space of the tuple: index tensors are `randint` within their bounds.
Elements that no method draws (a discrete set, several intervals, one element outside, a permutation) are written out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conform.domains.engine.argument_generator import arguments, integer_ranges, real_pieces
from conform.domains.engine.meta_argument import MetaArgument, elements_of
from conform.domains.engine.meta_tuple import MetaTuple
from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.spaces import Discrete, Everything
from conform.numerics.draws import Stream
from conform.numerics.formats import format_named
from conform.suites import nodes
from conform.suites.dtypes import kind_of
from conform.suites.nodes import Draw, Node
from conform.suites.systems import with_solutions

_DEFAULT_INIT = {"float": "normal", "complex": "normal", "int": "randint", "bool": "bernoulli"}
# A complex Python number has no literal in YAML: one between these bounds is drawn.
_COMPLEX_NUMBER = nodes.Scalar("complex", "complex128", Draw("uniform", -4.0, 4.0))


def nodes_of(spec: OpSpec, tuple_: MetaTuple, stream: Stream) -> tuple[tuple[Node, ...], dict[str, Node]]:
    """`in` and `kwargs` of the call that the tuple stands for; `stream` draws the elements that are written out."""
    kwarg_only = {one.name for one in spec.schema.arguments if one.kwarg_only}
    present = {name: meta for name, meta in tuple_.arguments.items() if name not in tuple_.omitted}
    positional = [name for name in present if name not in kwarg_only]
    literal = {name: is_written_out(spec, name, meta) for name, meta in present.items()}
    values: dict[str, Any] = {}
    if any(literal.values()):
        call = arguments(spec, tuple_, stream, unread=[name for name, is_literal in literal.items() if not is_literal])
        values = dict(zip(positional, call.args, strict=True)) | call.kwargs
    made = {name: _node(meta, values.get(name) if literal[name] else None) for name, meta in present.items()}
    inputs = tuple(made[name] for name in positional)
    return with_solutions(spec.name, inputs, {name: made[name] for name in present if name in kwarg_only})


def is_written_out(spec: OpSpec, name: str, meta: MetaArgument) -> bool:
    """Whether an argument has elements that no method of the language draws."""
    parts = meta.structure if meta.type.is_tensor_list else (meta,) if meta.type.is_tensor else ()
    is_given = spec.engines[name].values.is_given
    return any(not one.optional and one.numel > 0 and (is_given or _draw(one) is None) for one in parts)


def _node(meta: MetaArgument, value: Any) -> Node:
    """`value`: the argument's elements where they are written out, else None."""
    if meta.optional:
        return nodes.Const(None)
    if meta.type.is_tensor_list:
        values = value or [None] * len(meta.structure)
        return _list([_node(one, element) for one, element in zip(meta.structure, values, strict=True)])
    if meta.type.is_tensor:
        return _tensor(meta, value)
    if meta.type.is_number_list:
        return _list([_node(one, None) for one in meta.structure])
    found = meta.value if meta.is_number else meta.structure
    if isinstance(found, complex):
        return _COMPLEX_NUMBER
    return nodes.Const(list(found) if isinstance(found, tuple) else found)


def _list(parts: list[Node]) -> Node:
    if not parts:
        return nodes.Const([])
    if all(part == parts[0] for part in parts):
        return nodes.Repeated(parts[0], len(parts))
    return nodes.Sequence(tuple(parts), is_tuple=True)


def _tensor(meta: MetaArgument, value: np.ndarray | None) -> Node:
    kind = kind_of(meta.dtype)
    if value is not None and value.size:
        return nodes.Tensor(meta.shape, kind, meta.dtype, None, written_elements(value))
    return nodes.Tensor(meta.shape, kind, meta.dtype, _draw(meta))


def written_elements(array: np.ndarray) -> Any:
    """Nested lists; real and imaginary parts last where the dtype is complex."""
    if array.dtype.kind == "c":
        return np.stack([array.real, array.imag], axis=-1).astype(np.float64).tolist()
    exact = array.dtype if array.dtype.kind in "biu" else np.float64
    return array.astype(exact).tolist()


def _draw(meta: MetaArgument) -> Draw | None:
    """How the language draws elements of the tensor's space; None where no method does."""
    space = meta.value
    if meta.outside is not None:
        return None
    if space is None or isinstance(space, Everything) or space == elements_of(meta.dtype):
        return Draw(_DEFAULT_INIT[kind_of(meta.dtype)], is_default=True)
    if isinstance(space, Discrete):
        return None
    if space.of_integers:
        ranges = integer_ranges(space, format_named(meta.dtype))
        return Draw("randint", *ranges[0]) if len(ranges) == 1 else None
    pieces = real_pieces(space)
    return Draw("uniform", *pieces[0]) if len(pieces) == 1 else None
