"""Reductions by a region. The order is the implementation's: here it begins with the initial value, and takes the
elements one after the other in ascending order of their indices."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from conform.interp.program.evaluation import Run
from conform.interp.stablehlo.dequantized import promoted, promoted_types
from conform.interp.stablehlo.ops.elementwise import OF_NUMPY
from conform.interp.stablehlo.ops.movement import are_dims, is_unique, padded
from conform.interp.stablehlo.quantized import PER_TENSOR_INPUTS
from conform.interp.stablehlo.regions import Arrays, on_elements, operation_of, over_elements, same_scalars
from conform.interp.stablehlo.registry import Call, meaning
from conform.interp.stablehlo.values import Tensor


def _halves(call: Call, constraint: str) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
    count = len(call.operands) // 2
    call.require(constraint, count >= 1 and len(call.operands) == 2 * count and len(call.results) == count,
                 f"{len(call.operands)} operands and {len(call.results)} results")  # fmt: skip
    return call.operands[:count], call.operands[count:]


IN_TURN = {"stablehlo.add": np.add, "stablehlo.multiply": np.multiply}  # which have an `accumulate`
AT_ONCE = 1 << 20  # elements


def folded(body: Run, rows: Sequence[np.ndarray], start: Arrays) -> Arrays:
    """body(...body(body(start, row 0), row 1)...) of rows along the first axis, element by element of the others."""
    function = IN_TURN.get(operation_of(body.function) or "")
    if function is not None and rows[0].dtype in OF_NUMPY:
        return (_accumulated(function, rows[0], start[0]),)
    state, step = start, over_elements(body, start[0].shape)
    for at in range(len(rows[0])):
        state = step(*state, *(row[at] for row in rows))
    return state


def _accumulated(function: np.ufunc, rows: np.ndarray, state: np.ndarray) -> np.ndarray:
    """The same, each row after the other: numpy's `accumulate` has that order, which `reduce` has not."""
    count = max(AT_ONCE // max(state.size, 1), 1)
    with np.errstate(all="ignore"):
        for at in range(0, len(rows), count):
            state = function.accumulate(np.concatenate([state[None], rows[at : at + count]]), axis=0)[-1]
    return np.asarray(state)


def _reduced_dtypes(call: Call, constraint: str, inputs: Sequence[Tensor], inits: Sequence[Tensor]) -> None:
    for one, init in zip(inputs, inits, strict=True):
        call.require(constraint, (one.dtype, ()) == (init.dtype, init.shape), f"an initial value {init} for {one}")


@meaning("stablehlo.reduce", quantized=PER_TENSOR_INPUTS)
def reduce(call: Call) -> Arrays:
    """body over all elements along dimensions"""
    inputs, inits = _halves(call, "C3")
    dims, (body,) = call.dims("dimensions"), call.regions
    for one in inputs:
        call.require("C1", one.shape == inputs[0].shape, f"inputs {inputs[0]} and {one}")
    _reduced_dtypes(call, "C2", inputs, inits)
    call.require("C4", are_dims(dims, inputs[0].rank), f"dimensions {list(dims)} of {inputs[0]}")
    call.require("C5", is_unique(dims), f"dimensions {list(dims)}")
    names = promoted_types(call, "C6", body, inputs)
    kept = [dim for dim in range(inputs[0].rank) if dim not in dims]
    shape = tuple(inputs[0].shape[dim] for dim in kept)
    for name, result in zip(names, call.results, strict=True):
        call.require("C7", result.holds(result.dtype, shape), f"the result {result}, expected {list(shape)}")
        call.require("C8", result.dtype == name, f"the result {result} of a region of {name}")
    order = [*sorted(dims), *kept]
    count = prod(inputs[0].shape[dim] for dim in dims)
    wide = [promoted(one, name) for one, name in zip(inputs, names, strict=True)]
    rows = [one.transpose(order).reshape(count, *shape) for one in wide]
    start = (np.broadcast_to(promoted(one, name), shape) for one, name in zip(inits, names, strict=True))
    return folded(body, rows, tuple(start))


@meaning("stablehlo.map", quantized=PER_TENSOR_INPUTS)
def map_(call: Call) -> Arrays:
    """computation of the elements of inputs at each place"""
    inputs, (computation,) = call.operands, call.regions
    call.require("C2", len(inputs) >= 1, "no inputs")
    for one in inputs:
        call.require("C1", one.shape == inputs[0].shape, f"inputs {inputs[0]} and {one}")
    dims = call.dims("dimensions")
    call.require("C3", list(dims) == list(range(inputs[0].rank)), f"dimensions {list(dims)} of {inputs[0]}")
    result = call.results[0]
    call.require("C1", result.holds(result.dtype, inputs[0].shape), f"{inputs[0]} with the result {result}")
    same_scalars(call, "C4", computation, [one.dtype for one in inputs], [result.dtype])
    return on_elements(computation, *(one.array for one in inputs))


# Windows


def windows_of(
    call: Call, shape: Sequence[int], names: dict[str, str]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...], np.ndarray]:
    """window_dimensions, window_strides, base_dilations, window_dilations and padding [rank, 2] of inputs of `shape`;
    `names`: the constraint of the size, and of the sign, of each."""
    rank, ones = len(shape), (1,) * len(shape)
    found = []
    for name, (size, sign) in names.items():
        values = call.dims(name, None if name == "window_dimensions" else ones)
        call.require(size, len(values) == rank, f"{name} {list(values)} of {rank} dimensions")
        call.require(sign, all(each > 0 for each in values), f"{name} {list(values)}")
        found.append(values)
    padding = np.asarray(call.get("padding", np.zeros((rank, 2), np.int64)), np.int64)
    return (*found, padding)


