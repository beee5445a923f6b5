"""Duplicates and order: value classes `ties` and `ascending` of the ops that compare elements."""

from __future__ import annotations

import functools

import numpy as np

from conform.numerics.draws import Stream
from conform.numerics.formats import format_named, format_of


@functools.cache
def few_values(format_name: str) -> np.ndarray:
    """Neighbours and numbers of both signs, few enough to meet themselves: one-dimensional, read-only.

    Floats: 1 and its neighbour, both zeros, -1. Integers: the two largest, 0, 1, the smallest.
    """
    fmt = format_named(format_name)
    if fmt.is_integer:
        widest = np.int64 if fmt.kind == "int" else np.uint64
        values = np.array([fmt.max_value, fmt.max_value - 1, 0, 1, fmt.min_value], dtype=widest)
    else:
        values = np.array([1.0, 1.0 + 2.0 ** (1 - fmt.precision), 0.0, -0.0, -1.0])
    values = values.astype(fmt.storage)
    values.flags.writeable = False
    return values


def tied(tensor: np.ndarray, stream: Stream) -> np.ndarray:
    """New values for a tensor: each element one of `few_values`, drawn."""
    values = few_values(format_of(tensor.dtype).name)
    return values.take(stream.integers(0, len(values) - 1, tensor.size)).reshape(tensor.shape)


def ascending(tensor: np.ndarray) -> np.ndarray:
    """New values for a tensor: the sum of each element's indices, as far as the format counts, so that the last element
    of every line along every dim is its largest."""
    fmt = format_of(tensor.dtype)
    most = fmt.max_value if fmt.is_integer else min(2.0**fmt.precision, fmt.max_finite)
    places = np.zeros(tensor.shape, np.int64)
    for dim, size in enumerate(tensor.shape):
        places += np.arange(size).reshape(-1, *(1,) * (tensor.ndim - dim - 1))
    return np.minimum(places, most).astype(tensor.dtype)
