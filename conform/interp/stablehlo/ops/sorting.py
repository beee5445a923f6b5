"""Sorting by a region."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conform.errors import Unjudged
from conform.interp.stablehlo.quantized import PER_TENSOR_INPUTS
from conform.interp.stablehlo.regions import on_elements, same_scalars
from conform.interp.stablehlo.registry import Call, meaning


@meaning("stablehlo.sort", selects=True, quantized=PER_TENSOR_INPUTS)
def sort(call: Call) -> tuple[np.ndarray, ...]:
    """inputs together, along dimension, in the order of comparator; equal ones keep their order, whatever is_stable"""
    inputs, (comparator,) = call.operands, call.regions
    call.require("C1", len(inputs) >= 1, "no inputs")
    for one, result in zip(inputs, call.results, strict=True):
        call.require("C2", result.holds(one.dtype, one.shape), f"{one} with the result {result}")
        call.require("C3", one.shape == inputs[0].shape, f"inputs {inputs[0]} and {one}")
    dim, rank = int(call.get("dimension", -1)), inputs[0].rank
    call.require("C4", -rank <= dim < rank, f"dimension {dim} of {inputs[0]}")
    call.get("is_stable", False)
    pairs = [name for one in inputs for name in (one.dtype, one.dtype)]
    same_scalars(call, "C5", comparator, pairs, ["bool"])
    rows = [np.moveaxis(one.array, dim, 0) for one in inputs]

    def is_before(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        chosen = [np.take_along_axis(row, which, 0) for row in rows for which in (lhs, rhs)]
        return on_elements(comparator, *chosen)[0]

    order = sorted_places(rows[0].shape, is_before, call.op.name)
    return tuple(np.moveaxis(np.take_along_axis(row, order, 0), 0, dim) for row in rows)


Before = Callable[[np.ndarray, np.ndarray], np.ndarray]
PAIRS = 1 << 12  # compared to see that an order is one


def sorted_places(shape: tuple[int, ...], is_before: Before, name: str) -> np.ndarray:
    """[n, ...]: which of n elements comes at each place, slice by slice: a stable merge sort, all slices at once."""
    order = np.broadcast_to(np.arange(shape[0]).reshape([-1] + [1] * (len(shape) - 1)), shape).copy()
    width = 1
    while width < shape[0] and order.size:
        order = _merged(order, width, is_before, name)
        width *= 2
    if order.size and not _is_order(order, is_before):
        raise _no_order(name)
    return order


def _no_order(name: str) -> Unjudged:
    return Unjudged(f"{name}: its comparator is no order of these elements")


def _is_order(order: np.ndarray, is_before: Before) -> bool:
    """Whether elements in order compare with some of them, the first and the last among these, as their places say.
    Where an element is neither before nor behind two that are not equal (NaN, by LT), algorithms differ."""
    count = len(order)
    ranks = np.cumsum(np.concatenate([np.zeros_like(order[:1]), is_before(order[:-1], order[1:])]), axis=0)
    chosen = np.linspace(0, count - 1, min(count, max(2, PAIRS // order.size))).astype(np.int64)
    every, some = np.tile(np.arange(count), len(chosen)), np.repeat(chosen, count)
    return all(
        (is_before(order[lhs], order[rhs]) == (ranks[lhs] < ranks[rhs])).all()
        for lhs, rhs in ((every, some), (some, every))
    )


def _merged(order: np.ndarray, width: int, is_before: Before, name: str) -> np.ndarray:
    """Neighbouring runs of `width` places put together: each element goes behind those of the other run that belong
    before it, which binary search counts; of equal ones the left run's come first."""
    count, ones = len(order), [1] * (order.ndim - 1)
    place = np.arange(count)
    start = place // (2 * width) * (2 * width)
    middle, end = np.minimum(start + width, count), np.minimum(start + 2 * width, count)
    is_left = place < middle
    first = np.where(is_left, middle, start)
    low = np.broadcast_to(first.reshape([-1, *ones]), order.shape)
    high = np.broadcast_to(np.where(is_left, end, middle).reshape([-1, *ones]), order.shape)
    left = is_left.reshape([-1, *ones])
    while (active := low < high).any():
        probe = np.where(active, (low + high) // 2, 0)
        other = np.take_along_axis(order, probe, 0)
        before = is_before(np.where(left, other, order), np.where(left, order, other))
        ahead = np.where(left, before, ~before)
        low, high = np.where(active & ahead, probe + 1, low), np.where(active & ~ahead, probe, high)
    own = place - np.where(is_left, start, middle)
    target = (start + own - first).reshape([-1, *ones]) + low
    if (np.sort(target, 0) != place.reshape([-1, *ones])).any():
        raise _no_order(name)
    merged = np.empty_like(order)
    np.put_along_axis(merged, target, order, 0)
    return merged