def window_counts(
    shape: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    base: Sequence[int],
    dilations: Sequence[int],
    padding: np.ndarray,
) -> tuple[int, ...]:
    """How many windows there are along each dimension."""
    counts = []
    for at, size in enumerate(shape):
        padded_size = (0 if size == 0 else (size - 1) * base[at] + 1) + int(padding[at].sum())
        extent = 0 if window[at] == 0 else (window[at] - 1) * dilations[at] + 1
        counts.append(0 if padded_size <= 0 or extent > padded_size else (padded_size - extent) // strides[at] + 1)
    return tuple(counts)


def window_rows(
    array: np.ndarray, counts: Sequence[int], window: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> np.ndarray:
    """[elements of a window in ascending order of their indices, *counts]"""
    rows = []
    for index in np.ndindex(*window):
        places = [offset * step + np.arange(count) * stride
                  for offset, step, count, stride in zip(index, dilations, counts, strides, strict=True)]  # fmt: skip
        rows.append(array[np.ix_(*places)] if places else array)
    return np.stack(rows)


@meaning("stablehlo.reduce_window", quantized=PER_TENSOR_INPUTS)
def reduce_window(call: Call) -> Arrays:
    """body over the elements of each window of inputs, padded with the initial values"""
    inputs, inits = _halves(call, "C1")
    first, (body,) = inputs[0], call.regions
    for one in inputs:
        call.require("C2", one.shape == first.shape, f"inputs {first} and {one}")
    _reduced_dtypes(call, "C3", inputs, inits)
    window, strides, base, dilations, padding = windows_of(call, first.shape, {
        "window_dimensions": ("C4", "C5"), "window_strides": ("C6", "C7"), "base_dilations": ("C8", "C9"),
        "window_dilations": ("C10", "C11"),
    })  # fmt: skip
    call.require("C12", padding.shape == (first.rank, 2), f"padding of the shape {list(padding.shape)}")
    names = promoted_types(call, "C13", body, inputs)
    counts = window_counts(first.shape, window, strides, base, dilations, padding)
    listed = ", ".join(map(str, call.results))
    call.require("C14", len({one.shape for one in call.results if None not in one.shape}) <= 1, f"results {listed}")
    for name, result in zip(names, call.results, strict=True):
        call.require("C15", result.holds(result.dtype, counts), f"the result {result}, expected {list(counts)}")
        call.require("C16", result.dtype == name, f"the result {result} of a region of {name}")
    interior, edges = [each - 1 for each in base], (padding[:, 0].tolist(), padding[:, 1].tolist())
    rows, start = [], []
    for one, init, name in zip(inputs, inits, names, strict=True):
        first_value = promoted(init, name)
        spread = padded(promoted(one, name), first_value, *edges, interior)
        rows.append(window_rows(spread, counts, window, strides, dilations))
        start.append(np.broadcast_to(first_value, counts))
    return folded(body, rows, tuple(start))
