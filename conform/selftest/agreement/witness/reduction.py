"""Witness calls of sums, extremes and running sums: short sums over many outputs, so that each is a witness."""

from __future__ import annotations

from collections.abc import Iterator

from conform.selftest.agreement.draw import Draw
from conform.selftest.agreement.witness.values import FLOATS, INTEGERS, is_float
from conform.selftest.agreement.witnesses import Call, witness


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


_OVER = (((3, 300), [0]), ((300, 2), [-1]), ((4, 40, 6), [0]), ((3, 150, 2), [0, 2]), ((150, 3, 2), [-1, 1]),
         ((150, 1), [1]))  # fmt: skip
_SMALL = (((5, 6), None), ((5, 6), []), ((), [0]), ((), []), ((0, 3), [0]), ((0, 3), [1]), ((0,), None))


def _reductions(dtype: str, draw: Draw, **keywords: object) -> Iterator[Call]:
    """Calls over dims: short sums and many, 0-d, empty, and dims that do not fit."""
    for shape, dim in _OVER:
        yield {"self": draw.sparse(dtype, *shape), "dim": dim, **keywords}
        yield {"self": draw.wild(dtype, *shape), "dim": dim, "keepdim": True, **keywords}
    for shape, dim in _SMALL:
        yield {"self": draw.sparse(dtype, *shape), "dim": dim, **keywords}
        yield {"self": draw.tame(dtype, *shape), "dim": dim, "keepdim": True, **keywords}
    for dim in ([2], [-3], [0, 0], [0, -2]):
        yield {"self": draw.tame(dtype, 2, 3), "dim": dim, **keywords}


def _of_everything(dtype: str, draw: Draw) -> Iterator[Call]:
    """One element a call: as many calls as elements."""
    tame, wild, lengths = draw.tame(dtype, 150, 9), draw.wild(dtype, 150, 3, 2), draw.integers(0, 9, 150).tolist()
    for row, box, length in zip(tame, wild, lengths, strict=True):
        yield {"self": row[:length]}
        yield {"self": box[: 1 + length % 3]}
    yield {"self": draw.wild(dtype)}


@witness("aten::mean")
def mean(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    yield from _of_everything(dtype, draw)
    for converted in (*FLOATS, "int32"):
        yield {"self": draw.sparse(dtype, 7), "dtype": converted}
    for other in ("int64", "bool"):
        yield {"self": draw.tame(other, 7)}
        yield {"self": draw.tame(other, 7), "dtype": dtype}


@witness("aten::mean.dim")
def mean_over(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    yield from _reductions(dtype, draw)
    for converted in (*FLOATS, "int32"):
        yield {"self": draw.sparse(dtype, 4, 60), "dim": [0], "dtype": converted}
    yield {"self": draw.tame("uint8", 4, 60), "dim": [0], "dtype": dtype}


@witness("aten::var", "aten::std")
def spread(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for number, call in enumerate(_of_everything(dtype, draw)):
        yield {**call, "unbiased": number % 3 > 0}
    yield {"self": draw.tame("int64", 4)}


@witness("aten::var.dim", "aten::std.dim")
def spread_over(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    yield from _reductions(dtype, draw)
    yield from _reductions(dtype, draw, unbiased=False)
    yield {"self": draw.tame(dtype, 1, 60).repeat(3, axis=0), "dim": [0]}


@witness("aten::var.correction", "aten::std.correction")
def spread_correction(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for correction in (None, 0, 2, 3, 7, -1, 0.5, 0.1):
        yield from _reductions(dtype, draw, correction=correction)
    yield {"self": draw.tame(dtype, 1, 60).repeat(3, axis=0), "dim": [0], "correction": 3}
    yield {"self": draw.tame(dtype, 7)}


ORDERS = (0, 1, 2, 3, -1, 0.5, 1.5, 2.7, -2.0, float("inf"), float("-inf"))


@witness("aten::linalg_vector_norm")
def linalg_vector_norm(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for order in ORDERS:
        yield from _reductions(dtype, draw, ord=order)
    for converted in (*FLOATS, "int32"):
        yield {"self": draw.sparse(dtype, 4, 60), "dim": [0], "dtype": converted}
    yield {"self": draw.tame("int64", 4)}
    yield {"self": draw.tame(dtype, 7)}


@witness("aten::norm.ScalarOpt_dim")
def norm_over(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for order in (None, *ORDERS):
        for call in _reductions(dtype, draw, p=order):
            if call["dim"] is not None:
                yield call


@witness("aten::norm.Scalar")
def norm(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for number, call in enumerate(_of_everything(dtype, draw)):
        yield {**call, "p": ORDERS[number % len(ORDERS)]}
    yield {"self": draw.tame(dtype, 7)}
    yield {"self": draw.tame("int64", 7)}


@witness("aten::prod")
def prod_all(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    yield from _of_everything(dtype, draw)
    for converted in (*_conversions(dtype), "bool"):
        yield {"self": draw.sparse(dtype, 4), "dtype": converted}


@witness("aten::prod.dim_int")
def prod_over(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for shape, dim in (((3, 400), 0), ((400, 2), -1), ((20, 5, 10), 1), ((300, 1), 1), ((7, 40), 0)):
        yield {"self": draw.sparse(dtype, *shape), "dim": dim}
        yield {"self": draw.wild(dtype, *shape), "dim": dim, "keepdim": True}
        yield {"self": draw.tame(dtype, *shape), "dim": dim}
    for shape, dim in (((), 0), ((), -1), ((0, 3), 0), ((0, 3), 1), ((2, 3), 2), ((2, 3), -3)):
        yield {"self": draw.sparse(dtype, *shape), "dim": dim, "keepdim": True}
    for converted in (*_conversions(dtype), "bool"):
        yield {"self": draw.sparse(dtype, 3, 60), "dim": 0, "dtype": converted}


@witness("aten::logsumexp")
def logsumexp(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for call in _reductions(dtype, draw):
        if call["dim"]:
            yield call
    for shape in ((4, 500), (2, 700)):
        yield {"self": draw.tame(dtype, *shape), "dim": [0]}
    yield {"self": draw.tame(dtype, 1, 60).repeat(4, axis=0), "dim": [0]}
