"""What the elements of derived tests are drawn from, where a spec says where they are worth drawing."""

from __future__ import annotations

from dataclasses import replace

from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.spaces import Intervals
from conform.suites.dtypes import kind_of
from conform.suites.nodes import Draw, Node, Repeated, Sequence, Tensor

_DIVISORS = (1, 12)


def _draw(values: Intervals | tuple[int, ...], dtype: str) -> Draw:
    few = isinstance(values, tuple)
    low, high = (min(values), max(values)) if few else (values.intervals[0].low, values.intervals[0].high)
    initial = "uniform" if kind_of(dtype) == "float" and not few else "randint"
    return Draw(initial, max(low, 0) if dtype == "uint8" else low, high)


def typical(spec: OpSpec, name: str, node: Node) -> Node:
    """The node with draws from where its elements preferably lie; integer divisors from the positive numbers, uint8
    from its whole range, half of which int8 takes for negative.

    What is written out has no special values, so what can be drawn is.
    """
    if isinstance(node, Repeated):
        return Repeated(typical(spec, name, node.element), node.length)
    if isinstance(node, Sequence):
        return Sequence(tuple(typical(spec, name, part) for part in node.parts), node.is_tuple)
    if not isinstance(node, Tensor) or kind_of(node.dtype) not in ("float", "int"):
        return node
    if name in spec.typical_values:
        return replace(node, value=None, draw=_draw(spec.typical_values[name], node.dtype))
    if name in spec.nonzero_integers and node.draw is None:
        return replace(node, value=None, draw=Draw("randint", *_DIVISORS))
    if node.dtype == "uint8" and node.draw == Draw("randint"):
        return replace(node, draw=Draw("randint", 0, 255))
    return node
