"""Implementations that keep the result of every step in the half type are honest, also where they move it then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from conform.call.bound import bound_call
from conform.interp.evaluate import evaluate_call
from conform.interp.gradients.evaluation import gradient_call
from conform.interp.program.number import Number
from conform.numerics.formats import format_named
from conform.numerics.real import Real
from conform.numerics.rounding import round_to
from conform.numerics.ulp import ulp

BFLOAT16 = format_named("bfloat16")
ROWS, COLUMNS = 500, 3


def kept(step: np.ndarray) -> np.ndarray:
    """The numbers as bfloat16 keeps them, in float64."""
    return round_to(BFLOAT16, step).astype(np.float64)


def by_cumprod(g: np.ndarray, x: np.ndarray) -> np.ndarray:
    terms = kept(g * kept(np.cumprod(x, 1)))
    return kept(np.cumsum(terms[:, ::-1], 1)[:, ::-1]) / x


def by_prod(g: np.ndarray, x: np.ndarray) -> np.ndarray:
    return kept(g * kept(x.prod(1, keepdims=True))) / x


def by_logsumexp(g: np.ndarray, x: np.ndarray) -> np.ndarray:
    result = kept(np.log(np.exp(x).sum(1, keepdims=True)))
    return g * kept(np.exp(kept(x - result)))


def by_norm(g: np.ndarray, x: np.ndarray) -> np.ndarray:
    return g * kept(x / kept(np.sqrt((x * x).sum(1, keepdims=True))))


def by_std(g: np.ndarray, x: np.ndarray) -> np.ndarray:
    centred = kept(x - kept(x.mean(1, keepdims=True)))
    half = kept(g / kept(2 * kept(x.std(1, ddof=1, keepdims=True))))
    return kept(half * (2 / (COLUMNS - 1))) * centred


KERNELS = [
    ("aten::cumprod", [1], by_cumprod, COLUMNS),
    ("aten::prod.dim_int", [1, True], by_prod, 1),
    ("aten::logsumexp", [[1], True], by_logsumexp, 1),
    ("aten::linalg_vector_norm", [2, [1], True], by_norm, 1),
    ("aten::std.dim", [[1], True, True], by_std, 1),
]


@pytest.mark.parametrize(("op", "args", "kernel", "columns"), KERNELS)
def test_steps_kept_in_the_half_type_are_within_the_bound(
    op: str, args: Sequence[Any], kernel: Callable[[np.ndarray, np.ndarray], np.ndarray], columns: int
) -> None:
    generator = np.random.default_rng(0)
    x, g = (round_to(BFLOAT16, generator.uniform(1, 2, (ROWS, size))) for size in (COLUMNS, columns))
    (golden,) = evaluate_call(gradient_call(bound_call(op, [x, *args], {}), [g])).goldens
    actual = kept(kernel(g.astype(np.float64), x.astype(np.float64)))
    allowed = golden.budget + ulp(BFLOAT16, golden.real.hi) / 2
    assert (np.abs(actual - golden.real.hi) <= allowed).all()


def test_what_is_moved_may_be_rounded_as_before() -> None:
    number = Number(BFLOAT16, Real.exact(np.array([1 / 3])), np.zeros(1), may_round=True)
    assert number.moved(lambda part: part[..., None]).may_round
