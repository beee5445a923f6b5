"""Witness calls of softmax and of normalizations: short rows, many of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conform.selftest.agreement.draw import Draw
from conform.selftest.agreement.witness.values import HALVES
from conform.selftest.agreement.witnesses import Call, witness


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


@witness("aten::_log_softmax")
def log_softmax(op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    yield from softmax(op, dtype, draw)
    yield {"self": draw.wild(dtype, 80, 2), "dim": 1, "half_to_float": False}


@witness("aten::native_group_norm")
def native_group_norm(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for samples, channels, places, group, eps in (
        (20, 4, (3,), 2, 1e-5),
        (15, 6, (2, 2), 3, 1e-12),
        (25, 2, (5,), 2, 0.0),
        (30, 3, (), 1, 0.25),
        (40, 1, (1,), 1, 1e-5),
        (0, 4, (3,), 2, 1e-5),
    ):
        for weight, bias in ((None, None), (draw.tame(dtype, channels), draw.tame(dtype, channels))):
            for kind in (draw.tame, draw.sparse):
                values = kind(dtype, samples, channels, *places)
                yield _group(values, weight, bias, group, eps)
    yield _group(draw.wild(dtype, 60, 2, 2), None, draw.tame(dtype, 2), 1, 1e-5)
    yield _group(draw.tame(dtype, 30, 2, 1).repeat(3, axis=2), draw.tame(dtype, 2), None, 2, 0.0)
    yield _group(draw.tame(dtype, 2, 4, 3), None, None, 3, 1e-5)
    yield _group(draw.tame(dtype, 2, 4, 3), draw.tame(dtype, 3), None, 2, 1e-5)


def _group(values: np.ndarray, weight: object, bias: object, group: int, eps: float) -> Call:
    samples, channels = values.shape[:2]
    places = int(np.prod(values.shape[2:], dtype=int))
    counts = {"N": samples, "C": channels, "HxW": places, "group": group}
    return {"input": values, "weight": weight, "bias": bias, **counts, "eps": eps}


_BATCHES = (((6, 20), 1e-5), ((3, 15, 2), 1e-12), ((2, 12, 2, 2), 0.0), ((5, 30), 0.25), ((1, 20), 1e-5))


@witness("aten::_native_batch_norm_legit.no_stats")
def batch_norm_of_batch(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for shape, eps in _BATCHES:
        channels = shape[1]
        for weight, bias in ((None, None), (draw.tame(dtype, channels), draw.tame(dtype, channels))):
            for kind in (draw.tame, draw.sparse):
                yield _batch(kind(dtype, *shape), weight, bias, eps)
    yield _batch(draw.wild(dtype, 3, 40), None, draw.tame(dtype, 40), 1e-5)
    yield _batch(draw.tame(dtype, 1, 20).repeat(4, axis=0), draw.tame(dtype, 20), None, 0.0)
    yield _batch(draw.tame(dtype, 0, 4), None, None, 1e-5)
    yield {**_batch(draw.tame(dtype, 2, 4), None, None, 1e-5), "training": False}
    yield _batch(draw.tame(dtype, 4), None, None, 1e-5)


def _batch(values: object, weight: object, bias: object, eps: float) -> Call:
    return {"input": values, "weight": weight, "bias": bias, "training": True, "momentum": 0.1, "eps": eps}


@witness("aten::_native_batch_norm_legit_no_training")
def batch_norm_of_running(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for shape, eps in (*_BATCHES, ((0, 4), 1e-5)):
        channels = shape[1]
        for weight, bias in ((None, None), (draw.tame(dtype, channels), draw.tame(dtype, channels))):
            for kind in (draw.tame, draw.sparse):
                yield _running(kind(dtype, *shape), weight, bias, eps, draw.tame(dtype, channels),
                               draw.sparse(dtype, channels))  # fmt: skip
    yield _running(draw.wild(dtype, 3, 60), None, None, 1e-5, draw.wild(dtype, 60), draw.wild(dtype, 60))
    yield _running(draw.tame(dtype, 4), None, None, 1e-5, draw.tame(dtype, 4), draw.tame(dtype, 4))


def _running(values: object, weight: object, bias: object, eps: float, mean: object, var: object) -> Call:
    call = _batch(values, weight, bias, eps)
    del call["training"]
    return {**call, "running_mean": mean, "running_var": var}


@witness("aten::rms_norm", "aten::_fused_rms_norm")
def rms_norm(op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for shape, inner, eps in (
        ((50, 6), [6], 1e-5),
        ((40, 2, 3), [2, 3], 1e-12),
        ((60, 4), [4], 0.0),
        ((70, 3), [3], None),
        ((20, 1), [1], 0.25),
        ((0, 4), [4], 1e-5),
        ((6,), [6], None),
    ):
        for weight in (None, draw.tame(dtype, *inner)):
            for kind in (draw.tame, draw.sparse):
                yield {"input": kind(dtype, *shape), "normalized_shape": inner, "weight": weight, "eps": eps}
    yield {"input": draw.wild(dtype, 80, 2), "normalized_shape": [2], "weight": draw.wild(dtype, 2), "eps": 1e-5}
    yield {"input": draw.tame(dtype, 3, 4), "normalized_shape": [2, 3, 4], "weight": None, "eps": 1e-5}
    if op == "aten::rms_norm":  # the kernel checks no sizes
        for inner in ([3], [2, 4], []):
            yield {"input": draw.tame(dtype, 3, 4), "normalized_shape": inner, "weight": None, "eps": 1e-5}
        yield {"input": draw.tame(dtype, 2, 4), "normalized_shape": [4], "weight": draw.tame(dtype, 3), "eps": 1e-5}
