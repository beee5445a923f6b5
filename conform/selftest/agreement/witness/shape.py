"""Witness calls of data movement."""

from __future__ import annotations

from collections.abc import Iterator

from conform.selftest.agreement.draw import Draw
from conform.selftest.agreement.witness.values import COMPLEX, REAL, is_complex
from conform.selftest.agreement.witnesses import Call, witness


@witness("aten::permute")
def permute(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for shape in ((20, 30), (7, 8, 9), (2, 3, 4, 5), (0, 3), (5,), (1, 1)):
        dims = draw.permutation(len(shape)).tolist()
        yield {"self": draw.wild(dtype, *shape), "dims": dims}
        yield {"self": draw.wild(dtype, *shape), "dims": [dim - len(shape) for dim in dims]}
    yield {"self": draw.wild(dtype), "dims": []}
    for dims in ([0], [0, 0], [0, 2], [0, -2], [1, 0, 2]):
        yield {"self": draw.wild(dtype, 2, 3), "dims": dims}


@witness("aten::slice.Tensor")
def slice_(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for dim in (0, 1, -1, -3):
        yield {"self": draw.wild(dtype, 8, 9, 10), "dim": dim}
        for start, end, step in ((2, 7, 1), (-6, -1, 2), (None, 100, 3), (-100, None, 1), (5, 2, 1), (7, 2**63 - 1, 4)):
            yield {"self": draw.wild(dtype, 8, 9, 10), "dim": dim, "start": start, "end": end, "step": step}
    yield {"self": draw.wild(dtype, 0, 4), "start": 0, "end": 1}
    for wrong in ({"dim": 2}, {"dim": -3}, {"step": 0}, {"step": -1}):
        yield {"self": draw.wild(dtype, 3, 4), **wrong}
    yield {"self": draw.wild(dtype)}


@witness("aten::cat")
def cat(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for shapes, dim in (
        (((20, 9), (31, 9)), 0), (((4, 5), (4, 7), (4, 1)), 1), (((4, 5), (4, 7)), -1), (((3, 2, 6), (3, 4, 6)), -2),
        (((30,),), 0), (((0,), (3, 4), (0,)), 1), (((0,), (0,)), 0), (((0, 4), (3, 4)), 0), (((0, 4), (0, 2)), 1),
    ):  # fmt: skip
        yield {"tensors": [draw.wild(dtype, *shape) for shape in shapes], "dim": dim}
    for other in (*REAL, *COMPLEX) if not is_complex(dtype) else COMPLEX:
        yield {"tensors": [draw.wild(dtype, 10, 8), draw.wild(other, 15, 8)]}
        yield {"tensors": [draw.wild(other, 0), draw.wild(dtype, 15, 8), draw.wild(other, 5, 8)], "dim": -2}
    for shapes, dim in ((((2, 3), (2, 4)), 0), (((2, 3), (2, 3)), 2), (((2, 3), (3,)), 0), (((), (3,)), 0), ((), 0)):
        yield {"tensors": [draw.wild(dtype, *shape) for shape in shapes], "dim": dim}
