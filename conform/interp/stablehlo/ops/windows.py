"""select_and_scatter."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from conform.interp.stablehlo.dequantized import promoted, promoted_types
from conform.interp.stablehlo.ops.indexing import turns
from conform.interp.stablehlo.ops.reduction import window_counts, window_rows, windows_of
from conform.interp.stablehlo.quantized import PER_TENSOR
from conform.interp.stablehlo.regions import on_elements, same_scalars
from conform.interp.stablehlo.registry import Call, meaning


@meaning("stablehlo.select_and_scatter", quantized=PER_TENSOR)
def select_and_scatter(call: Call) -> np.ndarray:
    """init_value, with scatter of it and each element of source at the place in operand that select chooses of its
    window; padding is never chosen, and source has no place where a window is nothing else"""
    operand, source, init = call.operands
    select, scatter = call.regions
    call.require("C1", operand.dtype == source.dtype, f"a source of {source} for {operand}")
    window, strides, padding = windows_of(
        call, operand.shape, {"window_dimensions": ("C4", "C5"), "window_strides": ("C6", "C7")}
    )
    call.require("C8", padding.shape == (operand.rank, 2), f"padding of the shape {list(padding.shape)}")
    ones = (1,) * operand.rank
    counts = window_counts(operand.shape, window, strides, ones, ones, padding)
    call.require("C2", source.shape == counts, f"a source of {source}, expected {list(counts)}")
    call.require("C3", (init.dtype, init.rank) == (operand.dtype, 0), f"an initial value {init} for {operand}")
    same_scalars(call, "C9", select, [operand.dtype] * 2, ["bool"])
    (name,) = promoted_types(call, "C10", scatter, [operand])
    call.require(
        "C11",
        call.results[0].holds(call.results[0].dtype, operand.shape),
        f"{operand} with the result {call.results[0]}",
    )
    call.require("C12", call.results[0].dtype == name, f"the result {call.results[0]} of a region of {name}")
    result = np.full(operand.array.size, promoted(init, name))
    rows = places_of_windows(operand.shape, counts, window, strides, padding)
    places = chosen_of(rows, operand.array, lambda one, other: on_elements(select, one, other)[0]).reshape(-1)
    places, values = places[places >= 0], promoted(source, name).reshape(-1)[places >= 0]
    for turn in turns(places):
        (result[places[turn]],) = on_elements(scatter, result[places[turn]], values[turn])
    return result.reshape(operand.shape)


def places_of_windows(
    shape: tuple[int, ...], counts: tuple[int, ...], window: tuple[int, ...], strides: tuple[int, ...],
    padding: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """[elements of a window, *counts]: their places in the flat array of `shape`, -1 of padding."""
    places = np.arange(prod(shape)).reshape(shape)
    edges = [(max(int(low), 0), max(int(high), 0)) for low, high in padding]
    cut = tuple(slice(max(-int(low), 0), None if high >= 0 else int(high)) for low, high in padding)
    places = np.pad(places[cut], edges, constant_values=-1)
    return window_rows(places, counts, window, strides, (1,) * len(shape))


def chosen_of(rows: np.ndarray, array: np.ndarray, keeps: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    """Of every window the place of the chosen element in the flat array, -1 where there is none; `keeps` tells of two
    elements whether the one before stays."""
    chosen, flat = np.full(rows.shape[1:], -1), array.reshape(-1)
    for row in rows:
        known, here = chosen >= 0, row >= 0
        if flat.size:
            stays = keeps(flat[np.maximum(chosen, 0)], flat[np.maximum(row, 0)])
            chosen = np.where(here & ~(known & stays), row, chosen)
    return chosen
