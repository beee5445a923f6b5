"""How large the results of a call are, known from the shapes and numbers that it has, before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from math import prod
from typing import Any

import numpy as np

from conform.call.bound import Bound
from conform.interp.semantics import traits_of


def result_elements(call: Bound) -> int:
    """The most elements that all results of a call can have together; of one that has none, any number.

    Those of the broadcast operands of a pointwise op, what the trait `elements` says of another one, else as many for
    each result as all tensors have, where a dim of no elements, which may be reduced, counts as one. Operands that an
    op broadcasts and then reduces count as its result, which has one element at least.
    """
    traits = traits_of(call.op)
    if traits.elements is not None:
        return max(traits.elements(call.arguments), 1)
    if traits.pointwise:
        return max(broadcast_elements(call.arguments), 1)
    return len(call.schema.returns) * sum(prod(size or 1 for size in np.shape(tensor)) for tensor in call.tensors())


def broadcast_elements(arguments: Mapping[str, Any]) -> int:
    """Of all tensors together; of those that do not fit, and which are refused, what the larger sizes would give."""
    shapes = [np.shape(value)[::-1] for value in arguments.values() if isinstance(value, np.ndarray)]
    return prod(max(sizes) if all(sizes) else 0 for sizes in zip_longest(*shapes, fillvalue=1))
