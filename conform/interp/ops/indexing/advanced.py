"""Indexing by tensors and masks: index.Tensor and index_put, as numpy's advanced indexing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from math import prod
from typing import Any

import numpy as np

from conform.interp.blocks.blocks import flat, spans
from conform.interp.golden import Golden
from conform.interp.operands import refuse_complex
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.indexing.places import Places, Writes, every_index
from conform.interp.ops.indexing.written import replaced, sums_of_writes
from conform.interp.semantics import semantics
from conform.numerics.formats import format_of


def elements_at(self: np.ndarray, places: Places) -> Golden:
    """The elements of self at the places."""
    result = np.empty(prod(places.chosen), self.dtype)
    for some in spans(result.size):
        result[some] = flat(self, places.places(some))
    return exact(result.reshape(places.chosen), format_of(self))


def _chosen_elements(arguments: Mapping[str, Any]) -> int:
    """Of indices that do not broadcast, what the larger sizes would give."""
    extents, every = every_index(np.shape(arguments["self"]), arguments["indices"])
    sizes = zip_longest(*(index.shape[::-1] for index in every if index is not None), fillvalue=1)
    return prod(extent for extent, index in zip(extents, every, strict=False) if index is None) * prod(map(max, sizes))


@semantics("aten::index.Tensor", selects=True, elements=_chosen_elements)
def index(self: np.ndarray, indices: Sequence[np.ndarray | None]) -> Golden:
    """self[indices]; None takes a whole dimension, a bool mask its True places (P26)"""
    return elements_at(self, Places(self.shape, indices))


@semantics("aten::index_put")
def index_put(
    self: np.ndarray, indices: Sequence[np.ndarray | None], values: np.ndarray, accumulate: bool = False
) -> Golden:
    """self with `values` written at self[indices], or added there; None takes a whole dimension, a bool mask its
    True places"""
    fmt = format_of(self)
    writes = Writes(self.shape, indices, values)
    if not accumulate:
        return replaced(self, fmt, writes)
    refuse_complex(fmt, "index_put with accumulate")
    return sums_of_writes(self, fmt, writes)
