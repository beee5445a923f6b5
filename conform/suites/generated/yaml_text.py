"""Generated tests as text in the test language.

Written so that YAML 1.1 reads the same as 1.2: strings in quotes, floats with a point and a signed exponent.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from conform.suites import nodes
from conform.suites.nodes import Draw, Node
from conform.suites.test import Test


def lines_of(test: Test) -> Iterator[str]:
    """The entry of `tests` for a generated test, with a comment for the constraint that it breaks, and why a backend
    may accept that."""
    domain = test.domain
    if domain and domain.broken:
        yield f"  # breaks: {domain.broken}"
    yield f"  - id: {test.id}"
    yield f"    op: {test.op_name}"
    if domain and domain.lenience:
        yield f"    lenience: {json.dumps(domain.lenience)}"
    yield "    in:" if test.inputs else "    in: []"
    yield from (f"      - {node_text(node)}" for node in test.inputs)
    if test.kwargs:
        yield "    kwargs:"
        yield from (f"      {name}: {node_text(node)}" for name, node in test.kwargs.items())


class _Bare(str):
    """A word of the language, without quotes."""

    __slots__ = ()


def node_text(node: Node) -> str:
    """A node as a flow mapping on one line."""
    return _flow(_written(node))


def _written(node: Node) -> dict[str, Any]:
    """The keys of a node, in the order in which they are documented."""
    match node:
        case nodes.Tensor():
            return _tensor(node)
        case nodes.Scalar() if node.draw is not None:
            return {"type": _Bare("scalar"), "dtype": _Bare(node.dtype), **_bounds(node.draw)}
        case nodes.Const() if node.value and isinstance(node.value, list) and all(type(n) is int for n in node.value):
            return {"type": _Bare("int_list"), "elems": node.value}
        case nodes.Const():
            return {"type": _Bare("const"), "value": node.value}
        case nodes.Repeated():
            return {"type": _Bare("list"), "len": node.length, "elem": _written(node.element)}
        case nodes.Sequence(is_tuple=True):
            return {"type": _Bare("tuple"), "elems": [_written(part) for part in node.parts]}
        case _:
            raise TypeError(f"generated tests have no {type(node).__name__}")


def _tensor(node: nodes.Tensor) -> dict[str, Any]:
    """A 0-d complex number that is written out has no imaginary part in the language."""
    form = "scalar_tensor" if not node.shape else "tensor" if node.draw else "const_tensor"
    dtype = {"dtype": _Bare(node.dtype)} if node.dtype else {"kind": _Bare(node.kind)}
    head = {"type": _Bare(form), **({"shape": list(node.shape)} if node.shape else {}), **dtype}
    head |= {"requires_grad": True} if node.requires_grad else {}
    if node.draw is not None:
        return head | _sampling(node.draw)
    if node.shape or node.kind != "complex":
        return head | {"value": node.value}
    real, imaginary = node.value
    if imaginary:
        raise ValueError(f"the test language cannot write the 0-d tensor {real} + {imaginary}i")
    return head | {"value": real}


def _sampling(draw: Draw) -> dict[str, Any]:
    """Nothing where a tensor is drawn as its kind is by default."""
    return {} if draw.low is None else {"init": _Bare(draw.init), **_bounds(draw)}


def _bounds(draw: Draw) -> dict[str, Any]:
    return {"low": draw.low, "high": draw.high}


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, float):
        return _float_text(value)
    return str(value) if isinstance(value, _Bare) else json.dumps(value)


def _float_text(value: float) -> str:
    """The shortest decimal that reads as the same double."""
    if not math.isfinite(value):
        return ".nan" if math.isnan(value) else "-.inf" if value < 0 else ".inf"
    mantissa, _, exponent = repr(value).partition("e")
    point = mantissa if "." in mantissa else f"{mantissa}.0"
    return f"{point}e{exponent}" if exponent else point
