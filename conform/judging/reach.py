"""Which elements of the inputs reach one element of an output: what a failure report shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from conform.call import binding, schemas
from conform.call.arguments import Arguments, is_tensor
from conform.interp import semantics
from conform.judging.verdict import Operand
from conform.numerics.formats import format_of

SHOWN = 8
ELEMENTWISE = ("elementwise", "comparison", "casts")
ALONG_DIM = ("reduction", "normalization", "sorting")


def operands_at(op: str, arguments: Arguments, index: tuple[int, ...]) -> tuple[Operand, ...]:
    """Every argument of the call, tensors by the elements that reach the output element `index`."""
    bound = binding.bind(schemas.schema(op), arguments.args, arguments.kwargs, is_tensor)
    definition = semantics.find(op)
    family = definition.family if definition else ""
    given = {name: value for name, value in bound.items() if value is not None}
    operands: list[Operand] = []
    for name, value in given.items():
        parts = [(f"{name}[{i}]", item) for i, item in enumerate(value)] if _has_tensors(value) else [(name, value)]
        operands += [_operand(part, item, family, op, bound, index) for part, item in parts]
    return tuple(operands)


def _has_tensors(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(is_tensor(item) for item in value)


def _operand(name: str, value: Any, family: str, op: str, bound: dict[str, Any], index: tuple[int, ...]) -> Operand:
    if not isinstance(value, np.ndarray):
        values = tuple(value) if isinstance(value, list | tuple) else (value,)
        return Operand(name, None, None, values)
    reached = _reached(name, value, family, op, bound, index).reshape(-1)
    shown = tuple(reached[:SHOWN].tolist())
    return Operand(name, format_of(value).name, value.shape, shown, reached.size)


def _reached(
    name: str, value: np.ndarray, family: str, op: str, bound: dict[str, Any], index: tuple[int, ...]
) -> np.ndarray:
    if family in ELEMENTWISE:
        return _broadcast_element(value, index)
    if op.startswith("aten::mm") and value.ndim == 2:
        return value[index[0]] if name == "self" else value[:, index[1]]
    dim = bound.get("dim")
    if family in ALONG_DIM and isinstance(dim, int) and value.ndim and value.ndim - len(index) in (0, 1):
        return value[_line(index, dim % value.ndim, value.ndim)]
    return value


def _line(index: tuple[int, ...], axis: int, rank: int) -> tuple[Any, ...]:
    """The index of the whole line along `axis` through `index`, which has that axis, or has lost it."""
    behind = index[axis + 1 :] if len(index) == rank else index[axis:]
    return (*index[:axis], slice(None), *behind)


def _broadcast_element(value: np.ndarray, index: tuple[int, ...]) -> np.ndarray:
    own = index[len(index) - value.ndim :] if value.ndim else ()
    return np.asarray(value[tuple(0 if size == 1 else i for i, size in zip(own, value.shape, strict=True))])
