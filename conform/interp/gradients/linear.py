"""Gradients of ops that do the same, linear, to every plane of images: the transposed matrix of what they do.

The matrix is what the op's own semantics makes of unit images, one a channel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from conform.errors import Unjudged
from conform.interp.gradients.rules import Rule, add
from conform.interp.program.apply import apply
from conform.interp.program.number import Number

TEXT = "the transposed matrix of the op, times g"
MOST = 2**22  # elements of the matrix


def planar(*names: str, of: str = "self", dims: int) -> None:
    """Register the gradient of overloads that are linear in their argument `of`, the same of every plane of its last
    `dims` dims."""
    for name in names:
        add([name], Rule((of,), None, _of_planes(name, of, dims), TEXT))


def _of_planes(op: str, of: str, dims: int) -> Any:
    def of_operand(arguments: Mapping[str, Any], cotangents: Sequence[Number | None], _: Any, name: str) -> Number:
        x, (g,) = arguments[of], cotangents
        assert g is not None, op
        size, reached = prod(x.shape[x.ndim - dims :]), prod(g.shape[g.ndim - dims :])
        if size * reached > MOST:
            raise Unjudged(f"the matrix of {op} of {reached} x {size} elements is too large")
        units = np.eye(size, dtype=x.format.storage).reshape(1, size, *x.shape[x.ndim - dims :])
        matrix = apply(op, **{**arguments, of: units}).moved(lambda part: part.reshape(size, reached))
        rows = g.moved(lambda part: part.reshape(prod(x.shape[: x.ndim - dims]), reached))
        return apply("aten::mm", rows, matrix.moved(np.transpose)).moved(lambda part: part.reshape(x.shape))

    return of_operand
