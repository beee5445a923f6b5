"""Witness calls of sums, extremes and running sums: short sums over many outputs, so that each is a witness."""

from __future__ import annotations

from collections.abc import Iterator

from conform.agreement.draw import Draw
from conform.agreement.registry import Call, witness
from conform.agreement.witness.values import FLOATS, INTEGERS, is_float


def _conversions(dtype: str) -> tuple[str | None, ...]:
    """Values of the argument dtype; floats into integers are P13's subject, one of them is enough."""
    return (None, *FLOATS, "int32") if is_float(dtype) else (None, *FLOATS, *INTEGERS)


@witness("aten::sum.dim_IntList")
def sum_over(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for shape, dim in (
        ((3, 500), [0]),
        ((600, 2), [-1]),
        ((4, 40, 10), [0]),
        ((4, 200, 5), [0, 2]),
        ((200, 3, 2), [-1, 1]),
        ((300, 1), [1]),
    ):
        yield {"self": draw.sparse(dtype, *shape), "dim": dim}
        yield {"self": draw.wild(dtype, *shape), "dim": dim, "keepdim": True}
    for shape, dim in (
        ((50,), [0]),
        ((5, 6), None),
        ((5, 6), []),
        ((), [0]),
        ((), []),
        ((0, 3), [0]),
        ((0, 3), [1]),
        ((0,), None),
    ):
        yield {"self": draw.sparse(dtype, *shape), "dim": dim}
        yield {"self": draw.sparse(dtype, *shape), "dim": dim, "keepdim": True}
    for converted in (*_conversions(dtype), "bool"):
        yield {"self": draw.sparse(dtype, 4, 60), "dim": [0], "dtype": converted}
    for dim in ([2], [-3], [0, 0], [0, -2]):
        yield {"self": draw.tame(dtype, 2, 3), "dim": dim}


@witness("aten::sum")
def sum_all(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    """One element a call: as many calls as elements, each a short piece of what is drawn once."""
    tame, wild, lengths = draw.tame(dtype, 150, 9), draw.wild(dtype, 150, 3, 2), draw.integers(0, 9, 150).tolist()
    for row, box, length in zip(tame, wild, lengths, strict=True):
        yield {"self": row[:length]}
        yield {"self": box[: 1 + length % 3]}
    yield {"self": draw.sparse(dtype, 300)}
    yield {"self": draw.wild(dtype)}
    for converted in _conversions(dtype):
        yield {"self": draw.wild(dtype, 4), "dtype": converted}


@witness("aten::amax")
def amax(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for shape, dim in (((3, 500), [0]), ((600, 2), [-1]), ((4, 40, 10), [0]), ((4, 200, 5), [0, 2]), ((40, 1), [1])):
        yield {"self": draw.wild(dtype, *shape), "dim": dim}
        yield {"self": draw.sparse(dtype, *shape), "dim": dim, "keepdim": True}
    for shape, dim in (((5, 6), []), ((), [0]), ((), []), ((0, 3), [1]), ((0, 3), [0]), ((0,), []), ((3, 0), [-1])):
        yield {"self": draw.sparse(dtype, *shape), "dim": dim}
        yield {"self": draw.sparse(dtype, *shape), "dim": dim, "keepdim": True}
    for dim in ([2], [-3], [1, 1]):
        yield {"self": draw.tame(dtype, 2, 3), "dim": dim}


@witness("aten::argmax")
def argmax(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for shape, dim in (((4, 600), 0), ((600, 3), -1), ((30, 5, 10), 1), ((40, 1), 1), ((70,), 0)):
        yield {"self": draw.wild(dtype, *shape), "dim": dim}
        yield {"self": draw.tame(dtype, *shape), "dim": dim, "keepdim": True}
    for shape, dim in (
        ((5, 6), None),
        ((), None),
        ((), 0),
        ((), -1),
        ((0, 3), 1),
        ((0, 3), 0),
        ((0,), None),
        ((2, 3), 2),
    ):
        yield {"self": draw.sparse(dtype, *shape), "dim": dim}
        yield {"self": draw.sparse(dtype, *shape), "dim": dim, "keepdim": True}


@witness("aten::cumsum")
def cumsum(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for shape, dim in (
        ((7, 60), 0),
        ((50, 9), -1),
        ((6, 12, 5), 1),
        ((120,), 0),
        ((), 0),
        ((), -1),
        ((0, 4), 0),
        ((3, 0), 0),
    ):
        yield {"self": draw.sparse(dtype, *shape), "dim": dim}
    yield {"self": draw.wild(dtype, 3, 200), "dim": 0}
    for converted in _conversions(dtype):
        yield {"self": draw.sparse(dtype, 5, 30), "dim": 0, "dtype": converted}
    for dim in (2, -3):
        yield {"self": draw.tame(dtype, 2, 3), "dim": dim}
