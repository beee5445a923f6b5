"""Shrinking: which call is left when a stated condition is all that matters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from conform.call.arguments import Arguments
from conform.repro.shrink import Candidate, shrink


def drawn(*shape: int) -> np.ndarray:
    return np.random.Generator(np.random.Philox(key=0)).normal(size=shape).astype(np.float32)


def smallest(candidate: Candidate, condition: Callable[[Candidate], bool], max_tries: int = 1000) -> Candidate:
    return shrink(candidate, lambda one: () if condition(one) else None, max_tries).candidate


def add(*args: object, layout: str = "contiguous", focus: tuple[int, ...] = (), **kwargs: object) -> Candidate:
    return Candidate("aten::add.Tensor", Arguments(list(args), kwargs), layout, focus)


def test_what_fails_always_becomes_one_plus_one() -> None:
    found = smallest(add(drawn(5, 7), drawn(7), alpha=-2.5), lambda _: True)
    assert [np.asarray(value).tolist() for value in found.arguments.args] == [1.0, 1.0]
    assert (found.arguments.args[0].shape, found.arguments.kwargs, found.layout) == ((), {}, "contiguous")


@pytest.mark.parametrize(
    ("before", "condition", "after"),
    [
        ([(5, 40), (40,)], lambda self, other: self.shape[-1:] > (32,), [(33,), ()]),
        ([(2, 5, 7), (7,)], lambda self, other: self.ndim == 3, [(1, 1, 1), ()]),
        ([(0, 7), (7,)], lambda self, other: self.size == 0, [(0,), ()]),
        ([(5, 40), (5, 40)], lambda self, other: self.shape == other.shape and self.size > 6, [(4, 2), (4, 2)]),
        ([(5, 40), (40,)], lambda self, other: (self.size, other.size) == (200, 40), [(5, 40), (40,)]),
    ],
    ids=["wide", "rank", "empty", "both", "nothing-smaller"],
)
def test_sizes(before: list, condition: Callable[[np.ndarray, np.ndarray], bool], after: list) -> None:
    found = smallest(add(*(drawn(*shape) for shape in before)), lambda one: condition(*one.arguments.args))
    assert [tensor.shape for tensor in found.arguments.args] == after


def test_a_cut_keeps_the_wrong_element() -> None:
    other = np.zeros((9, 31), np.float32)
    other[6, 17] = np.nan
    has_nan = lambda one: bool(np.isnan(one.arguments.args[1]).any())  # noqa: E731
    result = shrink(add(drawn(9, 31), other, focus=(6, 17)), lambda one: (0,) if has_nan(one) else None)
    self, other = result.candidate.arguments.args
    assert (self.tolist(), other.shape) == (1.0, ())
    assert np.isnan(other)
    assert result.tries < 40


def test_values_that_matter_stay_and_the_others_become_ones() -> None:
    values = np.float32([0.3, -7.25, 1e-30, 5.0])
    matters = lambda self: self.size == 4 and -7.25 in self  # noqa: E731
    found = smallest(add(values, drawn(4)), lambda one: matters(one.arguments.args[0]))
    assert found.arguments.args[0].tolist() == [1.0, -7.25, 1.0, 1.0]


def test_a_keyword_that_matters_stays_plain() -> None:
    found = smallest(add(drawn(3), drawn(3), alpha=-2.5), lambda one: one.arguments.kwargs.get("alpha", 1) != 1)
    assert found.arguments.kwargs == {"alpha": 0.0}


def test_a_layout_that_matters_stays() -> None:
    found = smallest(add(drawn(5, 7), drawn(5, 7), layout="transposed.1"), lambda one: one.layout == "transposed.1")
    assert found.layout == "transposed.1"
    assert found.arguments.args[1].shape == (2, 2)
    assert found.placed().args[1].strides == (1, 2)


def test_sizes_of_lists_and_indices_follow() -> None:
    args = [drawn(4, 6), [6], drawn(6), None, 1e-5]
    norm = Candidate("aten::native_layer_norm", Arguments(args, {}))
    found = smallest(norm, lambda one: one.arguments.args[1] == list(one.arguments.args[0].shape[-1:]))
    assert (found.arguments.args[0].shape, found.arguments.args[1]) == ((1,), [1])
    gather = Candidate("aten::gather", Arguments([drawn(9), 0, np.array([8, 2, 5])], {}))
    in_range = lambda one: bool((one.arguments.args[2] < len(one.arguments.args[0])).all())  # noqa: E731
    found = smallest(gather, lambda one: one.arguments.args[0].ndim == 1 and in_range(one))
    assert [len(found.arguments.args[0]), found.arguments.args[2].tolist()] == [1, 0]


def test_tries_are_bounded_and_the_original_is_never_lost() -> None:
    original = add(drawn(64, 64), drawn(64, 64))
    assert shrink(original, lambda _: None, max_tries=25).tries == 25
    assert shrink(original, lambda _: None).candidate == original
