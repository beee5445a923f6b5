"""Which elements of the inputs reach one element of an output: what a failure report shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from conform.call.bound import Bound
from conform.interp.dims import reduced_axes
from conform.interp.semantics import traits_of
from conform.interp.traits import Products
from conform.judging.verdict import Operand
from conform.numerics.formats import format_of

SHOWN = 8

Index = tuple[int, ...]


def operands_at(call: Bound, index: Index) -> tuple[Operand, ...]:
    """Every argument of the call, tensors by the elements that reach the output element `index`."""
    operands: list[Operand] = []
    for name, value in call.arguments.items():
        if value is not None:
            parts = [(f"{name}[{i}]", item) for i, item in enumerate(value)] if _has_tensors(value) else [(name, value)]
            operands += [_operand(part, item, call, index) for part, item in parts]
    return tuple(operands)


def _has_tensors(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(item, np.ndarray) for item in value)


def _operand(name: str, value: Any, call: Bound, index: Index) -> Operand:
    if not isinstance(value, np.ndarray):
        values = tuple(value) if isinstance(value, list | tuple) else (value,)
        return Operand(name, None, None, values)
    reached = _reached(name, value, call, index).reshape(-1)
    return Operand(name, format_of(value).name, value.shape, tuple(reached[:SHOWN].tolist()), reached.size)


def _reached(name: str, value: np.ndarray, call: Bound, index: Index) -> np.ndarray:
    traits = traits_of(call.op)
    if traits.pointwise:
        return _broadcast_element(value, index)
    if traits.products is not None:
        return _of_products(traits.products, name, value, index)
    if traits.along is not None and value is next(call.tensors()):
        return _lines(value, call.arguments[traits.along], index)
    return value


def _lines(value: np.ndarray, dim: Any, index: Index) -> np.ndarray:
    """All along `dim` (every dim if None or empty) through `index`, which has these dims, or has lost them."""
    axes = reduced_axes([dim] if isinstance(dim, int) else dim, value.ndim)
    others = iter(index if len(index) < value.ndim else [i for axis, i in enumerate(index) if axis not in axes])
    return value[tuple(slice(None) if axis in axes else next(others) for axis in range(value.ndim))]


def _of_products(products: Products, name: str, value: np.ndarray, index: Index) -> np.ndarray:
    """A row of the first matrix, a column of the second, an element of the addend; all of what is no matrix."""
    if not products.of_matrices:
        return value
    if name not in products.factors:
        return _broadcast_element(value, index)
    return value[index[0]] if name == products.factors[0] else value[:, index[1]]


def _broadcast_element(value: np.ndarray, index: Index) -> np.ndarray:
    own = index[len(index) - value.ndim :] if value.ndim else ()
    return np.asarray(value[tuple(0 if size == 1 else i for i, size in zip(own, value.shape, strict=True))])
