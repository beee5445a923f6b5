"""What torch documents as a view lies in the memory of its argument, where the backend's views do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import conform
from conform.backends.call import Call
from conform.backends.client import BackendProcess
from conform.interp.semantics import is_view

pytestmark = pytest.mark.one_in(6)

VIEWING = str(Path(__file__).parent / "viewing.py")
X = np.arange(6, dtype=np.complex64).reshape(2, 3)
VIEWS = ["aten::transpose.int", "aten::split.Tensor", "aten::view_as_real", "aten::imag"]


@pytest.mark.parametrize(("op", "expected"), [
    ("aten::transpose.int", True), ("aten::expand", True), ("aten::unbind.int", True), ("aten::real", True),
    ("aten::reshape", False), ("aten::flatten.using_ints", False), ("aten::conj", False),  # a copy, or not
    ("aten::permute_copy", False), ("aten::add.Tensor", False), ("aten::add_.Tensor", False), ("aten::exp.out", False),
])  # fmt: skip
def test_what_is_a_view(op: str, expected: bool) -> None:
    assert is_view(op) == expected


@pytest.mark.parametrize("name", ["cpu", f"{VIEWING}::Elsewhere", f"{VIEWING}::Stale", "self"])
def test_honest_devices_pass_and_what_declares_nothing_is_not_held_to_it(name: str) -> None:
    run = conform.check("core", backend=name, ops=VIEWS, dtypes=["complex64"], checks="aliasing")
    assert (run.summary["pass"], run.exit_code) == (run.summary["asked"], 0)


@pytest.mark.parametrize("name", ["Copying", "CopyingElsewhere", "DeclaresIt"])
def test_a_copy_fails(name: str) -> None:
    run = conform.check("core", backend=f"{VIEWING}::{name}", ops=VIEWS, dtypes=["complex64"], checks="aliasing")
    wrong = {case["op"] for case in run.cases if case["status"] == "fail"}
    assert wrong == set(VIEWS)
    assert {case["reason"] for case in run.cases if case["status"] == "fail"} <= {
        f"output {place} lies in memory of its own, and not in that of the argument of which it is a view"
        for place in range(3)
    }


def test_a_view_in_place_of_a_copy_fails() -> None:
    copies = ["aten::permute_copy", "aten::slice_copy.Tensor", "aten::detach_copy", "aten::unbind_copy.int"]
    run = conform.check("core", backend=f"{VIEWING}::Viewing", ops=copies, dtypes=["float32"], checks="aliasing")
    assert {case["op"] for case in run.cases if case["status"] == "fail"} == set(copies)
    assert conform.check("core", backend="cpu", ops=copies, dtypes=["float32"], checks="aliasing").exit_code == 0


def test_a_copy_that_may_be_one_passes() -> None:
    ops = ["aten::reshape", "aten::flatten.using_ints", "aten::conj"]
    run = conform.check("core", backend=f"{VIEWING}::Copying", ops=ops, dtypes=["complex64"])
    assert (run.summary["pass"], run.exit_code) == (run.summary["asked"], 0)


@pytest.mark.parametrize("op", ["aten::view_as_real", "aten::imag", "aten::conj"])
def test_views_of_what_was_moved_are_views_of_the_argument(start: Callable[..., BackendProcess], op: str) -> None:
    with start(name="cpu") as here, start(name=f"{VIEWING}::Elsewhere") as there:
        replies = [process.answer(Call(op, [X], is_view=True)) for process in (here, there)]
    assert [reply.outputs[0].array.tobytes() for reply in replies] == [replies[0].outputs[0].array.tobytes()] * 2
    assert [(reply.aliases, reply.apart, reply.mutated) for reply in replies] == [(((0, 0),), (), ())] * 2


def test_an_output_of_no_elements_is_nowhere(start: Callable[..., BackendProcess]) -> None:
    with start(name="cpu") as process:
        assert process.answer(Call("aten::transpose.int", [X[:0], 0, 1], is_view=True)).apart == ()


def test_variants_write_into_what_was_moved() -> None:
    run = conform.check("writes", backend=f"{VIEWING}::Elsewhere", ops=["aten::add.out", "aten::neg_"])
    assert run.summary["asked"] == run.summary["pass"] + run.summary["unspecified"] > 0

