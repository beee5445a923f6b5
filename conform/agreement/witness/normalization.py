"""Witness calls of softmax and layer norm: short rows, many of them."""

from __future__ import annotations

from collections.abc import Iterator

from conform.agreement.draw import Draw
from conform.agreement.registry import Call, witness
from conform.agreement.witness.values import HALVES


@witness("aten::_softmax")
def softmax(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for shape, dim in (
        ((60, 7), 1),
        ((5, 60), 0),
        ((4, 30, 3), -2),
        ((200, 2), -1),
        ((40, 1), 1),
        ((), 0),
        ((), -1),
        ((0, 3), 1),
        ((3, 0), 1),
    ):
        yield {"self": draw.tame(dtype, *shape), "dim": dim, "half_to_float": False}
    for shape, dim in (((60, 4), 1), ((3, 40), 0), ((9,), 0)):
        yield {"self": draw.wild(dtype, *shape), "dim": dim, "half_to_float": False}
        yield {"self": draw.sparse(dtype, *shape), "dim": dim, "half_to_float": dtype in HALVES}
    yield {"self": draw.tame(dtype, 40, 1).repeat(6, axis=1), "dim": 1, "half_to_float": False}
    for dim in (2, -3):
        yield {"self": draw.tame(dtype, 2, 3), "dim": dim, "half_to_float": False}
    if dtype not in HALVES:
        yield {"self": draw.tame(dtype, 2, 3), "dim": 0, "half_to_float": True}


@witness("aten::native_layer_norm")
def native_layer_norm(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for shape, inner, eps in (
        ((50, 6), [6], 1e-5),
        ((40, 2, 3), [2, 3], 1e-12),
        ((80, 4), [4], 0.1),
        ((60, 3), [3], 0.0),
        ((20, 16), [16], 1e-5),
    ):
        for scaled, shifted in ((True, True), (True, False), (False, True), (False, False)):
            weight, bias = (draw.tame(dtype, *inner) if present else None for present in (scaled, shifted))
            yield _call(draw.tame(dtype, *shape), inner, weight, bias, eps)
    yield _call(draw.sparse(dtype, 40, 8), [8], draw.sparse(dtype, 8), draw.sparse(dtype, 8), 1e-5)
    yield _call(draw.wild(dtype, 20, 2), [2], None, None, 1e-5)
    yield _call(draw.wild(dtype, 20, 1), [1], None, draw.wild(dtype, 1), 1e-5)
    yield _call(draw.wild(dtype, 20, 1), [1], None, None, 0.0)
    yield _call(draw.tame(dtype, 20, 1).repeat(4, axis=1), [4], draw.tame(dtype, 4), None, 1e-5)
    yield _call(
        draw.integers(-3, 3, 40, 4).astype(draw.tame(dtype).dtype), [4], draw.tame(dtype, 4), draw.tame(dtype, 4), 0.0
    )
    yield _call(draw.tame(dtype, 0, 4), [4], None, None, 1e-5)
    yield _call(draw.tame(dtype, 6), [6], draw.tame(dtype, 6), None, 1e-5)
    for inner in ([3], [2, 4], [], [4, 2, 3]):
        yield _call(draw.tame(dtype, 2, 4), inner, None, None, 1e-5)
    yield _call(draw.tame(dtype, 2, 4), [4], draw.tame(dtype, 3), None, 1e-5)
    yield _call(draw.tame(dtype, 2, 4), [4], None, draw.tame(dtype, 1, 4), 1e-5)


def _call(input_: object, normalized_shape: list[int], weight: object, bias: object, eps: float) -> Call:
    return {"input": input_, "normalized_shape": normalized_shape, "weight": weight, "bias": bias, "eps": eps}
