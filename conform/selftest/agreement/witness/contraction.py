"""Witness calls of sums of products: few products a sum, many sums."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from conform.selftest.agreement.draw import Draw
from conform.selftest.agreement.witness.values import is_float
from conform.selftest.agreement.witnesses import Call, witness


@witness("aten::mm")
def mm(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for rows, inner, columns in (
        (30, 2, 30),
        (40, 3, 15),
        (20, 7, 30),
        (12, 1, 40),
        (3, 70, 4),
        (4, 0, 5),
        (0, 3, 4),
        (3, 4, 0),
    ):
        yield {"self": draw.sparse(dtype, rows, inner), "mat2": draw.sparse(dtype, inner, columns)}
    yield {"self": draw.wild(dtype, 20, 2), "mat2": draw.wild(dtype, 2, 20)}
    if is_float(dtype):
        for rows, inner, columns in (*(30 * [(1, 1, 1)]), (8, 2, 8), (3, 9, 3)):
            lhs, rhs = _cancelling(dtype, draw, rows, inner, columns)
            yield {"self": lhs, "mat2": rhs}
    yield {"self": draw.tame(dtype, 2, 3), "mat2": draw.tame(dtype, 2, 3)}
    yield {"self": draw.tame(dtype, 2, 3), "mat2": draw.tame(dtype, 3)}
    yield {"self": draw.tame(dtype, 2, 3), "mat2": draw.tame("int8" if dtype != "int8" else "int16", 3, 2)}


@witness("aten::addmm")
def addmm(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    factors: list[dict[str, Any]] = [
        {},
        {"beta": 2},
        {"alpha": -1},
        {"beta": 0},
        {"alpha": 0},
        {"beta": -3, "alpha": 2},
    ]
    if is_float(dtype):
        factors += [{"beta": 0.1, "alpha": 0.3}, {"beta": float(draw.tame("float64"))}, {"beta": 0.0, "alpha": 1.5}]
    for keywords in factors:
        for shape in ((20, 15), (15,), (20, 1), ()):
            mat1, mat2 = draw.sparse(dtype, 20, 3), draw.sparse(dtype, 3, 15)
            yield {"self": draw.sparse(dtype, *shape), "mat1": mat1, "mat2": mat2, **keywords}
    yield {"self": draw.wild(dtype, 15), "mat1": draw.wild(dtype, 20, 2), "mat2": draw.wild(dtype, 2, 15)}
    if is_float(dtype):
        for beta, alpha, (rows, inner, columns) in product((0, 0.3), (1, -0.7), (*(5 * [(1, 1, 1)]), (6, 2, 6))):
            lhs, rhs = _cancelling(dtype, draw, rows, inner, columns)
            self = draw.scattered(dtype, rows, columns)
            yield {"self": self, "mat1": lhs, "mat2": rhs, "beta": beta, "alpha": alpha}
    yield {"self": draw.tame(dtype, 5), "mat1": draw.tame(dtype, 4, 0), "mat2": draw.tame(dtype, 0, 5)}
    yield {"self": draw.tame(dtype, 3), "mat1": draw.tame(dtype, 2, 3), "mat2": draw.tame(dtype, 3, 2)}
    yield {"self": draw.tame(dtype, 2), "mat1": draw.tame(dtype, 2, 3), "mat2": draw.tame(dtype, 2, 3)}
    for factor in (200, -200, 2**40, True):
        one = draw.tame(dtype, 2, 2)
        yield {"self": one, "mat1": one, "mat2": one, "alpha": factor}
        yield {"self": one, "mat1": one, "mat2": one, "beta": factor}


@witness("aten::convolution")
def convolution(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for input_, weight, changes in (
        ((4, 2, 30), (6, 2, 3), {}),
        ((2, 4, 31), (6, 2, 2), {"stride": [2], "padding": [3], "dilation": [2], "groups": 2}),
        ((2, 1, 12, 11), (5, 1, 2, 3), {"padding": [1, 0]}),
        ((2, 4, 9, 10), (4, 1, 2, 2), {"stride": [2, 1], "padding": [1], "dilation": [1, 2], "groups": 4}),
        ((1, 2, 5, 6, 4), (3, 2, 2, 1, 2), {"stride": [1, 2, 1], "padding": [1, 0, 1]}),
        ((3, 2, 20), (2, 4, 3), {"transposed": True}),
        ((2, 4, 9), (4, 3, 3), {"transposed": True, "stride": [2], "padding": [2], "output_padding": [1], "groups": 2}),
        (
            (1, 2, 6, 5),
            (2, 3, 2, 2),
            {"transposed": True, "stride": [2, 3], "dilation": [2, 1], "output_padding": [1, 2]},
        ),
        ((1, 2, 6, 5), (2, 3, 1, 2), {"transposed": True, "padding": [4, 1]}),
        ((0, 2, 8), (3, 2, 3), {}),
        ((2, 2, 3), (3, 2, 5), {}),
        ((2, 2, 8), (3, 1, 3), {}),
        ((2, 4, 8), (3, 2, 3), {"groups": 2}),
        ((2, 2, 8), (3, 2, 3, 1), {}),
        ((2, 2, 8), (3, 2, 3), {"stride": [0]}),
        ((2, 2, 8), (3, 2, 3), {"padding": [-1]}),
        ((2, 2, 8), (2, 3, 3), {"transposed": True, "output_padding": [1]}),
    ):
        for bias in (None, draw.tame(dtype, _outputs(weight, changes))):
            yield {
                **_PLAIN,
                "input": draw.sparse(dtype, *input_),
                "weight": draw.tame(dtype, *weight),
                "bias": bias,
                **changes,
            }
    yield {
        **_PLAIN,
        "input": draw.tame(dtype, 1, 2, 8),
        "weight": draw.wild(dtype, 9, 2, 3),
        "bias": None,
        "padding": [2],
    }
    if is_float(dtype):
        for transposed, bias, size in product((False, True), (None, draw.scattered(dtype, 2)), (*(12 * [1]), 6)):
            weight, input_ = _cancelling(dtype, draw, 2, 1, size)  # [2, 4], [4, size]: of two groups
            yield {
                **_PLAIN,
                "input": np.concatenate([input_, input_])[None],
                "weight": (weight.reshape(8, 1) if transposed else weight)[..., None],
                "bias": bias,
                "transposed": transposed,
                "groups": 2,
            }
    yield {
        **_PLAIN,
        "input": draw.tame(dtype, 1, 2, 8),
        "weight": draw.tame(dtype, 3, 2, 3),
        "bias": draw.tame(dtype, 2),
    }


def _cancelling(dtype: str, draw: Draw, rows: int, inner: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of all magnitudes [rows, 2 inner + 2] and [2 inner + 2, columns]: of their products `inner` pairs cancel,
    and two terms are left, however small."""
    lhs, rhs = draw.scattered(dtype, rows, inner + 2), draw.scattered(dtype, inner + 2, columns)
    return np.concatenate([lhs, lhs[:, :inner]], 1), np.concatenate([rhs, -rhs[:inner]])


_PLAIN: Call = {"stride": [1], "padding": [0], "dilation": [1], "transposed": False, "output_padding": [0], "groups": 1}


def _outputs(weight: tuple[int, ...], changes: dict[str, Any]) -> int:
    return weight[1] * changes.get("groups", 1) if changes.get("transposed") else weight[0]
