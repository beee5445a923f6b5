"""The minimal form that shrinking must reach, what it may take and what it must keep, and when a smaller failure is
another one."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from conform.backends.reply import Reply
from conform.call.arguments import Arguments
from conform.errors import InvalidArguments, Unjudged
from conform.interp.golden import Outcome
from conform.judging.verdict import Verdict
from conform.repro.command import _fails_alike, _refusal
from conform.repro.script import Finding
from conform.repro.shrink import Candidate, Shrunk, shrink

F32 = np.float32
INF, NAN = np.inf, np.nan


def call(op: str, *args: Any, layout: str = "contiguous", focus: tuple[int, ...] = (), **kwargs: Any) -> Candidate:
    return Candidate(op, Arguments(list(args), kwargs), layout, focus)


def shrunk(candidate: Candidate, condition: Callable[..., bool], max_tries: int = 2000) -> Shrunk:
    """`condition` is asked of the positional arguments."""
    return shrink(candidate, lambda one: () if condition(*one.arguments.args) else None, max_tries)


def values(result: Shrunk) -> list:
    return [one.tolist() if isinstance(one, np.ndarray) else one for one in result.candidate.arguments.args]


# --- Elements ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("element", "needed", "minimal"),
    [
        (0.3, lambda x: True, 1.0),
        (-7.0, lambda x: True, 1.0),
        (0.3, lambda x: x != 1, 0.0),
        (-7.25, lambda x: x <= -4, -4.0),  # one bit
        (-7.25, lambda x: x < -5, -7.0),  # an integer, of four
        (0.7, lambda x: 0.5 < x < 1, 0.6875),  # 11/16
        (1000.3, lambda x: x > 600, 960.0),  # 15 * 2^6
        (5.0, lambda x: x > 1, 4.0),
        (3.0, lambda x: x > 2, 3.0),
        (-0.0, lambda x: np.signbit(x) and x == 0, -0.0),
        (-0.0, lambda x: x == 0, 0.0),
        (INF, lambda x: np.isinf(x), INF),
        (INF, lambda x: x > 2, INF),
        (NAN, lambda x: np.isnan(x), NAN),
        (NAN, lambda x: x != x or x == 0, 0.0),
        (1e-40, lambda x: 0 < x < 1e-38, float(F32(2.0**-133))),
    ],
)
def test_a_number_becomes_as_plain_as_the_failure_allows(
    element: float, needed: Callable[[Any], bool], minimal: float
) -> None:
    found = shrunk(call("aten::exp", F32([element])), lambda x: x.size == 1 and bool(needed(x.reshape(-1)[0])))
    (told,) = values(found)
    assert repr(told) == repr(minimal)


@pytest.mark.parametrize(
    ("array", "needed", "minimal"),
    [
        (np.array([7, -3, 5]), lambda x: x.size == 3, [1, 1, 1]),
        (np.array([7, -3, 5]), lambda x: x.size == 3 and x[1] < 1, [1, 0, 1]),
        (np.array([7, -3, 5]), lambda x: x.size == 3 and x[1] < 0, [1, -3, 1]),
        (np.array([False, False]), lambda x: x.size == 2, [True, True]),
        (np.array([False, False]), lambda x: x.size == 2 and not x[1], [True, False]),
        (np.complex64([3 + 4j]), lambda x: x.imag.any(), 2 + 4j),  # one bit each
        (np.complex64([3 + 4j]), lambda x: True, 1 + 0j),
        (F32([9, 9, 9, 9]), lambda x: x.size == 4 and x[2] == 9, [1.0, 1.0, 9.0, 1.0]),
        (F32([[2, 3], [4, 5]]), lambda x: x.shape == (2, 2) and x.sum() > 5, [[1.0, 1.0], [1.0, 4.0]]),
    ],
)
def test_of_several_only_what_matters_stays(array: np.ndarray, needed: Callable[[Any], bool], minimal: Any) -> None:
    found = shrunk(call("aten::neg", array), lambda x: bool(needed(x)))
    assert values(found) == [minimal]


# --- Sizes and dimensions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "needed", "minimal"),
    [
        ((6, 8), lambda x: True, ()),
        ((6, 8), lambda x: x.ndim == 2, (1, 1)),
        ((6, 8), lambda x: x.ndim == 2 and x.shape[1] > 4, (1, 5)),
        ((6, 8), lambda x: x.size > 40, (6, 7)),
        ((6, 6), lambda x: x.shape[:1] == x.shape[1:] and x.size > 1, (2, 2)),
        ((6, 6), lambda x: x.ndim == 2 and x.shape[0] > x.shape[1], (2, 1)),
        ((0, 8), lambda x: x.size == 0, (0,)),
        ((9,), lambda x: x.size % 2 == 1 and x.size > 1, (9,)),  # no even step, and 1 is too few
        ((1, 1, 5), lambda x: x.size == 5, (5,)),
    ],
)
def test_sizes(shape: tuple[int, ...], needed: Callable[[np.ndarray], bool], minimal: tuple[int, ...]) -> None:
    found = shrunk(call("aten::neg", np.ones(shape, F32)), needed)
    assert found.candidate.arguments.args[0].shape == minimal


@pytest.mark.parametrize("place", [0, 1, 4, 8])
def test_a_cut_holds_the_element_in_focus(place: int) -> None:
    array = np.ones(9, F32)
    array[place] = 77.0
    result = shrink(
        call("aten::neg", array, focus=(place,)), lambda one: (0,) if 77.0 in one.arguments.args[0] else None
    )
    assert values(result) == [77.0]
    assert result.tries <= 30


def test_sizes_that_agree_are_cut_together_and_lists_of_sizes_with_them() -> None:
    matrices = call("aten::mm", np.ones((5, 7), F32), np.ones((7, 3), F32))
    found = shrunk(matrices, lambda x, y: x.ndim == y.ndim == 2 and x.shape[1] == y.shape[0] and x.shape[1] > 2)
    assert [one.shape for one in found.candidate.arguments.args] == [(1, 3), (3, 1)]
    viewed = call("aten::expand", np.ones((1, 6), F32), [4, 6])
    found = shrunk(viewed, lambda x, size: x.ndim == 2 and x.shape[1] == size[1] and size[0] == 4)
    assert (found.candidate.arguments.args[0].shape, found.candidate.arguments.args[1]) == ((1, 1), [4, 1])


def test_indices_stay_in_range_where_that_is_what_matters() -> None:
    gathered = call("aten::gather", np.ones(8, F32), 0, np.array([7, 3, 0]))
    found = shrunk(gathered, lambda x, dim, index: x.ndim == index.ndim == 1 and index.max() == x.size - 1 > 1)
    assert [values(found)[0], values(found)[2]] == [[1.0, 1.0, 1.0], [2]]
    beyond = shrunk(gathered, lambda x, dim, index: x.ndim == index.ndim == 1 and index.max() >= x.size)
    assert [values(beyond)[0], values(beyond)[2]] == [[1.0], [1]]


# --- Arguments and layouts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "needed", "minimal"),
    [(-2.5, lambda n: True, 0), (-2.5, lambda n: n < 0, -2.0), (-2.5, lambda n: n < -2, -2.5), (7, lambda n: n > 1, 7)],
)
def test_python_numbers(number: float, needed: Callable[[float], bool], minimal: float) -> None:
    scaled = call("aten::add.Tensor", F32([1]), F32([1]), alpha=number)
    found = shrink(scaled, lambda one: () if needed(one.arguments.kwargs.get("alpha", -9)) else None)
    assert found.candidate.arguments.kwargs in ({}, {"alpha": minimal})


def test_defaults_go_and_what_has_none_stays() -> None:
    found = shrunk(call("aten::cumsum", np.ones((2, 2), F32), 1, dtype="float64"), lambda *_: True)
    assert (len(found.candidate.arguments.args), found.candidate.arguments.kwargs) == (2, {})
    kept = shrink(
        call("aten::sum", np.ones((2, 2), F32), dtype="float64"), lambda one: () if one.arguments.kwargs else None
    )
    assert kept.candidate.arguments.kwargs == {"dtype": "float64"}
    positional = call("aten::div.Tensor_mode", F32([1]), F32([1]), rounding_mode="floor")
    assert shrunk(positional, lambda *_: True).candidate.arguments.kwargs == {"rounding_mode": "floor"}


@pytest.mark.parametrize(
    ("layout", "minimal"), [("strided.0", (2,)), ("offset.0", ()), ("expanded.0", (2,)), ("transposed.0", (2, 2))]
)
def test_the_smallest_tensor_that_a_layout_can_have(layout: str, minimal: tuple[int, ...]) -> None:
    found = shrink(
        call("aten::neg", np.ones((3, 4), F32), layout=layout), lambda one: () if one.layout == layout else None
    )
    assert (found.candidate.layout, found.candidate.arguments.args[0].shape) == (layout, minimal)
    assert shrunk(call("aten::neg", np.ones((3, 4), F32), layout=layout), lambda _: True).candidate.layout == (
        "contiguous"
    )


def test_an_expanded_tensor_becomes_dense_with_the_values_that_it_had() -> None:
    spread = call("aten::neg", F32([[3, 5], [7, 9]]), layout="expanded.0")
    found = shrink(spread, lambda one: () if one.layout == "contiguous" else None, max_tries=1)
    assert values(found) == [[[3.0, 5.0], [3.0, 5.0]]]


@pytest.mark.parametrize("tries", [0, 1, 2, 3])
def test_no_more_is_tried_than_allowed(tries: int) -> None:
    asked = []
    result = shrink(call("aten::neg", np.ones((4, 4), F32)), lambda one: asked.append(one), tries)
    assert (len(asked), result.tries) == (tries, tries)


# --- The same failure, or another -------------------------------------------------------------------------------------

VALID = Outcome(())
SHAPES = InvalidArguments("aten::add: argument other: found float32[3], expected size(other, 0) in {1, 4}")


def finding(status: str, reason: str | None, outcome: Outcome | Exception = VALID) -> Finding:
    verdict = Verdict("t/f/v/c", "t", "aten::add", "float32", "v", "c", status, reason, checks=1)
    return Finding(call("aten::neg", F32([1])), outcome, Reply("ok"), verdict)


@pytest.mark.parametrize(
    ("status", "reason", "told_status", "told_reason", "is_alike"),
    [
        ("fail", "wrong infinity", "fail", "wrong infinity", True),
        ("fail", "wrong infinity", "fail", "error above the bound", False),
        ("pass", None, "fail", "wrong infinity", False),
        ("crash", "SIGSEGV", "fail", "wrong infinity", False),
        ("error", "no", "crash", "no", False),
        ("timeout", "no answer for 1 s", "timeout", "no answer for 30 s", True),
        ("crash", "exited with code 3", "crash", "SIGSEGV", True),
        ("error", "RuntimeError: size 3", "error", "RuntimeError: size 7", True),
        ("fail", "output 0: shape [1] instead of [2]", "fail", "output 0: shape [5, 2] instead of [5]", True),
        ("fail", "output 0: shape [1] instead of [2]", "fail", "output 1: dtype int8 instead of int64", False),
        ("fail", "error above the bound, as if truncated", "fail", "error above the bound", True),
        ("fail", "biased: mean of the errors +2", "fail", "biased: mean of the errors -3", True),
        ("fail", "biased: mean of the errors +2", "fail", "root mean square of the errors 9 u S", False),
        ("fail", "not the correctly rounded result", "fail", "error above the bound", False),
    ],
)
def test_a_smaller_failure_is_of_the_same_kind(
    status: str, reason: str | None, told_status: str, told_reason: str, is_alike: bool
) -> None:
    told = SimpleNamespace(status=told_status, reason=told_reason)
    assert _fails_alike(finding(status, reason), told, "") is is_alike


def test_a_valid_call_stays_one_and_what_must_be_refused_stays_so_for_its_reason() -> None:
    accepted = "the backend accepted invalid arguments: x"
    told = SimpleNamespace(status="fail", reason=accepted)
    other = InvalidArguments("aten::add: argument other: found int8[3], expected dtype(other) in {float32}")
    smaller = InvalidArguments("aten::add: argument other: found float32[1, 2], expected size(other, 1) in {1, 9}")
    refusal = _refusal(finding("fail", accepted, SHAPES))
    assert refusal
    assert _fails_alike(finding("fail", accepted, smaller), told, refusal)
    assert not _fails_alike(finding("fail", accepted, other), told, refusal)
    assert not _fails_alike(finding("fail", accepted, VALID), told, refusal)
    assert not _fails_alike(finding("fail", accepted, SHAPES), told, "")
    assert _refusal(finding("fail", "no", Unjudged("not known"))) == ""
