"""Witness calls of attention: few keys, many rows; masks of both kinds, causality, scale, repeated heads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conform.selftest.agreement.draw import Draw
from conform.selftest.agreement.witnesses import Call, witness


@witness("aten::scaled_dot_product_attention")
def scaled_dot_product_attention(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for leading, rows, keys, size, columns in (
        ((2, 3), 5, 4, 2, 6),
        ((4,), 7, 3, 4, 8),
        ((), 12, 2, 3, 10),
        ((1, 2), 3, 1, 2, 4),
        ((2,), 4, 6, 1, 3),
        ((0, 2), 3, 2, 2, 2),
    ):
        operands = _operands(dtype, draw, leading, rows, keys, size, columns)
        yield operands
        yield {**operands, "is_causal": True}
        yield {**operands, "scale": 0.3}
        yield {**operands, "scale": -2.0, "attn_mask": draw.mask(rows, keys)}
        yield {**operands, "attn_mask": draw.tame(dtype, *leading, rows, keys)}
        yield {**operands, "attn_mask": np.where(draw.mask(1, keys), draw.tame(dtype, 1, keys), -np.inf).astype(
            operands["query"].dtype)}  # fmt: skip
        yield {**operands, "scale": 0.0}
        yield {**operands, "query": draw.sparse(dtype, *leading, rows, size)}
        yield {**operands, "key": draw.sparse(dtype, *leading, keys, size), "is_causal": True}
        yield {**operands, "value": draw.sparse(dtype, *leading, keys, columns), "attn_mask": draw.mask(rows, keys)}
    for keys, size in ((1, 3), (2, 2), (3, 3)):
        scattered = (draw.scattered(dtype, 3, count, size) for count in (4, keys, keys))
        yield dict(zip(("query", "key", "value"), scattered, strict=True))
    grouped = _operands(dtype, draw, (2, 2), 3, 4, 2, 3)
    yield {**grouped, "query": draw.tame(dtype, 2, 6, 3, 2), "enable_gqa": True}
    yield {**grouped, "query": draw.tame(dtype, 2, 5, 3, 2), "enable_gqa": True}
    plain = _operands(dtype, draw, (), 3, 4, 2, 3)
    yield {**plain, "attn_mask": draw.mask(3, 4), "is_causal": True}
    yield {**plain, "attn_mask": draw.mask(2, 4)}
    yield {**plain, "key": draw.tame(dtype, 4, 3)}
    yield {**plain, "value": draw.tame(dtype, 3, 3)}
    yield {**plain, "query": draw.tame(dtype, 2)}


def _operands(dtype: str, draw: Draw, leading: tuple[int, ...], rows: int, keys: int, size: int, columns: int) -> Call:
    return {
        "query": draw.tame(dtype, *leading, rows, size),
        "key": draw.tame(dtype, *leading, keys, size),
        "value": draw.tame(dtype, *leading, keys, columns),
    }
