"""Sums and products of computed numbers: whatever the order in which they are honestly joined, within the bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce

import numpy as np
import pytest

import conform
from conform import ops
from conform.own_ops import op

pytestmark = pytest.mark.usefixtures("own_ops")

F32 = np.float32
PROGRAMS = {
    "aten::cumsum": (np.add, lambda x, factor: ops.cumsum(x * factor, 1)),
    "aten::cumprod": (np.multiply, lambda x, factor: ops.cumprod(x * factor, 1)),
}


def lines(draws: np.random.Generator, kind: str) -> np.ndarray:
    """Four lines of numbers of similar or of any size, special ones among them, or so large or small that what they
    come to on the way leaves the range."""
    x = draws.standard_normal((4, draws.integers(1, 24)))
    if kind == "any size":
        x *= 10.0 ** draws.integers(-3, 4, x.shape)
    if kind == "special":
        some = [0.0, -0.0, np.inf, -np.inf, np.nan]
        x = np.where(draws.random(x.shape) < 0.15, draws.choice(some, x.shape), x * 1e-4)
    return (x * {"large": 1e20, "small": 1e-25}.get(kind, 1.0)).astype(F32)


def honestly(join: np.ufunc, x: np.ndarray, draws: np.random.Generator) -> Iterator[np.ndarray]:
    """What the elements of each line come to: from the first, from the last, in any order, and by halves."""
    count = x.shape[1]
    for order in (np.arange(count), np.arange(count)[::-1], draws.permutation(count)):
        yield reduce(join, [x[:, place] for place in order])
    while x.shape[1] > 1:
        half = x.shape[1] // 2
        x = np.concatenate([join(x[:, :half], x[:, half : 2 * half]), x[:, 2 * half :]], 1)
    yield x[:, 0]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # honest partial results overflow, and may
@pytest.mark.parametrize("kind", ["similar size", "any size", "special", "large", "small"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_honest_order_is_within_the_bound(name: str, kind: str) -> None:
    join, program = PROGRAMS[name]
    draws = np.random.default_rng(23)
    for turn in range(8):
        x, factor = lines(draws, kind), F32(2 + draws.standard_normal())
        golden = conform.golden(op(f"test::turn_{turn}", reference=_by(program, float(factor))), x).outcome.goldens[0]
        for place in range(x.shape[1]):
            exact, bound = golden.real.hi[:, place], golden.budget[:, place]
            for found in honestly(join, (x * factor)[:, : place + 1], draws):
                assert found.dtype == F32
                off = np.abs(found - exact) <= bound + np.spacing(np.abs(exact.astype(F32))) / 2
                assert (off | np.isinf(bound) | (found == exact) | (np.isnan(found) & np.isnan(exact))).all()


def _by(program: Callable, factor: float) -> Callable:
    return lambda x: program(x, factor)


def test_where_no_order_is_wrong_the_bound_is_small() -> None:
    x = F32([[1.5, -2.0, 0.5, 3.0]])
    for _, program in PROGRAMS.values():
        golden = conform.golden(op("test::near", reference=_by(program, 1.25)), x).outcome.goldens[0]
        assert (golden.budget <= 2.0**-17).all()
