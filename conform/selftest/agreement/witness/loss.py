"""Witness calls of losses: mostly element by element, some means and sums, every keyword."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from conform.numerics.formats import FORMATS
from conform.selftest.agreement.draw import Draw
from conform.selftest.agreement.witnesses import Call, witness

REDUCTIONS = (0, 1, 2)
_SHAPES = ((40, 30), (), (7,), (0, 3))


@witness("aten::mse_loss", "aten::l1_loss")
def of_difference(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    yield from _pairs(dtype, draw, {})


@witness("aten::smooth_l1_loss")
def smooth_l1_loss(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for beta in (1.0, 0.5, 0.0, 0.3, 4.0, -1.0):
        yield from _pairs(dtype, draw, {"beta": beta})


@witness("aten::huber_loss")
def huber_loss(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for delta in (1.0, 0.5, 0.3, 4.0, 0.0):
        yield from _pairs(dtype, draw, {"delta": delta})


def _pairs(dtype: str, draw: Draw, keywords: Call) -> Iterator[Call]:
    for reduction in REDUCTIONS:
        for shape in _SHAPES if reduction == 0 else ((5,), (2, 3), (), (0, 3)):
            yield {"self": draw.tame(dtype, *shape), "target": draw.tame(dtype, *shape), "reduction": reduction,
                   **keywords}  # fmt: skip
            yield {"self": draw.wild(dtype, *shape), "target": draw.sparse(dtype, *shape), "reduction": reduction,
                   **keywords}  # fmt: skip
    yield {"self": draw.tame(dtype, 4, 1), "target": draw.tame(dtype, 5), "reduction": 0, **keywords}
    yield {"self": draw.tame(dtype, 4), "target": draw.tame(dtype, 5), **keywords}


def probabilities(dtype: str, draw: Draw, *shape: int) -> np.ndarray:
    """Numbers of 0 .. 1, both ends among them, of all sizes."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        sizes = np.abs(draw.wild(dtype, *shape).astype(np.float64))
    shares = np.where(sizes <= 1, sizes, draw.integers(0, 8, *shape) / 8)
    return shares.astype(FORMATS[dtype].storage)


