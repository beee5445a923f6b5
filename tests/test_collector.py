"""The collector of cycles is paused and goes on where it is said, and stands afterwards as it stood before."""

from __future__ import annotations

import gc

import pytest

import conform
from conform.collector import paused, resumed
from conform.judging.verdict import Verdict


@pytest.mark.parametrize("was_enabled", [True, False])
def test_a_pause_and_what_goes_on_within_it_leave_it_as_it_was(was_enabled: bool) -> None:
    (gc.enable if was_enabled else gc.disable)()
    try:
        with paused():
            with resumed():
                within = gc.isenabled()
            inside = gc.isenabled()
        assert (inside, within, gc.isenabled()) == (False, True, was_enabled)
    finally:
        gc.enable()


def test_what_a_process_judges_itself_is_collected_and_a_run_that_is_refused_ends_the_pause() -> None:
    seen = []

    def on_verdict(verdict: Verdict, asked: int) -> None:
        seen.append(gc.isenabled())

    conform.check(["smoke"], backend="self", ops="aten::exp", on_verdict=on_verdict)
    with pytest.raises(conform.errors.UsageError):
        conform.check(["smoke"], backend="self", ops="aten::nothing")
    assert seen
    assert all(seen)
    assert gc.isenabled()
