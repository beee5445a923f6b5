"""Elementwise work a chunk at a time: what is computed on the way stays in cache, and small."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import numpy as np

from conform.numerics.formats import Format
from conform.numerics.parts import write
from conform.numerics.real import Real

CHUNK = 8192  # elements
Result = tuple[np.ndarray, Real]


def in_chunks(fmt: Format, function: Callable[..., Result], operands: tuple[np.ndarray, ...]) -> Result:
    """function(*operands), (values in `fmt.storage`, Real), of operands of one shape: chunk by chunk."""
    shape = operands[0].shape
    flat = [np.ascontiguousarray(operand).reshape(-1) for operand in operands]
    value = np.empty(flat[0].size, fmt.storage)
    whole = Real(*(np.empty(flat[0].size) for _ in range(3)))
    for start in range(0, flat[0].size, CHUNK):
        chunk = slice(start, start + CHUNK)
        value[chunk], real = function(*(operand[chunk] for operand in flat))
        write(whole, chunk, real)
    return value.reshape(shape), whole.reshape(shape)


def chunked(function: Callable[..., Result]) -> Callable[..., Result]:
    """`function(fmt, *operands)`, which broadcasts its operands, in chunks where they are large."""

    @wraps(function)
    def whole_or_chunked(fmt: Format, *operands: np.ndarray) -> Result:
        if max(np.size(operand) for operand in operands) <= CHUNK:
            return function(fmt, *operands)
        broadcast = np.broadcast_arrays(*operands)
        return in_chunks(fmt, lambda *chunk: function(fmt, *chunk), broadcast)

    return whole_or_chunked