@witness("aten::binary_cross_entropy")
def binary_cross_entropy(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for call in _with_weights(dtype, draw, {}, lambda *shape: probabilities(dtype, draw, *shape)):
        yield {**call, "self": probabilities(dtype, draw, *call["self"].shape)}
    yield {"self": draw.tame(dtype, 20), "target": probabilities(dtype, draw, 20)}
    yield {"self": probabilities(dtype, draw, 20), "target": draw.tame(dtype, 20)}


@witness("aten::binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    yield from _with_weights(dtype, draw, {}, lambda *shape: probabilities(dtype, draw, *shape))
    positive = {"pos_weight": draw.tame(dtype, 3)}
    yield from _with_weights(dtype, draw, positive, lambda *shape: draw.sparse(dtype, *shape))
    for targets in (draw.scattered(dtype, 60, 3), draw.integers(0, 1, 60, 3).astype(FORMATS[dtype].storage)):
        logits, weight, pos_weight = (draw.scattered(dtype, *shape) for shape in ((60, 3), (60, 3), (3,)))
        yield {"self": logits, "target": targets, "weight": weight, "pos_weight": pos_weight, "reduction": 0}


def _with_weights(dtype: str, draw: Draw, keywords: Call, targets: Callable[..., np.ndarray]) -> Iterator[Call]:
    for reduction in REDUCTIONS:
        for shape in ((300, 3), (5, 3), (3,), (0, 3)) if reduction == 0 else ((5, 3), (3,), (0, 3)):
            for weight in (None, draw.tame(dtype, 3), draw.tame(dtype, *shape)):
                yield {"self": draw.tame(dtype, *shape), "target": targets(*shape), "weight": weight,
                       "reduction": reduction, **keywords}  # fmt: skip
                yield {"self": draw.sparse(dtype, *shape), "target": targets(*shape), "weight": weight,
                       "reduction": reduction, **keywords}  # fmt: skip


@witness("aten::kl_div")
def kl_div(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    yield from _pairs(dtype, draw, {})
    yield from _pairs(dtype, draw, {"log_target": True})
    yield {"self": draw.tame(dtype, 60, 20), "target": probabilities(dtype, draw, 60, 20), "reduction": 0}


@witness("aten::nll_loss", "aten::nll_loss_forward")
def nll_loss(op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    every = {} if op == "aten::nll_loss" else {"weight": None, "reduction": 1, "ignore_index": -100}
    for reduction in REDUCTIONS:
        for samples, classes in ((400, 3), (30, 7), (0, 3)) if reduction == 0 else ((5, 3), (9, 2), (0, 3)):
            for weight in (None, draw.tame(dtype, classes)):
                for ignored in (-100, 1):
                    for kind in (draw.tame, draw.sparse):
                        yield {"self": kind(dtype, samples, classes), "target": draw.integers(0, classes - 1, samples),
                               "weight": weight, "reduction": reduction, "ignore_index": ignored}  # fmt: skip
        yield {**every, "self": draw.tame(dtype, 4), "target": draw.integers(0, 3), "reduction": reduction}
        yield {**every, "self": draw.tame(dtype, 4), "target": draw.integers(0, 3), "reduction": reduction,
               "ignore_index": 2}  # fmt: skip
        yield {**every, "self": draw.tame(dtype, 3, 4), "target": draw.integers(2, 2, 3), "reduction": reduction,
               "ignore_index": 2}  # fmt: skip
    yield {**every, "self": draw.tame(dtype, 3, 4), "target": draw.integers(4, 5, 3)}
    yield {**every, "self": draw.tame(dtype, 3, 4), "target": draw.integers(0, 3, 2)}
    yield {**every, "self": draw.tame(dtype, 3, 4), "target": draw.integers(0, 3, 3), "weight": draw.tame(dtype, 3)}


@witness("aten::cross_entropy_loss")
def cross_entropy_loss(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for reduction in REDUCTIONS:
        many = ((200, 2), (12, 4), (3, 5, 4), (4,), (0, 3))
        for shape in many if reduction == 0 else ((4, 3), (2, 3, 2), (4,), (0, 3)):
            for smoothing in (0.0, 0.25, 0.1, 1.0):
                yield from _of_classes(dtype, draw, shape, {"reduction": reduction, "label_smoothing": smoothing})
    one = draw.tame(dtype, 3, 4)
    yield {"self": draw.wild(dtype, 40, 2), "target": draw.integers(0, 1, 40), "reduction": 0}
    yield {"self": draw.tame(dtype, 40, 1), "target": draw.integers(0, 0, 40), "reduction": 0}
    for target in (draw.integers(0, 1, 60), draw.scattered(dtype, 60, 2)):
        yield {
            "self": draw.scattered(dtype, 60, 2),
            "target": target,
            "weight": draw.scattered(dtype, 2),
            "reduction": 0,
        }
    yield {"self": one, "target": draw.integers(4, 5, 3)}
    yield {"self": one, "target": draw.integers(0, 3, 3), "weight": draw.tame(dtype, 3)}
    yield {"self": one, "target": draw.integers(0, 3, 3), "label_smoothing": 1.5}
    yield {"self": one, "target": one, "ignore_index": 1}
    yield {"self": one, "target": one[:2]}


def _of_classes(dtype: str, draw: Draw, shape: tuple[int, ...], keywords: Call) -> Iterator[Call]:
    classes = shape[min(len(shape) - 1, 1)]
    samples = shape[:1] + shape[2:] if len(shape) > 1 else ()
    for weight in (None, draw.tame(dtype, classes)):
        for ignored in (-100, 1):
            yield {"self": draw.sparse(dtype, *shape), "target": draw.integers(0, classes - 1, *samples),
                   "weight": weight, "ignore_index": ignored, **keywords}  # fmt: skip
        yield {"self": draw.tame(dtype, *shape), "target": probabilities(dtype, draw, *shape), "weight": weight,
               **keywords}  # fmt: skip
    yield {"self": draw.sparse(dtype, *shape), "target": draw.tame(dtype, *shape), **keywords}
