"""Witness calls of ranges: every step sign, fractional steps, results that round."""

from __future__ import annotations

from collections.abc import Iterator

from conform.selftest.agreement.draw import Draw
from conform.selftest.agreement.witness.values import is_float
from conform.selftest.agreement.witnesses import Call, witness


@witness("aten::arange")
def arange(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for end in (0, 1, 7, draw.integer(500, 900), draw.integer(1000, 3000), 2.5, 0.1, True):
        if is_float(dtype) or not isinstance(end, float):
            yield {"end": end, "dtype": dtype}
        yield {"end": end}
    for end in (-1, -0.5, float("inf"), float("nan")):
        yield {"end": end, "dtype": dtype if is_float(dtype) else None}
    yield {"end": 5, "dtype": dtype, "layout": "strided", "device": "cpu", "pin_memory": False}


@witness("aten::arange.start")
def arange_start(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for start, end in (
        (0, 0),
        (-5, 900),
        (draw.integer(-50, 50), draw.integer(300, 700)),
        (3, 3),
        (2**24 - 3, 2**24 + 300),
    ):
        yield {"start": start, "end": end, "dtype": dtype}
        yield {"start": start, "end": end}
    for start, end in ((0.5, 300), (-0.1, 200.7), (1e5, 100200.5), (-7.25, -7.25)):
        yield {"start": start, "end": end, "dtype": dtype if is_float(dtype) else None}
    for start, end in ((1, 0), (0.0, float("inf")), (float("nan"), 1.0)):
        yield {"start": start, "end": end, "dtype": dtype if is_float(dtype) else None}


@witness("aten::arange.start_step")
def arange_step(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for start, end, step in ((0, 1500, 3), (-5, 990, 2), (100, -300, -1), (7, 8, 100), (5, 5, -3), (-128, 128, 1)):
        yield {"start": start, "end": end, "step": step, "dtype": dtype}
        yield {"start": start, "end": end, "step": step}
    floats = (
        (0.0, 30.0, 0.1),
        (1.0, 2.0, 1e-2),
        (-3.0, 3.0, 0.3),
        (5.0, -5.0, -0.07),
        (0.1, 100.0, abs(float(draw.tame("float64"))) + 0.1),
    )
    for start, end, step in floats:
        yield {"start": start, "end": end, "step": step, "dtype": dtype if is_float(dtype) else None}
    for start, end, step in (
        (0, 5, 0),
        (0, 5, -1),
        (5, 0, 1),
        (0.0, 1.0, 0.0),
        (0.0, 1.0, float("nan")),
        (0.0, float("-inf"), -1.0),
    ):
        yield {"start": start, "end": end, "step": step, "dtype": dtype if is_float(dtype) else None}
